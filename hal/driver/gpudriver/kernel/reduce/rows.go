// Package reduce folds tensors along axes: sums, extremes and their places, SOFTMAX, and
// normalizations.
package reduce

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// lanes is the number of lanes of a wave.
const lanes = 32

// Rows are the rows of [Outer][Depth][Inner], which lie along the depth.
type Rows struct {
	Outer, Depth, Inner int
	In, Out             *layout.Tensor
}

// rows is their number.
func (k *Rows) rows() int { return k.Outer * k.Inner }

// shared reports whether the lanes of a wave share a row; else each lane has a row of its own.
// Where the rows of neighbouring lanes lie side by side, they share only rows longer than
// there are rows.
func (k *Rows) shared() bool {
	return k.Depth >= lanes && (k.Inner < lanes || k.Depth > k.rows())
}

// walk goes along rows.
type walk struct {
	*rdna.Builder
	*Rows
	shared bool
	first  codegen.Reg // index of a lane's first element
}

// walk begins at the first elements of rows, which the lanes of a wave may share.
func (k *Rows) walk(a *rdna.Builder, shared bool) *walk {
	r := &walk{Builder: a, Rows: k, shared: shared}
	if shared {
		outer, in := a.DivConst(a.Workgroup(0), k.Inner, "outer")
		row := a.Op2(rdna2.S_ADD_I32, a.S("row"), a.MulConst(outer, k.Depth*k.Inner, "outer"), in)
		r.first = a.Sum(row, a.Times(a.Constant(k.Inner), a.WorkItem(0)))
		return r
	}
	outer, in := a.DivConstV(a.Lane(kernel.FlatGroup), k.Inner, "outer")
	r.first = a.Sum(a.Times(outer, k.Depth*k.Inner), in)
	return r
}

// each emits body for every element of the rows, with its index. Lanes that have no element
// are masked: see rdna.Builder.Masked.
func (r *walk) each(name string, body func(at codegen.Reg)) {
	at, n, step := r.Variable(r.first), r.Depth, r.Inner
	if r.shared {
		n, step = r.Depth/lanes, lanes*r.Inner
	}
	if n > 0 {
		r.For(n, name, func(codegen.Reg) {
			body(at)
			r.Increase(at, step)
		})
	}
	if rest := r.Depth % lanes; r.shared && rest > 0 {
		r.Masked(r.Inside(r.WorkItem(0), rest), func() { body(at) })
	}
}

// fold is the result of op over what the lanes of a row have.
func (r *walk) fold(op rdna2.Op, x codegen.Reg) codegen.Reg {
	if !r.shared {
		return x
	}
	return r.AcrossLanes(op, x)
}

// grid is the grid of the launch.
func (r *walk) grid(name string) kernel.Grid {
	if r.shared {
		return kernel.Waves(name, r.rows())
	}
	return kernel.Flat(name, r.rows())
}
