package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// softmaxKernel is SOFTMAX along the channels of each position. exp of the 256
// possible differences to the maximum comes from a table (which holds with
// each value the term that it adds to the sum); the reciprocal of the sum is
// three Newton steps on a vector that holds it in every lane.
type softmaxKernel struct {
	depth int
}

func (k *softmaxKernel) name() string { return fmt.Sprintf("softmax_%d", k.depth) }

// Bits of 48/17 and -32/17 in Q2.29, the linear estimate of 2/(1+a).
const (
	fortyEight17 = 1515870810
	minus32by17  = -1010580540
)

// generate writes the kernel. Arguments: table of (input, output), entries,
// exponentials, scratch memory for one word per channel.
func (k *softmaxKernel) generate(a *asm) {
	in := a.args("table", "entries", "exps", "scratch")
	table, entries, exps, scratch := in[0], in[1], in[2], in[3]
	a.repeat(entries, func() {
		src, dst := a.word(table, 0, "in"), a.word(table, 1, "out")
		a.bump(table, 8)
		largest := k.largest(a, src)
		sum := k.sum(a, src, largest, exps, scratch)
		scale, shift := reciprocalOfSum(a, sum)
		k.scale(a, dst, scratch, scale, shift)
	})
	a.ret()
}

// largest is the maximum of the row's bytes.
func (k *softmaxKernel) largest(a *asm, src codegen.Reg) codegen.Reg {
	at, m := a.r("at"), a.v("max")
	a.op(hexagon.A2_tfr, at, src)
	a.op(hexagon.V6_vassign, m, a.zero())
	if full := k.depth / vecBytes; full > 0 {
		a.loop0(full, func() {
			x := a.v("x")
			a.op(hexagon.V6_vL32b_pi, x, at, 1).Loads(aliasIn)
			a.op(hexagon.V6_vmaxub, m, m, x)
		})
	}
	if rest := k.depth % vecBytes; rest > 0 {
		q, x := a.q("inside"), a.v("x")
		a.op(hexagon.V6_pred_scalar2, q, a.imm(rest))
		a.op(hexagon.V6_vmux, x, q, a.vload(at, 0, aliasIn, "x"), a.zero())
		a.op(hexagon.V6_vmaxub, m, m, x)
	}
	for n := vecBytes / 2; n > 0; n /= 2 {
		t := a.v("turned")
		a.op(hexagon.V6_vror, t, m, a.imm(n))
		a.op(hexagon.V6_vmaxub, m, m, t)
	}
	r := a.r("max")
	a.op(hexagon.V6_extractw, r, m, a.imm(0))
	a.op(hexagon.A2_andir, r, r, 255)
	return r
}

// sum looks up the exponential of every element, keeps it and adds its term.
func (k *softmaxKernel) sum(a *asm, src, largest, exps, scratch codegen.Reg) codegen.Reg {
	at, to, sum := a.r("at"), a.r("to"), a.r("sum")
	a.op(hexagon.A2_tfr, at, src)
	a.op(hexagon.A2_tfr, to, scratch)
	a.op(hexagon.A2_tfrsi, sum, 0)
	one := func() {
		q, e := a.r("q"), a.rr("exp")
		a.op(hexagon.L2_loadrub_pi, q, at, 1).Loads(aliasIn)
		a.op(hexagon.A2_sub, q, largest, q)
		a.op(hexagon.L4_loadrd_rr, e, exps, q, 3).Loads(aliasConst)
		a.op(hexagon.S2_storeri_pi, to, 4, lo(e)).Stores(aliasScratch)
		a.op(hexagon.A2_add, sum, sum, hi(e))
	}
	if n := k.depth / 4; n > 0 {
		a.loop0(n, func() {
			for range 4 {
				one()
			}
		})
	}
	for range k.depth % 4 {
		one()
	}
	return sum
}

// reciprocalOfSum is the factor and the right shift that turn an exponential
// into units of 1/256: sum in Q12.19 is normalised to 1 + x with x in [0, 1).
func reciprocalOfSum(a *asm, sum codegen.Reg) (scale, shift codegen.Reg) {
	head, x := a.r("headroom"), a.r("fraction")
	a.op(hexagon.S2_cl0, head, sum)
	a.op(hexagon.S2_asl_r_r, x, sum, head)
	a.op(hexagon.S2_clrbit_i, x, x, 31)
	// d = (1 + x) / 2 rounded, in Q0.31.
	one := a.splat(a.imm(1<<31-1), "one")
	d := a.v("d")
	a.op(hexagon.V6_vavgwrnd, d, a.splat(x, "x"), one)
	y := a.v("estimate")
	a.op(hexagon.V6_vaddw, y, a.splat(a.imm(fortyEight17), "48/17"), a.mulHigh(d, a.splat(a.imm(minus32by17), "-32/17")))
	unit := a.splat(a.imm(1<<29), "unit")
	for range 3 {
		miss, step, next := a.v("miss"), a.v("step"), a.v("estimate")
		a.op(hexagon.V6_vsubw, miss, unit, a.mulHigh(d, y))
		p := a.mulHigh(y, miss)
		a.op(hexagon.V6_vaddwsat, step, p, p)
		a.op(hexagon.V6_vaddwsat, step, step, step)
		a.op(hexagon.V6_vaddw, next, y, step)
		y = next
	}
	scale = a.v("scale")
	a.op(hexagon.V6_vaddwsat, scale, y, y)
	// Right shift 35 - headroom, less one for the rounding step; products are
	// below 2^31, so more than 31 changes nothing.
	shift = a.r("shift")
	a.op(hexagon.A2_subri, shift, 34, head)
	a.op(hexagon.A2_min, shift, shift, a.imm(31))
	return scale, shift
}

// scale turns the exponentials into bytes.
func (k *softmaxKernel) scale(a *asm, dst, scratch, scale, shift codegen.Reg) {
	from, to, zero := a.r("from"), a.r("to"), a.zero()
	a.op(hexagon.A2_tfr, from, scratch)
	a.op(hexagon.A2_tfr, to, dst)
	a.loop0(ceilDiv(k.depth, vecBytes), func() {
		var w [4]codegen.Reg
		for i := range w {
			w[i] = a.mulHigh(a.vload(from, i*vecBytes, aliasScratch, "exp"), scale)
			a.op(hexagon.V6_vasrw, w[i], w[i], shift)
			a.op(hexagon.V6_vavgwrnd, w[i], w[i], zero)
		}
		h0, h1, v := a.v("half"), a.v("half"), a.v("bytes")
		a.op(hexagon.V6_vpackwh_sat, h0, w[1], w[0])
		a.op(hexagon.V6_vpackwh_sat, h1, w[3], w[2])
		a.op(hexagon.V6_vpackhub_sat, v, h1, h0)
		a.op(hexagon.V6_vS32b_pi, to, 1, v).Stores(aliasOut)
		a.bump(from, 4*vecBytes)
	})
}
