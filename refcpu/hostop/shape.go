package hostop

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// shapeOperators give new shapes, and copy and fill where extents are known only during execution.
var shapeOperators = []operator{
	// tensor, shape with at most one -1; attribute: whether 0 is a size, or the input's own dimension.
	{op: nn.OpHostReshape, attributes: 1, steps: 1, run: reshape},
	// tensor, shape to broadcast to.
	{op: nn.OpHostExpand, steps: 1, run: expand},
	// tensor, sizes before and behind each axis, value, axes, of which the last two may be omitted; attribute: 0 a value, 1
	// the elements mirrored, 2 the last element, 3 around.
	{op: nn.OpHostPad, attributes: 1, steps: 1, run: pad},
	// tensor [.., rows, columns], number of the diagonal, which may be omitted; attribute: 1 keeps what is above.
	{op: nn.OpHostTrilu, attributes: 1, steps: 1, run: trilu},
	// start, limit, delta.
	{op: nn.OpHostRange, steps: 2, run: count},
	// shape, value of one element.
	{op: nn.OpHostFill, steps: 1, run: fill},
	// tensor, how often along each axis.
	{op: nn.OpHostTile, steps: 1, run: tile},
	// tensor, axes.
	{op: nn.OpHostSqueeze, steps: 1, run: squeeze},
	{op: nn.OpHostUnsqueeze, steps: 1, run: unsqueeze},
	// tensor, axis; attributes: whether without the element itself, whether from the end.
	{op: nn.OpHostCumulativeSum, attributes: 2, steps: 1, run: cumulative(0, func(a, b float64) float64 { return a + b })},
	{op: nn.OpHostCumulativeProduct, attributes: 2, steps: 1, run: cumulative(1, func(a, b float64) float64 { return a * b })},
	// indices, depth, values off and on; attributes: axis, whether negative indices count from the back.
	{op: nn.OpHostOneHot, attributes: 2, steps: 1, run: oneHot},
	// tensor; attributes: the first dimension of its shape that counts and the one behind the last.
	{op: nn.OpHostShape, attributes: 2, steps: 1, run: shapeOf},
	// two shapes, of which the result is the common one.
	{op: nn.OpHostBroadcastShapes, steps: 1, run: broadcastShapes},
	// tensor, distances of its elements along each axis, value of one element between them.
	{op: nn.OpHostDilate, steps: 1, run: dilate},
}

// as is a tensor in a shape of as many elements.
func as(x *tensor, dims []uint32) []tensor {
	if n := nn.Elements(dims); n != int64(x.n()) {
		fail("shape %v for %d elements", dims, x.n())
	}
	y := *x
	y.dims = dims
	return []tensor{y}
}

// shape are integers as dimensions.
func shape(list []int64) []uint32 {
	dims := make([]uint32, len(list))
	for i, d := range list {
		if d < 0 || d > nn.MaxElements {
			fail("dimension %d of %v", d, list)
		}
		dims[i] = uint32(d)
	}
	return dims
}

func reshape(c *call) []tensor {
	x, list := c.tensor(0), c.list(1)
	open, rest := -1, int64(1)
	for i, d := range list {
		if d == 0 && c.attributes[0] == 0 {
			if i >= len(x.dims) {
				fail("shape %v takes dimension %d of %v", list, i, x.dims)
			}
			list[i] = int64(x.dims[i])
			d = list[i]
		}
		switch {
		case d == -1 && open < 0:
			open = i
			continue
		case d < 0:
			fail("dimension %d of %v", d, list)
		}
		if rest *= d; rest > nn.MaxElements {
			fail("shape %v is too large", list)
		}
	}
	if open >= 0 {
		if rest == 0 {
			fail("shape %v for %d elements", list, x.n())
		}
		list[open] = int64(x.n()) / rest
	}
	return as(x, shape(list))
}

// spread is a tensor broadcast to a shape.
func (c *call) spread(x *tensor, dims []uint32) tensor {
	y := c.make(x, dims)
	from := aligned(x.dims, dims)
	each(dims, func(i int, at []int) {
		p := offset(at, from)
		copy(y.bytes(i, i+1), x.bytes(p, p+1))
	})
	return y
}

func expand(c *call) []tensor {
	x := c.tensor(0)
	return []tensor{c.spread(x, broadcast(x.dims, shape(c.list(1))))}
}

func pad(c *call) []tensor {
	x, sizes := c.tensor(0), c.list(1)
	axes := make([]int, 0, len(x.dims))
	if c.has(3) {
		for _, a := range c.list(3) {
			axes = append(axes, axis(a, len(x.dims)))
		}
	} else {
		for i := range x.dims {
			axes = append(axes, i)
		}
	}
	if len(sizes) != 2*len(axes) {
		fail("%d sizes for %d axes", len(sizes), len(axes))
	}
	before, dims := make([]int64, len(x.dims)), slices.Clone(x.dims)
	for i, a := range axes {
		before[a] = sizes[i]
		n := int64(x.dims[a]) + sizes[i] + sizes[len(axes)+i]
		if n < 0 || n > nn.MaxElements {
			fail("sizes %v beside shape %v", sizes, x.dims)
		}
		dims[a] = uint32(n)
	}
	y := c.make(x, dims)
	value := make([]byte, x.size())
	if c.has(2) {
		v := c.tensor(2)
		if v.kind != x.kind || v.n() != 1 {
			fail("a value of type %v and shape %v", v.kind, v.dims)
		}
		value = v.data
	}
	own := strides(x.dims)
	each(dims, func(i int, at []int) {
		p, inside := 0, true
		for d, a := range at {
			q := source(int64(a)-before[d], int64(x.dims[d]), c.attributes[0])
			inside = inside && q >= 0
			p += int(q) * own[d]
		}
		if !inside {
			copy(y.bytes(i, i+1), value)
			return
		}
		copy(y.bytes(i, i+1), x.bytes(p, p+1))
	})
	return []tensor{y}
}

// source is the place among n that padding of a mode reads for place i; -1 is the value.
func source(i, n int64, mode int) int64 {
	if i >= 0 && i < n {
		return i
	}
	switch mode {
	case 1:
		if n == 1 {
			return 0
		}
		if i %= 2 * (n - 1); i < 0 {
			i += 2 * (n - 1)
		}
		return min(i, 2*(n-1)-i)
	case 2:
		return min(max(i, 0), n-1)
	case 3:
		if n == 0 {
			return -1
		}
		return (i%n + n) % n
	}
	return -1
}

func trilu(c *call) []tensor {
	x := c.tensor(0)
	if len(x.dims) < 2 {
		fail("a matrix of shape %v", x.dims)
	}
	k := int64(0)
	if c.has(1) {
		k = c.one(1)
	}
	y := c.make(x, x.dims)
	rank := len(x.dims)
	each(x.dims, func(i int, at []int) {
		d := int64(at[rank-1]) - int64(at[rank-2])
		if c.attributes[0] == 1 && d >= k || c.attributes[0] == 0 && d <= k {
			copy(y.bytes(i, i+1), x.bytes(i, i+1))
		}
	})
	return []tensor{y}
}

func count(c *call) []tensor {
	start, limit, delta := c.real(0, 0), c.real(1, 0), c.real(2, 1)
	n := math.Max(math.Ceil((limit-start)/delta), 0)
	if !(n <= nn.MaxElements) {
		fail("from %v to %v in steps of %v", start, limit, delta)
	}
	y := c.make(c.tensor(0), []uint32{uint32(n)})
	for i := range int(n) {
		y.putNumber(i, start+float64(float64(i)*delta))
	}
	return []tensor{y}
}

func fill(c *call) []tensor {
	v := c.tensor(1)
	if v.n() != 1 {
		fail("a value of shape %v", v.dims)
	}
	return []tensor{c.filled(v, shape(c.list(0)), v.data)}
}

func tile(c *call) []tensor {
	x, times := c.tensor(0), c.list(1)
	if len(times) != len(x.dims) {
		fail("%d numbers for rank %d", len(times), len(x.dims))
	}
	dims := slices.Clone(x.dims)
	for i, n := range times {
		if n < 0 || n > nn.MaxElements || int64(dims[i])*n > nn.MaxElements {
			fail("%d times dimension %d", n, dims[i])
		}
		dims[i] *= uint32(n)
	}
	y := c.make(x, dims)
	own := strides(x.dims)
	each(dims, func(i int, at []int) {
		p := 0
		for d, a := range at {
			p += a % int(x.dims[d]) * own[d]
		}
		copy(y.bytes(i, i+1), x.bytes(p, p+1))
	})
	return []tensor{y}
}

func squeeze(c *call) []tensor {
	x := c.tensor(0)
	drop := make([]bool, len(x.dims))
	if !c.has(1) {
		for i, d := range x.dims {
			drop[i] = d == 1
		}
	} else {
		for _, a := range c.list(1) {
			drop[axis(a, len(x.dims))] = true
		}
	}
	var dims []uint32
	for i, d := range x.dims {
		if !drop[i] {
			dims = append(dims, d)
		} else if d != 1 {
			fail("dimension %d of %v is not 1", i, x.dims)
		}
	}
	return as(x, dims)
}

func unsqueeze(c *call) []tensor {
	x, axes := c.tensor(0), c.list(1)
	if len(axes) > 8 {
		fail("%d axes", len(axes))
	}
	fresh := make([]bool, len(x.dims)+len(axes))
	for _, a := range axes {
		i := axis(a, len(fresh))
		if fresh[i] {
			fail("axis %d twice", a)
		}
		fresh[i] = true
	}
	var dims []uint32
	k := 0
	for _, f := range fresh {
		if f {
			dims = append(dims, 1)
			continue
		}
		dims = append(dims, x.dims[k])
		k++
	}
	return as(x, dims)
}

// cumulative combines the elements along an axis up to each of them. Of integers, a result must fit their type.
func cumulative(initial float64, combine func(a, b float64) float64) func(c *call) []tensor {
	return func(c *call) []tensor {
		x := c.tensor(0)
		at := axis(c.one(1), len(x.dims))
		n := int(x.dims[at])
		outer, inner := split(x.dims, at)
		y := c.make(x, x.dims)
		if len(y.data) == 0 {
			return []tensor{y}
		}
		for o := range outer {
			for j := range inner {
				all := initial
				for k := range n {
					i := k
					if c.attributes[1] == 1 {
						i = n - 1 - k
					}
					p := (o*n+i)*inner + j
					if c.attributes[0] == 1 {
						y.putNumber(p, all)
					}
					if all = combine(all, x.number(p)); x.kind == nn.TensorFloat32 {
						all = float64(float32(all))
					}
					if c.attributes[0] == 0 {
						y.putNumber(p, all)
					}
				}
			}
		}
		return []tensor{y}
	}
}

func oneHot(c *call) []tensor {
	indices, values := c.tensor(0), c.tensor(2)
	depth := int64(c.real(1, 0))
	if depth < 0 || depth > nn.MaxElements || values.n() != 2 {
		fail("depth %d and %d values", depth, values.n())
	}
	at := axis(int64(c.attributes[0]), len(indices.dims)+1)
	dims := slices.Insert(slices.Clone(indices.dims), at, uint32(depth))
	y := c.filled(values, dims, values.bytes(0, 1))
	outer, inner := split(dims, at)
	if len(y.data) == 0 {
		return []tensor{y}
	}
	for o := range outer {
		for j := range inner {
			v := int64(indices.number(o*inner + j))
			if v < 0 && c.attributes[1] == 1 {
				v += depth
			}
			if v >= 0 && v < depth {
				p := (o*int(depth)+int(v))*inner + j
				copy(y.bytes(p, p+1), values.bytes(1, 2))
			}
		}
	}
	return []tensor{y}
}

func shapeOf(c *call) []tensor {
	dims := c.tensor(0).dims
	end := min(max(c.attributes[1], 0), len(dims))
	var list []int64
	for _, d := range dims[min(max(c.attributes[0], 0), end):end] {
		list = append(list, int64(d))
	}
	return []tensor{c.integers([]uint32{uint32(len(list))}, list)}
}

func broadcastShapes(c *call) []tensor {
	var list []int64
	for _, d := range broadcast(shape(c.list(0)), shape(c.list(1))) {
		list = append(list, int64(d))
	}
	return []tensor{c.integers([]uint32{uint32(len(list))}, list)}
}

func dilate(c *call) []tensor {
	x, distances, value := c.tensor(0), c.list(1), c.tensor(2)
	if len(distances) != len(x.dims) || value.n() != 1 || value.kind != x.kind {
		fail("%d distances and a value of shape %v for rank %d", len(distances), value.dims, len(x.dims))
	}
	dims := slices.Clone(x.dims)
	for i, n := range distances {
		if n < 1 || n > nn.MaxElements {
			fail("distance %d", n)
		}
		if dims[i] > 0 {
			long := int64(dims[i]-1)*n + 1
			if long > nn.MaxElements {
				fail("distance %d of %d elements", n, dims[i])
			}
			dims[i] = uint32(long)
		}
	}
	y := c.filled(x, dims, value.data)
	to := strides(dims)
	each(x.dims, func(i int, at []int) {
		p := 0
		for d, a := range at {
			p += a * int(distances[d]) * to[d]
		}
		copy(y.bytes(p, p+1), x.bytes(i, i+1))
	})
	return []tensor{y}
}
