package recurrent_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/recurrent"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// fractionKernel is a function of every element.
type fractionKernel struct {
	in, out *layout.Tensor
	tanh    bool
	integer int
}

func (k *fractionKernel) Emit(a *rdna.Builder) kernel.Grid {
	f := map[bool]func(codegen.Reg, int) codegen.Reg{false: a.LogisticOfFraction, true: a.TanhOfFraction}[k.tanh]
	lane := a.Lane(kernel.FlatGroup)
	a.SetElement(k.out, lane, f(a.Element(k.in, lane), k.integer))
	return kernel.Flat("fraction", k.in.N)
}

// TestFractions: the functions of gates give what the definition gives for all 65,536 arguments,
// with as many integer bits as sums of gates (3) and states (0 to 4) have.
func TestFractions(t *testing.T) {
	var data []byte
	for x := range 1 << 16 {
		data = binary.LittleEndian.AppendUint16(data, uint16(x))
	}
	for _, tanh := range []bool{false, true} {
		for integer := range 5 {
			if !tanh && integer != 3 {
				continue
			}
			t.Run(fmt.Sprintf("tanh=%v/%d", tanh, integer), func(t *testing.T) {
				in, out := kerneltest.Tensor(layout.I16, 1<<16), kerneltest.Tensor(layout.I16, 1<<16)
				c := kerneltest.Case{Kernel: &fractionKernel{in, out, tanh, integer}, Inputs: []*layout.Tensor{in}, Data: [][]byte{data}, Output: out}
				c.Compare(t, 0, func(i int) float64 {
					if tanh {
						return float64(fixedpoint.Q15.Tanh(int32(int16(i)), integer))
					}
					return float64(fixedpoint.Q15.Logistic(int32(int16(i)), integer))
				})
			})
		}
	}
}

// TestFixedNorm: rows of sums of any spread, of extremes and of one value alone, against the
// definition in integers of 64 bits.
func TestFixedNorm(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 5))
	for _, units := range []int{1, 3, 64, 1000, 1025} {
		for _, spread := range []int{1, 40, 1 << 15} {
			t.Run(fmt.Sprintf("%d/%d", units, spread), func(t *testing.T) {
				const batch = 3
				shorts := func(n, spread, at int) (v []int32) {
					for range n {
						v = append(v, int32(at+r.IntN(2*spread)-spread))
					}
					return v
				}
				x, w := shorts(batch*units, spread, 0), shorts(units, 1<<15, 0)
				for u := range units { // the last row is all alike
					x[(batch-1)*units+u] = int32(spread) - 1
				}
				shift := shorts(units, 1<<20, 5)
				scale := fixedpoint.QuantizeMultiplier(1. / 9)
				in, weights, bias := kerneltest.Tensor(layout.I16, len(x)), kerneltest.Tensor(layout.I16, units), kerneltest.Tensor(layout.I32, units)
				out := kerneltest.Tensor(layout.I16, len(x))
				c := kerneltest.Case{Kernel: &recurrent.FixedNorm{Batch: batch, Units: units, Scale: scale, VarianceAtZero: 7, In: in, Weights: weights, Shift: bias, Out: out},
					Inputs: []*layout.Tensor{in, weights, bias},
					Data:   [][]byte{kerneltest.Integers(layout.I16, x), kerneltest.Integers(layout.I16, w), kerneltest.Integers(layout.I32, shift)}, Output: out}
				var want []int32
				for row := range slices.Chunk(x, units) {
					want = append(want, normalized(row, w, shift, scale, 7)...)
				}
				c.Compare(t, 0, func(i int) float64 { return float64(want[i]) })
			})
		}
	}
}

// normalized is the layer normalization of a row as NNAPI defines it.
func normalized(x, w, shift []int32, scale fixedpoint.Multiplier, least int32) (y []int32) {
	n, sum, squares := int64(len(x)), int64(0), int64(0)
	for _, v := range x {
		sum += int64(v)
		squares += int64(v) * int64(v)
	}
	mean := sum * 1024 / n
	variance := int32((squares*((1<<20)/n) - mean*mean) / (1 << 20))
	if variance < 1 {
		variance = least
	}
	inverse := fixedpoint.InverseSqrt(variance)
	for u, v := range x {
		s := int64(inverse.Apply(1024*v-int32(mean)))*int64(w[u]) + int64(shift[u])
		if s > 0 {
			s += 512
		} else {
			s -= 512
		}
		y = append(y, min(max(scale.Apply(int32(s/1024)), -1<<15), 1<<15-1))
	}
	return y
}

// TestFixedSum: a gate's sum of two terms with a peephole over more units than a work-group has
// lanes, and one whose second row of products begins inside a tensor; each term saturates.
func TestFixedSum(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 6))
	const batch, units, first, second = 3, 77, 29, 12
	var in []*layout.Tensor
	var data [][]byte
	tensor := func(e layout.Element, n int) (*layout.Tensor, []int32) {
		x, v := kerneltest.Tensor(e, n), make([]int32, n)
		lo, hi := e.Limits()
		for i := range v {
			v[i] = lo + int32(r.Int64N(int64(hi)-int64(lo)+1))
		}
		in, data = append(in, x), append(data, kerneltest.Integers(e, v))
		return x, v
	}
	x, xv := tensor(layout.I8, batch*first)
	w, wv := tensor(layout.I8, units*first)
	y, yv := tensor(layout.U8, batch*(second+5)) // products begin at element 5 of a row
	q, qv := tensor(layout.U8, units*second)
	bias, bv := tensor(layout.I16, units)
	peep, pv := tensor(layout.I16, units)
	cell, cv := tensor(layout.I16, batch*units)
	scales := [3]fixedpoint.Multiplier{fixedpoint.QuantizeMultiplier(0.11), fixedpoint.QuantizeMultiplier(1.7), fixedpoint.QuantizeMultiplier(1e-5)}
	out := kerneltest.Tensor(layout.I16, batch*units)
	k := &recurrent.FixedSum{Batch: batch, Units: units, Peephole: peep, Cell: cell, PeepholeScale: scales[2], Zero: 3, Lo: -1 << 15, Hi: 1<<15 - 1,
		Out: [2]recurrent.Rows{{T: out, Stride: units}}, Terms: []recurrent.FixedTerm{
			{Products: []recurrent.FixedProduct{{X: recurrent.Rows{T: x, Stride: first}, W: recurrent.Rows{T: w, Stride: first}, XZero: -7, N: first}}, Bias: bias, Scale: scales[0]},
			{Products: []recurrent.FixedProduct{{X: recurrent.Rows{T: y, At: 5, Stride: second + 5}, W: recurrent.Rows{T: q, Stride: second}, XZero: 128, WZero: 111, N: second}}, Scale: scales[1]},
		}}
	saturated := 0
	bound := func(v int32) int32 {
		if v != min(max(v, -1<<15), 1<<15-1) {
			saturated++
		}
		return min(max(v, -1<<15), 1<<15-1)
	}
	c := kerneltest.Case{Kernel: k, Inputs: in, Data: data, Output: out}
	c.Compare(t, 0, func(i int) float64 {
		b, u := i/units, i%units
		sum := bv[u]
		for n := range first {
			sum += (xv[b*first+n] + 7) * wv[u*first+n]
		}
		v := bound(3 + scales[0].Apply(sum))
		sum = 0
		for n := range second {
			sum += (yv[b*(second+5)+5+n] - 128) * (qv[u*second+n] - 111)
		}
		v = bound(v + scales[1].Apply(sum))
		return float64(bound(v + scales[2].Apply(pv[u]*cv[i])))
	})
	if saturated == 0 || saturated == batch*units {
		t.Errorf("%d of %d sums saturate", saturated, batch*units)
	}
}
