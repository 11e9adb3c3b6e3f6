package lower

import (
	"github.com/nnsoc/nnsoc/hal/nn"
)

// lowerStrided lowers the operations that select or reorder elements.
func lowerStrided(l *Lowering, op *nn.Operation) error {
	s, err := l.view.Strided(op)
	if err != nil {
		return err
	}
	in, err := l.Flat(s.Input)
	if err != nil {
		return err
	}
	size := l.sizeOf(s.Input)
	if s.Padded != nil {
		fill := uint32(zeroOf(&l.graph.Operands[s.Input])) * 0x01010101
		if in, err = l.padFlat(in, s.In, s.Padded, s.Before, size, fill); err != nil {
			return err
		}
	}
	return l.walk("reorder", l.FlatResult(s.Output), in, s.Walk, s.Strides, s.Offset, size)
}

func lowerSplit(l *Lowering, op *nn.Operation) error {
	s, err := l.view.Split(op)
	if err != nil {
		return err
	}
	in, err := l.Flat(s.Input)
	if err != nil {
		return err
	}
	size := l.sizeOf(s.Input)
	for i, o := range s.Outputs {
		dims := []uint32{uint32(s.Outer), uint32(s.Size)}
		strides := []int{s.Size * len(s.Outputs), 1}
		if err := l.walk("split", l.FlatResult(o), in, dims, strides, i*s.Size, size); err != nil {
			return err
		}
	}
	return nil
}

func lowerTile(l *Lowering, op *nn.Operation) error {
	t, err := l.view.Tile(op)
	if err != nil {
		return err
	}
	in, err := l.Flat(t.Input)
	if err != nil {
		return err
	}
	var dims []uint32
	var strides []int
	n := int(nn.Elements(t.In))
	for i, d := range t.In {
		n /= int(d)
		dims = append(dims, t.Dims[i]/d, d)
		strides = append(strides, 0, n)
	}
	return l.walk("tile", l.FlatResult(t.Output), in, dims, strides, 0, l.sizeOf(t.Input))
}

// lowerAlias lowers EXPAND_DIMS and RESHAPE of flat values: the same elements.
func lowerAlias(l *Lowering, op *nn.Operation) error {
	p, err := l.view.Copy(op)
	if err != nil {
		return err
	}
	in, err := l.Flat(p.Input)
	if err != nil {
		return err
	}
	l.flats[p.Output] = in
	return nil
}
