package dsp

// HVX multiplies. Widening forms write a pair: the even register holds the
// products of even lanes, the odd register those of odd lanes. Sources are
// copied first where the destination pair may overlap them.

func rb(r uint32, i int) int32  { return int32(int8(r >> (8 * (i & 3)))) }
func rub(r uint32, i int) int32 { return int32(uint8(r >> (8 * (i & 3)))) }
func rh(r uint32, i int) int32  { return int32(int16(r >> (16 * (i & 1)))) }
func ruh(r uint32, i int) int32 { return int32(uint16(r >> (16 * (i & 1)))) }

// vrmpy: 32 dot products of four bytes.

func vrmpybus(t *thread, u *uop) { vrmpybusInto(t, u, 0) }

func vrmpybusAcc(t *thread, u *uop) { vrmpybusInto(t, u, -1) }

func vrmpybusInto(t *thread, u *uop, keep int32) {
	d, a, r := t.w(u.o[0]), t.ub(u.o[1]), *t.r(u.o[2])
	r0, r1, r2, r3 := rb(r, 0), rb(r, 1), rb(r, 2), rb(r, 3)
	for i := range d {
		x := a[4*i : 4*i+4 : 4*i+4]
		d[i] = d[i]&keep + int32(x[0])*r0 + int32(x[1])*r1 + int32(x[2])*r2 + int32(x[3])*r3
	}
}

func vrmpyub(t *thread, u *uop)    { vrmpyubInto(t, u, 0) }
func vrmpyubAcc(t *thread, u *uop) { vrmpyubInto(t, u, -1) }

func vrmpyubInto(t *thread, u *uop, keep int32) {
	d, a, r := t.w(u.o[0]), t.ub(u.o[1]), *t.r(u.o[2])
	r0, r1, r2, r3 := rub(r, 0), rub(r, 1), rub(r, 2), rub(r, 3)
	for i := range d {
		x := a[4*i : 4*i+4 : 4*i+4]
		d[i] = d[i]&keep + int32(x[0])*r0 + int32(x[1])*r1 + int32(x[2])*r2 + int32(x[3])*r3
	}
}

// dot4 is the vector by vector form; keep is -1 to accumulate, 0 to set.
func dot4[A, B number](d *v32s, a []A, b []B, keep int32) {
	for i := range d {
		x, y := a[4*i:4*i+4:4*i+4], b[4*i:4*i+4:4*i+4]
		d[i] = d[i]&keep + int32(x[0])*int32(y[0]) + int32(x[1])*int32(y[1]) +
			int32(x[2])*int32(y[2]) + int32(x[3])*int32(y[3])
	}
}

func vrmpybv(t *thread, u *uop)      { _, a, b := t.b3(u); dot4(t.w(u.o[0]), a, b, 0) }
func vrmpybvAcc(t *thread, u *uop)   { _, a, b := t.b3(u); dot4(t.w(u.o[0]), a, b, -1) }
func vrmpyubv(t *thread, u *uop)     { _, a, b := t.ub3(u); dot4(t.w(u.o[0]), a, b, 0) }
func vrmpyubvAcc(t *thread, u *uop)  { _, a, b := t.ub3(u); dot4(t.w(u.o[0]), a, b, -1) }
func vrmpybusv(t *thread, u *uop)    { dot4(t.w(u.o[0]), t.ub(u.o[1])[:], t.b(u.o[2])[:], 0) }
func vrmpybusvAcc(t *thread, u *uop) { dot4(t.w(u.o[0]), t.ub(u.o[1])[:], t.b(u.o[2])[:], -1) }

// widen multiplies n lanes of a by b, even lanes into lo, odd lanes into hi.
func widen[D, A, B number](lo, hi []D, a []A, b []B, keep D) {
	for i := range lo {
		lo[i] = lo[i]&keep + D(a[2*i])*D(b[2*i])
		hi[i] = hi[i]&keep + D(a[2*i+1])*D(b[2*i+1])
	}
}

// scalar repeats the bytes or halfwords of a scalar register over a vector.
func splatb(r uint32) (v v8b) {
	for i := range v {
		v[i] = int8(rb(r, i))
	}
	return v
}
func splatub(r uint32) (v v8u) {
	for i := range v {
		v[i] = uint8(rub(r, i))
	}
	return v
}
func splath(r uint32) (v v16s) {
	for i := range v {
		v[i] = int16(rh(r, i))
	}
	return v
}
func splatuh(r uint32) (v v16u) {
	for i := range v {
		v[i] = uint16(ruh(r, i))
	}
	return v
}

func (t *thread) hh(o uint16) (lo, high []int16) { return t.h(o)[:], t.h(hi(o))[:] }
func (t *thread) ww(o uint16) (lo, high []int32) { return t.w(o)[:], t.w(hi(o))[:] }

func vmpyBR(t *thread, u *uop, keep int16) {
	a, b := *t.ub(u.o[1]), splatb(*t.r(u.o[2]))
	l, h := t.hh(u.o[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpybus(t *thread, u *uop)    { vmpyBR(t, u, 0) }
func vmpybusAcc(t *thread, u *uop) { vmpyBR(t, u, -1) }

func vmpyUR(t *thread, u *uop, keep int16) {
	a, b := *t.ub(u.o[1]), splatub(*t.r(u.o[2]))
	l, h := t.hh(u.o[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyub(t *thread, u *uop)    { vmpyUR(t, u, 0) }
func vmpyubAcc(t *thread, u *uop) { vmpyUR(t, u, -1) }

func vmpyBus(t *thread, u *uop, keep int16) {
	a, b := *t.ub(u.o[1]), *t.b(u.o[2])
	l, h := t.hh(u.o[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpybusv(t *thread, u *uop)    { vmpyBus(t, u, 0) }
func vmpybusvAcc(t *thread, u *uop) { vmpyBus(t, u, -1) }

func vmpyB(t *thread, u *uop, keep int16) {
	a, b := *t.b(u.o[1]), *t.b(u.o[2])
	l, h := t.hh(u.o[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpybv(t *thread, u *uop)    { vmpyB(t, u, 0) }
func vmpybvAcc(t *thread, u *uop) { vmpyB(t, u, -1) }

func vmpyUb(t *thread, u *uop, keep int16) {
	a, b := *t.ub(u.o[1]), *t.ub(u.o[2])
	l, h := t.hh(u.o[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyubv(t *thread, u *uop)    { vmpyUb(t, u, 0) }
func vmpyubvAcc(t *thread, u *uop) { vmpyUb(t, u, -1) }

func vmpyHR(t *thread, u *uop, keep int32) {
	a, b := *t.h(u.o[1]), splath(*t.r(u.o[2]))
	l, h := t.ww(u.o[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyh(t *thread, u *uop)    { vmpyHR(t, u, 0) }
func vmpyhAcc(t *thread, u *uop) { vmpyHR(t, u, -1) }

func vmpyUhR(t *thread, u *uop, keep int32) {
	a, b := *t.uh(u.o[1]), splatuh(*t.r(u.o[2]))
	l, h := t.ww(u.o[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyuh(t *thread, u *uop)    { vmpyUhR(t, u, 0) }
func vmpyuhAcc(t *thread, u *uop) { vmpyUhR(t, u, -1) }

func vmpyHV(t *thread, u *uop, keep int32) {
	a, b := *t.h(u.o[1]), *t.h(u.o[2])
	l, h := t.ww(u.o[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyhv(t *thread, u *uop)    { vmpyHV(t, u, 0) }
func vmpyhvAcc(t *thread, u *uop) { vmpyHV(t, u, -1) }

func vmpyUhV(t *thread, u *uop, keep int32) {
	a, b := *t.uh(u.o[1]), *t.uh(u.o[2])
	l, h := t.ww(u.o[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyuhv(t *thread, u *uop)    { vmpyUhV(t, u, 0) }
func vmpyuhvAcc(t *thread, u *uop) { vmpyUhV(t, u, -1) }

func vmpyHus(t *thread, u *uop, keep int32) {
	a, b := *t.h(u.o[1]), *t.uh(u.o[2])
	l, h := t.ww(u.o[0])
	widen(l, h, a[:], b[:], keep)
}
func vmpyhus(t *thread, u *uop)    { vmpyHus(t, u, 0) }
func vmpyhusAcc(t *thread, u *uop) { vmpyHus(t, u, -1) }

func vmpyhsatAcc(t *thread, u *uop) {
	a, r := *t.h(u.o[1]), *t.r(u.o[2])
	l, h := t.ww(u.o[0])
	for i := range l {
		l[i] = satw(int64(l[i]) + int64(int32(a[2*i])*rh(r, 0)))
		h[i] = satw(int64(h[i]) + int64(int32(a[2*i+1])*rh(r, 1)))
	}
}

// Fractional halfword products: twice the product, optionally rounded, top half.
func frac(a, b int16, rnd int64) int16 { return int16(satw(int64(a)*int64(b)*2+rnd) >> 16) }

func vmpyhsrs(t *thread, u *uop) {
	d, a, r := t.h(u.o[0]), t.h(u.o[1]), *t.r(u.o[2])
	for i := range d {
		d[i] = frac(a[i], int16(rh(r, i)), 0x8000)
	}
}

func vmpyhss(t *thread, u *uop) {
	d, a, r := t.h(u.o[0]), t.h(u.o[1]), *t.r(u.o[2])
	for i := range d {
		d[i] = frac(a[i], int16(rh(r, i)), 0)
	}
}

func vmpyhvsrs(t *thread, u *uop) {
	d, a, b := t.h3(u)
	for i := range d {
		d[i] = frac(a[i], b[i], 0x8000)
	}
}

// Products that keep the width of their lane (vmpyi): low bits only.

func vmpyih(t *thread, u *uop) {
	d, a, b := t.h3(u)
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

func vmpyihAcc(t *thread, u *uop) {
	d, a, b := t.h3(u)
	for i := range d {
		d[i] += a[i] * b[i]
	}
}

func vmpyihb(t *thread, u *uop) {
	d, a, r := t.h(u.o[0]), t.h(u.o[1]), *t.r(u.o[2])
	for i := range d {
		d[i] = a[i] * int16(rb(r, i))
	}
}

func vmpyihbAcc(t *thread, u *uop) {
	d, a, r := t.h(u.o[0]), t.h(u.o[1]), *t.r(u.o[2])
	for i := range d {
		d[i] += a[i] * int16(rb(r, i))
	}
}

// wordByScalar multiplies words by the part of Rt that lane i gets.
func wordByScalar(t *thread, u *uop, part func(uint32, int) int32, keep int32) {
	d, a, r := t.w(u.o[0]), t.w(u.o[1]), *t.r(u.o[2])
	for i := range d {
		d[i] = d[i]&keep + a[i]*part(r, i)
	}
}

func vmpyiwb(t *thread, u *uop)     { wordByScalar(t, u, rb, 0) }
func vmpyiwbAcc(t *thread, u *uop)  { wordByScalar(t, u, rb, -1) }
func vmpyiwub(t *thread, u *uop)    { wordByScalar(t, u, rub, 0) }
func vmpyiwubAcc(t *thread, u *uop) { wordByScalar(t, u, rub, -1) }
func vmpyiwh(t *thread, u *uop)     { wordByScalar(t, u, rh, 0) }
func vmpyiwhAcc(t *thread, u *uop)  { wordByScalar(t, u, rh, -1) }

// Word by one halfword of a word: e takes the even (low), o the odd one.

func vmpyiewuh(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] = a[i] * int32(uint16(b[i]))
	}
}

func vmpyiewuhAcc(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] += a[i] * int32(uint16(b[i]))
	}
}

func vmpyiewhAcc(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] += a[i] * int32(int16(b[i]))
	}
}

func vmpyiowh(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] = a[i] * (b[i] >> 16)
	}
}

func vmpyieoh(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] = int32(int16(a[i])) * (b[i] >> 16) << 16
	}
}

func vmpyewuh(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] = int32(int64(a[i]) * int64(uint16(b[i])) >> 16)
	}
}

func vmpyewuh64(t *thread, u *uop) {
	a, b := *t.w(u.o[1]), *t.w(u.o[2])
	l, h := t.ww(u.o[0])
	for i := range l {
		x := int64(a[i]) * int64(uint16(b[i]))
		l[i], h[i] = int32(x<<16), int32(x>>16)
	}
}

func vmpyowh64Acc(t *thread, u *uop) {
	a, b := *t.w(u.o[1]), *t.w(u.o[2])
	l, h := t.ww(u.o[0])
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

func vmpyowh(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] = odd(a[i], b[i], 0, 0)
	}
}

func vmpyowhRnd(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] = odd(a[i], b[i], 0, 1)
	}
}

func vmpyowhSacc(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] = odd(a[i], b[i], int64(d[i]), 0)
	}
}

func vmpyowhRndSacc(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		d[i] = odd(a[i], b[i], int64(d[i]), 1)
	}
}

func vmpyuhe(t *thread, u *uop)    { vmpyuheInto(t, u, 0) }
func vmpyuheAcc(t *thread, u *uop) { vmpyuheInto(t, u, 0xffffffff) }

func vmpyuheInto(t *thread, u *uop, keep uint32) {
	d, a, r := t.uw(u.o[0]), t.uw(u.o[1]), uint32(uint16(*t.r(u.o[2])))
	for i := range d {
		d[i] = d[i]&keep + uint32(uint16(a[i]))*r
	}
}
