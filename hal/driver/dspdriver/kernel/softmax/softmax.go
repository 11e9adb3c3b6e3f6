package softmax

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Kernel is SOFTMAX along the channels of each position. exp of the 256
// possible differences to the maximum comes from a table (which holds with
// each value the term that it adds to the sum); the reciprocal of the sum is
// three Newton steps on a vector that holds it in every lane.
type Kernel struct {
	Depth int
}

func (k Kernel) Name() string { return fmt.Sprintf("softmax_%d", k.Depth) }

// Bits of 48/17 and -32/17 in Q2.29, the linear estimate of 2/(1+a).
const (
	fortyEight17 = 1515870810
	minus32by17  = -1010580540
)

// Emit writes the kernel. Arguments: table of (input, output), entries,
// exponentials, scratch memory for one word per channel.
func (k Kernel) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "exps", "scratch")
	table, entries, exps, scratch := in[0], in[1], in[2], in[3]
	a.Repeat(entries, func() {
		src, dst := a.Word(table, 0, "in"), a.Word(table, 1, "out")
		a.Bump(table, 8)
		largest := k.largest(a, src)
		sum := k.sum(a, src, largest, exps, scratch)
		scale, shift := reciprocalOfSum(a, sum)
		k.scale(a, dst, scratch, scale, shift)
	})
	a.Ret()
}

// largest is the maximum of the row's bytes.
func (k Kernel) largest(a *hvx.Builder, src codegen.Reg) codegen.Reg {
	at, m := a.R("at"), a.V("max")
	a.Op(hexagon.A2_tfr, at, src)
	a.Op(hexagon.V6_vassign, m, a.Zero())
	if full := k.Depth / hvx.VectorBytes; full > 0 {
		a.Loop0(full, func() {
			x := a.V("x")
			a.Op(hexagon.V6_vL32b_pi, x, at, 1).Loads(hvx.AliasIn)
			a.Op(hexagon.V6_vmaxub, m, m, x)
		})
	}
	if rest := k.Depth % hvx.VectorBytes; rest > 0 {
		q, x := a.Q("inside"), a.V("x")
		a.Op(hexagon.V6_pred_scalar2, q, a.Imm(rest))
		a.Op(hexagon.V6_vmux, x, q, a.Load(at, 0, hvx.AliasIn, "x"), a.Zero())
		a.Op(hexagon.V6_vmaxub, m, m, x)
	}
	for n := hvx.VectorBytes / 2; n > 0; n /= 2 {
		t := a.V("turned")
		a.Op(hexagon.V6_vror, t, m, a.Imm(n))
		a.Op(hexagon.V6_vmaxub, m, m, t)
	}
	r := a.R("max")
	a.Op(hexagon.V6_extractw, r, m, a.Imm(0))
	a.Op(hexagon.A2_andir, r, r, 255)
	return r
}

// sum looks up the exponential of every element, keeps it and adds its term.
func (k Kernel) sum(a *hvx.Builder, src, largest, exps, scratch codegen.Reg) codegen.Reg {
	at, to, sum := a.R("at"), a.R("to"), a.R("sum")
	a.Op(hexagon.A2_tfr, at, src)
	a.Op(hexagon.A2_tfr, to, scratch)
	a.Op(hexagon.A2_tfrsi, sum, 0)
	one := func() {
		q, e := a.R("q"), a.RR("exp")
		a.Op(hexagon.L2_loadrub_pi, q, at, 1).Loads(hvx.AliasIn)
		a.Op(hexagon.A2_sub, q, largest, q)
		a.Op(hexagon.L4_loadrd_rr, e, exps, q, 3).Loads(hvx.AliasConst)
		a.Op(hexagon.S2_storeri_pi, to, 4, hvx.Lo(e)).Stores(hvx.AliasScratch)
		a.Op(hexagon.A2_add, sum, sum, hvx.Hi(e))
	}
	if n := k.Depth / 4; n > 0 {
		a.Loop0(n, func() {
			for range 4 {
				one()
			}
		})
	}
	for range k.Depth % 4 {
		one()
	}
	return sum
}

// reciprocalOfSum is the factor and the right shift that turn an exponential
// into units of 1/256: sum in Q12.19 is normalised to 1 + x with x in [0, 1).
func reciprocalOfSum(a *hvx.Builder, sum codegen.Reg) (scale, shift codegen.Reg) {
	head, x := a.R("headroom"), a.R("fraction")
	a.Op(hexagon.S2_cl0, head, sum)
	a.Op(hexagon.S2_asl_r_r, x, sum, head)
	a.Op(hexagon.S2_clrbit_i, x, x, 31)
	// d = (1 + x) / 2 rounded, in Q0.31.
	one := a.Splat(a.Imm(1<<31-1), "one")
	d := a.V("d")
	a.Op(hexagon.V6_vavgwrnd, d, a.Splat(x, "x"), one)
	y := a.V("estimate")
	a.Op(hexagon.V6_vaddw, y, a.Splat(a.Imm(fortyEight17), "48/17"), a.MulHigh(d, a.Splat(a.Imm(minus32by17), "-32/17")))
	unit := a.Splat(a.Imm(1<<29), "unit")
	for range 3 {
		miss, step, next := a.V("miss"), a.V("step"), a.V("estimate")
		a.Op(hexagon.V6_vsubw, miss, unit, a.MulHigh(d, y))
		p := a.MulHigh(y, miss)
		a.Op(hexagon.V6_vaddwsat, step, p, p)
		a.Op(hexagon.V6_vaddwsat, step, step, step)
		a.Op(hexagon.V6_vaddw, next, y, step)
		y = next
	}
	scale = a.V("scale")
	a.Op(hexagon.V6_vaddwsat, scale, y, y)
	// Right shift 35 - headroom, less one for the rounding step; products are
	// below 2^31, so more than 31 changes nothing.
	shift = a.R("shift")
	a.Op(hexagon.A2_subri, shift, 34, head)
	a.Op(hexagon.A2_min, shift, shift, a.Imm(31))
	return scale, shift
}

// scale converts the exponentials to bytes.
func (k Kernel) scale(a *hvx.Builder, dst, scratch, scale, shift codegen.Reg) {
	from, to, zero := a.R("from"), a.R("to"), a.Zero()
	a.Op(hexagon.A2_tfr, from, scratch)
	a.Op(hexagon.A2_tfr, to, dst)
	a.Loop0(hvx.CeilDiv(k.Depth, hvx.VectorBytes), func() {
		var w [4]codegen.Reg
		for i := range w {
			w[i] = a.MulHigh(a.Load(from, i*hvx.VectorBytes, hvx.AliasScratch, "exp"), scale)
			a.Op(hexagon.V6_vasrw, w[i], w[i], shift)
			a.Op(hexagon.V6_vavgwrnd, w[i], w[i], zero)
		}
		h0, h1, v := a.V("half"), a.V("half"), a.V("bytes")
		a.Op(hexagon.V6_vpackwh_sat, h0, w[1], w[0])
		a.Op(hexagon.V6_vpackwh_sat, h1, w[3], w[2])
		a.Op(hexagon.V6_vpackhub_sat, v, h1, h0)
		a.Op(hexagon.V6_vS32b_pi, to, 1, v).Stores(hvx.AliasOut)
		a.Bump(from, 4*hvx.VectorBytes)
	})
}
