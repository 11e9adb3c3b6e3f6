package gpu

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// strided lowers the operations that reorder or select elements, of any type that
// has a storage: one copy whose source strides do the reordering.
func (l *lowering) strided(op *nn.Operation) error {
	s, err := l.view.Strided(op)
	if err != nil {
		return err
	}
	in, out, err := l.pair(s.Input, s.Output)
	if err != nil {
		return err
	}
	if s.Padded != nil && !slices.Equal(s.Padded, s.In) {
		if in.elem > f16 {
			return fmt.Errorf("%s: padding of %s is not supported", op.Type, s.Type)
		}
		in = l.padded(in, ints(s.In), ints(s.Padded), s.Before)
	}
	l.rows(&rows{dims: ints(s.Walk), from: s.Strides, to: dense(ints(s.Walk)), in: in, out: out, inAt: s.Offset})
	return nil
}

// padded is a tensor with zeros around it.
func (l *lowering) padded(in *tensor, from, to, before []int) *tensor {
	out := l.temporary(in.elem, product(to))
	l.padInto(in, out, from, to, before)
	return out
}

// padInto writes zeros everywhere, then the input into its place.
func (l *lowering) padInto(in, out *tensor, from, to, before []int) {
	l.fill(out)
	strides, place := dense(to), 0
	for i, b := range before {
		place += b * strides[i]
	}
	l.rows(&rows{dims: from, from: dense(from), to: strides, in: in, out: out, outAt: place})
}
