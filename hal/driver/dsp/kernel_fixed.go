package dsp

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// halves is arithmetic on vectors of 16-bit fixed-point values, bit for bit
// that of opspec.Fixed16: the rounding doubling product of HVX is its Mul.
type halves struct{ *hvx.Builder }

// c is a constant in every lane.
func (h halves) c(v int) codegen.Reg {
	r := h.V("constant")
	h.Op(hexagon.V6_lvsplath, r, h.Imm(v))
	return r
}

// fraction is the constant x with i integer bits: as the definition has it,
// rounded to 32 bits and then to 16.
func (h halves) fraction(x float64, i int) codegen.Reg {
	return h.c(int(opspec.RDPOT(int32(math.Round(math.Ldexp(x, 31-i))), 16)))
}

func (h halves) binary(op hexagon.Op, x, y codegen.Reg) codegen.Reg {
	r := h.V("half")
	h.Op(op, r, x, y)
	return r
}

func (h halves) mul(x, y codegen.Reg) codegen.Reg    { return h.binary(hexagon.V6_vmpyhvsrs, x, y) }
func (h halves) plus(x, y codegen.Reg) codegen.Reg   { return h.binary(hexagon.V6_vaddh, x, y) }
func (h halves) minus(x, y codegen.Reg) codegen.Reg  { return h.binary(hexagon.V6_vsubh, x, y) }
func (h halves) addSat(x, y codegen.Reg) codegen.Reg { return h.binary(hexagon.V6_vaddhsat, x, y) }
func (h halves) mask(x, y codegen.Reg) codegen.Reg   { return h.binary(hexagon.V6_vand, x, y) }

// where is x in the lanes in which a and b compare, y in the others.
func (h halves) where(compare hexagon.Op, a, b, x, y codegen.Reg) codegen.Reg {
	q, r := h.Q("lanes"), h.V("selected")
	h.Op(compare, q, a, b)
	h.Op(hexagon.V6_vmux, r, q, x, y)
	return r
}

// shift is x / 2^n rounded down, or times 2^-n.
func (h halves) shift(x codegen.Reg, n int) codegen.Reg {
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

// rounded is x / 2^n, halves away from zero; n is at least 1.
func (h halves) rounded(x codegen.Reg, n int) codegen.Reg {
	t := h.shift(h.addSat(x, h.shift(x, 15)), n-1)
	return h.binary(hexagon.V6_vavghrnd, t, h.Zero())
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
		result = h.where(hexagon.V6_veqh, bit, h.Zero(), result, less)
	}
	return h.where(hexagon.V6_veqh, a, h.Zero(), h.c(1<<15-1), result)
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
	m := h.V("magnitude")
	h.Op(hexagon.V6_vabsh, m, a)
	return h.minus(h.Zero(), m)
}

// logistic is 1/(1+exp(-a)) of values with i integer bits.
func (h halves) logistic(a codegen.Reg, i int) codegen.Reg {
	r := h.reciprocal(h.expNegative(h.negative(a), i))
	r = h.addSat(r, r)
	r = h.where(hexagon.V6_vgth, h.Zero(), a, h.minus(h.c(1<<15-1), r), r)
	return h.where(hexagon.V6_veqh, a, h.Zero(), h.c(1<<14), r)
}

// tanh is the hyperbolic tangent of values with i integer bits.
func (h halves) tanh(a codegen.Reg, i int) codegen.Reg {
	r := h.reciprocal(h.expNegative(h.negative(a), i+1))
	r = h.four(h.minus(r, h.c(1<<13)))
	r = h.where(hexagon.V6_vgth, h.Zero(), a, h.minus(h.Zero(), r), r)
	return h.where(hexagon.V6_veqh, a, h.Zero(), h.Zero(), r)
}

// cellKernel is the new state of a QUANTIZED_16BIT_LSTM from the sums of the
// input, forget and cell gates and the state.
func cellKernel() *flatKernel {
	return flatOp("lstm16_cell", 4, 0, func(a *hvx.Builder, out codegen.Reg, x, _ []codegen.Reg) {
		h := halves{a}
		in := h.rounded(h.mul(h.logistic(x[0], 3), h.tanh(x[2], 3)), 4)
		a.Op(hexagon.V6_vaddhsat, out, in, h.mul(h.logistic(x[1], 3), x[3]))
	})
}

// outputKernel is the output of a QUANTIZED_16BIT_LSTM, bytes from the sums of
// the output gate and the new state.
func outputKernel() *flatKernel {
	return &flatKernel{name: "flat_lstm16_output", in: []int{2, 2}, out: 1,
		body: func(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
			h := halves{a}
			var y [2]codegen.Reg
			for i := range y {
				y[i] = h.rounded(h.mul(h.logistic(x[0][i], 3), h.tanh(x[1][i], 4)), 8)
				y[i] = h.plus(y[i], h.c(128))
			}
			out := a.V("bytes")
			a.Op(hexagon.V6_vpackhub_sat, out, y[1], y[0])
			return []codegen.Reg{out}
		}}
}

// gateKernel scales words to saturated halfwords.
type gateKernel struct{ rq hvx.RequantKind }

func (k gateKernel) name() string { return "halves_" + k.rq.Tag() }

// generate writes the kernel. Arguments: table of (words, halfwords, vectors of
// halfwords), entries, parameter block.
func (k gateKernel) generate(a *hvx.Builder) {
	in := a.Args("table", "entries", "params")
	table, entries := in[0], in[1]
	rq := a.RequantSetup(k.rq, in[2])
	a.Repeat(entries, func() {
		src, dst, n := a.Word(table, 0, "words"), a.Word(table, 1, "halves"), a.Word(table, 2, "vectors")
		a.Bump(table, 12)
		a.Loop0(n, func() {
			x, y := a.V("x"), a.V("y")
			a.Op(hexagon.V6_vL32b_pi, x, src, 1).Loads(hvx.AliasIn)
			a.Op(hexagon.V6_vL32b_pi, y, src, 1).Loads(hvx.AliasIn)
			out := rq.Narrow(rq.Scale(x, hvx.ChannelVectors{}), rq.Scale(y, hvx.ChannelVectors{}), hvx.ChannelVectors{}, hvx.ChannelVectors{})
			a.Op(hexagon.V6_vdealh, out, out)
			a.Op(hexagon.V6_vS32b_pi, dst, 1, out).Stores(hvx.AliasOut)
		})
	})
	a.Ret()
}
