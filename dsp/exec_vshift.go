package dsp

import "math/bits"

// HVX shifts, narrowing shifts, bit counts.

func vaslwR(t *thread, u *uop, keep int32) {
	d, a, s := t.w(u.o[0]), t.w(u.o[1]), *t.r(u.o[2])&31
	for i := range d {
		d[i] = d[i]&keep + a[i]<<s
	}
}
func vaslw(t *thread, u *uop)    { vaslwR(t, u, 0) }
func vaslwAcc(t *thread, u *uop) { vaslwR(t, u, -1) }

func vasrwR(t *thread, u *uop, keep int32) {
	d, a, s := t.w(u.o[0]), t.w(u.o[1]), *t.r(u.o[2])&31
	for i := range d {
		d[i] = d[i]&keep + a[i]>>s
	}
}
func vasrw(t *thread, u *uop)    { vasrwR(t, u, 0) }
func vasrwAcc(t *thread, u *uop) { vasrwR(t, u, -1) }

func vlsrw(t *thread, u *uop) {
	d, a, s := t.uw(u.o[0]), t.uw(u.o[1]), *t.r(u.o[2])&31
	for i := range d {
		d[i] = a[i] >> s
	}
}

func vaslhR(t *thread, u *uop, keep int16) {
	d, a, s := t.h(u.o[0]), t.h(u.o[1]), *t.r(u.o[2])&15
	for i := range d {
		d[i] = d[i]&keep + a[i]<<s
	}
}
func vaslh(t *thread, u *uop)    { vaslhR(t, u, 0) }
func vaslhAcc(t *thread, u *uop) { vaslhR(t, u, -1) }

func vasrhR(t *thread, u *uop, keep int16) {
	d, a, s := t.h(u.o[0]), t.h(u.o[1]), *t.r(u.o[2])&15
	for i := range d {
		d[i] = d[i]&keep + a[i]>>s
	}
}
func vasrh(t *thread, u *uop)    { vasrhR(t, u, 0) }
func vasrhAcc(t *thread, u *uop) { vasrhR(t, u, -1) }

func vlsrh(t *thread, u *uop) {
	d, a, s := t.uh(u.o[0]), t.uh(u.o[1]), *t.r(u.o[2])&15
	for i := range d {
		d[i] = a[i] >> s
	}
}

func vlsrb(t *thread, u *uop) {
	d, a, s := t.ub(u.o[0]), t.ub(u.o[1]), *t.r(u.o[2])&7
	for i := range d {
		d[i] = a[i] >> s
	}
}

// Shifts by a vector go both ways: the amount of a lane is signed, one bit
// wider than the lane's index needs. Go's shifts give 0 or the sign beyond the
// lane's width, as the hardware does.

func amountW(x int32) int32 { return x << 26 >> 26 }
func amountH(x int16) int16 { return x << 11 >> 11 }

func vaslwv(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		if s := amountW(b[i]); s < 0 {
			d[i] = a[i] >> -s
		} else {
			d[i] = a[i] << s
		}
	}
}

func vasrwv(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		if s := amountW(b[i]); s < 0 {
			d[i] = a[i] << -s
		} else {
			d[i] = a[i] >> s
		}
	}
}

func vlsrwv(t *thread, u *uop) {
	d, a, b := t.w3(u)
	for i := range d {
		if s := amountW(b[i]); s < 0 {
			d[i] = a[i] << -s
		} else {
			d[i] = int32(uint32(a[i]) >> s)
		}
	}
}

func vaslhv(t *thread, u *uop) {
	d, a, b := t.h3(u)
	for i := range d {
		if s := amountH(b[i]); s < 0 {
			d[i] = a[i] >> -s
		} else {
			d[i] = a[i] << s
		}
	}
}

func vasrhv(t *thread, u *uop) {
	d, a, b := t.h3(u)
	for i := range d {
		if s := amountH(b[i]); s < 0 {
			d[i] = a[i] << -s
		} else {
			d[i] = a[i] >> s
		}
	}
}

func vlsrhv(t *thread, u *uop) {
	d, a, b := t.h3(u)
	for i := range d {
		if s := amountH(b[i]); s < 0 {
			d[i] = a[i] << -s
		} else {
			d[i] = int16(uint16(a[i]) >> s)
		}
	}
}

// Narrowing shifts interleave: even lanes come from Vv, odd lanes from Vu.
// half is what rounding adds before a shift by s.

func half(s uint32, rnd bool) int64 {
	if !rnd || s == 0 {
		return 0
	}
	return 1 << (s - 1)
}

func narrow[D, S number](d []D, u, v []S, s uint32, rnd bool, lo, hi int64) {
	h := half(s, rnd)
	for i := range u {
		d[2*i] = D(clamp((int64(v[i])+h)>>s, lo, hi))
		d[2*i+1] = D(clamp((int64(u[i])+h)>>s, lo, hi))
	}
}

func vasrwh(t *thread, u *uop) {
	d, a, b, s := t.h(u.o[0]), *t.w(u.o[1]), *t.w(u.o[2]), *t.r(u.o[3])&15
	for i := range a {
		d[2*i], d[2*i+1] = int16(b[i]>>s), int16(a[i]>>s)
	}
}

func asrwh(t *thread, u *uop, rnd bool) {
	a, b := *t.w(u.o[1]), *t.w(u.o[2])
	narrow(t.h(u.o[0])[:], a[:], b[:], *t.r(u.o[3])&15, rnd, minH, maxH)
}
func vasrwhsat(t *thread, u *uop)    { asrwh(t, u, false) }
func vasrwhrndsat(t *thread, u *uop) { asrwh(t, u, true) }

func asrwuh(t *thread, u *uop, rnd bool) {
	a, b := *t.w(u.o[1]), *t.w(u.o[2])
	narrow(t.uh(u.o[0])[:], a[:], b[:], *t.r(u.o[3])&15, rnd, 0, maxUH)
}
func vasrwuhsat(t *thread, u *uop)    { asrwuh(t, u, false) }
func vasrwuhrndsat(t *thread, u *uop) { asrwuh(t, u, true) }

func asruwuh(t *thread, u *uop, rnd bool) {
	a, b := *t.uw(u.o[1]), *t.uw(u.o[2])
	narrow(t.uh(u.o[0])[:], a[:], b[:], *t.r(u.o[3])&15, rnd, 0, maxUH)
}
func vasruwuhsat(t *thread, u *uop)    { asruwuh(t, u, false) }
func vasruwuhrndsat(t *thread, u *uop) { asruwuh(t, u, true) }

func asrhub(t *thread, u *uop, rnd bool) {
	a, b := *t.h(u.o[1]), *t.h(u.o[2])
	narrow(t.ub(u.o[0])[:], a[:], b[:], *t.r(u.o[3])&7, rnd, 0, maxUB)
}
func vasrhubsat(t *thread, u *uop)    { asrhub(t, u, false) }
func vasrhubrndsat(t *thread, u *uop) { asrhub(t, u, true) }

func asrhb(t *thread, u *uop, rnd bool) {
	a, b := *t.h(u.o[1]), *t.h(u.o[2])
	narrow(t.b(u.o[0])[:], a[:], b[:], *t.r(u.o[3])&7, rnd, minB, maxB)
}
func vasrhbsat(t *thread, u *uop)    { asrhb(t, u, false) }
func vasrhbrndsat(t *thread, u *uop) { asrhb(t, u, true) }

func asruhub(t *thread, u *uop, rnd bool) {
	a, b := *t.uh(u.o[1]), *t.uh(u.o[2])
	narrow(t.ub(u.o[0])[:], a[:], b[:], *t.r(u.o[3])&7, rnd, 0, maxUB)
}
func vasruhubsat(t *thread, u *uop)    { asruhub(t, u, false) }
func vasruhubrndsat(t *thread, u *uop) { asruhub(t, u, true) }

// vround: the top half of each lane, rounded.

func vroundhb(t *thread, u *uop) {
	a, b := *t.h(u.o[1]), *t.h(u.o[2])
	narrow(t.b(u.o[0])[:], a[:], b[:], 8, true, minB, maxB)
}
func vroundhub(t *thread, u *uop) {
	a, b := *t.h(u.o[1]), *t.h(u.o[2])
	narrow(t.ub(u.o[0])[:], a[:], b[:], 8, true, 0, maxUB)
}
func vrounduhub(t *thread, u *uop) {
	a, b := *t.uh(u.o[1]), *t.uh(u.o[2])
	narrow(t.ub(u.o[0])[:], a[:], b[:], 8, true, 0, maxUB)
}
func vroundwh(t *thread, u *uop) {
	a, b := *t.w(u.o[1]), *t.w(u.o[2])
	narrow(t.h(u.o[0])[:], a[:], b[:], 16, true, minH, maxH)
}
func vroundwuh(t *thread, u *uop) {
	a, b := *t.w(u.o[1]), *t.w(u.o[2])
	narrow(t.uh(u.o[0])[:], a[:], b[:], 16, true, 0, maxUH)
}
func vrounduwuh(t *thread, u *uop) {
	a, b := *t.uw(u.o[1]), *t.uw(u.o[2])
	narrow(t.uh(u.o[0])[:], a[:], b[:], 16, true, 0, maxUH)
}

func vcl0w(t *thread, u *uop) {
	d, a := t.uw(u.o[0]), t.uw(u.o[1])
	for i := range d {
		d[i] = uint32(bits.LeadingZeros32(a[i]))
	}
}

func vcl0h(t *thread, u *uop) {
	d, a := t.uh(u.o[0]), t.uh(u.o[1])
	for i := range d {
		d[i] = uint16(bits.LeadingZeros16(a[i]))
	}
}

// vnormamt is the number of redundant sign bits.
func vnormamtw(t *thread, u *uop) {
	d, a := t.w(u.o[0]), t.w(u.o[1])
	for i := range d {
		d[i] = int32(bits.LeadingZeros32(uint32(a[i]^a[i]>>31))) - 1
	}
}

func vnormamth(t *thread, u *uop) {
	d, a := t.h(u.o[0]), t.h(u.o[1])
	for i := range d {
		d[i] = int16(bits.LeadingZeros16(uint16(a[i]^a[i]>>15))) - 1
	}
}

func vpopcounth(t *thread, u *uop) {
	d, a := t.uh(u.o[0]), t.uh(u.o[1])
	for i := range d {
		d[i] = uint16(bits.OnesCount16(a[i]))
	}
}
