package lstm

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// Fixed16 is arithmetic on vectors of 16-bit fixed-point values, bit for bit
// that of opspec.Fixed16: the rounding doubling product of HVX is its Mul.
type Fixed16 struct{ *hvx.Builder }

// c is a constant in every lane.
func (h Fixed16) c(v int) codegen.Reg {
	r := h.V("constant")
	h.Op(hexagon.V6_lvsplath, r, h.Imm(v))
	return r
}

// fraction is the constant x with i integer bits: as the definition has it,
// rounded to 32 bits and then to 16.
func (h Fixed16) fraction(x float64, i int) codegen.Reg {
	return h.c(int(fixedpoint.RDPOT(int32(math.Round(math.Ldexp(x, 31-i))), 16)))
}

func (h Fixed16) binary(op hexagon.Op, x, y codegen.Reg) codegen.Reg {
	r := h.V("half")
	h.Op(op, r, x, y)
	return r
}

func (h Fixed16) Mul(x, y codegen.Reg) codegen.Reg    { return h.binary(hexagon.V6_vmpyhvsrs, x, y) }
func (h Fixed16) plus(x, y codegen.Reg) codegen.Reg   { return h.binary(hexagon.V6_vaddh, x, y) }
func (h Fixed16) minus(x, y codegen.Reg) codegen.Reg  { return h.binary(hexagon.V6_vsubh, x, y) }
func (h Fixed16) addSat(x, y codegen.Reg) codegen.Reg { return h.binary(hexagon.V6_vaddhsat, x, y) }
func (h Fixed16) mask(x, y codegen.Reg) codegen.Reg   { return h.binary(hexagon.V6_vand, x, y) }

// where is x in the lanes in which a and b compare, y in the others.
func (h Fixed16) where(compare hexagon.Op, a, b, x, y codegen.Reg) codegen.Reg {
	q, r := h.Q("lanes"), h.V("selected")
	h.Op(compare, q, a, b)
	h.Op(hexagon.V6_vmux, r, q, x, y)
	return r
}

// shift is x / 2^n rounded down, or times 2^-n.
func (h Fixed16) shift(x codegen.Reg, n int) codegen.Reg {
	r, op := h.V("shifted"), hexagon.V6_vasrh
	if n < 0 {
		n, op = -n, hexagon.V6_vaslh
	}
	if n == 0 {
		return x
	}
	h.Op(op, r, x, h.Imm(n))
	return r
}

// Rounded is x / 2^n, halves away from zero; n is at least 1.
func (h Fixed16) Rounded(x codegen.Reg, n int) codegen.Reg {
	t := h.shift(h.addSat(x, h.shift(x, 15)), n-1)
	return h.binary(hexagon.V6_vavghrnd, t, h.Zero())
}

// four is 4x, saturated.
func (h Fixed16) four(x codegen.Reg) codegen.Reg {
	t := h.addSat(x, x)
	return h.addSat(t, t)
}

// expQuarter is exp of [-1/4, 0): a polynomial of degree 4 around -1/8.
func (h Fixed16) expQuarter(a codegen.Reg) codegen.Reg {
	x := h.plus(a, h.c(1<<12))
	x2 := h.Mul(x, x)
	x3, x4 := h.Mul(x2, x), h.Mul(x2, x2)
	third := h.Mul(h.plus(h.Rounded(x4, 2), x3), h.fraction(1./3, 0))
	tail := h.Rounded(h.plus(third, x2), 1)
	e := h.fraction(math.Exp(-1./8), 0)
	return h.plus(e, h.Mul(e, h.plus(x, tail)))
}

// expNegative is exp of values up to 0 with i integer bits.
func (h Fixed16) expNegative(a codegen.Reg, i int) codegen.Reg {
	frac := 15 - i
	quarter := 1 << (frac - 2)
	part := h.minus(h.mask(a, h.c(quarter-1)), h.c(quarter))
	result := h.expQuarter(h.shift(part, -i))
	rest := h.minus(part, a)
	for e := -2; e < i; e++ {
		bit := h.mask(rest, h.c(1<<(frac+e)))
		less := h.Mul(result, h.fraction(math.Exp(-math.Ldexp(1, e)), 0))
		result = h.where(hexagon.V6_veqh, bit, h.Zero(), result, less)
	}
	return h.where(hexagon.V6_veqh, a, h.Zero(), h.c(1<<15-1), result)
}

// reciprocal is 2/(1+a) with 2 integer bits, a in [0, 1): three Newton steps.
func (h Fixed16) reciprocal(a codegen.Reg) codegen.Reg {
	d := h.binary(hexagon.V6_vavghrnd, a, h.c(1<<15-1))
	x := h.plus(h.fraction(48./17, 2), h.Mul(d, h.fraction(-32./17, 2)))
	for range 3 {
		miss := h.minus(h.c(1<<13), h.Mul(d, x))
		x = h.plus(x, h.four(h.Mul(x, miss)))
	}
	return x
}

// negative is -|a|.
func (h Fixed16) negative(a codegen.Reg) codegen.Reg {
	m := h.V("magnitude")
	h.Op(hexagon.V6_vabsh, m, a)
	return h.minus(h.Zero(), m)
}

// Logistic is 1/(1+exp(-a)) of values with i integer bits.
func (h Fixed16) Logistic(a codegen.Reg, i int) codegen.Reg {
	r := h.reciprocal(h.expNegative(h.negative(a), i))
	r = h.addSat(r, r)
	r = h.where(hexagon.V6_vgth, h.Zero(), a, h.minus(h.c(1<<15-1), r), r)
	return h.where(hexagon.V6_veqh, a, h.Zero(), h.c(1<<14), r)
}

// Tanh is the hyperbolic tangent of values with i integer bits.
func (h Fixed16) Tanh(a codegen.Reg, i int) codegen.Reg {
	r := h.reciprocal(h.expNegative(h.negative(a), i+1))
	r = h.four(h.minus(r, h.c(1<<13)))
	r = h.where(hexagon.V6_vgth, h.Zero(), a, h.minus(h.Zero(), r), r)
	return h.where(hexagon.V6_veqh, a, h.Zero(), h.Zero(), r)
}
