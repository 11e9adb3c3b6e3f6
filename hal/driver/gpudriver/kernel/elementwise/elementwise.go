// Package elementwise computes functions of up to three tensors element by element, in
// float32 or int32 between loads and stores that convert: lanes compute one or four consecutive elements of the
// output from the elements of the inputs at the same place, or at the place that
// broadcasting gives. Other kernels compute such functions of their results, see Tail.
package elementwise

import (
	"math/bits"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// Function is what is computed of each element, with its parameters.
type Function struct {
	Op     Op
	Lo, Hi float32 // bounds of Clamp, Quantize, and of the result of functions of two tensors
	Scale  float32 // of Quantize and Dequantize
	Zero   int32
	Fixed  Fixed
	Table  uint32 // offset in the constants of the 256 bytes of Lookup
}

// Fixed is the arithmetic of quantized functions: zero points, multipliers of the terms
// and of the result, a left shift of the terms, and bounds of the result.
type Fixed struct {
	ZeroA, ZeroB, OutZero int32
	A, B, Out             fixedpoint.Multiplier
	Shift                 int
	Lo, Hi                int32
}

// Kernel is one computation. Function.Op determines the number of inputs.
type Kernel struct {
	Function
	Axes layout.Axes // strides of the output, then of the inputs, in elements
	In   []*layout.Tensor
	Out  *layout.Tensor
	Tail Tail
}

// width is the elements of a lane: four when every operand is dense or one element along the last axis, and fours of
// it begin at multiples of four.
func (k *Kernel) width() int {
	last := &k.Axes.Axis[k.Axes.Len-1]
	straddles := func(l Link) bool { return slices.ContainsFunc(l.Args, Arg.straddles) }
	if last.N%4 != 0 || slices.ContainsFunc(k.Tail, straddles) {
		return 1
	}
	for j := range 1 + len(k.In) {
		for _, x := range k.Axes.Axis[:k.Axes.Len-1] {
			if last.Strides[j] == 1 && x.Strides[j]%4 != 0 {
				return 1
			}
		}
		if last.Strides[j]>>1 != 0 {
			return 1
		}
	}
	return 4
}

// fours are the axes in units of four elements of the last one, where operands have such.
func (k *Kernel) fours() []layout.Axis {
	axes := k.Axes.List()
	last := &axes[len(axes)-1]
	for j := range 1 + len(k.In) {
		for i := range axes[:len(axes)-1] {
			if last.Strides[j] == 1 {
				axes[i].Strides[j] /= 4
			}
		}
	}
	last.N /= 4
	return axes
}

// Emit implements kernel.Kernel.
func (k *Kernel) Emit(a *rdna.Builder) kernel.Grid {
	width, axes := k.width(), k.Axes.List()
	last := axes[len(axes)-1].Strides
	if width == 4 {
		axes = k.fours()
	}
	shift := []int{k.Out.Elem.Shift() + bits.TrailingZeros(uint(width))}
	for i, p := range k.In {
		n := p.Elem.Shift()
		if last[i+1] == 1 {
			n += bits.TrailingZeros(uint(width))
		}
		shift = append(shift, n)
	}
	lane := a.Lane(kernel.FlatGroup)
	offs := a.Offsets(lane, axes, shift)
	var x [][]codegen.Reg // per input, per element
	known := map[Arg][]codegen.Reg{}
	for i, p := range k.In {
		base := a.Pointer(p.Region, p.Off, "in")
		if width == 4 && last[i+1] != 0 {
			x = append(x, a.LoadFour(p.Elem, base, offs[i+1]))
		} else {
			v := a.Widen(p.Elem, a.Load(p.Elem, base, offs[i+1], 0, "x"))
			x = append(x, []codegen.Reg{v, v, v, v}[:width])
		}
		if k.Axes.Same(i + 1) {
			known[Arg{Source: FromElements, Tensor: p}] = x[i]
		}
	}
	y := k.Tail.Emit(a, k.emit(a, width, x), Place{
		Element: func() codegen.Reg { return a.ShiftLeft(lane, bits.TrailingZeros(uint(width)), "element") },
		Channel: func(channels int) codegen.Reg {
			_, c := a.DivConstV(lane, channels/width, "channel")
			return a.ShiftLeft(c, bits.TrailingZeros(uint(width)), "channel")
		},
		Known: known,
	})
	base := a.Pointer(layout.Arena, k.Out.Off, "out")
	if width == 4 {
		a.StoreFour(k.Out.Elem, base, offs[0], y)
	} else {
		a.Store(k.Out.Elem, base, offs[0], a.Narrow(k.Out.Elem, y[0]), 0)
	}
	return kernel.Flat(string(k.Op), k.Axes.Size()/width)
}

// Result implements Host.
func (k *Kernel) Result() (t *layout.Tensor, channels int) { return k.Out, 0 }

// Following implements Host.
func (k *Kernel) Following() Tail { return k.Tail }

// Follow implements Host.
func (k *Kernel) Follow(more Tail, out *layout.Tensor) Host {
	own := *k
	own.Tail, own.Out = append(slices.Clone(k.Tail), more...), out
	return &own
}

// HasCode reports whether a kernel computes the function.
func (o Op) HasCode() bool { return functions[o] != nil }
