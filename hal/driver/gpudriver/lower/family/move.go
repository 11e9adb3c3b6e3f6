package family

import (
	"encoding/binary"
	"errors"
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
func addCopy(l *lower.Lowering, in, out *layout.Tensor, b block) error {
	axes := try.V(layout.Collapse(b.dims, b.from, b.to))
	l.Launch(&move.Copy{Axes: axes, InAt: b.inAt, OutAt: b.outAt, In: in, Out: out}, out)
	return nil
}

// lowerReshape lowers RESHAPE, SQUEEZE and EXPAND_DIMS.
func lowerReshape(l *lower.Lowering, _ *nn.Operation, c opspec.Copy) error {
	x, out, err := l.Pair(c.Input, c.Output)
	if err != nil || x == out { // they share their storage where nobody can tell
		return err
	}
	return copyAll(l, x, out)
}

// copyAll copies a tensor.
func copyAll(l *lower.Lowering, in, out *layout.Tensor) error {
	return addCopy(l, in, out, block{dims: []int{in.N}, from: []int{1}, to: []int{1}})
}

// lowerConcat lowers CONCATENATION and PACK: one copy per input, of 8-bit quantized inputs
// brought to the output's quantization.
func lowerConcat(l *lower.Lowering, _ *nn.Operation, c opspec.Concat) error {
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
		try.E(addCopy(l, in, out, block{dims: []int{c.Outer, c.Sizes[i]}, from: []int{c.Sizes[i], 1}, to: []int{total, 1}, outAt: place}))
		place += c.Sizes[i]
	}
	return nil
}

// lowerSplit lowers SPLIT: one copy per output.
func lowerSplit(l *lower.Lowering, _ *nn.Operation, s opspec.Split) error {
	in := try.V(l.Value(s.Input))
	for i, x := range s.Outputs {
		out := try.V(l.Value(x))
		b := block{dims: []int{s.Outer, s.Size}, from: []int{s.Size * len(s.Outputs), 1}, to: []int{s.Size, 1}, inAt: i * s.Size}
		try.E(addCopy(l, in, out, b))
	}
	return nil
}

// lowerTile lowers TILE: one copy that reads along repetitions without moving.
func lowerTile(l *lower.Lowering, _ *nn.Operation, t opspec.Tile) error {
	in, out := try.V2(l.Pair(t.Input, t.Output))
	from := layout.Dense(ints(t.In))
	var dims, strides []int
	for d, n := range ints(t.In) {
		dims, strides = append(dims, int(t.Dims[d])/n, n), append(strides, 0, from[d])
	}
	return addCopy(l, in, out, block{dims: dims, from: strides, to: layout.Dense(dims)})
}

// lowerFill lowers FILL of a constant.
func lowerFill(l *lower.Lowering, op *nn.Operation, f opspec.Fill) error {
	value := try.V(word(l, f.Value))
	out := try.V(l.Value(f.Output))
	if out.Elem == layout.F16 && l.Operand(f.Value).Type == nn.Float32 {
		value = uint32(float16.Fromfloat32(math.Float32frombits(value)).Bits())
	}
	fillWith(l, value, out)
	return nil
}

func fillWith(l *lower.Lowering, value uint32, out *layout.Tensor) {
	l.Launch(&move.Fill{Value: value, Out: out}, out)
}

// word is the bits of a constant scalar.
func word(l *lower.Lowering, x uint32) (uint32, error) {
	data := try.V(l.View().Data(x))
	return binary.LittleEndian.Uint32(append(data[:len(data):len(data)], 0, 0, 0, 0)), nil
}

// lowerPad lowers PAD and PAD_V2.
func lowerPad(l *lower.Lowering, op *nn.Operation, p opspec.Pad) error {
	in, out := try.V2(l.Pair(p.Input, p.Output))
	value := padding(l, p.Input)
	if p.Value != opspec.None {
		value = try.V(word(l, p.Value))
		if out.Elem == layout.F16 && l.Operand(p.Value).Type == nn.Float32 {
			value = uint32(float16.Fromfloat32(math.Float32frombits(value)).Bits())
		}
	}
	return padInto(l, in, out, ints(p.In), ints(p.Dims), p.Before, value)
}

// padding is the bits of an element that stands for zero.
func padding(l *lower.Lowering, x uint32) uint32 {
	if o := l.Operand(x); o.Type.IsQuant8() {
		return uint32(o.ZeroPoint)
	}
	return 0
}

// lowerMirrorPad lowers MIRROR_PAD, dimension by dimension: the tensor in its place, and its two
// ends read backwards.
func lowerMirrorPad(l *lower.Lowering, _ *nn.Operation, p opspec.MirrorPad) error {
	in, out := try.V2(l.Pair(p.Input, p.Output))
	dims := ints(p.In)
	for d, to := range p.Dims {
		n, grown := dims[d], int(to)
		last := d == len(dims)-1
		if n == grown && !last {
			continue
		}
		next := out
		if !last {
			next = l.Temporary(in.Elem, in.N/n*grown)
		}
		inner, outer := layout.Product(dims[d+1:]), layout.Product(dims[:d])
		part := func(first, count, from, step int) error { // of the result, from a place of the input on
			if count == 0 {
				return nil
			}
			return addCopy(l, in, next, block{dims: []int{outer, count, inner}, from: []int{n * inner, step * inner, 1}, to: []int{grown * inner, inner, 1},
				inAt: from * inner, outAt: first * inner})
		}
		before := p.Before[d]
		after := grown - n - before
		try.E(errors.Join(part(0, before, p.Source(d, 0), -1), part(before, n, 0, 1), part(before+n, after, p.Source(d, min(before+n, grown-1)), -1)))
		dims[d], in = grown, next
	}
	return nil
}

// lowerStrided lowers the operations that reorder or select elements, of any type that
// has a storage: one copy whose source strides do the reordering.
func lowerStrided(l *lower.Lowering, _ *nn.Operation, s opspec.Strided) error {
	in, out := try.V2(l.Pair(s.Input, s.Output))
	if s.Padded != nil && !slices.Equal(s.Padded, s.In) {
		padded := l.Temporary(in.Elem, layout.Product(ints(s.Padded)))
		try.E(padInto(l, in, padded, ints(s.In), ints(s.Padded), s.Before, padding(l, s.Input)))
		in = padded
	}
	walk := ints(s.Walk)
	return addCopy(l, in, out, block{dims: walk, from: s.Strides, to: layout.Dense(walk), inAt: s.Offset})
}

// padInto writes a value everywhere, then the input into its place.
func padInto(l *lower.Lowering, in, out *layout.Tensor, from, to, before []int, value uint32) error {
	fillWith(l, value, out)
	strides, place := layout.Dense(to), 0
	for i, b := range before {
		place += b * strides[i]
	}
	return addCopy(l, in, out, block{dims: from, from: layout.Dense(from), to: strides, outAt: place})
}
