package lower

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/move"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/nn"
)

// block is a block of elements in a source and a destination, strides in elements.
type block struct {
	dims, from, to []int
	inAt, outAt    int // element at which it begins
}

// copy adds a copy of a block.
func (l *Lowering) copy(in, out *layout.Tensor, b block) error {
	axes, err := layout.Collapse(b.dims, b.from, b.to)
	if err != nil {
		return err
	}
	l.Add(&move.Copy{Axes: axes, InAt: b.inAt, OutAt: b.outAt, In: in, Out: out}, []*layout.Tensor{in}, []*layout.Tensor{out})
	return nil
}

// reshape lowers RESHAPE, SQUEEZE and EXPAND_DIMS.
func (l *Lowering) reshape(op *nn.Operation) error {
	c, err := l.view.Copy(op)
	if err != nil {
		return err
	}
	x, out, err := l.Pair(c.Input, c.Output)
	if err != nil || x == out { // they share their storage where nobody can tell
		return err
	}
	return l.copy(x, out, block{dims: []int{x.N}, from: []int{1}, to: []int{1}})
}

// concat lowers CONCATENATION: one copy per input.
func (l *Lowering) concat(op *nn.Operation) error {
	c, err := l.view.Concat(op)
	if err != nil {
		return err
	}
	if _, err := l.Element(c.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	out, err := l.Value(c.Output)
	if err != nil {
		return err
	}
	total := 0
	for _, s := range c.Sizes {
		total += s
	}
	place := 0
	for i, x := range c.Inputs {
		if c.Sizes[i] == 0 {
			continue
		}
		in, err := l.Value(x)
		if err != nil {
			return err
		}
		if err := l.copy(in, out, block{dims: []int{c.Outer, c.Sizes[i]}, from: []int{c.Sizes[i], 1}, to: []int{total, 1}, outAt: place}); err != nil {
			return err
		}
		place += c.Sizes[i]
	}
	return nil
}

// pad lowers PAD.
func (l *Lowering) pad(op *nn.Operation) error {
	p, err := l.view.Pad(op)
	if err != nil {
		return err
	}
	if _, err := l.Element(p.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	in, out, err := l.Pair(p.Input, p.Output)
	if err != nil {
		return err
	}
	return l.padInto(in, out, ints(p.In), ints(p.Dims), p.Before)
}

// strided lowers the operations that reorder or select elements, of any type that
// has a storage: one copy whose source strides do the reordering.
func (l *Lowering) strided(op *nn.Operation) error {
	s, err := l.view.Strided(op)
	if err != nil {
		return err
	}
	in, out, err := l.Pair(s.Input, s.Output)
	if err != nil {
		return err
	}
	if s.Padded != nil && !slices.Equal(s.Padded, s.In) {
		if !in.Elem.IsFloat() {
			return fmt.Errorf("%s: padding of %s is not supported", op.Type, s.Type)
		}
		padded := l.Temporary(in.Elem, layout.Product(ints(s.Padded)))
		if err := l.padInto(in, padded, ints(s.In), ints(s.Padded), s.Before); err != nil {
			return err
		}
		in = padded
	}
	walk := ints(s.Walk)
	return l.copy(in, out, block{dims: walk, from: s.Strides, to: layout.Dense(walk), inAt: s.Offset})
}

// padInto writes zeros everywhere, then the input into its place.
func (l *Lowering) padInto(in, out *layout.Tensor, from, to, before []int) error {
	l.Add(&move.Fill{Out: out}, nil, []*layout.Tensor{out})
	strides, place := layout.Dense(to), 0
	for i, b := range before {
		place += b * strides[i]
	}
	return l.copy(in, out, block{dims: from, from: layout.Dense(from), to: strides, outAt: place})
}
