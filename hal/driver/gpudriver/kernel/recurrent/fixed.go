package recurrent

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// FixedProduct is the products of N elements of rows of bytes with those of rows of weights,
// zero points subtracted.
type FixedProduct struct {
	X, W         Rows // a row for each element of the batch; for each unit
	XZero, WZero int32
	N            int
}

// FixedTerm is a rescaled sum of products.
type FixedTerm struct {
	Products []FixedProduct
	Bias     *layout.Tensor // may be nil
	Scale    fixedpoint.Multiplier
}

// FixedSum is the integer sum of a gate or a projection. The sum is clamped after the addition of
// each term:
//
//	y = clamp(y + scale(bias[u] + sum over products, n of (x[b][n] - xzero) * (w[u][n] - wzero)))
//
// from y = Zero on; last the cell state times a peephole weight in the same way. Lanes are
// units of a batch.
type FixedSum struct {
	Batch, Units   int
	Terms          []FixedTerm
	Peephole, Cell *layout.Tensor // nil where there is none
	PeepholeScale  fixedpoint.Multiplier
	Zero, Lo, Hi   int32
	Out            [2]Rows // the second may have no tensor
}

// Emit implements kernel.Kernel.
func (k *FixedSum) Emit(a *rdna.Builder) kernel.Grid {
	b, u := a.DivConstV(a.Lane(kernel.FlatGroup), k.Units, "batch")
	y := a.Constant(uint32(k.Zero))
	add := func(x codegen.Reg, by fixedpoint.Multiplier) {
		y = a.Saturate(a.Sum(y, a.Rescale(x, by)), 0, k.Lo, k.Hi)
	}
	for _, t := range k.Terms {
		if t.Products[0].N > 0 {
			add(t.sum(a, b, u), t.Scale)
		}
	}
	if k.Peephole != nil {
		add(a.Times(a.Element(k.Peephole, u), a.Element(k.Cell, Rows{k.Cell, 0, k.Units}.index(a, b, u))), k.PeepholeScale)
	}
	store(a, k.Out, b, u, y)
	return kernel.Flat("cell_fixed_sum", k.Batch*k.Units)
}

// sum is the bias and the products of a term.
func (t *FixedTerm) sum(a *rdna.Builder, b, u codegen.Reg) codegen.Reg {
	sum := a.Variable(0)
	if t.Bias != nil {
		a.Set(sum, a.Element(t.Bias, u))
	}
	for _, p := range t.Products {
		if p.N == 0 {
			continue
		}
		x, w := a.Variable(p.X.index(a, b, a.Constant(0))), a.Variable(p.W.index(a, u, a.Constant(0)))
		a.For(p.N, "product", func(codegen.Reg) {
			value, weight := a.Centre(a.Element(p.X.T, x), p.XZero), a.Centre(a.Element(p.W.T, w), p.WZero)
			a.Emit(rdna2.V_MAD_I32_I24, sum, value, weight, sum)
			a.Increase(x, 1)
			a.Increase(w, 1)
		})
	}
	return sum
}

// FixedCell is the state of fixed-point cells from the sums of their gates, which have 3
// integer bits. Without an input gate its value is 1 minus the forget gate.
type FixedCell struct {
	N                     int
	Forget, In, Gate, Old *layout.Tensor
	Out                   *layout.Tensor
	Shift                 int   // logarithm of the scale of the state, -15 to -11
	RoundProducts         bool  // to 16 bits before they are rescaled and added, as QUANTIZED_16BIT_LSTM does
	Clip                  int32 // of both signs; 0 is none
}

// gateInteger are the integer bits of the sums of gates.
const gateInteger = 3

// Emit implements kernel.Kernel.
func (k *FixedCell) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	forget := a.LogisticOfFraction(a.Element(k.Forget, lane), gateInteger)
	admit := a.Less(1<<15-1, forget)
	if k.In != nil {
		admit = a.LogisticOfFraction(a.Element(k.In, lane), gateInteger)
	}
	update, old := a.TanhOfFraction(a.Element(k.Gate, lane), gateInteger), a.Element(k.Old, lane)
	var c codegen.Reg
	if k.RoundProducts {
		c = a.Sum(a.RoundingShift(a.ProductOfFractions(admit, update), 15+k.Shift), a.ProductOfFractions(forget, old))
	} else {
		c = a.Sum(a.RoundingShift(a.Times(forget, old), 15), a.RoundingShift(a.Times(admit, update), 30+k.Shift))
	}
	c = a.Saturate(c, 0, -1<<15, 1<<15-1)
	if k.Clip > 0 {
		c = a.Saturate(c, 0, -k.Clip, k.Clip)
	}
	a.SetElement(k.Out, lane, c)
	return kernel.Flat("cell_fixed_state", k.N)
}

// FixedHidden is the output of fixed-point cells: the hyperbolic tangent of the state times the
// output gate. Shift and RoundProducts are what FixedCell calls so. Scale and Zero are the
// quantization of the output; with RoundProducts it is 1/128 and 128.
type FixedHidden struct {
	Batch, Units  int
	Gate, Cell    *layout.Tensor
	Shift         int
	RoundProducts bool
	Scale         fixedpoint.Multiplier
	Zero          int32
	Out           [2]Rows // the second may have no tensor
}

// Emit implements kernel.Kernel.
func (k *FixedHidden) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	b, u := a.DivConstV(lane, k.Units, "batch")
	open, c := a.LogisticOfFraction(a.Element(k.Gate, lane), gateInteger), a.TanhOfFraction(a.Element(k.Cell, lane), 15+k.Shift)
	var h codegen.Reg
	if k.RoundProducts {
		h = a.Saturate(a.RoundingShift(a.ProductOfFractions(open, c), 8), 128, 0, 255)
	} else {
		h = a.Saturate(a.Rescale(a.Times(open, c), k.Scale), k.Zero, -128, 127)
	}
	store(a, k.Out, b, u, h)
	return kernel.Flat("cell_fixed_hidden", k.Batch*k.Units)
}

// FixedNorm is the layer normalization of a gate's sums: rows of 16-bit integers brought to a
// mean of 0 and a deviation of 1 with 10 more bits, scaled and shifted. Lanes are rows.
type FixedNorm struct {
	Batch, Units            int
	Scale                   fixedpoint.Multiplier
	VarianceAtZero          int32
	In, Weights, Shift, Out *layout.Tensor
}

// MaxFixedNorm bounds the elements of a row, whose mean is 26 bits long.
const MaxFixedNorm = 1 << 16

// Emit implements kernel.Kernel.
func (k *FixedNorm) Emit(a *rdna.Builder) kernel.Grid {
	const guard = 1 << 20
	first := a.Times(a.Lane(kernel.FlatGroup), k.Units)
	sum, squares := a.Variable(0), a.WideConstant(0)
	a.For(k.Units, "moments", func(i codegen.Reg) {
		x := a.Element(k.In, a.Sum(first, i))
		a.Increase(sum, x)
		a.AddProduct(squares, x, x)
	})
	// sum*1024/n, whose numerator may be longer than a word: whole parts first.
	whole := a.TruncatingDivide(sum, k.Units)
	rest := a.Less(sum, a.Times(whole, k.Units))
	mean := a.Sum(a.ShiftLeft(whole, 10, "whole"), a.TruncatingDivide(a.ShiftLeft(rest, 10, "rest"), k.Units))
	deviation := a.WideTimes(squares, a.WideConstant(uint64(guard/k.Units)))
	a.AddProduct(deviation, mean, a.Less(0, mean))
	variance := a.WideShiftRight(a.WidePositive(deviation), 20)
	variance = a.Choose(variance, a.Constant(k.VarianceAtZero), a.Where(rdna2.V_CMP_GT_I32_E64, 1, variance))
	factor, shift := a.InverseSqrt(variance)
	a.For(k.Units, "result", func(i codegen.Reg) {
		at, u := a.Sum(first, i), a.Constant(i)
		x := a.Less(a.ShiftLeft(a.Element(k.In, at), 10, "x"), mean)
		y := a.Wide(a.Element(k.Shift, u))
		a.AddProduct(y, a.RoundingShiftLanes(a.DoublingHigh(x, factor), shift), a.Element(k.Weights, u))
		half := a.Sum(a.Op2(rdna2.V_ASHRREV_I32_E32, a.V("negative"), 31, rdna.At(y, 1)), 512)
		a.AddProduct(y, half, 1)
		a.SetElement(k.Out, at, a.Saturate(a.Rescale(a.WideShiftRight(y, 10), k.Scale), 0, -1<<15, 1<<15-1))
	})
	return kernel.Flat("cell_fixed_norm", k.Batch)
}
