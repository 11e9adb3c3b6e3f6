package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
)

// HVX multiplies. Widening forms write a pair: the even register holds the
// products of even lanes, the odd register those of odd lanes. Sources are
// copied first where the destination pair may overlap them.

// vrmpy: 32 dot products of four bytes.

func vrmpybus(t *state.Thread, u *state.Uop) { vrmpybusInto(t, u, 0) }

func vrmpybusAcc(t *state.Thread, u *state.Uop) { vrmpybusInto(t, u, -1) }

func vrmpybusInto(t *state.Thread, u *state.Uop, keep int32) {
	d, a, r := t.W(u.Arg[0]), t.UB(u.Arg[1]), *t.R(u.Arg[2])
	r0, r1, r2, r3 := simd.B(r, 0), simd.B(r, 1), simd.B(r, 2), simd.B(r, 3)
	for i := range d {
		x := a[4*i : 4*i+4 : 4*i+4]
		d[i] = d[i]&keep + int32(x[0])*r0 + int32(x[1])*r1 + int32(x[2])*r2 + int32(x[3])*r3
	}
}

func vrmpyub(t *state.Thread, u *state.Uop)    { vrmpyubInto(t, u, 0) }
func vrmpyubAcc(t *state.Thread, u *state.Uop) { vrmpyubInto(t, u, -1) }

func vrmpyubInto(t *state.Thread, u *state.Uop, keep int32) {
	d, a, r := t.W(u.Arg[0]), t.UB(u.Arg[1]), *t.R(u.Arg[2])
	r0, r1, r2, r3 := simd.UB(r, 0), simd.UB(r, 1), simd.UB(r, 2), simd.UB(r, 3)
	for i := range d {
		x := a[4*i : 4*i+4 : 4*i+4]
		d[i] = d[i]&keep + int32(x[0])*r0 + int32(x[1])*r1 + int32(x[2])*r2 + int32(x[3])*r3
	}
}

// dot4 is the vector by vector form; keep is -1 to accumulate, 0 to set.
func dot4[A, B number](d *state.VecW, a []A, b []B, keep int32) {
	for i := range d {
		x, y := a[4*i:4*i+4:4*i+4], b[4*i:4*i+4:4*i+4]
		d[i] = d[i]&keep + int32(x[0])*int32(y[0]) + int32(x[1])*int32(y[1]) +
			int32(x[2])*int32(y[2]) + int32(x[3])*int32(y[3])
	}
}

func vrmpybv(t *state.Thread, u *state.Uop)     { _, a, b := b3(t, u); dot4(t.W(u.Arg[0]), a, b, 0) }
func vrmpybvAcc(t *state.Thread, u *state.Uop)  { _, a, b := b3(t, u); dot4(t.W(u.Arg[0]), a, b, -1) }
func vrmpyubv(t *state.Thread, u *state.Uop)    { _, a, b := ub3(t, u); dot4(t.W(u.Arg[0]), a, b, 0) }
func vrmpyubvAcc(t *state.Thread, u *state.Uop) { _, a, b := ub3(t, u); dot4(t.W(u.Arg[0]), a, b, -1) }
func vrmpybusv(t *state.Thread, u *state.Uop) {
	dot4(t.W(u.Arg[0]), t.UB(u.Arg[1])[:], t.B(u.Arg[2])[:], 0)
}
func vrmpybusvAcc(t *state.Thread, u *state.Uop) {
	dot4(t.W(u.Arg[0]), t.UB(u.Arg[1])[:], t.B(u.Arg[2])[:], -1)
}

// widen multiplies n lanes of a by b, even lanes into lo, odd lanes into hi.
func widen[D, A, B number](lo, hi []D, a []A, b []B, keep D) {
	for i := range lo {
		lo[i] = lo[i]&keep + D(a[2*i])*D(b[2*i])
		hi[i] = hi[i]&keep + D(a[2*i+1])*D(b[2*i+1])
	}
}

// scalar repeats the bytes or halfwords of a scalar register over a vector.
func splatb(r uint32) (v state.VecB) {
	for i := range v {
		v[i] = int8(simd.B(r, i))
	}
	return v
}
func splatub(r uint32) (v state.VecUB) {
	for i := range v {
		v[i] = uint8(simd.UB(r, i))
	}
	return v
}
func splath(r uint32) (v state.VecH) {
	for i := range v {
		v[i] = int16(simd.H(r, i))
	}
	return v
}
func splatuh(r uint32) (v state.VecUH) {
	for i := range v {
		v[i] = uint16(simd.UH(r, i))
	}
	return v
}

func hh(t *state.Thread, o uint16) (lo, high []int16) { return t.H(o)[:], t.H(state.High(o))[:] }
func ww(t *state.Thread, o uint16) (lo, high []int32) { return t.W(o)[:], t.W(state.High(o))[:] }

func vmpyBR(t *state.Thread, u *state.Uop, keep int16) {
	a, b := *t.UB(u.Arg[1]), splatb(*t.R(u.Arg[2]))
	l, h := hh(t, u.Arg[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpybus(t *state.Thread, u *state.Uop)    { vmpyBR(t, u, 0) }
func vmpybusAcc(t *state.Thread, u *state.Uop) { vmpyBR(t, u, -1) }

func vmpyUR(t *state.Thread, u *state.Uop, keep int16) {
	a, b := *t.UB(u.Arg[1]), splatub(*t.R(u.Arg[2]))
	l, h := hh(t, u.Arg[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyub(t *state.Thread, u *state.Uop)    { vmpyUR(t, u, 0) }
func vmpyubAcc(t *state.Thread, u *state.Uop) { vmpyUR(t, u, -1) }

func vmpyBus(t *state.Thread, u *state.Uop, keep int16) {
	a, b := *t.UB(u.Arg[1]), *t.B(u.Arg[2])
	l, h := hh(t, u.Arg[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpybusv(t *state.Thread, u *state.Uop)    { vmpyBus(t, u, 0) }
func vmpybusvAcc(t *state.Thread, u *state.Uop) { vmpyBus(t, u, -1) }

func vmpyB(t *state.Thread, u *state.Uop, keep int16) {
	a, b := *t.B(u.Arg[1]), *t.B(u.Arg[2])
	l, h := hh(t, u.Arg[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpybv(t *state.Thread, u *state.Uop)    { vmpyB(t, u, 0) }
func vmpybvAcc(t *state.Thread, u *state.Uop) { vmpyB(t, u, -1) }

func vmpyUb(t *state.Thread, u *state.Uop, keep int16) {
	a, b := *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
	l, h := hh(t, u.Arg[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyubv(t *state.Thread, u *state.Uop)    { vmpyUb(t, u, 0) }
func vmpyubvAcc(t *state.Thread, u *state.Uop) { vmpyUb(t, u, -1) }

func vmpyHR(t *state.Thread, u *state.Uop, keep int32) {
	a, b := *t.H(u.Arg[1]), splath(*t.R(u.Arg[2]))
	l, h := ww(t, u.Arg[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyh(t *state.Thread, u *state.Uop)    { vmpyHR(t, u, 0) }
func vmpyhAcc(t *state.Thread, u *state.Uop) { vmpyHR(t, u, -1) }

func vmpyUhR(t *state.Thread, u *state.Uop, keep int32) {
	a, b := *t.UH(u.Arg[1]), splatuh(*t.R(u.Arg[2]))
	l, h := ww(t, u.Arg[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyuh(t *state.Thread, u *state.Uop)    { vmpyUhR(t, u, 0) }
func vmpyuhAcc(t *state.Thread, u *state.Uop) { vmpyUhR(t, u, -1) }

func vmpyHV(t *state.Thread, u *state.Uop, keep int32) {
	a, b := *t.H(u.Arg[1]), *t.H(u.Arg[2])
	l, h := ww(t, u.Arg[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyhv(t *state.Thread, u *state.Uop)    { vmpyHV(t, u, 0) }
func vmpyhvAcc(t *state.Thread, u *state.Uop) { vmpyHV(t, u, -1) }

func vmpyUhV(t *state.Thread, u *state.Uop, keep int32) {
	a, b := *t.UH(u.Arg[1]), *t.UH(u.Arg[2])
	l, h := ww(t, u.Arg[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyuhv(t *state.Thread, u *state.Uop)    { vmpyUhV(t, u, 0) }
func vmpyuhvAcc(t *state.Thread, u *state.Uop) { vmpyUhV(t, u, -1) }

func vmpyHus(t *state.Thread, u *state.Uop, keep int32) {
	a, b := *t.H(u.Arg[1]), *t.UH(u.Arg[2])
	l, h := ww(t, u.Arg[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyhus(t *state.Thread, u *state.Uop)    { vmpyHus(t, u, 0) }
func vmpyhusAcc(t *state.Thread, u *state.Uop) { vmpyHus(t, u, -1) }

func vmpyhsatAcc(t *state.Thread, u *state.Uop) {
	a, r := *t.H(u.Arg[1]), *t.R(u.Arg[2])
	l, h := ww(t, u.Arg[0])
	for i := range l {
		l[i] = satw(int64(l[i]) + int64(int32(a[2*i])*simd.H(r, 0)))
		h[i] = satw(int64(h[i]) + int64(int32(a[2*i+1])*simd.H(r, 1)))
	}
}

// Fractional halfword products: twice the product, optionally rounded, top half.
func frac(a, b int16, rnd int64) int16 { return int16(satw(int64(a)*int64(b)*2+rnd) >> 16) }

func vmpyhsrs(t *state.Thread, u *state.Uop) {
	d, a, r := t.H(u.Arg[0]), t.H(u.Arg[1]), *t.R(u.Arg[2])
	for i := range d {
		d[i] = frac(a[i], int16(simd.H(r, i)), 0x8000)
	}
}

func vmpyhss(t *state.Thread, u *state.Uop) {
	d, a, r := t.H(u.Arg[0]), t.H(u.Arg[1]), *t.R(u.Arg[2])
	for i := range d {
		d[i] = frac(a[i], int16(simd.H(r, i)), 0)
	}
}

func vmpyhvsrs(t *state.Thread, u *state.Uop) {
	d, a, b := h3(t, u)
	for i := range d {
		d[i] = frac(a[i], b[i], 0x8000)
	}
}

// Products that keep the width of their lane (vmpyi): low bits only.

func vmpyih(t *state.Thread, u *state.Uop) {
	d, a, b := h3(t, u)
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

func vmpyihAcc(t *state.Thread, u *state.Uop) {
	d, a, b := h3(t, u)
	for i := range d {
		d[i] += a[i] * b[i]
	}
}

func vmpyihb(t *state.Thread, u *state.Uop) {
	d, a, r := t.H(u.Arg[0]), t.H(u.Arg[1]), *t.R(u.Arg[2])
	for i := range d {
		d[i] = a[i] * int16(simd.B(r, i))
	}
}

func vmpyihbAcc(t *state.Thread, u *state.Uop) {
	d, a, r := t.H(u.Arg[0]), t.H(u.Arg[1]), *t.R(u.Arg[2])
	for i := range d {
		d[i] += a[i] * int16(simd.B(r, i))
	}
}

// wordByScalar multiplies words by the part of Rt that lane i gets.
func wordByScalar(t *state.Thread, u *state.Uop, part func(uint32, int) int32, keep int32) {
	d, a, r := t.W(u.Arg[0]), t.W(u.Arg[1]), *t.R(u.Arg[2])
	for i := range d {
		d[i] = d[i]&keep + a[i]*part(r, i)
	}
}

func vmpyiwb(t *state.Thread, u *state.Uop)     { wordByScalar(t, u, simd.B, 0) }
func vmpyiwbAcc(t *state.Thread, u *state.Uop)  { wordByScalar(t, u, simd.B, -1) }
func vmpyiwub(t *state.Thread, u *state.Uop)    { wordByScalar(t, u, simd.UB, 0) }
func vmpyiwubAcc(t *state.Thread, u *state.Uop) { wordByScalar(t, u, simd.UB, -1) }
func vmpyiwh(t *state.Thread, u *state.Uop)     { wordByScalar(t, u, simd.H, 0) }
func vmpyiwhAcc(t *state.Thread, u *state.Uop)  { wordByScalar(t, u, simd.H, -1) }

// Word by one halfword of a word: e takes the even (low), o the odd one.

func vmpyiewuh(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		d[i] = a[i] * int32(uint16(b[i]))
	}
}

func vmpyiewuhAcc(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		d[i] += a[i] * int32(uint16(b[i]))
	}
}

func vmpyiewhAcc(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		d[i] += a[i] * int32(int16(b[i]))
	}
}

func vmpyiowh(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		d[i] = a[i] * (b[i] >> 16)
	}
}

func vmpyieoh(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		d[i] = int32(int16(a[i])) * (b[i] >> 16) << 16
	}
}

func vmpyewuh(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		d[i] = int32(int64(a[i]) * int64(uint16(b[i])) >> 16)
	}
}

func vmpyewuh64(t *state.Thread, u *state.Uop) {
	a, b := *t.W(u.Arg[1]), *t.W(u.Arg[2])
	l, h := ww(t, u.Arg[0])
	for i := range l {
		x := int64(a[i]) * int64(uint16(b[i]))
		l[i], h[i] = int32(x<<16), int32(x>>16)
	}
}

func vmpyowh64Acc(t *state.Thread, u *state.Uop) {
	a, b := *t.W(u.Arg[1]), *t.W(u.Arg[2])
	l, h := ww(t, u.Arg[0])
	for i := range l {
		x := int64(a[i])*int64(b[i]>>16) + int64(h[i])
		l[i] = int32(uint32(l[i])>>16 | uint32(x)<<16)
		h[i] = int32(x >> 16)
	}
}

// odd is the product of a word and the odd halfword of another, times two over
// 2^16, with or without rounding, plus an addend of the product's weight.
func odd(a, b int32, add, rnd int64) int32 {
	return satw(((int64(a)*int64(b>>16)+add)>>14 + rnd) >> 1)
}

func vmpyowh(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		d[i] = odd(a[i], b[i], 0, 0)
	}
}

func vmpyowhRnd(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		d[i] = odd(a[i], b[i], 0, 1)
	}
}

func vmpyowhSacc(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		d[i] = odd(a[i], b[i], int64(d[i]), 0)
	}
}

func vmpyowhRndSacc(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		d[i] = odd(a[i], b[i], int64(d[i]), 1)
	}
}

func vmpyuhe(t *state.Thread, u *state.Uop)    { vmpyuheInto(t, u, 0) }
func vmpyuheAcc(t *state.Thread, u *state.Uop) { vmpyuheInto(t, u, 0xffffffff) }

func vmpyuheInto(t *state.Thread, u *state.Uop, keep uint32) {
	d, a, r := t.UW(u.Arg[0]), t.UW(u.Arg[1]), uint32(uint16(*t.R(u.Arg[2])))
	for i := range d {
		d[i] = d[i]&keep + uint32(uint16(a[i]))*r
	}
}
