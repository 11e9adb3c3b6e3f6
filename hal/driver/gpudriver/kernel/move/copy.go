// Package move copies elements: strided copies that concatenate, pad and reorder
// tensors, zeros, and the gather of a convolution's input as a matrix.
package move

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
)

// Copy copies a block of elements between two dense or strided places. Lanes move
// units of 16, 4, 2 or 1 bytes.
type Copy struct {
	Axes        layout.Axes // strides of the source and of the destination, in elements
	InAt, OutAt int         // element at which the block begins
	In, Out     *layout.Tensor
}

// units is the bytes a lane moves, the axes in units with strides in bytes, and the
// element of the lowest address of the source.
func (k *Copy) units() (unit int, axes []layout.Axis, inAt int) {
	es := k.In.Elem.Bytes()
	axes = k.Axes.List()
	inAt = k.InAt
	for i := range axes {
		inAt += min(axes[i].Strides[0], 0) * (axes[i].N - 1)
		for j := range axes[i].Strides {
			axes[i].Strides[j] *= es
		}
	}
	last := &axes[len(axes)-1]
	if last.Strides[0] != es || last.Strides[1] != es {
		return es, axes, inAt
	}
	for _, u := range []int{16, 4, 2} {
		if u <= es || last.N*es%u != 0 || inAt*es%u != 0 || k.OutAt*es%u != 0 {
			continue
		}
		fits := true
		for _, x := range axes[:len(axes)-1] {
			fits = fits && x.Strides[0]%u == 0 && x.Strides[1]%u == 0
		}
		if fits {
			last.N = last.N * es / u
			last.Strides[0], last.Strides[1] = u, u
			return u, axes, inAt
		}
	}
	return es, axes, inAt
}

// Emit implements kernel.Kernel.
func (k *Copy) Emit(a *rdna.Builder) kernel.Grid {
	es := k.In.Elem.Bytes()
	unit, axes, inAt := k.units()
	n := 1
	for _, x := range axes {
		n *= x.N
	}
	offs := a.Offsets(a.Lane(kernel.FlatGroup), axes, []int{0, 0})
	src := a.Pointer(k.In.Region, k.In.Off+uint32(inAt*es), "in")
	dst := a.Pointer(layout.Arena, k.Out.Off+uint32(k.OutAt*es), "out")
	if unit == 16 {
		a.StoreQuad(layout.F32, dst, offs[1], a.LoadQuad(layout.F32, src, offs[0], 0))
	} else {
		e := map[int]layout.Element{4: layout.F32, 2: layout.F16, 1: layout.U8}[unit]
		x := a.Load(e, src, offs[0], 0, "unit")
		if lines := linesOf(axes); 64*lines > 32*unit+64 {
			a.Scattered(lines)
		}
		a.Store(e, dst, offs[1], x, 0)
	}
	return kernel.Flat("copy", n)
}

// linesOf is the cache lines of 64 bytes that the lanes of the first wave read.
func linesOf(axes []layout.Axis) int {
	seen := map[int]bool{}
	for lane := range 32 {
		at := 0
		for _, x := range slices.Backward(axes) {
			at += lane % x.N * x.Strides[0]
			lane /= x.N
		}
		seen[at>>6] = true
	}
	return len(seen)
}

// Fill writes one element everywhere, given by its bits.
type Fill struct {
	Value uint32
	Out   *layout.Tensor
}

// Emit implements kernel.Kernel.
func (k *Fill) Emit(a *rdna.Builder) kernel.Grid {
	off := a.ShiftLeft(a.Lane(kernel.FlatGroup), k.Out.Elem.Shift(), "offset")
	a.Store(k.Out.Elem, a.Pointer(layout.Arena, k.Out.Off, "out"), off, a.Constant(k.Value), 0)
	return kernel.Flat("fill", k.Out.N)
}
