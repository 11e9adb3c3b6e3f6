package reduce

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// lanes are those of a wave.
const lanes = 32

// rowShape is [Outer][Depth][Inner], whose rows lie along the depth.
type rowShape struct{ outer, depth, inner int }

// rows is their number.
func (s rowShape) rows() int { return s.outer * s.inner }

// shared reports whether the lanes of a wave share a row; else each lane has a row of its own.
// Where the rows of neighbouring lanes lie side by side, they share only rows longer than
// there are rows.
func (s rowShape) shared() bool {
	return s.depth >= lanes && (s.inner < lanes || s.depth > s.rows())
}

// rows walks along the rows of a shape.
type rows struct {
	*rdna.Builder
	rowShape
	first codegen.Reg // index of a lane's first element
}

func newRows(a *rdna.Builder, s rowShape) *rows {
	r := &rows{Builder: a, rowShape: s}
	if s.shared() {
		outer, in := a.DivConst(a.Workgroup(0), s.inner, "outer")
		row := a.Op2(rdna2.S_ADD_I32, a.S("row"), a.MulConst(outer, s.depth*s.inner, "outer"), in)
		r.first = a.Sum(row, a.Times(a.Constant(s.inner), a.WorkItem(0)))
		return r
	}
	outer, in := a.DivConstV(a.Lane(kernel.FlatGroup), s.inner, "outer")
	r.first = a.Sum(a.Times(outer, s.depth*s.inner), in)
	return r
}

// each emits body for every element of the rows, with its index. Lanes that have no element
// are masked: see rdna.Builder.Masked.
func (r *rows) each(name string, body func(at codegen.Reg)) {
	at := r.Variable(r.first)
	if !r.shared() {
		r.For(r.depth, name, func(codegen.Reg) {
			body(at)
			r.Increase(at, r.inner)
		})
		return
	}
	r.For(r.depth/lanes, name, func(codegen.Reg) {
		body(at)
		r.Increase(at, lanes*r.inner)
	})
	if rest := r.depth % lanes; rest > 0 {
		r.Masked(r.Inside(r.WorkItem(0), rest), func() { body(at) })
	}
}

// fold is the result of op over what the lanes of a row have.
func (r *rows) fold(op rdna2.Op, x codegen.Reg) codegen.Reg {
	if !r.shared() {
		return x
	}
	return r.AcrossLanes(op, x)
}

// grid is that of the launch.
func (r *rows) grid(name string) kernel.Grid {
	if r.shared() {
		return kernel.Waves(name, r.rows())
	}
	return kernel.Flat(name, r.rows())
}
