package family

import (
	"encoding/binary"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// operands are the inputs of a binary operation as feature maps: b may be broadcast. With
// swap b is the first of the operation.
type operands struct {
	a, b    layout.Ref
	swap    bool
	h, w, c int
}

// operandsOf lays out both inputs of a binary operation, dense at a and b. What a kernel
// cannot broadcast is repeated in memory.
func operandsOf(l *lower.Lowering, e *opspec.Elementwise, a, b layout.Ref) operands {
	p, err := pairOf(l, e)
	if err != nil {
		for i, r := range []*layout.Ref{&a, &b} {
			strides := [][]int{e.StridesA, e.StridesB}[i]
			*r = repeated(l, *r, strides, e.Dims)
		}
		h, w, c := factor(int(nn.Elements(e.Dims)))
		factors.Refuse(h == 0, "%d elements", nn.Elements(e.Dims))
		return operands{shaped(a, h, w, c), shaped(b, h, w, c), false, h, w, c}
	}
	o := operands{h: p.h, w: p.w, c: p.c, swap: p.a == e.B && p.a != p.b}
	if o.swap {
		a, b = b, a
	}
	o.a, o.b = shaped(a, p.h, p.w, p.c), shaped(b, p.bh, p.bw, p.bc)
	return o
}

// repeated copies a broadcast tensor so that it has every element of dims.
func repeated(l *lower.Lowering, r layout.Ref, strides []int, dims []uint32) layout.Ref {
	if !repeats(strides, dims) {
		return r
	}
	to := narrowMap(l, 1, 1, int(nn.Elements(dims)), r.Signed)
	to.Zero = r.Zero
	axes := []axis{{1, 1, 1}}
	dst := 1
	for i := len(dims) - 1; i >= 0; i-- {
		axes = append(axes, axis{int(dims[i]), strides[i], dst})
		dst *= int(dims[i])
	}
	copyAxes(l, r, to, axes)
	return to
}

// shaped is a dense map of other extents.
func shaped(r layout.Ref, h, w, c int) layout.Ref {
	return within(r, 0, h, w, c, w*c*r.Bytes, c*r.Bytes)
}

// op appends the kernel of a mode on both operands.
func (o *operands) op(c *chain, mode int, out layout.Ref, t tweak) {
	t.swap = o.swap
	c.op(mode, o.a, o.b, out, t)
}

// widen makes 32-bit elements of bytes or 16-bit elements, less their zero point.
func (c *chain) widen(a, out layout.Ref) {
	one := c.l.Constant([]byte{1, 0}[:a.Bytes], 1, 1, 1, a.Bytes, a.Signed)
	c.op(ethosu.EltMul, a, one, out, plain)
}

// narrow makes bytes or 16-bit elements of those of 32 bits: plus the zero point of out, clamped.
func (c *chain) narrow(a, out layout.Ref, lo, hi int) {
	t := natural
	t.lo, t.hi = lo, hi
	c.op(ethosu.EltShr, a, c.constant(0), out, t)
}

// binaryOperands reads an elementwise operation whose inputs and output are bytes.
func binaryOperands(l *lower.Lowering, op *nn.Operation) (e opspec.Elementwise, a, b layout.Ref) {
	e = try.V(opspec.Read[opspec.Elementwise](l.View(), op))
	a = quantizedMap(l, e.A)
	return e, a, quantizedMap(l, e.B)
}

// quantizedMap is all bytes of an 8-bit operand, with its zero point.
func quantizedMap(l *lower.Lowering, x uint32) layout.Ref {
	o := l.Quantized(x)
	r := allBytes(l, x)
	r.Zero = int(o.ZeroPoint)
	return r
}

// lowerSub is ADD of the negated second input where that one is scaled, since the reference
// rounds after it has negated the multiplier; else the hardware's SUB.
func lowerSub(l *lower.Lowering, op *nn.Operation) {
	e, a, b := binaryOperands(l, op)
	q := try.V(e.AddQuant(l.View()))
	mode, scaled, scaleMode := ethosu.EltSub, q.A, ethosu.ScaleOPA32
	if q.B != fixedpoint.QuantizeMultiplier(0.5) {
		mode, scaled, scaleMode = ethosu.EltAdd, q.B, ethosu.ScaleOPB32
		b = negated(l, b)
	}
	o := operandsOf(l, &e, a, b)
	k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Elementwise, Mode: mode, Round: doubleRound, ScaleMode: scaleMode,
		OPAScale: uint32(scaled.M), OPAShift: 11 - scaled.Shift, Lo: int(q.Lo), Hi: int(q.Hi)}, IFM: o.a, IFM2: &o.b}
	similarScales.Refuse(scaled.Shift > 0 || k.OPAShift > 11+maxShift, "2^%d", -scaled.Shift)
	k.Scale, k.Shift = hardware(q.Out)
	k.OFM = l.Out(e.Output, o.h, o.w, o.c)
	k.OFM.Zero = int(q.OutZero)
	k.Broadcast = broadcastOf(&k.IFM.FeatureMap, &o.b.FeatureMap)
	if o.swap {
		k.Broadcast |= ethosu.BroadcastSwap
	}
	l.Add(k)
}

// negated is the bytes of the values of r with the other sign: their complement.
func negated(l *lower.Lowering, r layout.Ref) layout.Ref {
	var t [256]byte
	for i := range t {
		t[i] = ^byte(i)
	}
	to := narrowMap(l, 1, 1, r.C, r.Signed)
	lo, hi := layout.Limits(r.Signed)
	zero := lo + hi - r.Zero
	r.Zero = 0
	moveAll(l, r, to, r.C, &t, lo, hi)
	to.Zero = zero
	return to
}

// extreme is MAXIMUM or MINIMUM of inputs brought to the output's quantization.
func extreme(mode int) lowering {
	legal.Given("mode", mode)
	return by(func(l *lower.Lowering, op *nn.Operation) { lowerExtreme(l, op, mode) })
}

func lowerExtreme(l *lower.Lowering, op *nn.Operation, mode int) {
	e := try.V(opspec.Read[opspec.Elementwise](l.View(), op))
	out := l.Quantized(e.Output)
	a := rescaled(l, e.A, out)
	b := rescaled(l, e.B, out)
	lesserOrGreater(l, &e, a, b, mode)
}

// lesserOrGreater is MIN or MAX of the elements of two maps of one quantization.
func lesserOrGreater(l *lower.Lowering, e *opspec.Elementwise, a, b layout.Ref, mode int) {
	o := operandsOf(l, e, a, b)
	to := l.Out(e.Output, o.h, o.w, o.c)
	t := plain
	t.lo, t.hi = layout.Limits(to.Signed)
	c := chain{l: l}
	o.op(&c, mode, to, t)
}

// lowerPrelu is scale(max(x, 0)) + scale(min(x, 0) * slope): one of the terms is 0.
func lowerPrelu(l *lower.Lowering, op *nn.Operation) {
	e, x, slope := binaryOperands(l, op)
	q := try.V(e.PreluQuant(l.View()))
	slopeScales.Refuse(q.Positive.Shift > maxInputShift || q.Negative.Shift > maxSlopeShift, "2^%d and 2^%d", q.Positive.Shift, q.Negative.Shift)
	zero := l.Constant([]byte{byte(x.Zero)}, 1, 1, 1, 1, x.Signed)
	zero.Zero = x.Zero
	h, w, ch := factor(x.C)
	factors.Refuse(h == 0, "%d elements", x.C)
	c := chain{l: l}
	t := plain
	t.lo, t.hi = layout.Limits(x.Signed)
	part := func(mode int) layout.Ref {
		p := narrowMap(l, h, w, ch, x.Signed)
		p.Zero = x.Zero
		c.op(mode, shaped(x, h, w, ch), zero, p, t)
		return p
	}
	n := int(nn.Elements(e.Dims))
	o := operandsOf(l, &e, shaped(part(ethosu.EltMin), 1, 1, x.C), slope)
	sum, term := wideMap(l, o.h, o.w, o.c), wideMap(l, o.h, o.w, o.c)
	o.op(&c, ethosu.EltMul, sum, plain)
	c.rescale(sum, sum, []fixedpoint.Multiplier{q.Negative}, tweak{})
	positive := shaped(part(ethosu.EltMax), 1, 1, x.C)
	if n != x.C { // the slopes have the larger shape
		positive = repeated(l, positive, e.StridesA, e.Dims)
	}
	c.widen(shaped(positive, o.h, o.w, o.c), term)
	c.rescale(term, term, []fixedpoint.Multiplier{q.Positive}, tweak{})
	c.op(ethosu.EltAdd, sum, term, sum, plain)
	out := l.Out(e.Output, o.h, o.w, o.c)
	out.Zero = int(q.OutZero)
	c.narrow(sum, out, int(q.Lo), int(q.Hi))
}

// comparison is a comparison by whether it holds of a < b, a = b and a > b.
func comparison(less, equal, greater byte) lowering {
	holds := legal.Given("relation", [3]byte{less, equal, greater})
	return by(func(l *lower.Lowering, op *nn.Operation) { lowerCompare(l, op, holds) })
}

// lowerCompare compares real values by their rank among all that both inputs can have: tables,
// the difference, its sign, and a table from sign to result.
func lowerCompare(l *lower.Lowering, op *nn.Operation, holds [3]byte) {
	e, a, b := binaryOperands(l, op)
	c := chain{l: l}
	a.Zero, b.Zero = 0, 0
	o := operandsOf(l, &e, a, b)
	x, y := e.A, e.B
	if o.swap {
		x, y = y, x
	}
	ta, tb := ranks(l.Operand(x), l.Operand(y))
	first, second := wideMap(l, o.a.H, o.a.W, o.a.C), wideMap(l, o.b.H, o.b.W, o.b.C)
	c.lookup(o.a, first, ta)
	c.lookup(o.b, second, tb)
	o.a, o.b = first, second
	difference := wideMap(l, o.h, o.w, o.c)
	o.op(&c, ethosu.EltSub, difference, plain)
	sign := narrowMap(l, o.h, o.w, o.c, true)
	c.narrow(difference, sign, -1, 1)
	table := [256]byte{255: holds[0], 0: holds[1], 1: holds[2]}
	n := o.h * o.w * o.c
	out := l.Out(e.Output, 1, 1, n)
	moveAll(l, sign, out, n, &table, 0, 255)
}

// ranks are, for each value of the types of two operands from the least on, the place of its
// real value among those of both.
func ranks(a, b *nn.Operand) (ra, rb []int32) {
	var reals [2][256]float32
	var all []float32
	for k, o := range []*nn.Operand{a, b} {
		lo, _ := quantized.Limits(o.Type)
		for i := range reals[k] {
			reals[k][i] = o.Scale * float32(lo+int32(i)-o.ZeroPoint)
		}
		all = append(all, reals[k][:]...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	list := [2][]int32{make([]int32, 256), make([]int32, 256)}
	for k := range list {
		for i, v := range reals[k] {
			at, _ := slices.BinarySearch(all, v)
			list[k][i] = int32(at)
		}
	}
	return list[0], list[1]
}

// words are the bytes of 32-bit elements.
func words(v []int32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

// lookup maps bytes to 32-bit elements; the table begins with the least value of the type.
func (c *chain) lookup(a, out layout.Ref, table []int32) {
	nothing := c.l.Constant([]byte{0}, 1, 1, 1, 1, a.Signed)
	out.Zero = 0
	if !a.Signed {
		out.Zero = -128
	}
	c.op(ethosu.EltSub, a, nothing, out, tweak{table: words(table), clip: ethosu.ClipInt8, lo: -128, hi: 127, scale: 1, copies: 1})
}
