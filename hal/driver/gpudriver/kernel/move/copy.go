// Package move copies elements: strided copies that concatenate, pad and reorder
// tensors, zeros, and the gather of a convolution's input as a matrix.
package move

import (
	"math/bits"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
)

// Copy copies a block of elements between two dense or strided places. Lanes move units of 16, 8, 4, 2 or 1 bytes. Where
// elements lie side by side in both places and the units do not divide a run of them, its last unit overlaps the one
// before: runs of 65 bytes are moved by five lanes, at 0, 16, 32, 48 and 49. The machine takes addresses that
// are not multiples of what is moved.
type Copy struct {
	Axes        layout.Axes // strides of the source and of the destination, in elements
	InAt, OutAt int         // element at which the block begins
	In, Out     *layout.Tensor
}

// units is a block in units of bytes.
type units struct {
	bytes int           // of a unit
	run   int           // bytes of a run along the last axis
	axes  []layout.Axis // strides in bytes; along the last axis the units of a run
	inAt  int           // element of the lowest address of the source
}

// overlap reports whether the last unit of a run overlaps the one before.
func (u *units) overlap() bool { return u.run%u.bytes != 0 }

// unitBytes are the bytes that a lane can move.
var unitBytes = []int{2, 4, 8, 16}

// units chooses the unit: of the fewest that move a run, the smallest.
func (k *Copy) units() units {
	es := k.In.Elem.Bytes()
	u := units{bytes: es, axes: k.Axes.List(), inAt: k.InAt}
	for i := range u.axes {
		u.inAt += min(u.axes[i].Strides[0], 0) * (u.axes[i].N - 1)
		for j := range u.axes[i].Strides {
			u.axes[i].Strides[j] *= es
		}
	}
	last := &u.axes[len(u.axes)-1]
	u.run = last.N * es
	if last.Strides[0] != es || last.Strides[1] != es {
		return u
	}
	for _, n := range unitBytes {
		if n <= u.run && kernel.Up(u.run, n) < kernel.Up(u.run, u.bytes) {
			u.bytes = n
		}
	}
	last.N = kernel.Up(u.run, u.bytes)
	last.Strides[0], last.Strides[1] = u.bytes, u.bytes
	return u
}

// offsets computes where a lane reads in the source and writes in the destination.
func (u *units) offsets(a *rdna.Builder) []codegen.Reg {
	lane := a.Lane(kernel.FlatGroup)
	if !u.overlap() {
		return a.Offsets(lane, u.axes, []int{0, 0})
	}
	last := len(u.axes) - 1
	run, unit := a.DivConstV(lane, u.axes[last].N, "run")
	at := a.Least(a.ShiftLeft(unit, bits.TrailingZeros(uint(u.bytes)), "bytes"), u.run-u.bytes)
	if last == 0 {
		return []codegen.Reg{at, at}
	}
	offs := a.Offsets(run, u.axes[:last], []int{0, 0})
	return []codegen.Reg{a.Sum(offs[0], at), a.Sum(offs[1], at)}
}

// Emit implements kernel.Kernel.
func (k *Copy) Emit(a *rdna.Builder) kernel.Grid {
	es := k.In.Elem.Bytes()
	u := k.units()
	n := 1
	for _, x := range u.axes {
		n *= x.N
	}
	offs := u.offsets(a)
	src := a.Pointer(k.In.Region, k.In.Off+uint32(u.inAt*es), "in")
	dst := a.Pointer(layout.Arena, k.Out.Off+uint32(k.OutAt*es), "out")
	if four, ok := map[int]layout.Element{16: layout.F32, 8: layout.F16}[u.bytes]; ok {
		a.StoreQuad(four, dst, offs[1], a.LoadQuad(four, src, offs[0], 0))
	} else {
		e := map[int]layout.Element{4: layout.F32, 2: layout.F16, 1: layout.U8}[u.bytes]
		x := a.Load(e, src, offs[0], 0, "unit")
		if lines := linesOf(u.axes); 64*lines > 32*u.bytes+64 {
			a.Scattered(lines)
		}
		a.Store(e, dst, offs[1], x, 0)
	}
	if u.overlap() {
		a.Distinct(u.run, u.axes[len(u.axes)-1].N*u.bytes)
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
