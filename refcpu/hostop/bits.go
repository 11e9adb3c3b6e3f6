package hostop

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// bitOperators work on bits of elements. Two inputs broadcast.
var bitOperators = []operator{
	{op: nn.OpHostBitShift, attributes: 1, steps: 1, run: bitShift}, // 1 shifts to the right
	// tensor, whose bits are read as elements of the result's type: a smaller one makes a last dimension of the elements that
	// each becomes, a greater one takes it away.
	{op: nn.OpHostBitcast, steps: 1, run: bitcast},
	{op: nn.OpHostBitwiseAnd, steps: 1, run: bitwise(func(a, b int64) int64 { return a & b })},
	{op: nn.OpHostBitwiseOr, steps: 1, run: bitwise(func(a, b int64) int64 { return a | b })},
	{op: nn.OpHostBitwiseXor, steps: 1, run: bitwise(func(a, b int64) int64 { return a ^ b })},
	{op: nn.OpHostBitwiseNot, steps: 1, run: bitwiseNot},
}

// bitShift shifts values; to the right, a sign stays. A bit that leaves the type is an error in 32 bits, where the file may have more,
// and dropped in 8.
func bitShift(c *call) []tensor {
	right := c.attributes[0] == 1
	return c.pairs(func(t *tensor, a, b int64) int64 {
		switch {
		case b < 0:
			fail("a shift by %d", b)
		case right:
			return a >> min(b, 63)
		case a == 0:
			return 0
		case t.size() == 1 && b > 7:
			return 0
		case b > 31:
			fail("%d << %d does not fit %v", a, b, t.kind)
		case t.size() == 1:
			return (a << b) & 0xff
		}
		return a << b
	})
}

func bitwise(f func(a, b int64) int64) func(c *call) []tensor {
	return func(c *call) []tensor { return c.pairs(func(_ *tensor, a, b int64) int64 { return f(a, b) }) }
}

func bitwiseNot(c *call) []tensor {
	x := c.tensor(0)
	y := c.make(x, x.dims)
	for i := range x.n() {
		v := ^x.integer(i)
		if x.kind == nn.TensorQuant8Asymm {
			v &= 0xff
		}
		y.put(i, v)
	}
	return []tensor{y}
}

func bitcast(c *call) []tensor {
	y := *c.tensor(0)
	from, to := y.size(), c.out[0].ElementBytes()
	y.kind, y.dims = c.out[0], slices.Clone(y.dims)
	last := len(y.dims) - 1
	switch {
	case from > to:
		y.dims = append(y.dims, uint32(from/to))
	case from < to && (last < 0 || int(y.dims[last]) != to/from):
		fail("shape %v of %d-byte elements as elements of %d bytes", y.dims, from, to)
	case from < to:
		y.dims = y.dims[:last]
	}
	return []tensor{y}
}

// pairs computes each element of the broadcast shape of two inputs.
func (c *call) pairs(f func(t *tensor, a, b int64) int64) []tensor {
	a, b := c.tensor(0), c.tensor(1)
	dims := broadcast(a.dims, b.dims)
	y := c.make(a, dims)
	from, to := aligned(a.dims, dims), aligned(b.dims, dims)
	each(dims, func(i int, at []int) { y.put(i, f(&y, a.integer(offset(at, from)), b.integer(offset(at, to)))) })
	return []tensor{y}
}

// broadcast is the common shape of two shapes.
func broadcast(a, b []uint32) []uint32 {
	if len(a) < len(b) {
		a, b = b, a
	}
	dims := append([]uint32(nil), a...)
	for i, d := range b {
		at := &dims[len(a)-len(b)+i]
		switch {
		case *at == d || d == 1:
		case *at == 1:
			*at = d
		default:
			fail("shapes %v and %v do not broadcast", a, b)
		}
	}
	return dims
}

// aligned are the strides of a shape in one that it broadcasts to: 0 where it has one element.
func aligned(dims, to []uint32) []int {
	s, own := make([]int, len(to)), strides(dims)
	for i := range dims {
		if dims[i] != 1 {
			s[len(to)-len(dims)+i] = own[i]
		}
	}
	return s
}

// offset is the place of an element by its coordinates.
func offset(at, strides []int) (n int) {
	for i, a := range at {
		n += a * strides[i]
	}
	return n
}
