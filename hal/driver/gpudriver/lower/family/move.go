package family

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/move"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
	"github.com/x448/float16"
)

// block is a block of elements in a source and a destination, strides in elements.
type block struct {
	dims, from, to []int
	inAt, outAt    int // element at which it begins
}

// addCopy adds a copy of a block.
func addCopy(l *lower.Lowering, in, out *layout.Tensor, b block) {
	axes := try.V(layout.Collapse(b.dims, b.from, b.to))
	l.Launch(&move.Copy{Axes: axes, InAt: b.inAt, OutAt: b.outAt, In: in, Out: out}, out)
}

// lowerReshape lowers RESHAPE, SQUEEZE and EXPAND_DIMS.
func lowerReshape(l *lower.Lowering, _ *nn.Operation, c opspec.Copy) {
	if x, out := try.V2(l.Pair(c.Input, c.Output)); x != out { // else they share their storage, where that has no effect
		copyAll(l, x, out)
	}
}

// copyAll copies a tensor.
func copyAll(l *lower.Lowering, in, out *layout.Tensor) {
	addCopy(l, in, out, block{dims: []int{in.N}, from: []int{1}, to: []int{1}})
}

// lowerConcat lowers CONCATENATION and PACK: one copy per input, of 8-bit quantized inputs
// brought to the output's quantization.
func lowerConcat(l *lower.Lowering, _ *nn.Operation, c opspec.Concat) {
	out := try.V(l.Value(c.Output))
	total := 0
	for _, s := range c.Sizes {
		total += s
	}
	place := 0
	for i, x := range c.Inputs {
		if c.Sizes[i] == 0 {
			continue
		}
		in := try.V(l.Value(x))
		if c.Type.IsQuant8() {
			in = lookedUp(l, quantized.RequantTable(l.Operand(x), l.Operand(c.Output)), in)
		}
		addCopy(l, in, out, block{dims: []int{c.Outer, c.Sizes[i]}, from: []int{c.Sizes[i], 1}, to: []int{total, 1}, outAt: place})
		place += c.Sizes[i]
	}
}

// lowerTile lowers TILE: one copy that reads along repetitions without moving.
func lowerTile(l *lower.Lowering, _ *nn.Operation, t opspec.Tile) {
	in, out := try.V2(l.Pair(t.Input, t.Output))
	from := layout.Dense(ints(t.In))
	var dims, strides []int
	for d, n := range ints(t.In) {
		dims, strides = append(dims, int(t.Dims[d])/n, n), append(strides, 0, from[d])
	}
	addCopy(l, in, out, block{dims: dims, from: strides, to: layout.Dense(dims)})
}

// lowerFill lowers FILL of a constant.
func lowerFill(l *lower.Lowering, op *nn.Operation, f opspec.Fill) {
	out := try.V(l.Value(f.Output))
	fillWith(l, word(l, f.Value, out.Elem), out)
}

func fillWith(l *lower.Lowering, value uint32, out *layout.Tensor) {
	l.Launch(&move.Fill{Value: value, Out: out}, out)
}

// word is the bits of a constant scalar as an element.
func word(l *lower.Lowering, x uint32, e layout.Element) uint32 {
	data := try.V(l.View().Data(x))
	value := binary.LittleEndian.Uint32(append(data[:len(data):len(data)], 0, 0, 0, 0))
	if e == layout.F16 && l.Operand(x).Type == nn.Float32 {
		value = uint32(float16.Fromfloat32(math.Float32frombits(value)).Bits())
	}
	return value
}

// lowerPad lowers PAD and PAD_V2.
func lowerPad(l *lower.Lowering, op *nn.Operation, p opspec.Pad) {
	in, out := try.V2(l.Pair(p.Input, p.Output))
	value := padding(l, p.Input)
	if p.Value != opspec.None {
		value = word(l, p.Value, out.Elem)
	}
	padInto(l, in, out, ints(p.In), ints(p.Dims), p.Before, value)
}

// padding is the bits of an element that stands for zero.
func padding(l *lower.Lowering, x uint32) uint32 {
	if o := l.Operand(x); o.Type.IsQuant8() {
		return uint32(o.ZeroPoint)
	}
	return 0
}

// lowerStrided lowers the operations that reorder or select elements, of any type that
// has a storage: one copy whose source strides do the reordering.
func lowerStrided(l *lower.Lowering, _ *nn.Operation, s opspec.Strided) {
	in, out := try.V2(l.Pair(s.Input, s.Output))
	if s.Padded != nil && !slices.Equal(s.Padded, s.In) {
		padded := l.Temporary(in.Elem, layout.Product(ints(s.Padded)))
		padInto(l, in, padded, ints(s.In), ints(s.Padded), s.Before, padding(l, s.Input))
		in = padded
	}
	walk := ints(s.Walk)
	addCopy(l, in, out, block{dims: walk, from: s.Strides, to: layout.Dense(walk), inAt: s.Offset})
}

// padInto writes a value everywhere, then the input into its place.
func padInto(l *lower.Lowering, in, out *layout.Tensor, from, to, before []int, value uint32) {
	fillWith(l, value, out)
	strides, place := layout.Dense(to), 0
	for i, b := range before {
		place += b * strides[i]
	}
	addCopy(l, in, out, block{dims: from, from: layout.Dense(from), to: strides, outAt: place})
}
