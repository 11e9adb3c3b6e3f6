package onnx

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// The functions of reals that NNAPI lacks, composed so that they hold over all of float32: no form overflows before its
// function does, and none subtracts nearly equal numbers where the function is small.

// choose is a where on, b elsewhere; all have one shape.
func (c *conversion) choose(on, a, b uint32) uint32 {
	y := c.Emit(nn.OpSelect, nn.Operand{Type: c.Operand(a).Type}, on, a, b)
	c.ShapeLike(y, a)
	return y
}

// polynomial is a[0] + a[1] x + a[2] x^2 + ..., by Horner's rule.
func (c *conversion) polynomial(x uint32, a ...float32) uint32 {
	last := len(a) - 1
	y := c.Binary(nn.OpMul, x, c.Like(x, a[last]))
	for i := last - 1; i > 0; i-- {
		y = c.Binary(nn.OpMul, c.Binary(nn.OpAdd, y, c.Like(x, a[i])), x)
	}
	return c.Binary(nn.OpAdd, y, c.Like(x, a[0]))
}

// halves are exp(|x|) / 2, by the square of exp(|x| / 2), which does not overflow before it, and exp(-|x|) / 2.
func (c *conversion) halves(x uint32) (grow, shrink uint32) {
	z := c.Unary(nn.OpAbs, x)
	half := c.Like(x, 0.5)
	root := c.Unary(nn.OpExp, c.Binary(nn.OpMul, z, half))
	grow = c.Binary(nn.OpMul, c.Binary(nn.OpMul, root, half), root)
	return grow, c.Binary(nn.OpMul, c.Unary(nn.OpExp, c.Unary(nn.OpNeg, z)), half)
}

// cosh is (exp(|x|) + exp(-|x|)) / 2.
func cosh(c *conversion, x uint32) uint32 {
	grow, shrink := c.halves(x)
	return c.Binary(nn.OpAdd, grow, shrink)
}

// sinh is sign(x) (exp(|x|) - exp(-|x|)) / 2 from 1 on, and the series x + x^3 / 3! + ... + x^9 / 9! below.
func sinh(c *conversion, x uint32) uint32 {
	grow, shrink := c.halves(x)
	far := c.Binary(nn.OpMul, c.Sign(x), c.Binary(nn.OpSub, grow, shrink))
	near := c.Binary(nn.OpMul, x, c.polynomial(c.Binary(nn.OpMul, x, x), 1, 1.0/6, 1.0/120, 1.0/5040, 1.0/362880))
	return c.choose(c.Compare(nn.OpLess, c.Unary(nn.OpAbs, x), c.Like(x, 1)), near, far)
}

// log1p is log(1 + u) of u >= 0. With w the rounded 1 + u, u log(w) / (w - 1) has no error from that rounding (Kahan);
// it is u where w is 1, and log(w) from 1 on.
func (c *conversion) log1p(u uint32) uint32 {
	one := c.Like(u, 1)
	w := c.Binary(nn.OpAdd, u, one)
	log := c.Unary(nn.OpLog, w)
	scaled := c.Binary(nn.OpMul, log, c.Binary(nn.OpDiv, u, c.Binary(nn.OpSub, w, one)))
	y := c.choose(c.Compare(nn.OpLess, u, one), scaled, log)
	return c.choose(c.Compare(nn.OpEqual, w, one), u, y)
}

// beyond is where z exceeds 4096 log(2 z), as a sum that does not overflow, and y elsewhere: there z and
// sqrt(z^2 + 1) or sqrt(z^2 - 1) are one number.
func (c *conversion) beyond(z, y uint32) uint32 {
	far := c.Binary(nn.OpAdd, c.Unary(nn.OpLog, z), c.Like(z, math.Ln2))
	return c.choose(c.Compare(nn.OpGreater, z, c.Like(z, 4096)), far, y)
}

// asinh is sign(x) log1p(z + z^2 / (1 + sqrt(z^2 + 1))), z = |x|.
func asinh(c *conversion, x uint32) uint32 {
	z := c.Unary(nn.OpAbs, x)
	one, square := c.Like(x, 1), c.Binary(nn.OpMul, z, z)
	root := c.Unary(nn.OpSqrt, c.Binary(nn.OpAdd, square, one))
	u := c.Binary(nn.OpAdd, z, c.Binary(nn.OpDiv, square, c.Binary(nn.OpAdd, root, one)))
	return c.Binary(nn.OpMul, c.Sign(x), c.beyond(z, c.log1p(u)))
}

// acosh is log1p(t + sqrt(t) sqrt(t + 2)), t = x - 1.
func acosh(c *conversion, x uint32) uint32 {
	t := c.Binary(nn.OpSub, x, c.Like(x, 1))
	root := c.Binary(nn.OpMul, c.Unary(nn.OpSqrt, t), c.Unary(nn.OpSqrt, c.Binary(nn.OpAdd, t, c.Like(x, 2))))
	return c.beyond(x, c.log1p(c.Binary(nn.OpAdd, t, root)))
}

// atanh is sign(x) log1p(2 z / (1 - z)) / 2, z = |x|.
func atanh(c *conversion, x uint32) uint32 {
	z := c.Unary(nn.OpAbs, x)
	u := c.Binary(nn.OpDiv, c.Binary(nn.OpAdd, z, z), c.Binary(nn.OpSub, c.Like(x, 1), z))
	return c.Binary(nn.OpMul, c.Sign(x), c.Binary(nn.OpMul, c.log1p(u), c.Like(x, 0.5)))
}

// atan reduces |x| to t = min(|x|, 1 / |x|) and evaluates the polynomial of Abramowitz and Stegun 4.4.49, within 2e-8
// of the arc on [0, 1]:
//
//	t (1 + a2 t^2 + ... + a16 t^16),  subtracted from pi / 2 beyond 1
func atan(c *conversion, x uint32) uint32 {
	z := c.Unary(nn.OpAbs, x)
	above := c.Compare(nn.OpGreater, z, c.Like(x, 1))
	inverse := c.Binary(nn.OpDiv, c.Like(x, 1), c.Binary(nn.OpMaximum, z, c.Like(x, 1)))
	t := c.Binary(nn.OpMinimum, z, inverse)
	s := c.Binary(nn.OpMul, t, t)
	sum := c.Binary(nn.OpMul, s, c.Like(x, 0.0028662257))
	for _, a := range []float32{-0.0161657367, 0.0429096138, -0.0752896400, 0.1065626393, -0.1420889944, 0.1999355085, -0.3333314528} {
		sum = c.Binary(nn.OpMul, c.Binary(nn.OpAdd, sum, c.Like(x, a)), s)
	}
	arc := c.Binary(nn.OpMul, c.Binary(nn.OpAdd, sum, c.Like(x, 1)), t)
	share := c.As(above, c.Operand(x).Type) // 1 above 1: pi / 2 - arc, arc else
	rest := c.Binary(nn.OpSub, c.Like(x, math.Pi/2), c.Binary(nn.OpMul, arc, c.Like(x, 2)))
	return c.Binary(nn.OpMul, c.Sign(x), c.Binary(nn.OpAdd, arc, c.Binary(nn.OpMul, share, rest)))
}

// cosine is sqrt((1 - x) (1 + x)), the cosine of an arc whose sine is x: no number where |x| exceeds 1.
func (c *conversion) cosine(x uint32) uint32 {
	one := c.Like(x, 1)
	return c.Unary(nn.OpSqrt, c.Binary(nn.OpMul, c.Binary(nn.OpSub, one, x), c.Binary(nn.OpAdd, one, x)))
}

// withNaN is y, and no number where other is none: MAXIMUM and comparisons do not pass it on.
func (c *conversion) withNaN(y, other uint32) uint32 {
	return c.Binary(nn.OpAdd, y, c.Binary(nn.OpMul, other, c.Like(y, 0)))
}

// asin is atan(x / sqrt((1 - x) (1 + x))).
func asin(c *conversion, x uint32) uint32 {
	root := c.cosine(x)
	return c.withNaN(atan(c, c.Binary(nn.OpDiv, x, root)), root)
}

// acos is 2 atan(sqrt((1 - x) / (1 + x))).
func acos(c *conversion, x uint32) uint32 {
	one := c.Like(x, 1)
	tangent := c.Unary(nn.OpSqrt, c.Binary(nn.OpDiv, c.Binary(nn.OpSub, one, x), c.Binary(nn.OpAdd, one, x)))
	return c.withNaN(c.Binary(nn.OpMul, atan(c, tangent), c.Like(x, 2)), c.cosine(x))
}
