// Package reduce folds tensors along axes: sums, extremes and their places, SOFTMAX, and
// normalizations.
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

// SoftmaxShape is the size of a softmax: [Outer][Depth][Inner], along the depth.
type SoftmaxShape struct {
	Outer, Depth, Inner int
	Beta                float32
	Log                 bool // the logarithm of the result
}

// Softmax takes one wave per row, lanes along the depth in blocks of 32; three passes
// over the row: maximum, sum of exponentials, results.
type Softmax struct {
	SoftmaxShape
	In, Out *layout.Tensor
}

// Emit implements kernel.Kernel.
func (s *Softmax) Emit(a *rdna.Builder) kernel.Grid {
	x, out := s.In, s.Out
	es := x.Elem.Bytes()
	outer, inner := a.DivConst(a.Workgroup(0), s.Inner, "outer")
	first := a.Op2(rdna2.S_ADD_U32, a.S("first"), a.MulConst(outer, s.Depth*s.Inner, "outer offset"), inner)
	first = a.MulConst(first, es, "first offset")
	lane := a.V("lane offset")
	a.Emit(rdna2.V_MUL_LO_U32, lane, a.WorkItem(0), s.Inner*es)
	start := a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("start"), first, lane)
	src, dst := a.Pointer(x.Region, x.Off, "in"), a.Pointer(layout.Arena, out.Off, "out")
	off := a.V("offset")
	block := 32 * s.Inner * es
	pass := func(name string, body func()) {
		a.Emit(rdna2.V_MOV_B32_E32, off, start)
		if n := s.Depth / 32; n > 0 {
			a.Loop(n, name, func() {
				body()
				a.Emit(rdna2.V_ADD_NC_U32_E32, off, block, off)
			})
		}
		if rest := s.Depth % 32; rest != 0 {
			a.Emit(rdna2.V_CMPX_GT_U32_E32, rest, a.WorkItem(0))
			body()
			a.Emit(rdna2.S_MOV_B32, rdna2.EXECReg(), -1)
		}
	}
	value := func() codegen.Reg { return a.Widen(x.Elem, a.Load(x.Elem, src, off, 0, "x")) }

	top := a.Op1(rdna2.V_MOV_B32_E32, a.V("maximum"), float32(math.Inf(-1)))
	pass("maximum", func() { a.Emit(rdna2.V_MAX_F32_E32, top, top, value()) })
	top = a.AcrossLanes(rdna2.V_MAX_F32_E32, top)
	below := func(factor float64) codegen.Reg { // the maximum, scaled
		return a.MulF(float32(float64(s.Beta)*factor), a.SubF(value(), top))
	}
	exp := func() codegen.Reg { return a.Op1(rdna2.V_EXP_F32_E32, a.V("exp"), below(math.Log2E)) }
	sum := a.Op1(rdna2.V_MOV_B32_E32, a.V("sum"), 0)
	pass("sum", func() { a.Emit(rdna2.V_ADD_F32_E32, sum, sum, exp()) })
	sum = a.AcrossLanes(rdna2.V_ADD_F32_E32, sum)
	name, result := "softmax", func() codegen.Reg { return a.Divide(exp(), sum) }
	if s.Log {
		name = "log_softmax"
		log := a.MulF(float32(math.Ln2), a.Op1(rdna2.V_LOG_F32_E32, a.V("log2"), sum))
		result = func() codegen.Reg { return a.SubF(below(1), log) }
	}
	pass("result", func() { a.Store(out.Elem, dst, off, a.Narrow(out.Elem, result()), 0) })
	return kernel.Waves(name, s.Outer*s.Inner)
}

// QuantizedSoftmax is a softmax of 8-bit elements: exponentials of differences to the maximum
// come from a table.
type QuantizedSoftmax struct {
	Outer, Depth, Inner int
	Quant               quantized.Softmax
	In, Out             *layout.Tensor

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
	r := newRows(a, rowShape{s.Outer, s.Depth, s.Inner})
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
