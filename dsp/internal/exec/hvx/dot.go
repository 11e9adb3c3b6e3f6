package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var dotRows = []family.Row{
	{hexagon.V6_vlut4, func(t *state.Thread, u *state.Uop) {
		d, a, r := t.UH(u.Arg[0]), t.UH(u.Arg[1]), *t.D(u.Arg[2])
		for i := range d {
			d[i] = quarter(r, a[i])
		}
	}},
	{hexagon.V6_vmpahhsat, func(t *state.Thread, u *state.Uop) {
		d, a, r := t.H(u.Arg[0]), *t.UH(u.Arg[1]), *t.D(u.Arg[2])
		for i := range d {
			x := 2*int64(d[i])*int64(int16(a[i])) + int64(int16(quarter(r, a[i])))<<15
			d[i] = int16(simd.Clamp(x>>16, simd.MinH, simd.MaxH))
		}
	}},
	{hexagon.V6_vmpauhuhsat, func(t *state.Thread, u *state.Uop) { mpauhuh(t, u, 1) }},
	{hexagon.V6_vmpsuhuhsat, func(t *state.Thread, u *state.Uop) { mpauhuh(t, u, -1) }},
}

// HVX dot products with a scalar pair or across a vector pair, sums of absolute
// differences, piecewise functions from a table in a scalar pair.

// vrmpy by a pair: the low word of Rtt weighs the low result, the high word the
// high one. Source: the description of gvconv2dbbb_circ_d32_v65 in Qualcomm's
// public NN library; no public emulator has the instruction.
func rmpyRtt[A number](t *state.Thread, u *state.Uop, keep int32) {
	l, h := ww(t, u.Arg[0])
	v := *t.UB(u.Arg[1])
	a := view[A](&v)
	r := *t.D(u.Arg[2])
	for i := range l {
		var x, y int32
		for k := range 4 {
			v := int32(a[4*i+k])
			x += v * simd.UB(uint32(r), k)
			y += v * simd.UB(uint32(r>>32), k)
		}
		l[i], h[i] = l[i]&keep+x, h[i]&keep+y
	}
}

// dmpySat is x[i]*r0 + y[i]*r1, added to the destination, saturated.
func dmpySat(d *state.VecW, x, y func(i int) int16, r0, r1, keep int32) {
	for i := range d {
		d[i] = satw(int64(d[i]&keep) + int64(x(i))*int64(r0) + int64(y(i))*int64(r1))
	}
}

func dmpyhSat(part func(uint32, int) int32) func(*state.Thread, *state.Uop, int32) {
	return func(t *state.Thread, u *state.Uop, keep int32) {
		a, r := *t.H(u.Arg[1]), *t.R(u.Arg[2])
		dmpySat(t.W(u.Arg[0]), func(i int) int16 { return a[2*i] }, func(i int) int16 { return a[2*i+1] }, part(r, 0), part(r, 1), keep)
	}
}

// dmpyhiSat is over a pair: the odd half of the low vector and the even half of the high one.
func dmpyhiSat(part func(uint32, int) int32) func(*state.Thread, *state.Uop, int32) {
	return func(t *state.Thread, u *state.Uop, keep int32) {
		a, b, r := *t.H(u.Arg[1]), *t.H(state.High(u.Arg[1])), *t.R(u.Arg[2])
		dmpySat(t.W(u.Arg[0]), func(i int) int16 { return a[2*i+1] }, func(i int) int16 { return b[2*i] }, part(r, 0), part(r, 1), keep)
	}
}

func absdiff(a, b int32) int32 { return max(a-b, b-a) }

func dsaduh(t *state.Thread, u *state.Uop, keep int32) {
	a, b, r := *t.UH(u.Arg[1]), *t.UH(state.High(u.Arg[1])), *t.R(u.Arg[2])
	l, h := ww(t, u.Arg[0])
	r0, r1 := simd.UH(r, 0), simd.UH(r, 1)
	for i := range l {
		x, y, z := int32(a[2*i]), int32(a[2*i+1]), int32(b[2*i])
		l[i] = l[i]&keep + absdiff(x, r0) + absdiff(y, r1)
		h[i] = h[i]&keep + absdiff(y, r0) + absdiff(z, r1)
	}
}

// vrsad has the windows of the vrmpy with an immediate.
func rsadubi(t *state.Thread, u *state.Uop, keep int32) {
	a, r, n := [2]state.VecUB{*t.UB(u.Arg[1]), *t.UB(state.High(u.Arg[1]))}, *t.R(u.Arg[2]), int(u.Imm&1)
	l, h := ww(t, u.Arg[0])
	for i := range l {
		d := func(v, k, w int) int32 { return absdiff(int32(a[v][4*i+k]), simd.UB(r, w-n)) }
		l[i] = l[i]&keep + d(n, 0, 0) + d(0, 1, 1) + d(0, 2, 2) + d(0, 3, 3)
		h[i] = h[i]&keep + d(1, 0, 2) + d(1, 1, 3) + d(n, 2, 0) + d(0, 3, 1)
	}
}

// quarter is the halfword of a table of four that the top bits of x choose.
func quarter(table uint64, x uint16) uint16 { return uint16(table >> (x >> 14 * 16)) }

// Piecewise polynomials: the old value times Vu, and a coefficient from Rtt.

func mpauhuh(t *state.Thread, u *state.Uop, sign int64) {
	d, a, r := t.H(u.Arg[0]), *t.UH(u.Arg[1]), *t.D(u.Arg[2])
	for i := range d {
		x := int64(d[i])*int64(a[i]) + sign*int64(quarter(r, a[i]))<<15
		d[i] = int16(simd.Clamp(x>>16, simd.MinH, simd.MaxH))
	}
}
