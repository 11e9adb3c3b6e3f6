package conv

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
)

// Tap is a filter element without its output channel; y < 0 is none.
type Tap struct{ Y, X, C int }

// PackChunks packs chunks of n groups from channel base on: per chunk the
// biases, the per-channel multipliers, and the weights word by word.
func PackChunks(g *filter.Conv, c *GEMM, taps [][4]Tap, base, chunks, n int, interleaved bool) []byte {
	f := &g.Filter
	out := make([]byte, 0, chunks*c.Record(n))
	words := make([]wordTaps, len(taps))
	for i := range words {
		words[i] = tapsOf(f, &taps[i])
	}
	flip := f.Flip
	if c.Window { // to signed bytes
		flip ^= 0x80
	}
	lane := make([]int, n*32) // channel of each lane, -1 none
	for chunk := range chunks {
		for j := range n {
			for i := range 32 {
				ch := base + chunk*128
				if interleaved {
					ch += 4*i + hvx.LanePhase[j]
				} else {
					ch += 32*j + i
				}
				if ch >= f.K {
					ch = -1
				}
				lane[j*32+i] = ch
			}
		}
		out = g.PackHeader(out, c.Rq, lane)
		at := len(out)
		out = append(out, make([]byte, 4*len(words)*len(lane))...)
		for i, ch := range lane {
			if ch < 0 {
				continue
			}
			weights := f.Weights(ch)
			for k := range words {
				words[k].pack(out[at+4*(k*len(lane)+i):][:4], weights, flip)
			}
		}
	}
	return out
}

// wordTaps is where the weights of a word stand among those of an output channel, -1
// for none.
type wordTaps struct {
	at         [4]int
	contiguous bool // all four, one behind the other
}

func tapsOf(f *filter.Filter, word *[4]Tap) (w wordTaps) {
	w.contiguous = true
	for i, t := range word {
		if w.at[i] = -1; t.Y >= 0 {
			w.at[i] = (t.Y*f.KW+t.X)*f.C + t.C
		}
		w.contiguous = w.contiguous && t.Y >= 0 && w.at[i] == w.at[0]+i
	}
	return w
}

// pack writes the word of a channel with these weights.
func (w *wordTaps) pack(out, weights []byte, flip byte) {
	if w.contiguous {
		v := binary.LittleEndian.Uint32(weights[w.at[0]:])
		binary.LittleEndian.PutUint32(out, v^uint32(flip)*0x01010101)
		return
	}
	for i, at := range w.at {
		if at >= 0 {
			out[i] = weights[at] ^ flip
		}
	}
}
