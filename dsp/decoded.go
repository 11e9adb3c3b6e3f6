package dsp

import "github.com/nnsoc/nnsoc/dsp/internal/decode"

// decoded is the decoded form of a program: its blocks and their schedules. One run at a time uses it. It depends on
// the core and the code alone, so that a run that finds it does the same as one that begins without.
type decoded struct {
	core   *Core
	dec    *decode.Decoder
	blocks []*block // by word of the program
	states states
	jumps  map[uint32]*uint8 // counters of conditional jumps, by the address of their packet
}

// decode is the decoded form left by the run of p before, or a new one; blocks do not run past stop.
func (c *Core) decode(p *Program, stop uint32) (*decoded, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if k := p.decoded.Swap(nil); k != nil && k.core == c && k.dec.Stop == stop && k.dec.Same(p.Base, p.Code) {
		for _, b := range k.blocks {
			if b != nil {
				b.renew()
			}
		}
		k.forgetJumps()
		return k, nil
	}
	d := decode.New(p.Base, p.Code, p.Gaps, decode.Config{
		Asm: c.asm, Stop: stop, ExtractCycles: uint8(c.spec.ExtractCycles), Version: c.spec.Version, DMA: c.spec.DMA != nil, OneRound: c.single,
	})
	k := &decoded{core: c, dec: d, blocks: make([]*block, len(p.Code)/4), jumps: map[uint32]*uint8{}}
	k.states.init()
	return k, nil
}

// renew clears the counts of a run.
func (b *block) renew() {
	b.runs, b.prof, b.fetched = 0, nil, 0
	for _, v := range b.variants {
		v.runs = 0
	}
}

// block is straight-line code decoded once, with the variants that runs have added.
type block struct {
	decode.Block
	link     [2]*block // successors seen last in functional runs
	variants []*variant
	fetched  int64 // memory.fetches when L1I answered for all of its lines without changing
	runs     int64
	counter  *uint8        // of the conditional jump of the last packet, shared by all blocks that end with it
	prof     *blockProfile // nil but in profiled runs
}
