package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/reduce"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/nn"
)

// softmax lowers SOFTMAX.
func (l *Lowering) softmax(op *nn.Operation) error {
	s, err := l.view.Softmax(op)
	if err != nil {
		return err
	}
	if _, err := l.Element(s.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	in, out, err := l.Pair(s.Input, s.Output)
	if err != nil {
		return err
	}
	shape := reduce.SoftmaxShape{Outer: s.Outer, Depth: s.Depth, Inner: s.Inner, Beta: s.Beta}
	l.Add(&reduce.Softmax{SoftmaxShape: shape, In: in, Out: out}, []*layout.Tensor{in}, []*layout.Tensor{out})
	return nil
}

// mean lowers MEAN.
func (l *Lowering) mean(op *nn.Operation) error {
	m, err := l.view.Mean(op)
	if err != nil {
		return err
	}
	if _, err := l.Element(m.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	in, out, err := l.Pair(m.Input, m.Output)
	if err != nil {
		return err
	}
	dims := ints(m.In)
	strides := layout.Dense(dims)
	var axes [2]struct{ dims, strides []int } // kept, reduced
	for i, d := range dims {
		a := &axes[0]
		if m.Reduce[i] {
			a = &axes[1]
		}
		a.dims, a.strides = append(a.dims, d), append(a.strides, strides[i])
	}
	shape := reduce.MeanShape{Count: m.Count}
	if shape.Kept, err = layout.Collapse(axes[0].dims, axes[0].strides); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	if shape.Reduced, err = layout.Collapse(axes[1].dims, axes[1].strides); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	l.Add(&reduce.Mean{MeanShape: shape, In: in, Out: out}, []*layout.Tensor{in}, []*layout.Tensor{out})
	return nil
}
