package lowering

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// GatherBatches gathers in each batch by its own indices: the batches become part of the gathered axis, and indices
// count from the batch's beginning.
func (g *Graph) GatherBatches(x, idx uint32, batch, axis int) uint32 {
	dx, di := g.Dims(x), g.Dims(idx)
	batches, outer := nn.Elements(dx[:batch]), nn.Elements(dx[batch:axis])
	n, inner, each := int64(dx[axis]), nn.Elements(dx[axis+1:]), nn.Elements(di[batch:])
	rows := batches * outer * n
	if rows > nn.MaxElements || batches*outer*each > 1<<26 || nn.Elements(di) != batches*each {
		g.Failf("shape %v with indices %v", dx, di)
	}
	flat := g.Reshape(x, []uint32{uint32(rows), uint32(inner)})
	idx = g.BroadcastTo(g.Reshape(idx, []uint32{uint32(batches), 1, uint32(each)}), []uint32{uint32(batches), uint32(outer), uint32(each)})
	first := make([]int64, batches*outer)
	for i := range first {
		first[i] = int64(i) * n
	}
	idx = g.Binary(nn.OpAdd, idx, g.Int32Shaped([]uint32{uint32(batches), uint32(outer), 1}, first))
	return g.Gather(flat, 0, g.Reshape(idx, []uint32{uint32(nn.Elements(g.Dims(idx)))}))
}

// Linear are tuples of indices [.., m] into the first m of dims as indices into
// their product.
func (g *Graph) Linear(idx uint32, dims []uint32) uint32 {
	di := g.Dims(idx)
	m := len(di)
	if m == 0 || di[m-1] == 0 || int(di[m-1]) > len(dims) {
		g.Failf("indices of shape %v into %v", di, dims)
	}
	parts, n := int(di[m-1]), uint32(nn.Elements(di[:m-1]))
	flat := g.Reshape(idx, []uint32{n, uint32(parts)})
	sum := None
	for p := range parts {
		part := g.Slice(flat, []int64{0, int64(p)}, []int64{int64(n), 1})
		if step := nn.Elements(dims[p+1 : parts]); step != 1 {
			part = g.Binary(nn.OpMul, part, g.Int32Tensor(step))
		}
		if sum == None {
			sum = part
		} else {
			sum = g.Binary(nn.OpAdd, sum, part)
		}
	}
	return g.Reshape(sum, []uint32{n})
}

// Diagonal is a constant [rows, cols] that is 1 on the diagonal.
func (g *Graph) Diagonal(o nn.Operand, rows, cols uint32) uint32 {
	if uint64(rows)*uint64(cols) > 1<<24 {
		g.Refusef("a matrix of %d by %d", rows, cols)
	}
	list := make([]int64, rows*cols)
	for i := range min(rows, cols) {
		list[i*cols+i] = 1
	}
	return g.As(g.Int32Shaped([]uint32{rows, cols}, list), o.Type) // a constant
}

// named is whether row i of [total, n] is what index k of [n] names.
func (g *Graph) named(idx uint32, n, total uint32) uint32 {
	if uint64(n)*uint64(total) > 1<<24 {
		g.Refusef("it scatters %d rows into %d", n, total)
	}
	return g.Compare(nn.OpEqual, g.Reshape(g.Iota(int(total)), []uint32{total, 1}), g.Reshape(idx, []uint32{1, n}))
}

// partBits are how many bits of an integer Scatter sums at a time: 2^13 of them fit the 24 bits that reals hold exactly.
const partBits = 11

// Scatter adds rows [n, inner] to rows that the indices [n] name: a product with the one-hot matrix of the indices.
// Integers are summed in three parts, exact where at most 8,192 rows meet. Where none meet, rows are only moved: a product
// makes an infinity in one row no number in all others.
func (g *Graph) Scatter(idx, rows uint32, n, inner, total uint32) uint32 {
	if t := g.Operand(rows).Type; g.distinct(idx, total) && (t == nn.TensorFloat32 || g.whole(rows)) {
		zeros := g.Filled(nn.Operand{Type: t, Dimensions: []uint32{total, inner}}, 0)
		return g.Replace(zeros, idx, rows, n, inner, total)
	}
	hit := g.As(g.named(idx, n, total), nn.TensorFloat32)
	product := func(rows uint32) uint32 {
		rows = g.As(g.Reshape(rows, []uint32{n, inner}), nn.TensorFloat32)
		return g.Emit(nn.OpBatchMatmul, nn.Operand{Type: nn.TensorFloat32}, hit, rows, g.BoolScalar(false), g.BoolScalar(false))
	}
	if !g.whole(rows) {
		return product(rows)
	}
	base, sum := g.Int32Number(1<<partBits), None
	for k := range 3 {
		part := rows
		if k < 2 {
			upper := g.FloorDiv(rows, base)
			part, rows = g.Binary(nn.OpSub, rows, g.Binary(nn.OpMul, upper, base)), upper
		}
		part = g.As(product(part), nn.TensorInt32)
		if sum == None {
			sum = part
		} else {
			sum = g.Binary(nn.OpAdd, sum, g.Binary(nn.OpMul, part, g.Int32Number(1<<(k*partBits))))
		}
	}
	return sum
}

// distinct reports whether idx are constant, different and less than total.
func (g *Graph) distinct(idx, total uint32) bool {
	list, ok := g.Ints(idx)
	seen := map[int64]bool{}
	for _, v := range list {
		ok = ok && v >= 0 && v < int64(total) && !seen[v]
		seen[v] = true
	}
	return ok
}

// Replace puts rows [n, inner] into rows [total, inner] of x at the places that indices [n] name, of equal ones the last:
// every row of the result is a row of x or one of the rows.
func (g *Graph) Replace(x, idx, rows uint32, n, inner, total uint32) uint32 {
	all := g.Concat(*g.Operand(x), 0, g.Reshape(x, []uint32{total, inner}), g.Reshape(rows, []uint32{n, inner}))
	if list, ok := g.Ints(idx); ok {
		from := make([]int64, total)
		for i := range from {
			from[i] = int64(i)
		}
		for k, at := range list {
			if at < 0 || at >= int64(total) {
				g.Failf("place %d of %d", at, total)
			}
			from[at] = int64(total) + int64(k)
		}
		return g.GatherAxis(all, 0, g.Int32Tensor(from...))
	}
	hit := g.As(g.named(idx, n, total), nn.TensorFloat32)
	last := g.Binary(nn.OpMul, hit, g.As(g.Binary(nn.OpAdd, g.Iota(int(n)), g.Int32Number(1)), nn.TensorFloat32))
	last = g.As(g.Emit(nn.OpReduceMax, nn.Operand{Type: nn.TensorFloat32}, last, g.Int32Tensor(1), g.BoolScalar(false)), nn.TensorInt32)
	replaced := g.Binary(nn.OpAdd, last, g.Int32Number(int64(total)-1))
	integer := nn.Operand{Type: nn.TensorInt32}
	from := g.Emit(nn.OpSelect, integer, g.Compare(nn.OpEqual, last, g.Int32Number(0)), g.Iota(int(total)), replaced)
	return g.GatherAxis(all, 0, from)
}

// OneHot compares indices with a count along a new axis: on where they agree, off elsewhere.
func (g *Graph) OneHot(idx uint32, depth int64, on, off uint32, axis int) uint32 {
	dims := g.Dims(idx)
	if depth < 1 || depth > 1<<24 {
		g.Failf("depth %d", depth)
	}
	outer, inner := uint32(nn.Elements(dims[:axis])), uint32(nn.Elements(dims[axis:]))
	hit := g.Compare(nn.OpEqual, g.Reshape(idx, []uint32{outer, 1, inner}), g.Reshape(g.Iota(int(depth)), []uint32{1, uint32(depth), 1}))
	all := []uint32{outer, uint32(depth), inner}
	y := g.Emit(nn.OpSelect, *g.Operand(on), hit, g.BroadcastTo(on, all), g.BroadcastTo(off, all))
	return g.Reshape(y, slices.Insert(slices.Clone(dims), axis, uint32(depth)))
}

// ReverseSequence gathers each sequence by indices that count down to the sequence's
// length, and up behind it.
func (g *Graph) ReverseSequence(x, lengths uint32, seq, batch int) uint32 {
	dims := g.Dims(x)
	if seq == batch {
		g.Failf("sequences and batches are both axis %d", seq)
	}
	perm := []int{batch, seq}
	for i := range dims {
		if i != seq && i != batch {
			perm = append(perm, i)
		}
	}
	x = g.Transpose(x, perm...)
	b, t := dims[batch], dims[seq]
	length, at := g.Reshape(lengths, []uint32{b, 1}), g.Reshape(g.Iota(int(t)), []uint32{1, t})
	full := []uint32{b, t}
	down := g.Binary(nn.OpSub, g.Binary(nn.OpSub, length, g.Int32Tensor(1)), at)
	idx := g.Emit(nn.OpSelect, nn.Operand{Type: nn.TensorInt32}, g.Compare(nn.OpLess, g.BroadcastTo(at, full), g.BroadcastTo(length, full)), down, g.BroadcastTo(at, full))
	y := g.Reshape(g.GatherBatches(x, idx, 1, 1), g.Dims(x))
	back := make([]int, len(perm))
	for i, p := range perm {
		back[p] = i
	}
	return g.Transpose(y, back...)
}

// GatherAxis gathers entries along an axis by indices of any shape.
func (g *Graph) GatherAxis(x uint32, axis int, idx uint32) uint32 {
	dx, di := g.Dims(x), g.Dims(idx)
	shape := slices.Concat(dx[:axis], di, dx[axis+1:])
	if len(di) > 0 && len(shape) <= 4 && len(dx) <= 4 {
		return g.Gather(x, axis, idx)
	}
	flat := g.Reshape(x, []uint32{uint32(nn.Elements(dx[:axis])), dx[axis], uint32(nn.Elements(dx[axis+1:]))})
	return g.Reshape(g.Gather(flat, 1, g.Reshape(idx, []uint32{uint32(nn.Elements(di))})), shape)
}

// GatherND gathers the parts of x that tuples of indices name.
func (g *Graph) GatherND(x, idx uint32) uint32 {
	dx, di := g.Dims(x), g.Dims(idx)
	rows := g.Linear(idx, dx)
	m := int(di[len(di)-1])
	flat := g.Reshape(x, []uint32{uint32(nn.Elements(dx[:m])), uint32(nn.Elements(dx[m:]))})
	return g.Reshape(g.Gather(flat, 0, rows), slices.Concat(di[:len(di)-1], dx[m:]))
}
