package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var mulRows = []family.Row{
	// Multiply, 16-bit.
	{hexagon.V6_vmpyhsat_acc, func(t *state.Thread, u *state.Uop) {
		a, r := *t.H(u.Arg[1]), *t.R(u.Arg[2])
		l, h := ww(t, u.Arg[0])
		for i := range l {
			l[i] = satw(int64(l[i]) + int64(int32(a[2*i])*simd.H(r, 0)))
			h[i] = satw(int64(h[i]) + int64(int32(a[2*i+1])*simd.H(r, 1)))
		}
	}},
	{hexagon.V6_vmpyhsrs, func(t *state.Thread, u *state.Uop) { fracR(t, u, 0x8000) }},
	{hexagon.V6_vmpyhss, vmpyhss},

	// Multiply, 32-bit.
	{hexagon.V6_vmpyewuh_64, func(t *state.Thread, u *state.Uop) {
		a, b := *t.W(u.Arg[1]), *t.W(u.Arg[2])
		l, h := ww(t, u.Arg[0])
		for i := range l {
			x := int64(a[i]) * int64(uint16(b[i]))
			l[i], h[i] = int32(x<<16), int32(x>>16)
		}
	}},
	{hexagon.V6_vmpyowh_64_acc, func(t *state.Thread, u *state.Uop) {
		a, b := *t.W(u.Arg[1]), *t.W(u.Arg[2])
		l, h := ww(t, u.Arg[0])
		for i := range l {
			x := int64(a[i])*int64(b[i]>>16) + int64(h[i])
			l[i] = int32(uint32(l[i])>>16 | uint32(x)<<16)
			h[i] = int32(x >> 16)
		}
	}},
}

// HVX multiplies. Widening forms write a pair: the even register holds the
// products of even lanes, the odd register those of odd lanes. Sources are
// copied first where the destination pair may overlap them.

// vrmpy: 32 dot products of four bytes.

// rmpyVR weighs them with the bytes of Rt.
func rmpyVR(part func(uint32, int) int32) func(*state.Thread, *state.Uop, int32) {
	return func(t *state.Thread, u *state.Uop, keep int32) {
		d, a, r := t.W(u.Arg[0]), t.UB(u.Arg[1]), *t.R(u.Arg[2])
		r0, r1, r2, r3 := part(r, 0), part(r, 1), part(r, 2), part(r, 3)
		for i := range d {
			x := a[4*i : 4*i+4 : 4*i+4]
			d[i] = d[i]&keep + int32(x[0])*r0 + int32(x[1])*r1 + int32(x[2])*r2 + int32(x[3])*r3
		}
	}
}

// rmpyVV is the vector by vector form.
func rmpyVV[A, B number](t *state.Thread, u *state.Uop, keep int32) {
	d, a, b := t.W(u.Arg[0]), lanes[A](t, u.Arg[1]), lanes[B](t, u.Arg[2])
	for i := range d {
		x, y := a[4*i:4*i+4:4*i+4], b[4*i:4*i+4:4*i+4]
		d[i] = d[i]&keep + int32(x[0])*int32(y[0]) + int32(x[1])*int32(y[1]) +
			int32(x[2])*int32(y[2]) + int32(x[3])*int32(y[3])
	}
}

// widen multiplies n lanes of a by b, even lanes into lo, odd lanes into hi.
func widen[D, A, B number](lo, hi []D, a []A, b []B, keep D) {
	for i := range lo {
		lo[i] = lo[i]&keep + D(a[2*i])*D(b[2*i])
		hi[i] = hi[i]&keep + D(a[2*i+1])*D(b[2*i+1])
	}
}

// mulVV widens the products of two vectors, mulVR those of a vector and the lanes of Rt, over and over.
func mulVV[D, A, B number](t *state.Thread, u *state.Uop, keep D) {
	a, b := *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
	widen(lanes[D](t, u.Arg[0]), upper[D](t, u.Arg[0]), view[A](&a), view[B](&b), keep)
}
func mulVR[D, A, B number](t *state.Thread, u *state.Uop, keep D) {
	var v state.VecUB
	a, b := *t.UB(u.Arg[1]), view[B](&v)
	for i := range b {
		b[i] = B(*t.R(u.Arg[2]) >> (uint32(i) * bitsOf[B]() & 31))
	}
	widen(lanes[D](t, u.Arg[0]), upper[D](t, u.Arg[0]), view[A](&a), b, keep)
}

func ww(t *state.Thread, o uint16) (lo, high []int32) { return lanes[int32](t, o), upper[int32](t, o) }

// frac is the fractional halfword product: twice the product, optionally rounded, top half.
func frac(a, b int16, rnd int64) int16 { return int16(satw(int64(a)*int64(b)*2+rnd) >> 16) }

func vmpyhss(t *state.Thread, u *state.Uop) { fracR(t, u, 0) }

func fracR(t *state.Thread, u *state.Uop, rnd int64) {
	d, a, r := t.H(u.Arg[0]), t.H(u.Arg[1]), *t.R(u.Arg[2])
	for i := range d {
		d[i] = frac(a[i], int16(simd.H(r, i)), rnd)
	}
}

func vmpyhvsrs(d, a, b []int16) {
	for i := range d {
		d[i] = frac(a[i], b[i], 0x8000)
	}
}

// mulLow keeps the low bits of products (vmpyi), mulLowR of those with the part of Rt that lane i gets.
func mulLow[T number](t *state.Thread, u *state.Uop, keep T) {
	d, a, b := lanes[T](t, u.Arg[0]), lanes[T](t, u.Arg[1]), lanes[T](t, u.Arg[2])
	for i := range d {
		d[i] = d[i]&keep + a[i]*b[i]
	}
}
func mulLowR[T number](part func(uint32, int) int32) func(*state.Thread, *state.Uop, T) {
	return func(t *state.Thread, u *state.Uop, keep T) {
		d, a, r := lanes[T](t, u.Arg[0]), lanes[T](t, u.Arg[1]), *t.R(u.Arg[2])
		for i := range d {
			d[i] = d[i]&keep + a[i]*T(part(r, i))
		}
	}
}

// Word by one halfword of a word: e uses the even (low), o the odd one.

func vmpyiewuh(d, a, b []int32) {
	for i := range d {
		d[i] = a[i] * int32(uint16(b[i]))
	}
}

func vmpyiewuhAcc(d, a, b []int32) {
	for i := range d {
		d[i] += a[i] * int32(uint16(b[i]))
	}
}

func vmpyiewhAcc(d, a, b []int32) {
	for i := range d {
		d[i] += a[i] * int32(int16(b[i]))
	}
}

func vmpyiowh(d, a, b []int32) {
	for i := range d {
		d[i] = a[i] * (b[i] >> 16)
	}
}

func vmpyieoh(d, a, b []int32) {
	for i := range d {
		d[i] = int32(int16(a[i])) * (b[i] >> 16) << 16
	}
}

func vmpyewuh(d, a, b []int32) {
	for i := range d {
		d[i] = int32(int64(a[i]) * int64(uint16(b[i])) >> 16)
	}
}

// odd is the product of a word and the odd halfword of another, times two over
// 2^16, with or without rounding, plus an addend of the product's weight.
func odd(a, b int32, add, rnd int64) int32 {
	return satw(((int64(a)*int64(b>>16)+add)>>14 + rnd) >> 1)
}

func vmpyowh(d, a, b []int32) {
	for i := range d {
		d[i] = odd(a[i], b[i], 0, 0)
	}
}

func vmpyowhRnd(d, a, b []int32) {
	for i := range d {
		d[i] = odd(a[i], b[i], 0, 1)
	}
}

func vmpyowhSacc(d, a, b []int32) {
	for i := range d {
		d[i] = odd(a[i], b[i], int64(d[i]), 0)
	}
}

func vmpyowhRndSacc(d, a, b []int32) {
	for i := range d {
		d[i] = odd(a[i], b[i], int64(d[i]), 1)
	}
}

func vmpyuhe(t *state.Thread, u *state.Uop, keep uint32) {
	d, a, r := t.UW(u.Arg[0]), t.UW(u.Arg[1]), uint32(uint16(*t.R(u.Arg[2])))
	for i := range d {
		d[i] = d[i]&keep + uint32(uint16(a[i]))*r
	}
}
