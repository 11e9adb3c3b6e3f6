package dsp

import "github.com/nnsoc/nnsoc/dsp/internal/decode"

// block is straight-line code decoded once, with what runs have learnt of it.
type block struct {
	decode.Block
	link     [2]*block // successors seen last in functional runs
	variants []*variant
	fetched  int64 // memory.fetches when L1I answered for all of its lines without changing
	runs     int64
	prof     *blockProfile // nil but in profiled runs
}
