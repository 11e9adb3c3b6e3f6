package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
)

// HVX sums of products (vdmpy, vmpa, vtmpy, windowed vrmpy) and widening adds.

// vdmpy: sums of two products.

// dmpyVR weighs pairs of lanes with the bytes of Rt.
func dmpyVR[D, A number](t *state.Thread, u *state.Uop, keep D) {
	v, r := *t.UB(u.Arg[1]), *t.R(u.Arg[2])
	d, a := lanes[D](t, u.Arg[0]), view[A](&v)
	for i := range d {
		d[i] = d[i]&keep + D(a[2*i])*D(simd.B(r, 2*i)) + D(a[2*i+1])*D(simd.B(r, 2*i+1))
	}
}

func vdmpyhvsat(t *state.Thread, u *state.Uop, keep int32) {
	d, a, b := t.W(u.Arg[0]), *t.H(u.Arg[1]), *t.H(u.Arg[2])
	for i := range d {
		d[i] = satw(int64(d[i]&keep) + int64(int32(a[2*i])*int32(b[2*i])) + int64(int32(a[2*i+1])*int32(b[2*i+1])))
	}
}

// mpaVR (vmpa) adds two weighted vectors, the weights being bytes of Rt: two for even, two for odd lanes.
func mpaVR[D, A number](part func(uint32, int) int32) func(*state.Thread, *state.Uop, D) {
	return func(t *state.Thread, u *state.Uop, keep D) {
		v, w, r := *t.UB(u.Arg[1]), *t.UB(state.High(u.Arg[1])), *t.R(u.Arg[2])
		l, h, a, b := lanes[D](t, u.Arg[0]), upper[D](t, u.Arg[0]), view[A](&v), view[A](&w)
		r0, r1, r2, r3 := D(part(r, 0)), D(part(r, 1)), D(part(r, 2)), D(part(r, 3))
		for i := range l {
			l[i] = l[i]&keep + D(a[2*i])*r0 + D(b[2*i])*r1
			h[i] = h[i]&keep + D(a[2*i+1])*r2 + D(b[2*i+1])*r3
		}
	}
}

// mpaVV reads the weights from a pair.
func mpaVV[B number](t *state.Thread, u *state.Uop) {
	a, b, v, w := *t.UB(u.Arg[1]), *t.UB(state.High(u.Arg[1])), *t.UB(u.Arg[2]), *t.UB(state.High(u.Arg[2]))
	l, h, c, d := lanes[int16](t, u.Arg[0]), upper[int16](t, u.Arg[0]), view[B](&v), view[B](&w)
	for i := range l {
		l[i] = int16(int32(a[2*i])*int32(c[2*i]) + int32(b[2*i])*int32(d[2*i]))
		h[i] = int16(int32(a[2*i+1])*int32(c[2*i+1]) + int32(b[2*i+1])*int32(d[2*i+1]))
	}
}

// Sliding windows over the bytes (halfwords) of a pair: output lanes use
// neighbours that begin one element later in the odd register.

// windowed copies the source pair, which the destination may overlap, and finds the lanes of both.
func windowed[D, A number](t *state.Thread, u *state.Uop, pair *[2]state.VecUB) (lo, hi []D, a, b []A) {
	*pair = [2]state.VecUB{*t.UB(u.Arg[1]), *t.UB(state.High(u.Arg[1]))}
	return lanes[D](t, u.Arg[0]), upper[D](t, u.Arg[0]), view[A](&pair[0]), view[A](&pair[1])
}

// dmpyDV is the sum of two products over such a window.
func dmpyDV[D, A number](t *state.Thread, u *state.Uop, keep D) {
	var pair [2]state.VecUB
	lo, hi, a, b := windowed[D, A](t, u, &pair)
	r := *t.R(u.Arg[2])
	for i := range lo {
		x, y := D(simd.B(r, 2*i)), D(simd.B(r, 2*i+1))
		lo[i] = lo[i]&keep + D(a[2*i])*x + D(a[2*i+1])*y
		hi[i] = hi[i]&keep + D(a[2*i+1])*x + D(b[2*i])*y
	}
}

// tmpy is a three-tap filter whose third tap is 1.
func tmpy[D, A number](t *state.Thread, u *state.Uop, keep D) {
	var pair [2]state.VecUB
	lo, hi, a, b := windowed[D, A](t, u, &pair)
	r := *t.R(u.Arg[2])
	for i := range lo {
		x, y := D(simd.B(r, 2*i)), D(simd.B(r, 2*i+1))
		lo[i] = lo[i]&keep + D(a[2*i])*x + D(a[2*i+1])*y + D(b[2*i])
		hi[i] = hi[i]&keep + D(a[2*i+1])*x + D(b[2*i])*y + D(b[2*i+1])
	}
}

// vrmpy of a pair with an immediate that rotates the weights: two windows of
// four bytes, two bytes apart, over eight.
func rmpyi(part func(uint32, int) int32) func(*state.Thread, *state.Uop, int32) {
	return func(t *state.Thread, u *state.Uop, keep int32) {
		a, r, n := [2]state.VecUB{*t.UB(u.Arg[1]), *t.UB(state.High(u.Arg[1]))}, *t.R(u.Arg[2]), int(u.Imm&1)
		l, h := ww(t, u.Arg[0])
		w := func(i int) int32 { return part(r, i-n) }
		for i := range l {
			x := func(v, k int) int32 { return int32(a[v][4*i+k]) }
			l[i] = l[i]&keep + x(n, 0)*w(0) + x(0, 1)*w(1) + x(0, 2)*w(2) + x(0, 3)*w(3)
			h[i] = h[i]&keep + x(1, 0)*w(2) + x(1, 1)*w(3) + x(n, 2)*w(0) + x(0, 3)*w(1)
		}
	}
}

// widenAdd adds, or subtracts, lanes of half the width.
func widenAdd[D, A number](sign D) func(*state.Thread, *state.Uop, D) {
	return func(t *state.Thread, u *state.Uop, keep D) {
		v, w := *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
		lo, hi, a, b := lanes[D](t, u.Arg[0]), upper[D](t, u.Arg[0]), view[A](&v), view[A](&w)
		for i := range lo {
			lo[i] = lo[i]&keep + D(a[2*i]) + sign*D(b[2*i])
			hi[i] = hi[i]&keep + D(a[2*i+1]) + sign*D(b[2*i+1])
		}
	}
}
