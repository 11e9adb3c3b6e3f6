package family

import (
	"encoding/binary"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// withShape copies a value, element by element in order, into a new internal
// tensor of another shape.
func withShape(l *lower.Lowering, src *layout.Tensor, s layout.Shape, name string) *layout.Tensor {
	dst := l.NewTensor(name, s, 0, int32(src.Zero))
	l.Reshape(dst, src)
	return dst
}

// permute copies a value with its dimensions reordered: dimension i of the
// Result is dimension perm[i] of the value, whose dimensions are given.
func permute(l *lower.Lowering, src *layout.Tensor, dims []uint32, perm []int) *layout.Tensor {
	to := make([]uint32, len(dims))
	for i, p := range perm {
		to[i] = dims[p]
	}
	dst := l.NewTensor(src.Name+" permuted", layout.ShapeOf(to), 0, int32(src.Zero))
	permuteInto(l, dst, src, perm)
	return dst
}

// permuteInto copies a value into a tensor with its dimensions reordered. Either may be flat.
func permuteInto(l *lower.Lowering, dst, src *layout.Tensor, perm []int) {
	from := [4]int{0, 1, 2, 3} // perm over [N, H, W, C]
	for i, p := range perm {
		from[4-len(perm)+i] = 4 - len(perm) + p
	}
	l.MoveAlong("permute", launch.Reorder{Dst: dst, Src: src, Size: 1, Permute: &from}, true)
}

// lowerTranspose lowers TRANSPOSE: from the form that the value has to the one that the readers of
// the result accept.
func lowerTranspose(l *lower.Lowering, op *nn.Operation, s opspec.Strided) {
	src := l.Flats[s.Input]
	if src == nil {
		src = l.Values[s.Input]
	}
	if src == nil {
		src = l.Clients[s.Input]
	}
	if src == nil {
		src = l.Flat(s.Input)
	}
	flat := !readPitched(l, s.Output)
	// As a walk, which knows its runs; a flat value may have the shape that it had before a RESHAPE.
	if flat && src.Dense || nn.Elements(s.In) > layout.MaxPositions || src.Shape != layout.ShapeOf(s.In) {
		lowerStrided(l, op, s)
		return
	}
	if flat {
		permuteInto(l, l.FlatResult(s.Output), src, s.Perm)
	} else {
		permuteInto(l, l.Result(s.Output, l.PitchOf(s.Output, layout.ShapeOf(s.Dims))), src, s.Perm)
	}
}

// readPitched reports whether an operation reads a value with a pitch between its positions.
func readPitched(l *lower.Lowering, x uint32) bool {
	return slices.ContainsFunc(l.Graph.Operations, func(op nn.Operation) bool {
		return slices.Contains(op.Inputs, x) && l.FormsOf(&op).Pitched
	})
}

// lowerReshape lowers RESHAPE and SQUEEZE: nothing when the internal forms
// agree, a copy otherwise.
func lowerReshape(l *lower.Lowering, op *nn.Operation, p opspec.Copy) {
	if p.Type == nn.TensorInt32 {
		lowerAlias(l, op, p)
		return
	}
	if l.Form(p.Output) == layout.Plain {
		lowerAlias(l, op, p)
		return
	}
	if l.Form(p.Input) == layout.Plain {
		l.Reshape(l.Result(p.Output, 0), l.Flat(p.Input))
		return
	}
	in := l.Value(p.Input)
	if s := layout.ShapeOf(p.Dims); s != in.Shape {
		l.Reshape(l.Result(p.Output, 0), in)
		return
	}
	l.Values[p.Output] = in
}

// lowerStrided lowers the operations that select or reorder elements.
func lowerStrided(l *lower.Lowering, _ *nn.Operation, s opspec.Strided) {
	in := l.Flat(s.Input)
	size := l.SizeOf(s.Input)
	if s.Padded != nil {
		fill := uint32(lower.ZeroOf(&l.Graph.Operands[s.Input])) * 0x01010101
		in = padFlat(l, in, s.In, s.Padded, s.Before, size, fill)
	}
	l.Walk("reorder", l.FlatResult(s.Output), in, s.Walk, s.Strides, s.Offset, size)
}

func lowerSplit(l *lower.Lowering, _ *nn.Operation, s opspec.Split) {
	in := l.Flat(s.Input)
	size := l.SizeOf(s.Input)
	for i, o := range s.Outputs {
		dims := []uint32{uint32(s.Outer), uint32(s.Size)}
		strides := []int{s.Size * len(s.Outputs), 1}
		l.Walk("split", l.FlatResult(o), in, dims, strides, i*s.Size, size)
	}
}

func lowerTile(l *lower.Lowering, _ *nn.Operation, t opspec.Tile) {
	in := l.Flat(t.Input)
	var dims []uint32
	var strides []int
	n := int(nn.Elements(t.In))
	for i, d := range t.In {
		n /= int(d)
		dims = append(dims, t.Dims[i]/d, d)
		strides = append(strides, 0, n)
	}
	l.Walk("tile", l.FlatResult(t.Output), in, dims, strides, 0, l.SizeOf(t.Input))
}

// lowerAlias lowers EXPAND_DIMS and RESHAPE of flat values: the same elements.
func lowerAlias(l *lower.Lowering, _ *nn.Operation, p opspec.Copy) {
	in := l.Flat(p.Input)
	l.Flats[p.Output] = in
}

// lowerDensify lowers DENSIFY. The places of the values follow from its lists,
// which are parameters.
func lowerDensify(l *lower.Lowering, _ *nn.Operation, d opspec.Densify) {
	in := l.Flat(d.Values)
	n := nn.Elements(d.Dims)
	lower.MaxRuns.Refuse(n > layout.MaxPositions, "shape %v", d.Dims)
	for _, v := range d.Levels {
		for _, x := range [2]uint32{v.Segments, v.Indices} {
			if x == opspec.None {
				continue
			}
			try.V(l.View().Data(x))
		}
	}
	o, size := &l.Graph.Operands[d.Values], l.SizeOf(d.Values)
	from := make([]int32, n) // 1 + value of each place
	runs := 0
	try.E(d.Walk(func(x uint32) []int32 {
		data := l.Graph.Operands[x].Data
		list := make([]int32, len(data)/4)
		for i := range list {
			list[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
		}
		return list
	}, in.Bytes()/size, func(value, at int) {
		from[at] = int32(value + 1)
		runs++
	}))
	fill := uint32(uint16(o.ZeroPoint)) * 0x10001
	if size == 1 {
		fill = uint32(byte(o.ZeroPoint)) * hvx.Ones
		if lower.SignedBytes(o.Type) {
			fill ^= 0x80 * hvx.Ones
		}
	}
	out := l.FlatResult(d.Output)
	l.FillFlat(out, fill)
	l.Move("densify", out, in, runs, func(put func(to, from, n int)) {
		for at := 0; at < len(from); at++ {
			if from[at] == 0 {
				continue
			}
			n := 1
			for at+n < len(from) && from[at+n] == from[at]+int32(n) {
				n++
			}
			put(at*size, int(from[at]-1)*size, n*size)
			at += n - 1
		}
	})
}
