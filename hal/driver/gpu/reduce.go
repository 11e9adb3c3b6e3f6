package gpu

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// softmax lowers SOFTMAX: one wave per row, lanes along the depth in blocks of
// 32; three passes over the row: maximum, sum of exponentials, results.
func (l *lowering) softmax(op *nn.Operation) error {
	s, err := l.view.Softmax(op)
	if err != nil {
		return err
	}
	if _, err := l.elementOf(s.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	x, out, err := l.pair(s.Input, s.Output)
	if err != nil {
		return err
	}
	l.add([]*tensor{x}, []*tensor{out}, func(l *lowering) (*launch, error) { return emitSoftmax(l, &s, x, out) })
	return nil
}

func emitSoftmax(l *lowering, s *opspec.Softmax, x, out *tensor) (*launch, error) {
	a := l.newAsm("softmax")
	es := x.elem.bytes()
	outer, inner := a.divConst(a.Workgroup(0), s.Inner, "outer")
	first := a.op2(rdna2.S_ADD_U32, a.s("first"), a.mulConst(outer, s.Depth*s.Inner, "outer offset"), inner)
	first = a.mulConst(first, es, "first offset")
	lane := a.v("lane offset")
	a.Emit(rdna2.V_MUL_LO_U32, lane, a.WorkItem(0), s.Inner*es)
	start := a.op2(rdna2.V_ADD_NC_U32_E32, a.v("start"), first, lane)
	src, dst := a.pointer(x.region, x.off, "in"), a.pointer(arena, out.off, "out")
	off := a.v("offset")
	block := 32 * s.Inner * es
	pass := func(name string, body func()) {
		a.Emit(rdna2.V_MOV_B32_E32, off, start)
		if n := s.Depth / 32; n > 0 {
			a.loop(n, name, func() {
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
	value := func() codegen.Reg { return a.widen(x.elem, a.load(x.elem, src, off, 0, "x")) }

	top := a.op1(rdna2.V_MOV_B32_E32, a.v("maximum"), float32(math.Inf(-1)))
	pass("maximum", func() { a.Emit(rdna2.V_MAX_F32_E32, top, top, value()) })
	top = a.acrossLanes(rdna2.V_MAX_F32_E32, top)
	exp := func() codegen.Reg {
		d := a.op2(rdna2.V_SUB_F32_E32, a.v("difference"), value(), top)
		d = a.op2(rdna2.V_MUL_F32_E32, a.v("scaled"), float32(float64(s.Beta)*math.Log2E), d)
		return a.op1(rdna2.V_EXP_F32_E32, a.v("exp"), d)
	}
	sum := a.op1(rdna2.V_MOV_B32_E32, a.v("sum"), 0)
	pass("sum", func() { a.Emit(rdna2.V_ADD_F32_E32, sum, sum, exp()) })
	sum = a.acrossLanes(rdna2.V_ADD_F32_E32, sum)
	pass("result", func() {
		a.store(out.elem, dst, off, a.narrow(out.elem, a.divide(exp(), sum)), 0)
	})
	return a.finish(32*s.Outer*s.Inner, 1, 1, 32)
}

// acrossLanes folds x over all 32 lanes: within rows of 16 by exchanging lanes
// whose numbers differ in one bit, then between the rows.
func (a *asm) acrossLanes(op rdna2.Op, x codegen.Reg) codegen.Reg {
	for _, bit := range []int{1, 2, 4, 8} {
		y := a.op1(rdna2.V_MOV_B32_E32, a.v("other"), x)
		rdna2.Mods{DPPCtrl: uint16(0x160 + bit), Rows: 15, Banks: 15}.With(a.Emit(rdna2.V_MOV_B32_DPP, y, x))
		x = a.op2(op, a.v("folded"), x, y)
	}
	low := a.op1(rdna2.S_MOV_B32, a.s("lanes"), uint32(0x76543210))
	high := a.op1(rdna2.S_MOV_B32, a.s("lanes"), uint32(0xfedcba98))
	y := a.op1(rdna2.V_MOV_B32_E32, a.v("other row"), x)
	a.Emit(rdna2.V_PERMLANEX16_B32, y, x, low, high)
	return a.op2(op, a.v("folded"), x, y)
}

// mean lowers MEAN: lanes are results, each adds its elements one by one.
func (l *lowering) mean(op *nn.Operation) error {
	m, err := l.view.Mean(op)
	if err != nil {
		return err
	}
	if _, err := l.elementOf(m.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	x, out, err := l.pair(m.Input, m.Output)
	if err != nil {
		return err
	}
	l.add([]*tensor{x}, []*tensor{out}, func(l *lowering) (*launch, error) { return emitMean(l, &m, x, out) })
	return nil
}

func emitMean(l *lowering, m *opspec.Mean, x, out *tensor) (*launch, error) {
	a := l.newAsm("mean")
	dims := ints(m.In)
	strides := dense(dims)
	var kept, keptS, gone, goneS []int
	for i, d := range dims {
		if m.Reduce[i] {
			gone, goneS = append(gone, d), append(goneS, strides[i])
		} else {
			kept, keptS = append(kept, d), append(keptS, strides[i])
		}
	}
	lane := a.lane(flatGroup)
	off := a.v("offset")
	a.Emit(rdna2.V_MOV_B32_E32, off, a.offsets(lane, collapse(kept, [][]int{keptS}), []int{x.elem.shift()})[0])
	src := a.pointer(x.region, x.off, "in")
	sum := a.op1(rdna2.V_MOV_B32_E32, a.v("sum"), 0)
	es := x.elem.bytes()
	axes := collapse(gone, [][]int{goneS})
	var nest func(i int)
	nest = func(i int) {
		if i == len(axes) {
			a.Emit(rdna2.V_ADD_F32_E32, sum, sum, a.widen(x.elem, a.load(x.elem, src, off, 0, "x")))
			return
		}
		step := axes[i].strides[0] * es
		a.loop(axes[i].n, "axis", func() {
			nest(i + 1)
			a.Emit(rdna2.V_ADD_NC_U32_E32, off, step, off)
		})
		a.Emit(rdna2.V_SUBREV_NC_U32_E32, off, step*axes[i].n, off)
	}
	nest(0)
	y := a.divide(sum, a.op1(rdna2.V_MOV_B32_E32, a.v("count"), float32(m.Count)))
	a.store(out.elem, a.pointer(arena, out.off, "out"), a.shiftLeft(lane, out.elem.shift(), "out offset"), a.narrow(out.elem, y), 0)
	return a.finish(product(kept), 1, 1, flatGroup)
}
