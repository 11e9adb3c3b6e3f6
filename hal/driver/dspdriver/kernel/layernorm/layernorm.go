package layernorm

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// Layer normalization of QUANTIZED_LSTM: mean and variance of a row in 64-bit
// scalar arithmetic, the rest a lane per element. The mean has 10 more bits.

// varianceBits is the scale in which a variance is computed.
const varianceBits = 20

// Statistics computes mean and variance of rows of n words.
type Statistics struct {
	N      int
	AtZero int32
}

func (k Statistics) Name() string { return fmt.Sprintf("row_stats_%d_%d", k.N, k.AtZero) }

// Emit writes the kernel. Arguments: table of (row, mean, variance), entries.
func (k Statistics) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries")
	table, entries := in[0], in[1]
	a.Repeat(entries, func() {
		row, mean, variance := a.Word(table, 0, "row"), a.Word(table, 1, "mean"), a.Word(table, 2, "variance")
		a.Bump(table, 12)
		sum, square := a.RR("sum"), a.RR("square")
		a.Op(hexagon.A2_combinew, sum, a.Imm(0), a.Imm(0))
		a.Op(hexagon.A2_combinew, square, a.Imm(0), a.Imm(0))
		a.Loop0(k.N, func() {
			x, wide := a.R("x"), a.RR("wide")
			a.Op(hexagon.L2_loadri_pi, x, row, 4).Loads(hvx.AliasIn)
			a.Op(hexagon.A2_sxtw, wide, x)
			a.Op(hexagon.A2_addp, sum, sum, wide)
			a.Op(hexagon.M2_dpmpyss_acc_s0, square, x, x)
		})
		shifted := a.RR("shifted")
		a.Op(hexagon.S2_asl_i_p, shifted, sum, 10)
		m := divided(a, shifted, k.N)
		a.Op(hexagon.S2_storeri_io, mean, 0, hvx.Lo(m)).Stores(hvx.AliasOut)
		// square * (2^20 / n) - mean^2
		v, meanSquare := a.RR("variance"), a.RR("mean square")
		part := a.Imm((1 << varianceBits) / k.N)
		a.Op(hexagon.M2_dpmpyuu_s0, v, hvx.Lo(square), part)
		high := a.R("high")
		a.Op(hexagon.M2_mpyi, high, hvx.Hi(square), part)
		a.Op(hexagon.A2_add, hvx.Hi(v), hvx.Hi(v), high)
		a.Op(hexagon.M2_dpmpyss_s0, meanSquare, hvx.Lo(m), hvx.Lo(m))
		a.Op(hexagon.A2_subp, v, v, meanSquare)
		// over 2^20, towards zero
		sign, fix := a.RR("sign"), a.R("fix")
		a.Op(hexagon.S2_asr_i_p, sign, v, 63)
		a.Op(hexagon.A2_andir, fix, hvx.Lo(sign), -1)
		a.Op(hexagon.S2_lsr_i_r, fix, fix, 32-varianceBits)
		wide := a.RR("wide")
		a.Op(hexagon.A2_combinew, wide, a.Imm(0), fix)
		a.Op(hexagon.A2_addp, v, v, wide)
		a.Op(hexagon.S2_asr_i_p, v, v, varianceBits)
		positive, r := a.P("positive"), a.R("result")
		a.Op(hexagon.C2_cmpgti, positive, hvx.Lo(v), 0)
		a.Op(hexagon.C2_mux, r, positive, hvx.Lo(v), a.Imm(int(k.AtZero)))
		a.Op(hexagon.S2_storeri_io, variance, 0, r).Stores(hvx.AliasOut)
	})
	a.Ret()
}

// divided is the pair x over n, towards zero, bit by bit.
func divided(a *hvx.Builder, x codegen.Reg, n int) codegen.Reg {
	sign, q := a.RR("sign"), a.RR("quotient")
	a.Op(hexagon.S2_asr_i_p, sign, x, 63)
	a.Op(hexagon.A2_xorp, q, x, sign)
	a.Op(hexagon.A2_subp, q, q, sign)
	rest, divisor := a.Imm(0), a.Imm(n)
	a.Loop0(64, func() {
		top, less, fits, bit := a.RR("top"), a.P("less"), a.R("fits"), a.R("bit")
		a.Op(hexagon.S2_lsr_i_p, top, q, 63)
		a.Op(hexagon.S2_asl_i_p, q, q, 1)
		a.Op(hexagon.A2_add, rest, rest, rest)
		a.Op(hexagon.A2_add, rest, rest, hvx.Lo(top))
		a.Op(hexagon.C2_cmpgtu, less, divisor, rest)
		a.Op(hexagon.A2_sub, fits, rest, divisor)
		a.Op(hexagon.C2_mux, rest, less, rest, fits)
		a.Op(hexagon.C2_muxii, bit, less, 0, 1)
		a.Op(hexagon.A2_or, hvx.Lo(q), hvx.Lo(q), bit)
	})
	a.Op(hexagon.A2_xorp, q, q, sign)
	a.Op(hexagon.A2_subp, q, q, sign)
	return q
}

// Root is the factor, or the right shift, of the inverse root of words.
type Root struct{ Shift bool }

func (f Root) Name() string         { return "inverse_root" + hvx.Flag(f.Shift, "_shift") }
func (Root) Form() elementwise.Form { return elementwise.Form{In: []int{1}, Out: 1} }

func (f Root) Emit(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	out := a.V("out")
	// From 2^29 on: twice the root of a quarter.
	large, quarter, v := a.Q("large"), a.V("quarter"), a.V("variance")
	a.Op(hexagon.V6_vgtw, large, x[0][0], a.Splat(a.Imm(1<<29-1), "bound"))
	a.Op(hexagon.V6_vlsrw, quarter, x[0][0], a.Imm(2))
	a.Op(hexagon.V6_vmux, v, large, quarter, x[0][0])
	factor, right := hvxmath.InverseRoot(a, v)
	if !f.Shift {
		a.Op(hexagon.V6_vassign, out, factor)
		return []codegen.Reg{out}
	}
	more := a.V("more")
	a.Op(hexagon.V6_vmux, more, large, a.Splat(a.Imm(1), "one"), a.Zero())
	a.Op(hexagon.V6_vaddw, out, right, more)
	return []codegen.Reg{out}
}

// Normalize normalizes words: operands are the value, its row's mean, factor and
// shift, and weight and bias.
type Normalize struct{ Scale fixedpoint.Multiplier }

func (Normalize) Name() string { return "layer_norm" }
func (Normalize) Form() elementwise.Form {
	return elementwise.Form{In: []int{1, 1, 1, 1, 1, 1}, Out: 1}
}

func (f Normalize) Emit(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	out := a.V("out")
	value, mean, factor, right, weight, bias := x[0][0], x[1][0], x[2][0], x[3][0], x[4][0], x[5][0]
	zero, one, c31 := a.Zero(), a.Splat(a.Imm(1), "one"), a.Imm(31)
	d := a.V("distance")
	a.Op(hexagon.V6_vaslw, d, value, a.Imm(10))
	a.Op(hexagon.V6_vsubw, d, d, mean)
	z := a.MulHigh(d, factor)
	// Halves away from zero where something is shifted out.
	half, sign, shifts := a.V("half"), a.V("sign"), a.Q("shifts")
	a.Op(hexagon.V6_vaslwv, half, one, right)
	a.Op(hexagon.V6_vlsrw, half, half, a.Imm(1))
	a.Op(hexagon.V6_vasrw, sign, z, c31)
	a.Op(hexagon.V6_vgtw, shifts, right, zero)
	a.Op(hexagon.V6_vmux, sign, shifts, sign, zero)
	a.Op(hexagon.V6_vaddw, z, z, half)
	a.Op(hexagon.V6_vaddw, z, z, sign)
	a.Op(hexagon.V6_vasrwv, z, z, right)
	// 64 bits: the product, the bias, the magnitude, rounding, 10 bits less.
	p := a.VV("product")
	a.Op(hexagon.V6_vmpyewuh_64, p, z, weight)
	a.Op(hexagon.V6_vmpyowh_64_acc, p, z, weight)
	low, high := hvx.Lo(p), hvx.Hi(p)
	carry := func(before, after codegen.Reg) {
		q := a.Q("carry")
		a.Op(hexagon.V6_vgtuw, q, before, after)
		a.Op(hexagon.V6_vaddwq, q, high, one)
	}
	t, wide := a.V("low"), a.V("wide")
	a.Op(hexagon.V6_vaddw, t, low, bias)
	a.Op(hexagon.V6_vasrw, wide, bias, c31)
	a.Op(hexagon.V6_vaddw, high, high, wide)
	carry(low, t)
	m := a.V("mask")
	a.Op(hexagon.V6_vasrw, m, high, c31)
	a.Op(hexagon.V6_vxor, t, t, m)
	a.Op(hexagon.V6_vxor, high, high, m)
	u := a.V("low")
	a.Op(hexagon.V6_vsubw, u, t, m) // one more where the sum is negative
	carry(t, u)
	w := a.V("low")
	a.Op(hexagon.V6_vaddw, w, u, a.Splat(a.Imm(512), "half"))
	carry(u, w)
	a.Op(hexagon.V6_vlsrw, w, w, a.Imm(10))
	a.Op(hexagon.V6_vaslw, high, high, a.Imm(22))
	a.Op(hexagon.V6_vor, w, w, high)
	a.Op(hexagon.V6_vxor, w, w, m)
	a.Op(hexagon.V6_vsubw, w, w, m)
	a.Op(hexagon.V6_vassign, out, hvxmath.Saturate16(a, hvxmath.ApplyMultiplier(a, w, f.Scale)))
	return []codegen.Reg{out}
}
