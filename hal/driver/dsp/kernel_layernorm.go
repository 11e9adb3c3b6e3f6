package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Layer normalization of QUANTIZED_LSTM: mean and variance of a row in 64-bit
// scalar arithmetic, the rest a lane per element. The mean has 10 more bits.

// varianceBits is the scale in which a variance is computed.
const varianceBits = 20

// statsKernel computes mean and variance of rows of n words.
type statsKernel struct {
	n      int
	atZero int32
}

func (k *statsKernel) name() string { return fmt.Sprintf("row_stats_%d_%d", k.n, k.atZero) }

// generate writes the kernel. Arguments: table of (row, mean, variance), entries.
func (k *statsKernel) generate(a *asm) {
	in := a.args("table", "entries")
	table, entries := in[0], in[1]
	a.repeat(entries, func() {
		row, mean, variance := a.word(table, 0, "row"), a.word(table, 1, "mean"), a.word(table, 2, "variance")
		a.bump(table, 12)
		sum, square := a.rr("sum"), a.rr("square")
		a.op(hexagon.A2_combinew, sum, a.imm(0), a.imm(0))
		a.op(hexagon.A2_combinew, square, a.imm(0), a.imm(0))
		a.loop0(k.n, func() {
			x, wide := a.r("x"), a.rr("wide")
			a.op(hexagon.L2_loadri_pi, x, row, 4).Loads(aliasIn)
			a.op(hexagon.A2_sxtw, wide, x)
			a.op(hexagon.A2_addp, sum, sum, wide)
			a.op(hexagon.M2_dpmpyss_acc_s0, square, x, x)
		})
		shifted := a.rr("shifted")
		a.op(hexagon.S2_asl_i_p, shifted, sum, 10)
		m := a.divided(shifted, k.n)
		a.op(hexagon.S2_storeri_io, mean, 0, lo(m)).Stores(aliasOut)
		// square * (2^20 / n) - mean^2
		v, meanSquare := a.rr("variance"), a.rr("mean square")
		part := a.imm((1 << varianceBits) / k.n)
		a.op(hexagon.M2_dpmpyuu_s0, v, lo(square), part)
		high := a.r("high")
		a.op(hexagon.M2_mpyi, high, hi(square), part)
		a.op(hexagon.A2_add, hi(v), hi(v), high)
		a.op(hexagon.M2_dpmpyss_s0, meanSquare, lo(m), lo(m))
		a.op(hexagon.A2_subp, v, v, meanSquare)
		// over 2^20, towards zero
		sign, fix := a.rr("sign"), a.r("fix")
		a.op(hexagon.S2_asr_i_p, sign, v, 63)
		a.op(hexagon.A2_andir, fix, lo(sign), -1)
		a.op(hexagon.S2_lsr_i_r, fix, fix, 32-varianceBits)
		wide := a.rr("wide")
		a.op(hexagon.A2_combinew, wide, a.imm(0), fix)
		a.op(hexagon.A2_addp, v, v, wide)
		a.op(hexagon.S2_asr_i_p, v, v, varianceBits)
		positive, r := a.p("positive"), a.r("result")
		a.op(hexagon.C2_cmpgti, positive, lo(v), 0)
		a.op(hexagon.C2_mux, r, positive, lo(v), a.imm(int(k.atZero)))
		a.op(hexagon.S2_storeri_io, variance, 0, r).Stores(aliasOut)
	})
	a.ret()
}

// divided is the pair x over n, towards zero, bit by bit.
func (a *asm) divided(x codegen.Reg, n int) codegen.Reg {
	sign, q := a.rr("sign"), a.rr("quotient")
	a.op(hexagon.S2_asr_i_p, sign, x, 63)
	a.op(hexagon.A2_xorp, q, x, sign)
	a.op(hexagon.A2_subp, q, q, sign)
	rest, divisor := a.imm(0), a.imm(n)
	a.loop0(64, func() {
		top, less, fits, bit := a.rr("top"), a.p("less"), a.r("fits"), a.r("bit")
		a.op(hexagon.S2_lsr_i_p, top, q, 63)
		a.op(hexagon.S2_asl_i_p, q, q, 1)
		a.op(hexagon.A2_add, rest, rest, rest)
		a.op(hexagon.A2_add, rest, rest, lo(top))
		a.op(hexagon.C2_cmpgtu, less, divisor, rest)
		a.op(hexagon.A2_sub, fits, rest, divisor)
		a.op(hexagon.C2_mux, rest, less, rest, fits)
		a.op(hexagon.C2_muxii, bit, less, 0, 1)
		a.op(hexagon.A2_or, lo(q), lo(q), bit)
	})
	a.op(hexagon.A2_xorp, q, q, sign)
	a.op(hexagon.A2_subp, q, q, sign)
	return q
}

// rootKernel is the factor, or the right shift, of the inverse root of words.
func rootKernel(shift bool) *flatKernel {
	return flatOp("inverse_root"+flag(shift, "_shift"), 1, 0, func(a *asm, out codegen.Reg, x, _ []codegen.Reg) {
		// From 2^29 on the root of a quarter is taken, and halved.
		large, quarter, v := a.q("large"), a.v("quarter"), a.v("variance")
		a.op(hexagon.V6_vgtw, large, x[0], a.splat(a.imm(1<<29-1), "bound"))
		a.op(hexagon.V6_vlsrw, quarter, x[0], a.imm(2))
		a.op(hexagon.V6_vmux, v, large, quarter, x[0])
		factor, right := a.inverseRoot(v)
		if !shift {
			a.op(hexagon.V6_vassign, out, factor)
			return
		}
		more := a.v("more")
		a.op(hexagon.V6_vmux, more, large, a.splat(a.imm(1), "one"), a.zero())
		a.op(hexagon.V6_vaddw, out, right, more)
	})
}

// layerNormKernel normalizes words: operands are the value, its row's mean,
// factor and shift, and weight and bias.
func layerNormKernel(scale opspec.Multiplier) *flatKernel {
	return flatOp("layer_norm"+multiplierTag(scale), 6, 0, func(a *asm, out codegen.Reg, x, _ []codegen.Reg) {
		value, mean, factor, right, weight, bias := x[0], x[1], x[2], x[3], x[4], x[5]
		zero, one, c31 := a.zero(), a.splat(a.imm(1), "one"), a.imm(31)
		d := a.v("distance")
		a.op(hexagon.V6_vaslw, d, value, a.imm(10))
		a.op(hexagon.V6_vsubw, d, d, mean)
		z := a.mulHigh(d, factor)
		// Halves away from zero where something is shifted out.
		half, sign, shifts := a.v("half"), a.v("sign"), a.q("shifts")
		a.op(hexagon.V6_vaslwv, half, one, right)
		a.op(hexagon.V6_vlsrw, half, half, a.imm(1))
		a.op(hexagon.V6_vasrw, sign, z, c31)
		a.op(hexagon.V6_vgtw, shifts, right, zero)
		a.op(hexagon.V6_vmux, sign, shifts, sign, zero)
		a.op(hexagon.V6_vaddw, z, z, half)
		a.op(hexagon.V6_vaddw, z, z, sign)
		a.op(hexagon.V6_vasrwv, z, z, right)
		// 64 bits: the product, the bias, the magnitude, rounding, 10 bits less.
		p := a.vv("product")
		a.op(hexagon.V6_vmpyewuh_64, p, z, weight)
		a.op(hexagon.V6_vmpyowh_64_acc, p, z, weight)
		low, high := lo(p), hi(p)
		carry := func(before, after codegen.Reg) {
			q := a.q("carry")
			a.op(hexagon.V6_vgtuw, q, before, after)
			a.op(hexagon.V6_vaddwq, q, high, one)
		}
		t, wide := a.v("low"), a.v("wide")
		a.op(hexagon.V6_vaddw, t, low, bias)
		a.op(hexagon.V6_vasrw, wide, bias, c31)
		a.op(hexagon.V6_vaddw, high, high, wide)
		carry(low, t)
		m := a.v("mask")
		a.op(hexagon.V6_vasrw, m, high, c31)
		a.op(hexagon.V6_vxor, t, t, m)
		a.op(hexagon.V6_vxor, high, high, m)
		u := a.v("low")
		a.op(hexagon.V6_vsubw, u, t, m) // one more where the sum is negative
		carry(t, u)
		w := a.v("low")
		a.op(hexagon.V6_vaddw, w, u, a.splat(a.imm(512), "half"))
		carry(u, w)
		a.op(hexagon.V6_vlsrw, w, w, a.imm(10))
		a.op(hexagon.V6_vaslw, high, high, a.imm(22))
		a.op(hexagon.V6_vor, w, w, high)
		a.op(hexagon.V6_vxor, w, w, m)
		a.op(hexagon.V6_vsubw, w, w, m)
		a.op(hexagon.V6_vassign, out, a.saturated16(a.applied(w, scale)))
	})
}
