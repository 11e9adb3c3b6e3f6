package recurrent_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/recurrent"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
)

// numbers are n values between -1 and 1, exact in halves.
func numbers(r *rand.Rand, n int) []float32 { return kerneltest.Numbers(r, n, 256, 256) }

// TestSum: terms below, at and above the lanes of a wave, of whole blocks and with a rest, rows
// that begin anywhere in a tensor, with bias and peephole.
func TestSum(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 1))
	for _, s := range []struct{ batch, units, first, second, at int }{
		{1, 5, 7, 3, 0}, {2, 3, 32, 5, 1}, {1, 7, 128, 96, 4}, {3, 9, 131, 640, 0}, {2, 5, 200, 1033, 2}, {1, 2, 2048, 31, 0},
	} {
		for _, e := range []layout.Element{layout.F32, layout.F16} {
			t.Run(fmt.Sprintf("%+v/%s", s, e), func(t *testing.T) {
				width := s.first + s.at // of a row of the first input, which begins at s.at
				var in []*layout.Tensor
				var data [][]byte
				tensor := func(n int) (*layout.Tensor, []float32) {
					x, v := kerneltest.Tensor(e, n), numbers(r, n)
					in, data = append(in, x), append(data, kerneltest.Stored(e, v))
					return x, v
				}
				x, xv := tensor(s.batch*width + s.at)
				w, wv := tensor(s.units * s.first)
				y, yv := tensor(s.batch * s.second)
				q, qv := tensor(s.units * s.second)
				bias, bv := tensor(s.units)
				peep, pv := tensor(s.units)
				cell, cv := tensor(s.batch * s.units)
				out := kerneltest.Tensor(layout.F32, s.batch*s.units)
				k := &recurrent.Sum{Batch: s.batch, Units: s.units, Bias: bias, Peephole: peep, Cell: cell, Act: recurrent.Linear, Clip: 1000,
					Terms: []recurrent.Term{
						{X: recurrent.Rows{T: x, At: s.at, Stride: width}, W: w, N: s.first},
						{X: recurrent.Rows{T: y, Stride: s.second}, W: q, N: s.second},
					}, Out: [2]recurrent.Rows{{T: out, Stride: s.units}}}
				c := kerneltest.Case{Kernel: k, Inputs: in, Data: data, Output: out}
				c.Compare(t, 1e-4, func(i int) float64 {
					b, u := i/s.units, i%s.units
					sum := float64(bv[u]) + float64(pv[u])*float64(cv[i])
					for n := range s.first {
						sum += float64(xv[b*width+s.at+n]) * float64(wv[u*s.first+n])
					}
					for n := range s.second {
						sum += float64(yv[b*s.second+n]) * float64(qv[u*s.second+n])
					}
					return sum
				})
			})
		}
	}
}
