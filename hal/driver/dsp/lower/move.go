package lower

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/step"
	"github.com/nnsoc/nnsoc/nn"
)

// copyTensor emits the copy of a value into a tensor of the same shape.
func (l *Lowering) copyTensor(dst, src *layout.Tensor) {
	rows := step.SameRows(dst.Shape.N * dst.Shape.H)
	rows.Plain = true
	l.AddRows("copy", []*layout.Tensor{src}, []*layout.Tensor{dst}, rows, launch.Copy{Dst: dst, Src: src})
}

// withShape copies a value, element by element in order, into a new internal
// tensor of another shape.
func (l *Lowering) withShape(src *layout.Tensor, s layout.Shape, name string) *layout.Tensor {
	dst := l.NewTensor(name, s, 0, int32(src.Zero))
	l.reshape(dst, src)
	return dst
}

// reshape emits the copy between shapes of the same number of elements.
func (l *Lowering) reshape(dst, src *layout.Tensor) {
	l.Add("reshape", []*layout.Tensor{src}, []*layout.Tensor{dst}, launch.Reshape{Src: src, Dst: dst})
}

// permute copies a value with its dimensions reordered: dimension i of the
// Result is dimension perm[i] of the value, whose dimensions are given.
func (l *Lowering) permute(src *layout.Tensor, dims []uint32, perm []int) *layout.Tensor {
	to := make([]uint32, len(dims))
	from := [4]int{0, 1, 2, 3} // perm over [N, H, W, C]
	for i, p := range perm {
		to[i] = dims[p]
		from[4-len(dims)+i] = 4 - len(dims) + p
	}
	dst := l.NewTensor(src.Name+" permuted", layout.ShapeOf(to), 0, int32(src.Zero))
	l.moveAlong("permute", launch.Reorder{Dst: dst, Src: src, Size: 1, Permute: &from}, true)
	return dst
}

// lowerReshape lowers RESHAPE and SQUEEZE: nothing when the internal forms
// agree, a copy otherwise.
func lowerReshape(l *Lowering, op *nn.Operation) error {
	p, err := l.view.Copy(op)
	if err != nil {
		return err
	}
	if p.Type == nn.TensorInt32 {
		return lowerAlias(l, op)
	}
	in, err := l.Value(p.Input)
	if err != nil {
		return err
	}
	if s := layout.ShapeOf(p.Dims); s != in.Shape {
		l.reshape(l.Result(p.Output, 0), in)
		return nil
	}
	l.values[p.Output] = in
	return nil
}

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
