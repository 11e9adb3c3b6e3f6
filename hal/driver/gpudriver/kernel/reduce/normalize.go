package reduce

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// L2NormShape is the size of an L2 normalization: [Outer][Depth][Inner], along the depth.
type L2NormShape struct {
	Outer, Depth, Inner int
	Zero                int32 // of integers
}

// L2Norm divides rows by their length. Integers do so as the reference: by
// fixedpoint.InverseSqrt, results in 1/128.
type L2Norm struct {
	L2NormShape
	In, Out *layout.Tensor
}

// minNorm is what shorter rows of floats are taken for.
const minNorm = 1e-6

// Emit implements kernel.Kernel.
func (k *L2Norm) Emit(a *rdna.Builder) kernel.Grid {
	r := newRows(a, rowShape{k.Outer, k.Depth, k.Inner})
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

// LocalResponseShape is the size of a local response normalization: [Outer][Depth][Inner],
// windows of Radius on both sides along the depth.
type LocalResponseShape struct {
	Outer, Depth, Inner int
	Radius              int
	Bias, Alpha, Beta   float32
}

// LocalResponse is x * (Bias + Alpha * sum of squares of the window)^-Beta. Lanes are elements.
type LocalResponse struct {
	LocalResponseShape
	In, Out *layout.Tensor
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

// InstanceNormShape is the size of an instance normalization: [Outer][Depth][Inner], along
// the depth.
type InstanceNormShape struct {
	Outer, Depth, Inner  int
	Gamma, Beta, Epsilon float32
}

// InstanceNorm brings rows to a mean of Beta and a deviation of Gamma.
type InstanceNorm struct {
	InstanceNormShape
	In, Out *layout.Tensor
}

// Emit implements kernel.Kernel.
func (k *InstanceNorm) Emit(a *rdna.Builder) kernel.Grid {
	r := newRows(a, rowShape{k.Outer, k.Depth, k.Inner})
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
	r.each("result", func(at codegen.Reg) {
		d := a.SubF(a.Element(k.In, at), mean)
		a.SetElement(k.Out, at, a.Op3(rdna2.V_FMA_F32, a.V("y"), d, scale, a.Constant(k.Beta)))
	})
	return r.grid("instance_norm")
}
