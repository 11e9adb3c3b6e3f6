package tflite

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// reshape is x with another shape of the file.
func (g *graph) reshape(x uint32, shape []uint32) uint32 {
	o := *g.operand(x)
	if o.Known() && slices.Equal(g.dims(x), shape) {
		return x
	}
	y := g.emit(nn.OpReshape, o, x, g.int32Tensor(signed(held(shape))...))
	g.setShape(y, shape)
	return y
}

func signed(dims []uint32) []int64 {
	list := make([]int64, len(dims))
	for i, d := range dims {
		list[i] = int64(d)
	}
	return list
}

func unsigned(g *graph, list []int64) []uint32 {
	dims := make([]uint32, len(list))
	for i, d := range list {
		if d < 0 || d > nn.MaxElements {
			g.failf("dimension %d of %v", d, list)
		}
		dims[i] = uint32(d)
	}
	return dims
}

// broadcast is the shape that two shapes give together.
func (g *graph) broadcast(a, b []uint32) []uint32 {
	if len(a) < len(b) {
		a, b = b, a
	}
	all := slices.Clone(a)
	for i, d := range b {
		at := len(a) - len(b) + i
		switch {
		case all[at] == 1:
			all[at] = d
		case d != 1 && d != all[at]:
			g.failf("shapes %v and %v do not fit each other", a, b)
		}
	}
	return all
}

// broadcastTo repeats x along the dimensions in which it has one element.
func (g *graph) broadcastTo(x uint32, shape []uint32) uint32 {
	dims := g.dims(x)
	if slices.Equal(dims, shape) {
		return x
	}
	if len(shape) > 4 {
		return g.broadcastMerged(x, shape)
	}
	full := slices.Clone(dims)
	for len(full) < len(shape) {
		full = slices.Insert(full, 0, 1)
	}
	times := make([]int64, len(shape))
	for i, d := range shape {
		switch {
		case full[i] == d:
			times[i] = 1
		case full[i] == 1:
			times[i] = int64(d)
		default:
			g.failf("shape %v does not broadcast to %v", dims, shape)
		}
	}
	if len(shape) == 0 {
		return g.reshape(x, shape)
	}
	return g.tile(g.reshape(x, full), times)
}

// broadcastMerged repeats x to more than four dimensions, one at a time as the
// middle one of three.
func (g *graph) broadcastMerged(x uint32, shape []uint32) uint32 {
	dims := slices.Clone(g.dims(x))
	for len(dims) < len(shape) {
		dims = slices.Insert(dims, 0, 1)
	}
	for i, d := range shape {
		if dims[i] == d {
			continue
		}
		if dims[i] != 1 {
			g.failf("shape %v does not broadcast to %v", dims, shape)
		}
		x = g.reshape(x, []uint32{uint32(nn.Elements(dims[:i])), 1, uint32(nn.Elements(dims[i+1:]))})
		x = g.tile(x, []int64{1, int64(d), 1})
		dims[i] = d
	}
	return g.reshape(x, shape)
}

// tile repeats x; nothing is done where all multiples are 1.
func (g *graph) tile(x uint32, multiples []int64) uint32 {
	if !slices.ContainsFunc(multiples, func(m int64) bool { return m != 1 }) {
		return x
	}
	return g.emit(nn.OpTile, *g.operand(x), x, g.int32Tensor(multiples...))
}

// transpose permutes the dimensions of x. Dimensions that stay together are
// moved as one, so that NNAPI's four are enough for most permutations of more.
func (g *graph) transpose(x uint32, perm ...int) uint32 {
	dims := g.dims(x)
	if len(perm) != len(dims) {
		g.failf("%d axes for rank %d", len(perm), len(dims))
	}
	out := make([]uint32, len(perm))
	seen := make([]bool, len(perm))
	for i, p := range perm {
		if p = g.axis(int64(p), len(dims)); seen[p] {
			g.failf("axis %d is permuted twice", p)
		}
		perm[i], seen[p], out[i] = p, true, dims[p]
	}
	if slices.IsSorted(perm) {
		return x
	}
	if len(perm) <= 4 {
		list := make([]int64, len(perm))
		for i, p := range perm {
			list[i] = int64(p)
		}
		return g.emit(nn.OpTranspose, *g.operand(x), x, g.int32Tensor(list...))
	}
	merged, order := mergeAxes(dims, perm)
	if len(merged) > 4 {
		g.refusef("it permutes %d groups of dimensions, NNAPI at most 4", len(merged))
	}
	return g.reshape(g.transpose(g.reshape(x, merged), order...), out)
}

// mergeAxes merges runs of axes that a permutation keeps together and drops
// those of size 1.
func mergeAxes(dims []uint32, perm []int) (merged []uint32, order []int) {
	type run struct{ first, last int }
	var runs []run
	for _, p := range perm {
		if dims[p] == 1 {
			continue
		}
		if n := len(runs); n > 0 && nextAxis(dims, runs[n-1].last) == p {
			runs[n-1].last = p
			continue
		}
		runs = append(runs, run{p, p})
	}
	byPlace := slices.Clone(runs)
	slices.SortFunc(byPlace, func(a, b run) int { return a.first - b.first })
	for _, r := range byPlace {
		merged = append(merged, uint32(nn.Elements(dims[r.first:r.last+1])))
	}
	for _, r := range runs {
		order = append(order, slices.Index(byPlace, r))
	}
	if len(merged) == 0 {
		return []uint32{1}, []int{0}
	}
	return merged, order
}

// nextAxis is the axis after a that has more than one element.
func nextAxis(dims []uint32, a int) int {
	for a++; a < len(dims) && dims[a] == 1; a++ {
	}
	return a
}

// concat joins values along an axis. More than four dimensions are joined as
// rows.
func (g *graph) concat(out nn.Operand, axis int, list ...uint32) uint32 {
	if len(list) == 1 {
		return list[0]
	}
	rank := g.rank(list[0])
	if rank <= 4 {
		return g.emit(nn.OpConcatenation, out, append(slices.Clone(list), g.int32Scalar(int64(axis)))...)
	}
	shape := slices.Clone(g.dims(list[0]))
	shape[axis] = 0
	rows := make([]uint32, len(list))
	for i, x := range list {
		d := g.dims(x)
		if len(d) != rank {
			g.failf("shapes of rank %d and %d", rank, len(d))
		}
		shape[axis] += d[axis]
		rows[i] = g.reshape(x, []uint32{uint32(nn.Elements(d[:axis])), uint32(nn.Elements(d[axis:]))})
	}
	return g.reshape(g.emit(nn.OpConcatenation, out, append(rows, g.int32Scalar(1))...), shape)
}

// slice takes size elements from begin along each axis.
func (g *graph) slice(x uint32, begin, size []int64) uint32 {
	dims := g.dims(x)
	whole := true
	for i, d := range dims {
		whole = whole && begin[i] == 0 && (size[i] == int64(d) || size[i] == -1)
	}
	if whole {
		return x
	}
	if len(dims) <= 4 {
		return g.emit(nn.OpSlice, *g.operand(x), x, g.int32Tensor(begin...), g.int32Tensor(size...))
	}
	shape := slices.Clone(dims)
	for i := range dims { // an axis at a time as the middle one of three
		if size[i] == -1 {
			size[i] = int64(shape[i]) - begin[i]
		}
		if begin[i] == 0 && size[i] == int64(shape[i]) {
			continue
		}
		outer, inner := nn.Elements(shape[:i]), nn.Elements(shape[i+1:])
		x = g.reshape(x, []uint32{uint32(outer), shape[i], uint32(inner)})
		x = g.slice(x, []int64{0, begin[i], 0}, []int64{outer, size[i], inner})
		shape[i] = unsigned(g, size[i:i+1])[0]
	}
	return g.reshape(x, shape)
}

// gather takes the slices of x along an axis that an index operand of rank 1
// lists.
func (g *graph) gather(x uint32, axis int, indices uint32) uint32 {
	return g.emit(nn.OpGather, *g.operand(x), x, g.int32Scalar(int64(axis)), indices)
}

// filled is a constant of equal elements, in the type of o.
func (g *graph) filled(o nn.Operand, v float32) uint32 {
	n := o.Bytes()
	g.spend(n)
	element := make([]byte, 0, 4)
	switch o.Type {
	case nn.TensorFloat32:
		element = binary.LittleEndian.AppendUint32(element, math.Float32bits(v))
	case nn.TensorFloat16:
		element = binary.LittleEndian.AppendUint16(element, half(v))
	case nn.TensorInt32:
		element = binary.LittleEndian.AppendUint32(element, uint32(int32(v)))
	case nn.TensorBool8:
		element = append(element, byte(v))
	case nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned:
		element = append(element, byte(int32(math.Round(float64(v/o.Scale)))+o.ZeroPoint))
	default:
		g.refusef("it fills %v", o.Type)
	}
	o.Lifetime, o.Data = nn.ConstantCopy, slices.Repeat(element, int(n)/len(element))
	return g.add(o)
}

// iota is the constant 0, 1, ... n-1 in TENSOR_INT32.
func (g *graph) iota(n int) uint32 {
	g.spend(12 * int64(n))
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i)
	}
	return g.int32Tensor(list...)
}
