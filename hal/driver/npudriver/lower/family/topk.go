package family

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// ranked are the elements of rows as keys, unique in each row: the larger element, or the one in
// front of an equal one, has the larger key. Maps are rows x elements x 1, of 32 bits.
//
//	bytes     minor = value << 16 | what is behind it
//	integers  major = value >> 16, minor = (value & 0xffff) << 14 | what is behind it
type ranked struct {
	major, minor layout.Ref
	wide         bool // there is a major key
	place        int  // bits of what is behind
}

// Most elements of a row that TOPK_V2 ranks: their places are in the keys of bytes and of integers.
const (
	maxRankedBytes    = 1 << 16
	maxRankedIntegers = 1 << 14
)

// excluded is added to keys that cannot be chosen; all keys are below it.
const excluded = 1 << 30

// lowerTopK is TOPK_V2: the largest key, which is then put behind all others, again and again.
func lowerTopK(l *lower.Lowering, op *nn.Operation, t opspec.TopK) {
	in := allBytes(l, t.Input)
	most := maxRankedBytes
	if t.Type == nn.TensorInt32 {
		most = maxRankedIntegers
	}
	maxRanked.Refuse(t.Depth > most || t.K*(2*bits.Len(uint(t.Depth))+8) > maxMoves, "%d of %d", t.K, t.Depth)
	c := chain{l: l}
	keys := c.rank(in, t.Rows, t.Depth, t.Type == nn.TensorInt32)
	major, minor := wideMap(l, t.Rows, t.K, 1), wideMap(l, t.Rows, t.K, 1)
	for k := range t.K {
		column := func(r layout.Ref) layout.Ref { return within(r, 4*k, t.Rows, 1, 1, 4*t.K, 4) }
		c.best(&keys, column(major), column(minor), k+1 < t.K)
	}
	value, behind := c.split(minor, keys.place)
	if keys.wide {
		c.op(ethosu.EltMul, major, c.constant(1<<16), major, plain)
		c.op(ethosu.EltAdd, value, major, value, plain)
	}
	c.op(ethosu.EltSub, behind, c.constant(int32(t.Depth-1)), behind, swapped)
	result(l, t.Values, value)
	result(l, t.Indices, behind)
}

// result puts 32-bit elements into an output of bytes or integers.
func result(l *lower.Lowering, x uint32, from layout.Ref) {
	n := from.H * from.W * from.C
	o := l.Tensor(x)
	if o.Type == nn.TensorInt32 {
		to := l.Out(x, 1, 1, 4*n)
		moveAll(l, bytesOf(from), bytesOf(to), 4*n, nil, 0, 255)
		return
	}
	to := l.Out(x, from.H, from.W, from.C)
	lo, hi := layout.Limits(to.Signed)
	c := chain{l: l}
	c.narrow(from, to, lo, hi)
}

// rank are the keys of rows of bytes or integers.
func (c *chain) rank(in layout.Ref, rows, depth int, wide bool) ranked {
	r := ranked{wide: wide, place: 16}
	value := wideMap(c.l, rows, depth, 1)
	if wide {
		in.Bytes, in.Signed = 4, true
		r.place = 14
		r.major, value = c.split(shaped(in, rows, depth, 1), 16)
	} else {
		c.widen(shaped(in, rows, depth, 1), value)
	}
	behind := make([]int32, depth)
	for i := range behind {
		behind[i] = int32(depth - 1 - i)
	}
	r.minor = c.times(value, c.constant(1<<r.place))
	c.op(ethosu.EltAdd, shaped(r.minor, 1, rows, depth), c.constants(behind...), shaped(r.minor, 1, rows, depth), plain)
	return r
}

// best finds the largest key of each row; with drop it is put behind all others.
func (c *chain) best(r *ranked, major, minor layout.Ref, drop bool) {
	candidates, room := r.minor, c.like(r.minor)
	if r.wide { // those whose major key is not the largest are out of the question
		largest := c.halve(ethosu.EltMax, r.major)
		c.op(ethosu.EltAdd, largest, c.constant(0), major, plain)
		candidates = c.like(r.minor)
		c.op(ethosu.EltSub, r.major, largest, room, swapped)
		c.op(ethosu.EltMin, room, c.constant(1), room, plain)
		c.op(ethosu.EltMul, room, c.constant(excluded), room, plain)
		c.op(ethosu.EltSub, r.minor, room, candidates, plain)
	}
	first := c.halve(ethosu.EltMax, candidates)
	c.op(ethosu.EltAdd, first, c.constant(0), minor, plain)
	if !drop {
		return
	}
	// Of the differences only that of the best key has leading zeros: 32.
	c.op(ethosu.EltSub, candidates, first, room, plain)
	c.unary(ethosu.EltClz, room, room)
	if r.wide {
		c.op(ethosu.EltMul, room, c.constant(1<<17/32), room, plain)
		c.op(ethosu.EltSub, r.major, room, r.major, plain)
		return
	}
	c.op(ethosu.EltMul, room, c.constant(excluded/32), room, plain)
	c.op(ethosu.EltSub, r.minor, room, r.minor, plain)
}
