package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowerAdd is ADD with both inputs brought to a common scale of 2^19 steps: the
// input of larger scale is shifted, the other multiplied by OPA_SCALE.
func lowerAdd(l *lower.Lowering, _ *nn.Operation, e opspec.Elementwise) {
	l.Quantized(e.A)
	q := try.V(e.AddQuant(l.View()))
	p := try.V(pairOf(l, &e))
	zeros := map[uint32]int32{e.A: q.ZeroA, e.B: q.ZeroB}
	first, second := q.A, q.B
	if p.a == e.B && p.a != p.b {
		first, second = second, first
	}
	half := fixedpoint.QuantizeMultiplier(0.5)
	w := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Elementwise, Mode: ethosu.EltAdd, Round: doubleRound, ScaleMode: ethosu.ScaleOPA32}}
	scaled := first
	if first == half && second != half {
		scaled, w.ScaleMode = second, ethosu.ScaleOPB32
	} else if second != half {
		try.E(similarScales.Broken("neither is unscaled"))
	}
	// x * 2^20 * M / 2^31, then the multiplier's own Shift: one shift of 11 more.
	w.OPAScale, w.OPAShift, w.OPBScale = uint32(scaled.M), 11-scaled.Shift, 0
	similarScales.Refuse(scaled.Shift > 0 || w.OPAShift > 11+maxShift, "2^%d", -scaled.Shift)
	w.Scale, w.Shift = hardware(q.Out)
	w.Lo, w.Hi = int(q.Lo), int(q.Hi)
	addBinary(l, w, p, zeros, q.OutZero)
}

func lowerMul(l *lower.Lowering, _ *nn.Operation, e opspec.Elementwise) {
	l.Quantized(e.A)
	q := try.V(e.MulQuant(l.View()))
	p := try.V(pairOf(l, &e))
	w := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Elementwise, Mode: ethosu.EltMul, Round: doubleRound, Lo: int(q.Lo), Hi: int(q.Hi), OPAScale: 1, OPBScale: 1}}
	w.Scale, w.Shift = hardware(q.Mult)
	addBinary(l, w, p, map[uint32]int32{e.A: q.ZeroA, e.B: q.ZeroB}, q.OutZero)
}

// pair is the geometry of a commutative binary operation: b may be broadcast.
type pair struct {
	a, b, out uint32
	h, w, c   int
	bh, bw    int // of b, 1 where it is repeated
	bc        int
}

// pairOf folds the shapes of a binary operation into height, width and channels.
// The operand that is repeated becomes the second.
func pairOf(l *lower.Lowering, e *opspec.Elementwise) (pair, error) {
	for _, x := range []uint32{e.A, e.B, e.Output} {
		l.Tensor(x)
	}
	n := int(nn.Elements(e.Dims))
	p := pair{a: e.A, b: e.B, out: e.Output}
	if e.Same {
		if p.h, p.w, p.c = factor(n); p.h == 0 {
			return p, factors.Broken("%d elements", n)
		}
		p.bh, p.bw, p.bc = p.h, p.w, p.c
		return p, nil
	}
	sa, sb := e.StridesA, e.StridesB
	if repeats(sa, e.Dims) {
		if repeats(sb, e.Dims) {
			return p, maxGroups.Broken("both are")
		}
		p.a, p.b, sb = e.B, e.A, sa
	}
	// Merge neighbouring dimensions that are alike into at most three groups.
	type group struct {
		n      int
		repeat bool
	}
	var groups []group
	for d, n := range e.Dims {
		if n == 1 {
			continue
		}
		r := sb[d] == 0
		if k := len(groups); k > 0 && groups[k-1].repeat == r {
			groups[k-1].n *= int(n)
			continue
		}
		groups = append(groups, group{int(n), r})
	}
	if len(groups) > 3 {
		return p, maxGroups.Broken("%d groups", len(groups))
	}
	for len(groups) < 3 {
		groups = append([]group{{1, false}}, groups...)
	}
	p.h, p.w, p.c = groups[0].n, groups[1].n, groups[2].n
	of := func(g group) int {
		if g.repeat {
			return 1
		}
		return g.n
	}
	p.bh, p.bw, p.bc = of(groups[0]), of(groups[1]), of(groups[2])
	return p, nil
}

// repeats reports whether an operand with these strides is repeated anywhere.
func repeats(strides []int, dims []uint32) bool {
	for d, s := range strides {
		if s == 0 && dims[d] > 1 {
			return true
		}
	}
	return false
}

// factor divides n contiguous elements into height, width and channels within
// the extents, as square as it can; a height of 0 when n has no such divisors.
func factor(n int) (h, w, c int) {
	c = divisor(n, 256)
	n /= c
	w = divisor(n, 1024)
	if h = n / w; h > lower.MaxExtent {
		h = 0
	}
	return h, w, c
}

// divisor is the largest divisor of n that is at most limit.
func divisor(n, limit int) int {
	for d := min(n, limit); d > 1; d-- {
		if n%d == 0 {
			return d
		}
	}
	return 1
}

func addBinary(l *lower.Lowering, w kernel.Kernel, p pair, zeros map[uint32]int32, outZero int32) {
	w.IFM = l.In(p.a, p.h, p.w, p.c)
	b := l.In(p.b, p.bh, p.bw, p.bc)
	w.OFM = l.Out(p.out, p.h, p.w, p.c)
	w.IFM2 = &b
	w.IFM.Zero, b.Zero, w.OFM.Zero = int(zeros[p.a]), int(zeros[p.b]), int(outZero)
	w.Broadcast = broadcastOf(&w.IFM.FeatureMap, &b.FeatureMap)
	l.Add(w)
}

// broadcastOf is the IFM2_BROADCAST value for b against a.
func broadcastOf(a, b *layout.FeatureMap) int {
	v := 0
	if b.H == 1 && a.H > 1 {
		v |= ethosu.BroadcastH
	}
	if b.W == 1 && a.W > 1 {
		v |= ethosu.BroadcastW
	}
	if b.C == 1 && a.C > 1 {
		v |= ethosu.BroadcastC
	}
	return v
}
