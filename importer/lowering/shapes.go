package lowering

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// Reshape is x with another shape of the file.
func (g *Graph) Reshape(x uint32, shape []uint32) uint32 {
	o := *g.Operand(x)
	switch {
	case g.ShapeKnown(x) && slices.Equal(g.Dims(x), shape):
		return x
	case g.IsEmpty(x):
		return g.Empty(o, shape)
	}
	y := g.Emit(nn.OpReshape, o, x, g.Int32Tensor(Signed(Held(shape))...))
	g.SetShape(y, shape)
	return y
}

func Signed(dims []uint32) []int64 {
	list := make([]int64, len(dims))
	for i, d := range dims {
		list[i] = int64(d)
	}
	return list
}

func (g *Graph) Unsigned(list []int64) []uint32 {
	dims := make([]uint32, len(list))
	for i, d := range list {
		if d < 0 || d > nn.MaxElements {
			g.Failf("dimension %d of %v", d, list)
		}
		dims[i] = uint32(d)
	}
	return dims
}

// Broadcast is the common shape of two shapes.
func (g *Graph) Broadcast(a, b []uint32) []uint32 {
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
			g.Failf("shapes %v and %v do not fit each other", a, b)
		}
	}
	return all
}

// BroadcastTo repeats x along the dimensions in which it has one element.
func (g *Graph) BroadcastTo(x uint32, shape []uint32) uint32 {
	dims := g.Dims(x)
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
			g.Failf("shape %v does not broadcast to %v", dims, shape)
		}
	}
	if len(shape) == 0 {
		return g.Reshape(x, shape)
	}
	return g.Tile(g.Reshape(x, full), times)
}

// broadcastMerged repeats x to more than four dimensions, one at a time as the
// middle one of three.
func (g *Graph) broadcastMerged(x uint32, shape []uint32) uint32 {
	dims := slices.Clone(g.Dims(x))
	for len(dims) < len(shape) {
		dims = slices.Insert(dims, 0, 1)
	}
	for i, d := range shape {
		if dims[i] == d {
			continue
		}
		if dims[i] != 1 {
			g.Failf("shape %v does not broadcast to %v", dims, shape)
		}
		x = g.Reshape(x, []uint32{uint32(nn.Elements(dims[:i])), 1, uint32(nn.Elements(dims[i+1:]))})
		x = g.Tile(x, []int64{1, int64(d), 1})
		dims[i] = d
	}
	return g.Reshape(x, shape)
}

// Tile repeats x; nothing is done where all multiples are 1.
func (g *Graph) Tile(x uint32, multiples []int64) uint32 {
	if !slices.ContainsFunc(multiples, func(m int64) bool { return m != 1 }) {
		return x
	}
	return g.Emit(nn.OpTile, *g.Operand(x), x, g.Int32Tensor(multiples...))
}

// TileAny is Tile of any rank: an axis at a time as the middle one of three.
func (g *Graph) TileAny(x uint32, multiples []int64) uint32 {
	dims := slices.Clone(g.Dims(x))
	if len(multiples) != len(dims) {
		g.Failf("%d multiples for rank %d", len(multiples), len(dims))
	}
	if len(dims) <= 4 {
		return g.Tile(x, multiples)
	}
	for i, m := range multiples {
		x = g.Reshape(x, []uint32{uint32(nn.Elements(dims[:i])), dims[i], uint32(nn.Elements(dims[i+1:]))})
		x = g.Tile(x, []int64{1, m, 1})
		dims[i] = g.Dims(x)[1]
	}
	return g.Reshape(x, dims)
}

// Transpose permutes the dimensions of x. Dimensions that stay together are
// moved as one, so that NNAPI's four are enough for most permutations of more.
func (g *Graph) Transpose(x uint32, perm ...int) uint32 {
	rank := g.Rank(x)
	if len(perm) != rank {
		g.Failf("%d axes for rank %d", len(perm), rank)
	}
	seen := make([]bool, len(perm))
	for i, p := range perm {
		if p = g.Axis(int64(p), rank); seen[p] {
			g.Failf("axis %d is permuted twice", p)
		}
		perm[i], seen[p] = p, true
	}
	if slices.IsSorted(perm) {
		return x
	}
	if len(perm) <= 4 {
		list := make([]int64, len(perm))
		for i, p := range perm {
			list[i] = int64(p)
		}
		return g.Emit(nn.OpTranspose, *g.Operand(x), x, g.Int32Tensor(list...))
	}
	dims, out := g.Dims(x), make([]uint32, len(perm))
	for i, p := range perm {
		out[i] = dims[p]
	}
	merged, order := mergeAxes(dims, perm)
	if len(merged) > 4 {
		return g.Reshape(g.transposeGroups(x, merged, order), out)
	}
	return g.Reshape(g.Transpose(g.Reshape(x, merged), order...), out)
}

// transposeGroups permutes more than four groups of dimensions by a transposition that puts the longest run of the
// groups wanted next in its place, and a transposition of the rest, which has fewer groups:
//
//	order 0 3 1 4 2:  [0] [1 2] [3] [4] becomes 0 3 1 2 4, then [0 3 1] [2] [4] becomes 0 3 1 4 2
func (g *Graph) transposeGroups(x uint32, dims []uint32, order []int) uint32 {
	at := 0
	for order[at] == at {
		at++
	}
	from, to := order[at], order[at]+1
	for n := at + 1; n < len(order) && order[n] == to; n++ {
		to++
	}
	parts := []uint32{}
	for _, part := range [][]uint32{dims[:at], dims[at:from], dims[from:to], dims[to:]} {
		parts = append(parts, uint32(nn.Elements(part)))
	}
	x = g.Transpose(g.Reshape(x, parts), 0, 2, 1, 3)
	moved := slices.Concat(dims[:at], dims[from:to], dims[at:from], dims[to:])
	rest := make([]int, len(order))
	for i, p := range order {
		switch {
		case p >= at && p < from:
			p += to - from
		case p >= from && p < to:
			p -= from - at
		}
		rest[i] = p
	}
	return g.Transpose(g.Reshape(x, moved), rest...)
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

// Concat joins values along an axis. More than four dimensions are joined as
// rows.
func (g *Graph) Concat(out nn.Operand, axis int, list ...uint32) uint32 {
	if len(list) == 1 {
		return list[0]
	}
	rank := g.Rank(list[0])
	if rank <= 4 {
		return g.Emit(nn.OpConcatenation, out, append(slices.Clone(list), g.Int32Scalar(int64(axis)))...)
	}
	shape := slices.Clone(g.Dims(list[0]))
	shape[axis] = 0
	rows := make([]uint32, len(list))
	for i, x := range list {
		d := g.Dims(x)
		if len(d) != rank {
			g.Failf("shapes of rank %d and %d", rank, len(d))
		}
		shape[axis] += d[axis]
		rows[i] = g.Reshape(x, []uint32{uint32(nn.Elements(d[:axis])), uint32(nn.Elements(d[axis:]))})
	}
	return g.Reshape(g.Emit(nn.OpConcatenation, out, append(rows, g.Int32Scalar(1))...), shape)
}

// Slice extracts size elements from begin along each axis.
func (g *Graph) Slice(x uint32, begin, size []int64) uint32 {
	dims := g.Dims(x)
	if len(begin) != len(dims) || len(size) != len(dims) {
		g.Failf("a slice of %d dimensions of shape %v", len(begin), dims)
	}
	whole := true
	for i, d := range dims {
		whole = whole && begin[i] == 0 && (size[i] == int64(d) || size[i] == -1)
	}
	if whole {
		return x
	}
	if len(dims) <= 4 {
		return g.Emit(nn.OpSlice, *g.Operand(x), x, g.Int32Tensor(begin...), g.Int32Tensor(size...))
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
		x = g.Reshape(x, []uint32{uint32(outer), shape[i], uint32(inner)})
		x = g.Slice(x, []int64{0, begin[i], 0}, []int64{outer, size[i], inner})
		shape[i] = g.Unsigned(size[i : i+1])[0]
	}
	return g.Reshape(x, shape)
}

// Pad surrounds x with zeros, or with a scalar where value is one. Of more than four dimensions each is padded by itself,
// as the middle one of three.
func (g *Graph) Pad(out nn.Operand, x uint32, pads [][2]int64, value uint32) uint32 {
	dims := g.Dims(x)
	if len(pads) != len(dims) {
		g.Failf("paddings %v for shape %v", pads, dims)
	}
	shape := slices.Clone(dims)
	for i, p := range pads {
		shape[i] = g.Unsigned([]int64{int64(dims[i]) + p[0] + p[1]})[0]
	}
	if len(dims) <= 4 {
		y := g.pad(out, x, pads, value)
		g.SetShape(y, shape)
		return y
	}
	for i, p := range pads {
		if p != [2]int64{} {
			x = g.Reshape(x, []uint32{uint32(nn.Elements(shape[:i])), dims[i], uint32(nn.Elements(dims[i+1:]))})
			x = g.pad(out, x, [][2]int64{{}, p, {}}, value)
		}
	}
	return g.Reshape(x, shape)
}

func (g *Graph) pad(out nn.Operand, x uint32, pads [][2]int64, value uint32) uint32 {
	list := make([]int64, 0, 2*len(pads))
	for _, p := range pads {
		list = append(list, p[0], p[1])
	}
	op, in := nn.OpPad, []uint32{x, g.Int32Shaped([]uint32{uint32(len(pads)), 2}, list)}
	if value != None {
		op, in = nn.OpPadV2, append(in, value)
	}
	return g.Emit(op, out, in...)
}

// Gather gathers the slices of x along an axis by an index operand of rank 1.
func (g *Graph) Gather(x uint32, axis int, indices uint32) uint32 {
	return g.Emit(nn.OpGather, *g.Operand(x), x, g.Int32Scalar(int64(axis)), indices)
}

// Filled is a constant of equal elements, in the type of o.
func (g *Graph) Filled(o nn.Operand, v float32) uint32 {
	n := o.Bytes()
	g.Spend(n)
	element := make([]byte, 0, 4)
	switch o.Type {
	case nn.TensorFloat32:
		element = binary.LittleEndian.AppendUint32(element, math.Float32bits(v))
	case nn.TensorFloat16:
		element = binary.LittleEndian.AppendUint16(element, Half(v))
	case nn.TensorInt32:
		element = binary.LittleEndian.AppendUint32(element, uint32(int32(v)))
	case nn.TensorBool8:
		element = append(element, byte(v))
	case nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned:
		element = append(element, byte(int32(math.Round(float64(v/o.Scale)))+o.ZeroPoint))
	default:
		g.Refusef("it fills %v", o.Type)
	}
	o.Lifetime, o.Data = nn.ConstantCopy, slices.Repeat(element, int(n)/len(element))
	return g.Add(o)
}

// Iota is the constant 0, 1, ... n-1 in TENSOR_INT32.
func (g *Graph) Iota(n int) uint32 {
	g.Spend(12 * int64(n))
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i)
	}
	return g.Int32Tensor(list...)
}

// Ints are the values of a constant of integers or booleans; ok is false when
// x is no such constant.
func (g *Graph) Ints(x uint32) (list []int64, ok bool) {
	if !g.IsConst(x) {
		return nil, false
	}
	if w, ok := g.Wide[x]; ok {
		return w, true
	}
	o := g.Operand(x)
	switch o.Type {
	case nn.TensorInt32:
		for i := 0; i < len(o.Data); i += 4 {
			list = append(list, int64(int32(binary.LittleEndian.Uint32(o.Data[i:]))))
		}
	case nn.TensorBool8, nn.TensorQuant8Asymm:
		for _, b := range o.Data {
			list = append(list, int64(b))
		}
	case nn.TensorQuant8AsymmSigned:
		for _, b := range o.Data {
			list = append(list, int64(int8(b)))
		}
	default:
		return nil, false
	}
	return list, true
}
