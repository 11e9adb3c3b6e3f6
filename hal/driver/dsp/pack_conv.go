package dsp

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
)

// packChunks packs chunks of n groups from channel base on: per chunk the
// biases, the per-channel multipliers, and the weights word by word.
func (g *gemm) packChunks(c *convKernel, taps [][4]tap, base, chunks, n int, interleaved bool) []byte {
	f := &g.filter
	out := make([]byte, 0, chunks*c.record(n))
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
				if ch >= f.k {
					ch = -1
				}
				lane[j*32+i] = ch
			}
		}
		out = g.packHeader(out, c.rq, lane)
		for _, word := range taps {
			for _, ch := range lane {
				var b [4]byte
				if ch >= 0 {
					for i, t := range word {
						if t.y >= 0 {
							b[i] = f.at(ch, t.y, t.x, t.c)
						}
					}
				}
				out = append(out, b[:]...)
			}
		}
	}
	return out
}

// packHeader appends the biases and the per-channel vectors of the lanes.
func (g *gemm) packHeader(out []byte, k hvx.RequantKind, lane []int) []byte {
	for _, ch := range lane {
		b := int32(0)
		if ch >= 0 {
			b = g.foldedBias(ch)
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(b))
	}
	for v := range k.Vectors() {
		for _, ch := range lane {
			w := uint32(0)
			if ch >= 0 {
				w = g.rq.ChannelWords(ch)[v]
			}
			out = binary.LittleEndian.AppendUint32(out, w)
		}
	}
	return out
}

// foldedBias is the bias minus the input zero point times the filter's sum:
// what remains constant when zero points are taken out of the products.
func (g *gemm) foldedBias(ch int) int32 {
	f := &g.filter
	sum := int32(0)
	c0, c1 := 0, f.c
	if f.depthwise {
		c1 = 1
	}
	for y := range f.kh {
		for x := range f.kw {
			for c := c0; c < c1; c++ {
				sum += int32(f.at(ch, y, x, c)) - f.zero
			}
		}
	}
	return int32(binary.LittleEndian.Uint32(g.bias[4*ch:])) - g.inZero*sum - g.rq.Centre()
}
