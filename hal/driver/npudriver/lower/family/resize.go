package family

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// blend is a ResizeAxis with integer weights: (low*Lo + high*Hi) / unit.
type blend struct {
	lo, hi    []int
	low, high []int32
	unit      int
	exact     bool // the reals are these fractions, not near them
}

// maxUnit is the largest denominator of a scale that is looked for.
const maxUnit = 64

// fractions finds the least denominator of the weights of an axis of n samples. The
// reference computes them in float32, with an error of about n * 2^-22.
func fractions(a opspec.ResizeAxis, n int) blend {
	noise := float64(n+1) / (1 << 22)
	for unit := 1; unit <= maxUnit; unit++ {
		b := blend{lo: a.Lo, hi: a.Hi, unit: unit, exact: true}
		fits := true
		for _, f := range a.Frac {
			x := float64(f) * float64(unit)
			k := math.Round(x)
			fits = fits && math.Abs(x-k) <= noise*float64(unit)
			b.exact = b.exact && x == k
			b.low, b.high = append(b.low, int32(unit)-int32(k)), append(b.high, int32(k))
		}
		if fits {
			return b
		}
	}
	fractionalWeights.Refuse(true, "%d samples of %v", len(a.Frac), a.Frac)
	return blend{}
}

// lowerBilinear is RESIZE_BILINEAR: columns blended in 32 bits, then rows, then divided. The
// reference rounds a sum of float32; the quotient here is the same where it is exact in both,
// and where it cannot be a tie and floats are near enough to be on the same side of one.
func lowerBilinear(l *lower.Lowering, op *nn.Operation, p opspec.Resize) {
	l.Quantized(p.Output)
	rows, columns := p.Bilinear()
	y := fractions(rows, p.H)
	x := fractions(columns, p.W)
	unit := y.unit * x.unit
	dyadic := y.exact && x.exact // the units are powers of two
	float := 255 * 4 * float64(p.H+p.W+8) / (1 << 22)
	noTies.Refuse(!dyadic && (unit%2 == 0 || float >= 0.5/float64(unit)), "from %dx%d to %dx%d: quotients by %d", p.H, p.W, p.OutH, p.OutW, unit)
	n := int64(p.N) * int64(max(p.H, p.OutH)) * int64(p.OutW) * int64(p.C)
	maxBlended.Refuse(n > lower.MaxElements || p.N*max(p.H, p.OutH) > lower.MaxExtent, "%d elements", n)
	from := allBytes(l, p.Input)
	c := chain{l: l}
	side := func(index []int, weight []int32) layout.Ref {
		to := narrowMap(l, p.N*p.H, p.OutW, p.C, from.Signed)
		c.pick(from, to, index, p.N*p.H, p.W, p.C)
		wide := wideMap(l, p.N*p.H, p.OutW, p.C)
		c.widen(to, wide)
		w := c.constants(weight...)
		c.op(ethosu.EltMul, wide, shaped(w, 1, p.OutW, 1), wide, plain)
		return wide
	}
	line := side(x.lo, x.low)
	c.op(ethosu.EltAdd, line, side(x.hi, x.high), line, plain)
	end := func(index []int, weight []int32) layout.Ref {
		to := wideMap(l, p.N*p.OutH, p.OutW, p.C)
		c.pick(line, to, index, p.N, p.H, p.OutW*p.C)
		var all []int32
		for range p.N {
			all = append(all, weight...)
		}
		c.op(ethosu.EltMul, to, shaped(c.constants(all...), p.N*p.OutH, 1, 1), to, plain)
		return to
	}
	sum := end(y.lo, y.low)
	c.op(ethosu.EltAdd, sum, end(y.hi, y.high), sum, plain)
	out := l.Out(p.Output, p.N*p.OutH, p.OutW, p.C)
	t := tweak{scale: 1, copies: 1, round: doubleRound}
	t.lo, t.hi = layout.Limits(out.Signed)
	if dyadic {
		shift := int32(math.Ilogb(float64(unit)))
		c.op(ethosu.EltShr, sum, c.constant(shift), out, t)
	} else {
		t.shift = 31 // one rounding
		c.op(ethosu.EltMul, sum, c.constant(int32((1<<31+unit/2)/unit)), out, t)
	}
}

// pick copies entries of the middle dimension of [outer][count][inner] elements.
func (c *chain) pick(from, to layout.Ref, index []int, outer, count, inner int) {
	size := inner * to.Bytes
	a, b := bytesOf(from), bytesOf(to)
	a.Signed, b.Signed = from.Signed, from.Signed
	for _, r := range runs(index) {
		a, b := a, b
		a.Addr += r.from * size
		b.Addr += r.at * size
		copyAxes(c.l, a, b, []axis{{size, 1, 1}, {r.n, r.step * size, r.every * size}, {outer, count * size, len(index) * size}})
	}
}
