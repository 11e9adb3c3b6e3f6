package dsp

import (
	"github.com/nnsoc/nnsoc/hal/nn"
)

// lowerPack lowers PACK: inputs side by side along a new axis.
func lowerPack(l *lowering, op *nn.Operation) error {
	c, err := l.view.Concat(op)
	if err != nil {
		return err
	}
	size, row, before := l.sizeOf(c.Output), 0, 0
	for _, n := range c.Sizes {
		row += n * size
	}
	out := l.flatResult(c.Output)
	for i, x := range c.Inputs {
		in, err := l.flat(x)
		if err != nil {
			return err
		}
		at, n := before, c.Sizes[i]*size
		before += n
		if n == 0 {
			continue
		}
		err = l.move("pack", out, in, c.Outer, func(put func(to, from, n int)) {
			for k := range c.Outer {
				put(k*row+at, k*n, n)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lowerRank lowers RANK: a constant, which the program stores.
func lowerRank(l *lowering, op *nn.Operation) error {
	rank, err := l.view.Rank(op)
	if err != nil {
		return err
	}
	l.fillFlat(l.flatResult(op.Outputs[0]), uint32(rank))
	return nil
}
