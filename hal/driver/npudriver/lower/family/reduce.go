package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// reduced are the dimensions of a reduction as outer x rows x columns x inner, of which rows
// and columns are reduced.
func reduced(m *opspec.Mean) (outer, rows, columns, inner int) {
	outer, rows, columns, inner = 1, 1, 1, 1
	var list []int
	for d, n := range m.In {
		switch {
		case n == 1:
		case m.Reduce[d]:
			adjacentAxes.Refuse(inner > 1, "%v of %v", m.Reduce, m.In)
			list = append(list, int(n))
		case len(list) == 0:
			outer *= int(n)
		default:
			inner *= int(n)
		}
	}
	if k := len(list); k > 0 {
		columns = list[k-1]
		for _, n := range list[:k-1] {
			rows *= n
		}
	}
	return outer, rows, columns, inner
}

// reduction is REDUCE_MAX or REDUCE_MIN, of truths REDUCE_ANY or REDUCE_ALL: the larger or smaller of both
// halves, again and again, of one group of neighbouring axes after the other.
func reduction(mode int) lowering {
	legal.Given("mode", mode)
	return by(func(l *lower.Lowering, op *nn.Operation) { lowerReduceExtreme(l, op, mode) })
}

func lowerReduceExtreme(l *lower.Lowering, op *nn.Operation, mode int) {
	m := try.V(opspec.Read[opspec.Mean](l.View(), op))
	o := l.Tensor(m.Input)
	r := allBytes(l, m.Input)
	if m.Type == nn.TensorBool8 {
		r = truth(l, m.Input, false)
	}
	c := chain{l: l}
	outer, n, inner := int(o.Elements()), 1, 1
	for d := len(m.In) - 1; d >= 0; d-- {
		size := int(m.In[d])
		outer /= size
		if m.Reduce[d] || size == 1 {
			if n *= size; d > 0 {
				continue
			}
			size = 1
		}
		r = c.halve(mode, shaped(r, outer*size, n, inner))
		n, inner = 1, inner*size
	}
	to := l.Out(m.Output, 1, 1, inner)
	lo, hi := layout.Limits(to.Signed)
	moveAll(l, r, to, inner, nil, lo, hi)
}

// halve is the largest or least element along the width: of both halves, which share the
// middle of an odd width.
func (c *chain) halve(mode int, at layout.Ref) layout.Ref {
	for at.W > 1 {
		half := (at.W + 1) / 2
		a, b := at, at
		a.W, b.W = half, half
		b.Addr += (at.W - half) * at.StrideX
		to := layout.Ref{Value: c.l.Temporary(at.H * half * at.C * at.Bytes), FeatureMap: layout.Dense(0, at.H, half, at.C, at.Bytes, at.Signed)}
		t := plain
		t.lo, t.hi = layout.Limits(at.Signed)
		c.op(mode, a, b, to, t)
		at = to
	}
	return at
}

// indexOf is ARGMAX or ARGMIN along the last axis: the least index of those whose value is
// the extreme one.
func indexOf(mode int) lowering {
	legal.Given("mode", mode)
	return by(func(l *lower.Lowering, op *nn.Operation) { lowerIndexOf(l, op, mode) })
}

func lowerIndexOf(l *lower.Lowering, op *nn.Operation, mode int) {
	r := try.V(opspec.Read[opspec.Along](l.View(), op))
	l.Quantized(r.Input)
	lastAxis.Refuse(r.Inner != 1, "%d elements lie behind the axis", r.Inner)
	from := allBytes(l, r.Input)
	c := chain{l: l}
	best := c.halve(mode, shaped(from, r.Outer, r.Depth, 1))
	// |value - best| of 0 is index 0, else far behind all; then the index is added.
	const behind = 1 << 24
	table := make([]int32, 256)
	for i := 1; i < len(table); i++ {
		table[i] = behind
	}
	index := make([]int32, r.Depth)
	for i := range index {
		index[i] = int32(i)
	}
	candidates := wideMap(l, r.Outer, r.Depth, 1)
	candidates.Zero = -128
	c.op(ethosu.EltSub, shaped(from, r.Outer, r.Depth, 1), best, candidates, tweak{
		table: words(table), clip: ethosu.ClipInt8, lo: -128, hi: 127, scale: 1, copies: 1, swap: mode == ethosu.EltMax})
	candidates.Zero = 0
	c.op(ethosu.EltAdd, shaped(candidates, 1, r.Outer, r.Depth), c.constants(index...), shaped(candidates, 1, r.Outer, r.Depth), plain)
	first := c.halve(ethosu.EltMin, candidates)
	n := 4 * r.Outer
	to := l.Out(r.Output, 1, 1, n)
	moveAll(l, bytesOf(first), bytesOf(to), n, nil, 0, 255)
}

// bytesOf is the bytes of a dense map.
func bytesOf(r layout.Ref) layout.Ref {
	n := r.H * r.W * r.C * r.Bytes
	r.Bytes, r.Signed, r.Zero = 1, false, 0
	return shaped(r, 1, 1, n)
}

// lowerL2Normalize is L2_NORMALIZATION along the last axis: x times the inverse root of the sum
// of squares, as fixedpoint.InverseSqrt finds it.
func lowerL2Normalize(l *lower.Lowering, op *nn.Operation, r opspec.Along) {
	x := quantizedMap(l, r.Input)
	o := l.Quantized(r.Output)
	lastAxis.Refuse(r.Inner != 1, "%d elements lie behind the axis", r.Inner)
	maxSquares.Refuse(r.Depth > maxSquared, "%d", r.Depth)
	c := chain{l: l, rows: r.Outer}
	x = shaped(x, 1, r.Outer, r.Depth)
	terms := c.wide(r.Depth)
	c.op(ethosu.EltMul, x, x, terms, plain)
	sum := c.wide(1)
	c.reduce(terms, sum)
	root, left, right := c.inverseSqrt(sum, int64(r.Depth)*255*255)

	// 128 * x in two factors that signed bytes hold.
	factor := l.Constant([]byte{64}, 1, 1, 1, 1, x.Signed)
	t := plain
	t.scale = 2
	c.op(ethosu.EltMul, x, factor, terms, t)
	c.op(ethosu.EltMul, root, left, root, plain)
	c.op(ethosu.EltMul, terms, root, terms, product)
	out := l.Out(r.Output, 1, r.Outer, r.Depth)
	last := tweak{scale: 1, copies: 1, round: doubleRound}
	last.lo, last.hi = layout.Limits(out.Signed)
	out.Zero = last.lo + 128
	middleZero.Refuse(o.ZeroPoint != int32(out.Zero), "%d instead of %d", o.ZeroPoint, out.Zero)
	c.op(ethosu.EltShr, terms, right, out, last)
}

// lowerCast is CAST between bytes and integers: the same value, clamped. Of the same type it is a copy.
func lowerCast(l *lower.Lowering, _ *nn.Operation, u opspec.Unary) {
	in := l.Tensor(u.Input)
	o := l.Tensor(u.Output)
	n := int(o.Elements())
	h, w, ch := factor(n)
	factors.Refuse(h == 0, "%d elements", n)
	from := allBytes(l, u.Input)
	to := l.Out(u.Output, 1, 1, int(o.Bytes()))
	for _, t := range [2]nn.OperandType{in.Type, o.Type} {
		castTypes.Refuse(in.Type != o.Type && !t.IsQuant8() && t != nn.TensorInt32, "from %v to %v", in.Type, o.Type)
	}
	from.Bytes, to.Bytes = lower.ElementBytes(in.Type), lower.ElementBytes(o.Type)
	from, to = shaped(from, h, w, ch), shaped(to, h, w, ch)
	c := chain{l: l}
	lo, hi := layout.Limits(to.Signed)
	switch {
	case from.Bytes == 4 && to.Bytes == 4 || in.Type == o.Type:
		moveAll(l, bytesOf(from), bytesOf(to), int(o.Bytes()), nil, 0, 255)
		return
	case from.Bytes == 4:
		c.narrow(from, to, lo, hi)
	case to.Bytes == 4:
		c.widen(from, to)
	default:
		middle := wideMap(l, h, w, ch)
		c.widen(from, middle)
		c.narrow(middle, to, lo, hi)
	}
}

// lowerMean sums over adjacent dimensions as an average pool whose window is the
// whole map and whose rounding is toward zero, as the reference divides.
func lowerMean(l *lower.Lowering, _ *nn.Operation, m opspec.Mean) {
	l.Quantized(m.Input)
	outer, h, w, inner := reduced(&m)
	maxMeanWindow.Refuse(h > maxPool || w > maxPool || outer > maxBatch, "%dx%d, %d times", h, w, outer)
	scale, shift := truncatingScale(h * w)
	for n := range outer {
		k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolAverage, Global: true, Scale: scale, Shift: shift, Round: ethosu.RoundTruncate, KH: h, KW: w}}
		k.IFM = l.In(m.Input, h, w, inner)
		k.OFM = l.Out(m.Output, 1, 1, inner)
		k.IFM.Addr += n * h * w * inner
		k.OFM.Addr += n * inner
		k.Lo, k.Hi = layout.Limits(k.OFM.Signed)
		l.Add(k)
	}
}
