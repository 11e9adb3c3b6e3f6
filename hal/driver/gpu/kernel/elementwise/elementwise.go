// Package elementwise computes functions of one or two tensors element by element, in
// float32 between conversions: lanes compute one or four consecutive elements of the
// output from the elements of the inputs at the same place, or at the place that
// broadcasting gives.
package elementwise

import (
	"math/bits"
	"strings"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Function is what is computed of each element, with its parameters.
type Function struct {
	Op     Op
	Lo, Hi float32 // bounds of Clamp, Quantize, and of the result of functions of two tensors
	Scale  float32 // of Quantize and Dequantize
	Zero   int32
	Table  uint32 // offset in the constants of the 256 bytes of Lookup
}

// Kernel is one computation. Function.Op tells how many inputs there are.
type Kernel struct {
	Function
	Axes layout.Axes // strides of the output, then of the inputs, in elements
	In   []*layout.Tensor
	Out  *layout.Tensor
}

// Key is what the code depends on.
type Key struct {
	Function
	Axes layout.Axes
	In   [2]layout.Place
	Out  layout.Place
}

// Name implements kernel.Key.
func (k Key) Name() string { return functions[k.Op].name }

// Pack implements kernel.Kernel.
func (k *Kernel) Pack(*kernel.Memory) kernel.Key { return k.key() }

func (k *Kernel) key() Key {
	key := Key{Function: k.Function, Axes: k.Axes, Out: k.Out.Place()}
	for i, t := range k.In {
		key.In[i] = t.Place()
	}
	return key
}

// width is the elements of a lane: four when every operand is dense or one element.
func (k *Key) width() int {
	if k.Axes.Len != 1 || k.Axes.Axis[0].N%4 != 0 || !k.Out.Elem.IsFloat() {
		return 1
	}
	for _, p := range k.inputs() {
		if !p.Elem.IsFloat() {
			return 1
		}
	}
	return 4
}

func (k *Key) inputs() []layout.Place { return k.In[:functions[k.Op].inputs] }

// Emit implements kernel.Key.
func (k Key) Emit(a *rdna.Builder) kernel.Grid {
	width, axes := k.width(), k.Axes.List()
	shift := []int{k.Out.Elem.Shift() + bits.TrailingZeros(uint(width))}
	for _, p := range k.inputs() {
		shift = append(shift, p.Elem.Shift()+bits.TrailingZeros(uint(width)))
	}
	lane := a.Lane(kernel.FlatGroup)
	offs := a.Offsets(lane, axes, shift)
	var x [][]codegen.Reg // per input, per element
	for i, p := range k.inputs() {
		base := a.Pointer(p.Region, p.Off, "in")
		if width == 4 && axes[0].Strides[i+1] != 0 {
			x = append(x, a.LoadFour(p.Elem, base, offs[i+1]))
			continue
		}
		v := a.WidenAny(p.Elem, a.Load(p.Elem, base, offs[i+1], 0, "x"))
		x = append(x, []codegen.Reg{v, v, v, v}[:width])
	}
	var y []codegen.Reg
	for j := range width {
		arg := make([]codegen.Reg, len(x))
		for i := range x {
			arg[i] = x[i][j]
		}
		y = append(y, functions[k.Op].emit(a, &k, arg))
	}
	base := a.Pointer(layout.Arena, k.Out.Off, "out")
	if width == 4 {
		a.StoreFour(k.Out.Elem, base, offs[0], y)
	} else {
		v := y[0]
		if k.Out.Elem.IsFloat() {
			v = a.Narrow(k.Out.Elem, v)
		}
		a.Store(k.Out.Elem, base, offs[0], v, 0)
	}
	return kernel.Flat(k.Axes.Size() / width)
}

// Work implements kernel.Kernel.
func (k *Kernel) Work() kernel.Work {
	key := k.key()
	w := kernel.Work{WriteBytes: int64(k.Out.Bytes()), Chain: 1}
	for _, t := range k.In {
		w.ReadBytes += int64(t.Bytes())
	}
	width := key.width()
	w.Waves = (k.Axes.Size()/width + 31) / 32
	w.Instructions = int64(w.Waves) * int64(8+width*functions[k.Op].cost+8*(k.Axes.Len-1)*len(k.In))
	w.Loads = int64(w.Waves) * int64(len(k.In))
	return w
}

// String is the name of a function.
func (o Op) String() string { return strings.ToUpper(functions[o].name) }

// clamped bounds the result of a function of two tensors.
func clamped(f func(a *rdna.Builder, x, y codegen.Reg) codegen.Reg) emitter {
	return func(a *rdna.Builder, k *Key, x []codegen.Reg) codegen.Reg {
		return a.Clamp(f(a, x[0], x[1]), k.Lo, k.Hi)
	}
}

// binary is an instruction of two sources.
func binary(op rdna2.Op) emitter {
	return clamped(func(a *rdna.Builder, x, y codegen.Reg) codegen.Reg { return a.Op2(op, a.V("y"), x, y) })
}

// unary is an instruction on x, and on a constant or x again when it has two sources.
func unary(op rdna2.Op, m rdna2.Mods, constant ...any) emitter {
	return func(a *rdna.Builder, _ *Key, x []codegen.Reg) codegen.Reg {
		d := a.V("y")
		args := []any{d, x[0]}
		if op.Form().NumOps == 3 {
			args = append(args, append(constant, x[0])[0])
		}
		m.With(a.Emit(op, args...))
		return d
	}
}
