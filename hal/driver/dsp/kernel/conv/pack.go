package conv

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
)

// Tap is a filter element without its output channel; y < 0 is none.
type Tap struct{ Y, X, C int }

// PackChunks packs chunks of n groups from channel base on: per chunk the
// biases, the per-channel multipliers, and the weights word by word.
func PackChunks(g *filter.Conv, c *GEMM, taps [][4]Tap, base, chunks, n int, interleaved bool) []byte {
	f := &g.Filter
	out := make([]byte, 0, chunks*c.Record(n))
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
		for _, word := range taps {
			for _, ch := range lane {
				var b [4]byte
				if ch >= 0 {
					for i, t := range word {
						if t.Y >= 0 {
							b[i] = f.At(ch, t.Y, t.X, t.C)
						}
					}
				}
				out = append(out, b[:]...)
			}
		}
	}
	return out
}
