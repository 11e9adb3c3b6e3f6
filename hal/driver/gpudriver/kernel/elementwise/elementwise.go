// Package elementwise computes functions of up to three tensors element by element, in
// float32 or int32 between loads and stores that convert: lanes compute one or four consecutive elements of the
// output from the elements of the inputs at the same place, or at the place that
// broadcasting gives.
package elementwise

import (
	"math/bits"

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
}

// width is the elements of a lane: four when every operand is dense or one element.
func (k *Kernel) width() int {
	if k.Axes.Len != 1 || k.Axes.Axis[0].N%4 != 0 {
		return 1
	}
	return 4
}

// Emit implements kernel.Kernel.
func (k *Kernel) Emit(a *rdna.Builder) kernel.Grid {
	width, axes := k.width(), k.Axes.List()
	shift := []int{k.Out.Elem.Shift() + bits.TrailingZeros(uint(width))}
	for _, p := range k.In {
		shift = append(shift, p.Elem.Shift()+bits.TrailingZeros(uint(width)))
	}
	lane := a.Lane(kernel.FlatGroup)
	offs := a.Offsets(lane, axes, shift)
	var x [][]codegen.Reg // per input, per element
	for i, p := range k.In {
		base := a.Pointer(p.Region, p.Off, "in")
		if width == 4 && axes[0].Strides[i+1] != 0 {
			x = append(x, a.LoadFour(p.Elem, base, offs[i+1]))
			continue
		}
		v := a.Widen(p.Elem, a.Load(p.Elem, base, offs[i+1], 0, "x"))
		x = append(x, []codegen.Reg{v, v, v, v}[:width])
	}
	var y []codegen.Reg
	for j := range width {
		arg := make([]codegen.Reg, len(x))
		for i := range x {
			arg[i] = x[i][j]
		}
		y = append(y, functions[k.Op](a, k, arg))
	}
	base := a.Pointer(layout.Arena, k.Out.Off, "out")
	if width == 4 {
		a.StoreFour(k.Out.Elem, base, offs[0], y)
	} else {
		a.Store(k.Out.Elem, base, offs[0], a.Narrow(k.Out.Elem, y[0]), 0)
	}
	return kernel.Flat(string(k.Op), k.Axes.Size()/width)
}

// HasCode reports whether a kernel computes the function.
func (o Op) HasCode() bool { return functions[o] != nil }
