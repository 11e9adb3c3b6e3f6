package lowering

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// KeepDims is the flag of a reduction, which MEAN has as an INT32.
func (g *Graph) KeepDims(op nn.OperationType, keep bool) uint32 {
	if op != nn.OpMean {
		return g.BoolScalar(keep)
	}
	if keep {
		return g.Int32Scalar(1)
	}
	return g.Int32Scalar(0)
}

// Reduce reduces x along axes; a scalar is unchanged.
func (g *Graph) Reduce(op nn.OperationType, out nn.Operand, x uint32, list []int64, keep bool) uint32 {
	if !g.ShapeKnown(x) {
		return g.reduceOpen(op, out, x, list, keep)
	}
	dims := g.Dims(x)
	reduced := make([]bool, len(dims))
	for _, a := range list {
		if len(dims) > 0 {
			reduced[g.Axis(a, len(dims))] = true
		}
	}
	var axes []int64
	var shape []uint32
	for i, d := range dims {
		switch {
		case reduced[i]:
			axes = append(axes, int64(i))
			if keep {
				shape = append(shape, 1)
			}
		default:
			shape = append(shape, d)
		}
	}
	fold, known := folds[op]
	wholes := g.whole(x) && out.Type == nn.TensorInt32 && out.Scale == 0
	switch {
	case len(axes) == 0:
		return x
	case wholes && known:
		return g.Reshape(g.folded(fold, x, axes), shape)
	case wholes && op == nn.OpMean: // the quotient is cut off
		n := int64(1)
		for _, a := range axes {
			n *= int64(dims[a])
		}
		return g.Reshape(g.TruncDiv(g.folded(nn.OpAdd, x, axes), g.Int32Number(n)), shape)
	case len(dims) > 4:
		return g.reduceMerged(op, out, x, axes, shape)
	}
	y := g.Emit(op, out, x, g.Int32Tensor(axes...), g.KeepDims(op, keep))
	if len(shape) == 0 {
		g.SetShape(y, shape)
	}
	return y
}

// reduceOpen reduces a tensor whose shape only an execution knows, integers up to 2^24.
func (g *Graph) reduceOpen(op nn.OperationType, out nn.Operand, x uint32, list []int64, keep bool) uint32 {
	rank := g.Rank(g.Unmerged(x))
	var axes []int64
	for _, a := range list {
		if at := int64(g.Axis(a, rank)); !slices.Contains(axes, at) {
			axes = append(axes, at)
		}
	}
	y := g.Emit(op, out, x, g.Int32Tensor(axes...), g.KeepDims(op, keep))
	if len(axes) == rank && !keep {
		g.Operand(y).Dimensions = []uint32{1}
		g.SetShape(y, nil)
	}
	return y
}

// folds are the operations of two elements that reductions repeat. NNAPI reduces reals, which hold integers up to 2^24
// alone, but has these for INT32.
var folds = map[nn.OperationType]nn.OperationType{
	nn.OpReduceSum: nn.OpAdd, nn.OpReduceProd: nn.OpMul, nn.OpReduceMax: nn.OpMaximum, nn.OpReduceMin: nn.OpMinimum,
}

// folded reduces integers exactly: the first half of an axis meets the second, until one element is left.
func (g *Graph) folded(op nn.OperationType, x uint32, axes []int64) uint32 {
	dims := slices.Clone(g.Dims(x))
	for _, a := range axes {
		flat := []uint32{uint32(nn.Elements(dims[:a])), dims[a], uint32(nn.Elements(dims[a+1:]))}
		x = g.Reshape(x, flat)
		part := func(from, n uint32) uint32 {
			return g.Slice(x, []int64{0, int64(from), 0}, []int64{int64(flat[0]), int64(n), int64(flat[2])})
		}
		for flat[1] > 1 {
			half := flat[1] / 2
			next := g.Binary(op, part(0, half), part(half, half))
			if flat[1]%2 == 1 {
				next = g.Concat(nn.Operand{Type: nn.TensorInt32}, 1, next, part(2*half, 1))
			}
			x, flat[1] = next, half+flat[1]%2
		}
		dims[a] = 1
	}
	return x
}

// reduceMerged reduces more than four dimensions: axes side by side are one axis, the middle of three; others are
// moved to the end first.
func (g *Graph) reduceMerged(op nn.OperationType, out nn.Operand, x uint32, axes []int64, shape []uint32) uint32 {
	dims := g.Dims(x)
	first, last := int(axes[0]), int(axes[len(axes)-1])
	if last-first+1 != len(axes) {
		var kept, moved []int
		for i := range dims {
			if slices.Contains(axes, int64(i)) {
				moved = append(moved, i)
			} else {
				kept = append(kept, i)
			}
		}
		x = g.Transpose(x, append(kept, moved...)...)
		dims, first, last = g.Dims(x), len(kept), len(dims)-1
	}
	x = g.Reshape(x, []uint32{uint32(nn.Elements(dims[:first])), uint32(nn.Elements(dims[first : last+1])), uint32(nn.Elements(dims[last+1:]))})
	return g.Reshape(g.Emit(op, out, x, g.Int32Tensor(1), g.KeepDims(op, false)), shape)
}

// Argument is where along an axis the greatest or least element is.
func (g *Graph) Argument(op nn.OperationType, out nn.Operand, x uint32, axis int) uint32 {
	if g.Rank(x) > 4 {
		d := g.Dims(x)
		flat := g.Reshape(x, []uint32{uint32(nn.Elements(d[:axis])), d[axis], uint32(nn.Elements(d[axis+1:]))})
		return g.Reshape(g.Emit(op, out, flat, g.Int32Scalar(1)), slices.Delete(slices.Clone(d), axis, axis+1))
	}
	y := g.Emit(op, out, x, g.Int32Scalar(int64(axis)))
	if g.Rank(x) == 1 {
		g.SetShape(y, nil)
	}
	return y
}
