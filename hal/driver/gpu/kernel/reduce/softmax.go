// Package reduce folds tensors along axes: SOFTMAX and MEAN.
package reduce

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// SoftmaxShape is the size of a softmax: [Outer][Depth][Inner], along the depth.
type SoftmaxShape struct {
	Outer, Depth, Inner int
	Beta                float32
}

// Softmax takes one wave per row, lanes along the depth in blocks of 32; three passes
// over the row: maximum, sum of exponentials, results.
type Softmax struct {
	SoftmaxShape
	In, Out *layout.Tensor
}

// SoftmaxKey is what the code depends on.
type SoftmaxKey struct {
	SoftmaxShape
	In, Out layout.Place
}

// Name implements kernel.Key.
func (SoftmaxKey) Name() string { return "softmax" }

// Pack implements kernel.Kernel.
func (s *Softmax) Pack(*kernel.Memory) kernel.Key {
	return SoftmaxKey{s.SoftmaxShape, s.In.Place(), s.Out.Place()}
}

// Work implements kernel.Kernel.
func (s *Softmax) Work() kernel.Work {
	waves, blocks := s.Outer*s.Inner, (s.Depth+31)/32
	return kernel.Work{
		Waves: waves, Instructions: int64(waves) * int64(60+40*blocks), Loads: int64(waves) * int64(3*blocks),
		ReadBytes: int64(s.In.Bytes()), WriteBytes: int64(s.Out.Bytes()), Chain: 3 * blocks,
	}
}

// Emit implements kernel.Key.
func (s SoftmaxKey) Emit(a *rdna.Builder) kernel.Grid {
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
	exp := func() codegen.Reg {
		d := a.Op2(rdna2.V_SUB_F32_E32, a.V("difference"), value(), top)
		d = a.Op2(rdna2.V_MUL_F32_E32, a.V("scaled"), float32(float64(s.Beta)*math.Log2E), d)
		return a.Op1(rdna2.V_EXP_F32_E32, a.V("exp"), d)
	}
	sum := a.Op1(rdna2.V_MOV_B32_E32, a.V("sum"), 0)
	pass("sum", func() { a.Emit(rdna2.V_ADD_F32_E32, sum, sum, exp()) })
	sum = a.AcrossLanes(rdna2.V_ADD_F32_E32, sum)
	pass("result", func() {
		a.Store(out.Elem, dst, off, a.Narrow(out.Elem, a.Divide(exp(), sum)), 0)
	})
	return kernel.Grid{Lanes: [3]int{32 * s.Outer * s.Inner, 1, 1}, Workgroup: 32}
}
