package reduce

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// Softmax is e^(Beta x) over its sum along rows, one wave per row. Three passes: maximum, sum of exponentials, results.
type Softmax struct {
	Rows
	Beta float32
	Log  bool // the logarithm of the result
}

// Emit implements kernel.Kernel.
func (k *Softmax) Emit(a *rdna.Builder) kernel.Grid {
	r := k.walk(a, true)
	top, sum := a.Variable(float32(math.Inf(-1))), a.Variable(0)
	r.each("maximum", func(at codegen.Reg) { a.Emit(rdna2.V_MAX_F32_E32, top, top, a.Element(k.In, at)) })
	top = r.fold(rdna2.V_MAX_F32_E32, top)
	below := func(at codegen.Reg, factor float64) codegen.Reg { // the maximum, scaled
		return a.MulF(float32(float64(k.Beta)*factor), a.SubF(a.Element(k.In, at), top))
	}
	exp := func(at codegen.Reg) codegen.Reg {
		return a.Op1(rdna2.V_EXP_F32_E32, a.V("exp"), below(at, math.Log2E))
	}
	r.each("sum", func(at codegen.Reg) { a.Emit(rdna2.V_ADD_F32_E32, sum, sum, exp(at)) })
	sum = r.fold(rdna2.V_ADD_F32_E32, sum)
	name, result := "softmax", func(at codegen.Reg) codegen.Reg { return a.Divide(exp(at), sum) }
	if k.Log {
		log := a.MulF(float32(math.Ln2), a.Op1(rdna2.V_LOG_F32_E32, a.V("log2"), sum))
		name, result = "log_softmax", func(at codegen.Reg) codegen.Reg { return a.SubF(below(at, 1), log) }
	}
	r.each("result", func(at codegen.Reg) { a.SetElement(k.Out, at, result(at)) })
	return r.grid(name)
}

// QuantizedSoftmax is a softmax of 8-bit elements: exponentials of differences to the maximum
// come from a table.
type QuantizedSoftmax struct {
	Rows
	Quant quantized.Softmax

	table uint32 // offset of the exponentials
}

// Pack implements kernel.Packer.
func (s *QuantizedSoftmax) Pack(m *kernel.Memory) kernel.Kernel {
	var table []uint32
	for _, e := range s.Quant.ExpTable() {
		table = append(table, uint32(e))
	}
	packed := *s
	packed.table = m.Consts.Words(table)
	return &packed
}

// Emit implements kernel.Kernel.
func (s *QuantizedSoftmax) Emit(a *rdna.Builder) kernel.Grid {
	r := s.walk(a, s.shared())
	lo, _ := s.In.Elem.Limits()
	top, sum := a.Variable(uint32(lo)), a.Variable(0)
	r.each("maximum", func(at codegen.Reg) { a.Set(top, a.Greatest(top, a.Element(s.In, at))) })
	top = r.fold(rdna2.V_MAX_I32_E32, top)
	exp := func(at codegen.Reg) codegen.Reg { return a.Word(s.table, a.Less(top, a.Element(s.In, at))) }
	r.each("sum", func(at codegen.Reg) { a.Increase(sum, a.RoundingShift(exp(at), 12)) })
	factor, shift := a.ReciprocalOfSum(r.fold(rdna2.V_ADD_NC_U32_E32, sum))
	shift = a.Sum(shift, 31-8)
	tiny := a.Where(rdna2.V_CMP_LT_I32_E64, 31, shift) // no bit of the result is left
	factor, shift = a.Choose(factor, 0, tiny), a.Choose(shift, 0, tiny)
	r.each("result", func(at codegen.Reg) {
		y := a.RoundingShiftLanes(a.DoublingHigh(exp(at), factor), shift)
		a.SetElement(s.Out, at, a.Saturate(y, s.Quant.Lo, s.Quant.Lo, s.Quant.Hi))
	})
	return r.grid("softmax_q")
}

// L2Norm divides rows by their length. Integers do so as the reference: by
// fixedpoint.InverseSqrt, results in 1/128.
type L2Norm struct {
	Rows
	Zero int32 // of integers
}

// minNorm is the least norm of rows of floats: shorter ones are divided by it.
const minNorm = 1e-6

// Emit implements kernel.Kernel.
func (k *L2Norm) Emit(a *rdna.Builder) kernel.Grid {
	r := k.walk(a, k.shared())
	sum := a.Variable(0)
	if k.In.Elem.IsFloat() {
		r.each("sum", func(at codegen.Reg) {
			x := a.Element(k.In, at)
			a.Set(sum, a.AddF(sum, a.MulF(x, x)))
		})
		norm := a.Extreme(rdna2.V_MAX_F32_E32, a.Constant(float32(minNorm)), a.Op1(rdna2.V_SQRT_F32_E32, a.V("root"), r.fold(rdna2.V_ADD_F32_E32, sum)))
		r.each("result", func(at codegen.Reg) { a.SetElement(k.Out, at, a.Divide(a.Element(k.In, at), norm)) })
		return r.grid("l2_norm")
	}
	r.each("sum", func(at codegen.Reg) {
		x := a.Centre(a.Element(k.In, at), k.Zero)
		a.Emit(rdna2.V_MAD_I32_I24, sum, x, x, sum)
	})
	factor, shift := a.InverseSqrt(r.fold(rdna2.V_ADD_NC_U32_E32, sum))
	lo, hi := k.Out.Elem.Limits()
	r.each("result", func(at codegen.Reg) {
		x := a.ShiftLeft(a.Centre(a.Element(k.In, at), k.Zero), 7, "x")
		a.SetElement(k.Out, at, a.Saturate(a.RoundingShiftLanes(a.DoublingHigh(x, factor), shift), lo+128, lo, hi))
	})
	return r.grid("l2_norm")
}

// LocalResponse is x * (Bias + Alpha * sum of squares of the window)^-Beta, the window Radius on both sides along
// rows. Lanes are elements.
type LocalResponse struct {
	Rows
	Radius            int
	Bias, Alpha, Beta float32
}

// Emit implements kernel.Kernel.
func (k *LocalResponse) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	_, rest := a.DivConstV(lane, k.Depth*k.Inner, "outer")
	d, _ := a.DivConstV(rest, k.Inner, "depth")
	sum := a.Variable(0)
	at, depth := a.Variable(a.Less(lane, k.Radius*k.Inner)), a.Variable(a.Less(d, k.Radius))
	a.For(2*k.Radius+1, "window", func(codegen.Reg) {
		inside := a.Inside(depth, k.Depth)
		x := a.Choose(0, a.Element(k.In, a.Choose(lane, at, inside)), inside)
		a.Emit(rdna2.V_FMAC_F32_E32, sum, x, x)
		a.Increase(at, k.Inner)
		a.Increase(depth, 1)
	})
	scale := a.Op3(rdna2.V_FMA_F32, a.V("scale"), a.Constant(k.Alpha), sum, a.Constant(k.Bias))
	a.SetElement(k.Out, lane, a.MulF(a.Element(k.In, lane), a.Exp2(a.TimesLog2(a.Constant(-k.Beta), scale))))
	return kernel.Flat("local_response_norm", k.Outer*k.Depth*k.Inner)
}

// Norm normalizes rows to a mean of Beta and a standard deviation of Gamma, as INSTANCE_NORMALIZATION does. Layer
// normalization then multiplies each element by Scale and adds Shift, at its index in the row.
type Norm struct {
	Rows
	Gamma, Beta, Epsilon float32
	Scale, Shift         *layout.Tensor // [Depth] with an Inner of 1, else nil
}

// Emit implements kernel.Kernel.
func (k *Norm) Emit(a *rdna.Builder) kernel.Grid {
	r := k.walk(a, k.shared() || k.Scale != nil) // layer normalization has few rows
	count := a.Constant(float32(k.Depth))
	sum, squares := a.Variable(0), a.Variable(0)
	r.each("mean", func(at codegen.Reg) { a.Set(sum, a.AddF(sum, a.Element(k.In, at))) })
	mean := a.Divide(r.fold(rdna2.V_ADD_F32_E32, sum), count)
	r.each("variance", func(at codegen.Reg) {
		d := a.SubF(a.Element(k.In, at), mean)
		a.Emit(rdna2.V_FMAC_F32_E32, squares, d, d)
	})
	deviation := a.Op1(rdna2.V_SQRT_F32_E32, a.V("deviation"), a.AddF(a.Divide(r.fold(rdna2.V_ADD_F32_E32, squares), count), k.Epsilon))
	scale := a.Divide(a.Constant(k.Gamma), deviation)
	name := "instance_norm"
	if k.Scale != nil {
		name = "layer_norm"
	}
	r.each("result", func(at codegen.Reg) {
		d := a.SubF(a.Element(k.In, at), mean)
		y := a.Op3(rdna2.V_FMA_F32, a.V("y"), d, scale, a.Constant(k.Beta))
		if k.Scale != nil {
			_, i := a.DivConstV(at, k.Depth, "row")
			y = a.AddF(a.MulF(y, a.Element(k.Scale, i)), a.Element(k.Shift, i))
		}
		a.SetElement(k.Out, at, y)
	})
	return r.grid(name)
}
