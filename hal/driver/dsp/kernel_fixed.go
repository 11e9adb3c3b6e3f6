package dsp

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// halves is arithmetic on vectors of 16-bit fixed-point values, bit for bit
// that of opspec.Fixed16: the rounding doubling product of HVX is its Mul.
type halves struct{ *asm }

// c is a constant in every lane.
func (h halves) c(v int) codegen.Reg {
	r := h.v("constant")
	h.op(hexagon.V6_lvsplath, r, h.imm(v))
	return r
}

// fraction is the constant x with i integer bits: as the definition has it,
// rounded to 32 bits and then to 16.
func (h halves) fraction(x float64, i int) codegen.Reg {
	return h.c(int(opspec.RDPOT(int32(math.Round(math.Ldexp(x, 31-i))), 16)))
}

func (h halves) binary(op hexagon.Op, x, y codegen.Reg) codegen.Reg {
	r := h.v("half")
	h.op(op, r, x, y)
	return r
}

func (h halves) mul(x, y codegen.Reg) codegen.Reg    { return h.binary(hexagon.V6_vmpyhvsrs, x, y) }
func (h halves) plus(x, y codegen.Reg) codegen.Reg   { return h.binary(hexagon.V6_vaddh, x, y) }
func (h halves) minus(x, y codegen.Reg) codegen.Reg  { return h.binary(hexagon.V6_vsubh, x, y) }
func (h halves) addSat(x, y codegen.Reg) codegen.Reg { return h.binary(hexagon.V6_vaddhsat, x, y) }
func (h halves) mask(x, y codegen.Reg) codegen.Reg   { return h.binary(hexagon.V6_vand, x, y) }

// where is x in the lanes in which a and b compare, y in the others.
func (h halves) where(compare hexagon.Op, a, b, x, y codegen.Reg) codegen.Reg {
	q, r := h.q("lanes"), h.v("selected")
	h.op(compare, q, a, b)
	h.op(hexagon.V6_vmux, r, q, x, y)
	return r
}

// shift is x / 2^n rounded down, or times 2^-n.
func (h halves) shift(x codegen.Reg, n int) codegen.Reg {
	r, op := h.v("shifted"), hexagon.V6_vasrh
	if n < 0 {
		n, op = -n, hexagon.V6_vaslh
	}
	if n == 0 {
		return x
	}
	h.op(op, r, x, h.imm(n))
	return r
}

// rounded is x / 2^n, halves away from zero; n is at least 1.
func (h halves) rounded(x codegen.Reg, n int) codegen.Reg {
	t := h.shift(h.addSat(x, h.shift(x, 15)), n-1)
	return h.binary(hexagon.V6_vavghrnd, t, h.zero())
}

// four is 4x, saturated.
func (h halves) four(x codegen.Reg) codegen.Reg {
	t := h.addSat(x, x)
	return h.addSat(t, t)
}

// expQuarter is exp of [-1/4, 0): a polynomial of degree 4 around -1/8.
func (h halves) expQuarter(a codegen.Reg) codegen.Reg {
	x := h.plus(a, h.c(1<<12))
	x2 := h.mul(x, x)
	x3, x4 := h.mul(x2, x), h.mul(x2, x2)
	third := h.mul(h.plus(h.rounded(x4, 2), x3), h.fraction(1./3, 0))
	tail := h.rounded(h.plus(third, x2), 1)
	e := h.fraction(math.Exp(-1./8), 0)
	return h.plus(e, h.mul(e, h.plus(x, tail)))
}

// expNegative is exp of values up to 0 with i integer bits.
func (h halves) expNegative(a codegen.Reg, i int) codegen.Reg {
	frac := 15 - i
	quarter := 1 << (frac - 2)
	part := h.minus(h.mask(a, h.c(quarter-1)), h.c(quarter))
	result := h.expQuarter(h.shift(part, -i))
	rest := h.minus(part, a)
	for e := -2; e < i; e++ {
		bit := h.mask(rest, h.c(1<<(frac+e)))
		less := h.mul(result, h.fraction(math.Exp(-math.Ldexp(1, e)), 0))
		result = h.where(hexagon.V6_veqh, bit, h.zero(), result, less)
	}
	return h.where(hexagon.V6_veqh, a, h.zero(), h.c(1<<15-1), result)
}

// reciprocal is 2/(1+a) with 2 integer bits, a in [0, 1): three Newton steps.
func (h halves) reciprocal(a codegen.Reg) codegen.Reg {
	d := h.binary(hexagon.V6_vavghrnd, a, h.c(1<<15-1))
	x := h.plus(h.fraction(48./17, 2), h.mul(d, h.fraction(-32./17, 2)))
	for range 3 {
		miss := h.minus(h.c(1<<13), h.mul(d, x))
		x = h.plus(x, h.four(h.mul(x, miss)))
	}
	return x
}

// negative is -|a|.
func (h halves) negative(a codegen.Reg) codegen.Reg {
	m := h.v("magnitude")
	h.op(hexagon.V6_vabsh, m, a)
	return h.minus(h.zero(), m)
}

// logistic is 1/(1+exp(-a)) of values with i integer bits.
func (h halves) logistic(a codegen.Reg, i int) codegen.Reg {
	r := h.reciprocal(h.expNegative(h.negative(a), i))
	r = h.addSat(r, r)
	r = h.where(hexagon.V6_vgth, h.zero(), a, h.minus(h.c(1<<15-1), r), r)
	return h.where(hexagon.V6_veqh, a, h.zero(), h.c(1<<14), r)
}

// tanh is the hyperbolic tangent of values with i integer bits.
func (h halves) tanh(a codegen.Reg, i int) codegen.Reg {
	r := h.reciprocal(h.expNegative(h.negative(a), i+1))
	r = h.four(h.minus(r, h.c(1<<13)))
	r = h.where(hexagon.V6_vgth, h.zero(), a, h.minus(h.zero(), r), r)
	return h.where(hexagon.V6_veqh, a, h.zero(), h.zero(), r)
}

// cellKernel is the new state of a QUANTIZED_16BIT_LSTM from the sums of the
// input, forget and cell gates and the state.
func cellKernel() *flatKernel {
	return flatOp("lstm16_cell", 4, 0, func(a *asm, out codegen.Reg, x, _ []codegen.Reg) {
		h := halves{a}
		in := h.rounded(h.mul(h.logistic(x[0], 3), h.tanh(x[2], 3)), 4)
		a.op(hexagon.V6_vaddhsat, out, in, h.mul(h.logistic(x[1], 3), x[3]))
	})
}

// outputKernel is the output of a QUANTIZED_16BIT_LSTM, bytes from the sums of
// the output gate and the new state.
func outputKernel() *flatKernel {
	return &flatKernel{name: "flat_lstm16_output", in: []int{2, 2}, out: 1,
		body: func(a *asm, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
			h := halves{a}
			var y [2]codegen.Reg
			for i := range y {
				y[i] = h.rounded(h.mul(h.logistic(x[0][i], 3), h.tanh(x[1][i], 4)), 8)
				y[i] = h.plus(y[i], h.c(128))
			}
			out := a.v("bytes")
			a.op(hexagon.V6_vpackhub_sat, out, y[1], y[0])
			return []codegen.Reg{out}
		}}
}

// generateHalves writes the kernel that scales words to saturated halves.
// Arguments: table of (words, halves, vectors of halves), entries, parameter
// block.
func (k requantKind) generateHalves(a *asm) {
	in := a.args("table", "entries", "params")
	table, entries := in[0], in[1]
	rq := a.requantSetup(k, in[2])
	a.repeat(entries, func() {
		src, dst, n := a.word(table, 0, "words"), a.word(table, 1, "halves"), a.word(table, 2, "vectors")
		a.bump(table, 12)
		a.loop0(n, func() {
			x, y := a.v("x"), a.v("y")
			a.op(hexagon.V6_vL32b_pi, x, src, 1).Loads(aliasIn)
			a.op(hexagon.V6_vL32b_pi, y, src, 1).Loads(aliasIn)
			out := rq.narrow(rq.scale(x, channelVectors{}), rq.scale(y, channelVectors{}), channelVectors{}, channelVectors{})
			a.op(hexagon.V6_vdealh, out, out)
			a.op(hexagon.V6_vS32b_pi, dst, 1, out).Stores(aliasOut)
		})
	})
	a.ret()
}
