package tflite

import (
	"slices"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/nn"
)

// stableReshape has no options: the new shape is that of its result.
func stableReshape(c *conversion) {
	x, shape := c.x(0), c.stated()
	if nn.Elements(shape) != nn.Elements(c.Dims(x)) {
		c.Failf("new shape %v for shape %v", shape, c.Dims(x))
	}
	c.defineShaped(x, shape)
}

// stableBroadcast makes dimension i of its input dimension broadcast_dimensions[i] of the result and repeats along the
// others.
func stableBroadcast(c *conversion) {
	x, shape := c.x(0), c.stated()
	dims, to := c.Dims(x), c.axes("broadcast_dimensions", len(shape))
	if len(to) != len(dims) {
		c.Failf("broadcast_dimensions %v of shape %v", to, dims)
	}
	full, order := slices.Repeat([]uint32{1}, len(shape)), make([]int, len(to))
	for i, a := range to {
		full[a], order[i] = dims[i], i
	}
	slices.SortFunc(order, func(i, k int) int { return to[i] - to[k] })
	c.define(0, c.BroadcastTo(c.Reshape(c.Transpose(x, order...), full), shape))
}

func stableTranspose(c *conversion) {
	x := c.x(0)
	c.define(0, c.Transpose(x, c.axes("permutation", c.Rank(x))...))
}

func stableSlice(c *conversion) {
	x := c.x(0)
	dims := c.Dims(x)
	begin, end, steps := c.each("start_indices", len(dims), 0), c.each("limit_indices", len(dims), 0), c.each("strides", len(dims), 1)
	walks := make([]lowering.Walk, len(dims))
	for i, d := range dims {
		if begin[i] < 0 || end[i] > int64(d) || begin[i] > end[i] || steps[i] < 1 {
			c.Failf("from %v to %v by %v of shape %v", begin, end, steps, dims)
		}
		if begin[i] == end[i] {
			c.Refusef("the result is empty")
		}
		walks[i] = lowering.Walk{Begin: begin[i], Step: steps[i], Count: lowering.Steps(begin[i], end[i], steps[i])}
	}
	c.define(0, c.Along(x, walks))
}

// starts are the inputs from k on, where a part of x with a size begins along each dimension, so that it is inside.
func (c *conversion) starts(k int, dims []uint32, size []int64) []uint32 {
	if len(c.in)-k != len(dims) {
		c.Failf("%d start indices for rank %d", len(c.in)-k, len(dims))
	}
	list := make([]uint32, len(dims))
	for i, d := range dims {
		if size[i] < 1 || size[i] > int64(d) {
			c.Failf("a part of %v elements of shape %v", size, dims)
		}
		at := c.Reshape(c.indices(k+i), []uint32{1})
		list[i] = c.Binary(nn.OpMinimum, c.Binary(nn.OpMaximum, at, c.Int32Tensor(0)), c.Int32Tensor(int64(d)-size[i]))
	}
	return list
}

// stableDynamicSlice extracts a part that may begin where execution says: it gathers from there, dimension by dimension.
func stableDynamicSlice(c *conversion) {
	x := c.x(0)
	dims := c.Dims(x)
	size := c.each("slice_sizes", len(dims), 0)
	for i, at := range c.starts(1, dims, size) {
		if size[i] == int64(dims[i]) {
			continue
		}
		if first, ok := c.Ints(at); ok {
			now := c.Dims(x)
			walks := make([]lowering.Walk, len(now))
			for k, d := range now {
				walks[k] = lowering.Walk{Step: 1, Count: int64(d)}
			}
			walks[i].Begin, walks[i].Count = first[0], size[i]
			x = c.Along(x, walks)
			continue
		}
		x = c.GatherAxis(x, i, c.Binary(nn.OpAdd, c.Iota(int(size[i])), at))
	}
	c.define(0, x)
}

// stableDynamicUpdate is DYNAMIC_UPDATE_SLICE with a scalar per dimension.
func stableDynamicUpdate(c *conversion) {
	dims, size := c.Dims(c.x(0)), lowering.Signed(c.Dims(c.x(1)))
	if len(size) != len(dims) {
		c.Failf("shape %v into %v", size, dims)
	}
	if len(dims) == 0 {
		c.define(0, c.x(1))
		return
	}
	at := c.Concat(nn.Operand{Type: nn.TensorInt32}, 0, c.starts(2, dims, size)...)
	c.in = []uint32{c.x(0), c.x(1), at}
	dynamicUpdateSlice(c)
}

// stablePad puts interior_padding values between the elements along each dimension, then edges around; negative edges
// cut off.
func stablePad(c *conversion) {
	x, out, value, then := c.padValue(1)
	rank := c.Rank(x)
	low, high, between := c.each("edge_padding_low", rank, 0), c.each("edge_padding_high", rank, 0), c.each("interior_padding", rank, 0)
	for a := range rank {
		if between[a] < 0 {
			c.Failf("interior padding %v", between)
		}
		x = c.spread(out, x, a, between[a], value)
		x = c.padAxis(out, x, a, low[a], high[a], value)
	}
	c.define(0, then(x))
}

// spread puts n values between the elements of x along an axis.
func (c *conversion) spread(out nn.Operand, x uint32, axis int, n int64, value uint32) uint32 {
	dims := c.Dims(x)
	if n == 0 || dims[axis] < 2 {
		return x
	}
	outer, inner := uint32(nn.Elements(dims[:axis])), uint32(nn.Elements(dims[axis+1:]))
	shape := slices.Clone(dims)
	shape[axis] = c.Unsigned([]int64{int64(dims[axis]) * (n + 1)})[0]
	x = c.Reshape(c.padAxis(out, c.Reshape(x, []uint32{outer * dims[axis], 1, inner}), 1, 0, n, value), shape)
	return c.padAxis(out, x, axis, 0, -n, value)
}

// padAxis puts values before and behind x along an axis, or cuts off elements where their numbers are negative.
func (c *conversion) padAxis(out nn.Operand, x uint32, axis int, low, high int64, value uint32) uint32 {
	dims := c.Dims(x)
	outer, n, inner := uint32(nn.Elements(dims[:axis])), int64(dims[axis]), uint32(nn.Elements(dims[axis+1:]))
	flat := []uint32{outer, dims[axis], inner}
	if before, behind := max(low, 0), max(high, 0); before+behind > 0 {
		out.Dimensions = nil
		x = c.Pad(out, c.Reshape(x, flat), [][2]int64{{}, {before, behind}, {}}, value)
		n += before + behind
		flat = c.Dims(x)
	}
	from, to := max(-low, 0), n-max(-high, 0)
	if from >= to {
		c.Refusef("the result is empty")
	}
	if to-from < n {
		x = c.Along(c.Reshape(x, flat), []lowering.Walk{{Step: 1, Count: int64(outer)}, {Begin: from, Step: 1, Count: to - from}, {Step: 1, Count: int64(inner)}})
	}
	shape := slices.Clone(dims)
	shape[axis] = uint32(to - from)
	return c.Reshape(x, shape)
}

// stableIota counts along one dimension.
func stableIota(c *conversion) {
	shape := c.stated()
	axis := c.Axis(c.options.Int("iota_dimension"), len(shape))
	along := slices.Repeat([]uint32{1}, len(shape))
	along[axis] = shape[axis]
	c.define(0, c.BroadcastTo(c.Reshape(c.To(c.Iota(int(shape[axis])), c.out(0)), along), shape))
}

// stableGather gathers parts that are whole along all dimensions but those that the indices name, along which they have
// one element.
func stableGather(c *conversion) {
	x, idx := c.x(0), c.indices(1)
	dims, rank := c.Dims(x), c.Rank(x)
	named, dropped := c.axes("start_index_map", rank), c.axes("collapsed_slice_dims", rank)
	var kept []uint32 // the dimensions of a part
	for i, n := range c.each("slice_sizes", rank, 0) {
		switch whole := n == int64(dims[i]); {
		case slices.Contains(named, i) && n != 1 || !slices.Contains(named, i) && !whole:
			c.Refusef("it gathers parts of %d of %d elements along dimension %d; whole dimensions and single elements are gathered", n, dims[i], i)
		case slices.Contains(dropped, i) && n != 1:
			c.Failf("collapsed dimension %d has %d elements", i, n)
		case !slices.Contains(dropped, i):
			kept = append(kept, uint32(n))
		}
	}
	idx = c.vectorsLast(idx, int(c.options.Int("index_vector_dim")))
	di := c.Dims(idx)
	batch := di[:len(di)-1]
	if len(named) == 0 || int(di[len(di)-1]) != len(named) {
		c.Failf("indices of shape %v for dimensions %v", di, named)
	}
	y := c.GatherND(c.Transpose(x, append(slices.Clone(named), withoutAxes(rank, named)...)...), c.inside(idx, pick(dims, named)))
	y = c.Reshape(y, slices.Concat(batch, kept))
	offsets := c.axes("offset_dims", len(batch)+len(kept))
	if len(offsets) != len(kept) {
		c.Failf("offset_dims %v for parts of shape %v", offsets, kept)
	}
	perm, b, k := make([]int, len(batch)+len(kept)), 0, len(batch)
	for p := range perm {
		if slices.Contains(offsets, p) {
			perm[p], k = k, k+1
		} else {
			perm[p], b = b, b+1
		}
	}
	c.define(0, c.Transpose(y, perm...))
}

// vectorsLast are indices whose vectors lie along a dimension, along the last one; beyond it they are scalars.
func (c *conversion) vectorsLast(idx uint32, along int) uint32 {
	dims := c.Dims(idx)
	if along == len(dims) {
		return c.Reshape(idx, append(slices.Clone(dims), 1))
	}
	along = c.Axis(int64(along), len(dims))
	return c.Transpose(idx, append(withoutAxes(len(dims), []int{along}), along)...)
}

// inside are index vectors with the nearest place that there is for those beyond dims.
func (c *conversion) inside(idx uint32, dims []uint32) uint32 {
	last := lowering.Signed(dims)
	fits := true
	if list, ok := c.Ints(idx); ok {
		for i, v := range list {
			fits = fits && v >= 0 && v < last[i%len(last)]
		}
		if fits {
			return idx
		}
	}
	for i := range last {
		last[i]--
	}
	return c.Binary(nn.OpMinimum, c.Binary(nn.OpMaximum, idx, c.Int32Tensor(0)), c.Int32Tensor(last...))
}
