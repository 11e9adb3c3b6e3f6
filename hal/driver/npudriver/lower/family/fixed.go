package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// Functions of package fixedpoint as chains of elementwise kernels on 32-bit elements. A product of
// fractions is MUL, of which only the shift counts; a shift that rounds up on a tie is SHR with
// NATURAL rounding, one that rounds away from zero with DOUBLE; x rounded down to a multiple of 2^n is
// NATURAL of x - 2^(n-1).

var (
	// fraction is the rounded product of two values in Q0.15.
	fraction = tweak{scale: 1 << 30, shift: 15, copies: 1, round: ethosu.RoundNatural}
	// saturated is a sum that is clamped to 16 bits.
	saturated = tweak{scale: 1, copies: 1, clip: ethosu.ClipInt16, lo: -1 << 15, hi: 1<<15 - 1}
	// awayFromZero is a right shift that rounds ties away from zero.
	awayFromZero = tweak{scale: 1, copies: 1, round: doubleRound}
	// halved is half of a sum, rounded up.
	halved = tweak{scale: 1, shift: 1, copies: 1, round: doubleRound}
	// swapped subtracts the first operand from the second.
	swapped = tweak{scale: 1, copies: 1, swap: true}
)

// like is a new 32-bit map of the same extents.
func (c *chain) like(x layout.Ref) layout.Ref { return wideMap(c.l, x.H, x.W, x.C) }

// rowConstants are 32-bit elements in region 0, one per row of a map.
func (c *chain) rowConstants(v ...int32) layout.Ref {
	r := c.constants(v...)
	return shaped(r, len(v), 1, 1)
}

// floorShift is x >> n, n of 1 to 30.
func (c *chain) floorShift(x layout.Ref, n int) layout.Ref {
	y := c.like(x)
	c.op(ethosu.EltSub, x, c.constant(1<<(n-1)), y, plain)
	c.op(ethosu.EltShr, y, c.constant(int32(n)), y, natural)
	return y
}

// split is x as high * 2^n + low, low of 0 to 2^n - 1.
func (c *chain) split(x layout.Ref, n int) (high, low layout.Ref) {
	high = c.floorShift(x, n)
	low = c.times(high, c.constant(1<<n))
	c.op(ethosu.EltSub, x, low, low, plain)
	return high, low
}

// times is a product of integers that fits 32 bits, or saturates.
func (c *chain) times(a, b layout.Ref) layout.Ref {
	y := c.like(a)
	c.op(ethosu.EltMul, a, b, y, plain)
	return y
}

// clamped is x within bounds.
func (c *chain) clamped(x layout.Ref, lo, hi int32) layout.Ref {
	y := c.like(x)
	c.op(ethosu.EltMax, x, c.constant(lo), y, plain)
	c.op(ethosu.EltMin, y, c.constant(hi), y, plain)
	return y
}

// reciprocal is 2/(1+x) in Q2 of x in Q0: d = (1+x)/2, three steps of y += 4 * y * (1 - d*y) from
// y = 48/17 - 32/17 d.
func (c *chain) reciprocal(x layout.Ref, q fixedpoint.Format) layout.Ref {
	mul, constant := product, func(v int32) layout.Ref { return c.constant(fixedpoint.RDPOT(v, 31-int(q))) }
	if q == fixedpoint.Q15 {
		mul = fraction
	}
	d, y, t := c.like(x), c.like(x), c.like(x)
	c.op(ethosu.EltAdd, x, c.constant(1<<q-1), d, halved)
	c.op(ethosu.EltMul, d, constant(fixedpoint.Minus32by17), y, mul)
	c.op(ethosu.EltAdd, y, constant(fixedpoint.FortyEight17), y, plain)
	for range 3 {
		c.op(ethosu.EltMul, y, d, t, mul)
		c.op(ethosu.EltSub, t, c.constant(1<<(q-2)), t, swapped)
		c.op(ethosu.EltMul, y, t, t, mul)
		c.op(ethosu.EltMul, t, c.constant(4), t, plain)
		c.op(ethosu.EltAdd, y, t, y, plain)
	}
	return y
}

// inverseSqrt is fixedpoint.InverseSqrt of sums up to most: a root, a factor that saturates and a right
// shift. The sum is brought into [1/4, 1) by pairs of bits and refined by five Newton steps
// r = (3/2 - x/2 r^2) r in Q3.28.
func (c *chain) inverseSqrt(sum layout.Ref, most int64) (root, factor, right layout.Ref) {
	const wide = 1 << 29 // from here on two bits are left out
	x, twice := sum, c.like(sum)
	var big layout.Ref
	if most >= wide {
		x, big = c.like(sum), c.like(sum)
		c.op(ethosu.EltSub, sum, c.constant(wide-1), big, plain)
		big = c.clamped(big, 0, 1)
		c.op(ethosu.EltAdd, big, big, twice, plain)
		c.op(ethosu.EltSub, sum, twice, x, plain)
		c.op(ethosu.EltShr, x, twice, x, natural)
	}
	// pairs = (leading zeros - 3) / 2, rounded down.
	pairs := c.like(sum)
	c.unary(ethosu.EltClz, x, pairs)
	c.op(ethosu.EltSub, pairs, c.constant(4), pairs, plain)
	c.op(ethosu.EltShr, pairs, c.constant(1), pairs, natural)
	c.op(ethosu.EltAdd, pairs, pairs, twice, plain)
	half := c.like(sum)
	c.op(ethosu.EltShl, x, twice, half, shiftLeft)
	// x >> 1, then half of that, away from zero on a tie. The low bit that is lost is 0 but
	// for sums that are not shifted.
	c.op(ethosu.EltSub, half, c.constant(1), half, plain)
	c.op(ethosu.EltShr, half, c.constant(1), half, natural)
	c.op(ethosu.EltShr, half, c.constant(1), half, natural)

	r, cube, next := c.like(sum), c.like(sum), c.like(sum)
	c.op(ethosu.EltMul, x, c.constant(0), r, plain)
	c.op(ethosu.EltAdd, r, c.constant(1<<28), r, plain)
	for range 5 {
		c.op(ethosu.EltMul, r, r, cube, product)
		c.op(ethosu.EltMul, cube, r, cube, product)
		c.op(ethosu.EltMul, cube, c.constant(1<<6), cube, plain)
		c.op(ethosu.EltMul, r, c.constant(3<<27), next, product)
		c.op(ethosu.EltMul, half, cube, cube, product)
		c.op(ethosu.EltSub, next, cube, next, plain)
		c.op(ethosu.EltMul, next, c.constant(1<<3), r, plain)
	}
	c.op(ethosu.EltMul, r, c.constant(1518500250), r, product) // the root of 1/2 in Q0.31
	// The shift is 11 - pairs, one more with two bits left out: to the right, or to the left as a factor.
	if most >= wide {
		c.op(ethosu.EltSub, pairs, big, pairs, plain)
	}
	right = c.like(sum)
	c.op(ethosu.EltSub, pairs, c.constant(11), right, swapped)
	factor = twice
	c.op(ethosu.EltSub, pairs, c.constant(11), factor, plain)
	c.op(ethosu.EltMax, factor, c.constant(0), factor, plain)
	c.op(ethosu.EltShl, factor, c.constant(1), factor, swapped)
	c.op(ethosu.EltMax, right, c.constant(0), right, plain)
	return r, factor, right
}

// function is a function of values in Q15 with some integer bits: LOGISTIC or TANH.
type function struct {
	tanh    bool
	integer int // at most 5, of TANH at most 4
}

// mostBits is the bits of e^-x that are factors, for 5 integer bits and 2 fractional ones.
const mostBits = 7

// functions are fixedpoint's LOGISTIC and TANH in Q0.15 of 16-bit values, one of each row of a map,
// those that are LOGISTIC first. Of n = |x|, in quarters w and what is left of a quarter below them:
//
//	e^-n     = e^-(rest - 1/8) * e^-1/8 * e^(-w/4), the last as the product of a factor for each bit of w
//	LOGISTIC = sign(x) * 1/(1 + e^-n) + (x = 0: 1/2, x < 0: 1)
//	TANH     = sign(x) * (2/(1 + e^-2n) - 1)
func (c *chain) functions(x layout.Ref, list []function) layout.Ref {
	var quarter, before, scale, offset, factor []int32
	logistics := 0
	for _, f := range list {
		i := f.integer
		if f.tanh { // the bits of x are those of 2x with one more integer bit
			i++
			offset, factor = append(offset, 1<<13), append(factor, 4)
		} else {
			logistics++
			offset, factor = append(offset, 0), append(factor, 2)
		}
		quarter, scale = append(quarter, int32(13-i)), append(scale, 1<<i)
		before = append(before, 1+1<<(12-i))
	}
	n, w, at := c.like(x), c.like(x), c.like(x)
	c.unary(ethosu.EltAbs, x, n)
	c.op(ethosu.EltSub, n, c.rowConstants(before...), w, plain)
	c.op(ethosu.EltShr, w, c.rowConstants(quarter...), w, natural) // (n-1) >> quarter
	bits := narrowMap(c.l, x.H, x.W, x.C, true)
	c.narrow(w, bits, -128, 127)
	// 1/8 less what is left of the quarter, as if there were no integer bits.
	c.op(ethosu.EltMul, n, c.rowConstants(scale...), n, plain)
	c.op(ethosu.EltMul, w, c.constant(1<<13), at, plain)
	c.op(ethosu.EltSub, at, n, at, plain)
	c.op(ethosu.EltAdd, at, c.constant(1<<12), at, plain)
	e := c.exponential(at)
	step := c.like(x)
	most := 0
	for _, s := range scale {
		most = max(most, int(s))
	}
	for bit := range mostBits {
		if 4*most <= 1<<bit {
			break
		}
		table := make([]int32, 256) // from -128 on
		for i := range table {
			table[i] = 1 << 15
			if i-128 >= 0 && i>>bit&1 != 0 {
				table[i] = fixedpoint.RDPOT(fixedpoint.ExpSteps[bit], 16)
			}
		}
		c.lookup(bits, step, table)
		c.op(ethosu.EltMul, e, step, e, fraction)
	}
	y := c.reciprocal(e, fixedpoint.Q15)
	c.op(ethosu.EltSub, y, c.rowConstants(offset...), y, plain)
	c.op(ethosu.EltMul, y, c.rowConstants(factor...), y, saturated)
	sign := narrowMap(c.l, x.H, x.W, x.C, true)
	c.narrow(x, sign, -1, 1)
	c.widen(sign, step)
	c.op(ethosu.EltMul, y, step, y, plain)
	if logistics > 0 {
		table := make([]int32, 256)
		table[128-1], table[128] = 1<<15-1, 1<<14
		rows, of := rowsOf(y, 0, logistics), rowsOf(step, 0, logistics)
		c.lookup(rowsOf(sign, 0, logistics), of, table)
		c.op(ethosu.EltAdd, rows, of, rows, plain)
	}
	return y
}

// exponential is e^(x - 1/8) of x in (-1/8, 1/8], Q0.15: a polynomial of degree 4.
func (c *chain) exponential(x layout.Ref) layout.Ref {
	x2, x3, y := c.like(x), c.like(x), c.like(x)
	c.op(ethosu.EltMul, x, x, x2, fraction)
	c.op(ethosu.EltMul, x2, x, x3, fraction)
	c.op(ethosu.EltMul, x2, x2, y, fraction)
	c.op(ethosu.EltShr, y, c.constant(2), y, awayFromZero)
	c.op(ethosu.EltAdd, y, x3, y, plain)
	c.op(ethosu.EltMul, y, c.constant(fixedpoint.RDPOT(fixedpoint.OneThird, 16)), y, fraction)
	c.op(ethosu.EltAdd, y, x2, y, plain)
	c.op(ethosu.EltShr, y, c.constant(1), y, awayFromZero)
	c.op(ethosu.EltAdd, y, x, y, plain)
	eighth := c.constant(fixedpoint.RDPOT(fixedpoint.ExpEighth, 16))
	c.op(ethosu.EltMul, y, eighth, y, fraction)
	c.op(ethosu.EltAdd, y, eighth, y, plain)
	return y
}

// rowsOf is rows [lo,hi) of a map.
func rowsOf(r layout.Ref, lo, hi int) layout.Ref {
	r.FeatureMap = r.Rows(lo, hi)
	return r
}
