package hvx

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
)

// HVX shifts, narrowing shifts, bit counts.

func vaslwR(t *state.Thread, u *state.Uop, keep int32) {
	d, a, s := t.W(u.Arg[0]), t.W(u.Arg[1]), *t.R(u.Arg[2])&31
	for i := range d {
		d[i] = d[i]&keep + a[i]<<s
	}
}
func vaslw(t *state.Thread, u *state.Uop)    { vaslwR(t, u, 0) }
func vaslwAcc(t *state.Thread, u *state.Uop) { vaslwR(t, u, -1) }

func vasrwR(t *state.Thread, u *state.Uop, keep int32) {
	d, a, s := t.W(u.Arg[0]), t.W(u.Arg[1]), *t.R(u.Arg[2])&31
	for i := range d {
		d[i] = d[i]&keep + a[i]>>s
	}
}
func vasrw(t *state.Thread, u *state.Uop)    { vasrwR(t, u, 0) }
func vasrwAcc(t *state.Thread, u *state.Uop) { vasrwR(t, u, -1) }

func vlsrw(t *state.Thread, u *state.Uop) {
	d, a, s := t.UW(u.Arg[0]), t.UW(u.Arg[1]), *t.R(u.Arg[2])&31
	for i := range d {
		d[i] = a[i] >> s
	}
}

func vaslhR(t *state.Thread, u *state.Uop, keep int16) {
	d, a, s := t.H(u.Arg[0]), t.H(u.Arg[1]), *t.R(u.Arg[2])&15
	for i := range d {
		d[i] = d[i]&keep + a[i]<<s
	}
}
func vaslh(t *state.Thread, u *state.Uop)    { vaslhR(t, u, 0) }
func vaslhAcc(t *state.Thread, u *state.Uop) { vaslhR(t, u, -1) }

func vasrhR(t *state.Thread, u *state.Uop, keep int16) {
	d, a, s := t.H(u.Arg[0]), t.H(u.Arg[1]), *t.R(u.Arg[2])&15
	for i := range d {
		d[i] = d[i]&keep + a[i]>>s
	}
}
func vasrh(t *state.Thread, u *state.Uop)    { vasrhR(t, u, 0) }
func vasrhAcc(t *state.Thread, u *state.Uop) { vasrhR(t, u, -1) }

func vlsrh(t *state.Thread, u *state.Uop) {
	d, a, s := t.UH(u.Arg[0]), t.UH(u.Arg[1]), *t.R(u.Arg[2])&15
	for i := range d {
		d[i] = a[i] >> s
	}
}

func vlsrb(t *state.Thread, u *state.Uop) {
	d, a, s := t.UB(u.Arg[0]), t.UB(u.Arg[1]), *t.R(u.Arg[2])&7
	for i := range d {
		d[i] = a[i] >> s
	}
}

// Shifts by a vector go both ways: the amount of a lane is signed, one bit
// wider than the lane's index needs. Go's shifts give 0 or the sign beyond the
// lane's width, as the hardware does.

func amountW(x int32) int32 { return x << 26 >> 26 }
func amountH(x int16) int16 { return x << 11 >> 11 }

func vaslwv(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		if s := amountW(b[i]); s < 0 {
			d[i] = a[i] >> -s
		} else {
			d[i] = a[i] << s
		}
	}
}

func vasrwv(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		if s := amountW(b[i]); s < 0 {
			d[i] = a[i] << -s
		} else {
			d[i] = a[i] >> s
		}
	}
}

func vlsrwv(t *state.Thread, u *state.Uop) {
	d, a, b := w3(t, u)
	for i := range d {
		if s := amountW(b[i]); s < 0 {
			d[i] = a[i] << -s
		} else {
			d[i] = int32(uint32(a[i]) >> s)
		}
	}
}

func vaslhv(t *state.Thread, u *state.Uop) {
	d, a, b := h3(t, u)
	for i := range d {
		if s := amountH(b[i]); s < 0 {
			d[i] = a[i] >> -s
		} else {
			d[i] = a[i] << s
		}
	}
}

func vasrhv(t *state.Thread, u *state.Uop) {
	d, a, b := h3(t, u)
	for i := range d {
		if s := amountH(b[i]); s < 0 {
			d[i] = a[i] << -s
		} else {
			d[i] = a[i] >> s
		}
	}
}

func vlsrhv(t *state.Thread, u *state.Uop) {
	d, a, b := h3(t, u)
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
		d[2*i] = D(simd.Clamp((int64(v[i])+h)>>s, lo, hi))
		d[2*i+1] = D(simd.Clamp((int64(u[i])+h)>>s, lo, hi))
	}
}

func vasrwh(t *state.Thread, u *state.Uop) {
	d, a, b, s := t.H(u.Arg[0]), *t.W(u.Arg[1]), *t.W(u.Arg[2]), *t.R(u.Arg[3])&15
	for i := range a {
		d[2*i], d[2*i+1] = int16(b[i]>>s), int16(a[i]>>s)
	}
}

func asrwh(t *state.Thread, u *state.Uop, rnd bool) {
	a, b := *t.W(u.Arg[1]), *t.W(u.Arg[2])
	narrow(t.H(u.Arg[0])[:], a[:], b[:], *t.R(u.Arg[3])&15, rnd, simd.MinH, simd.MaxH)
}
func vasrwhsat(t *state.Thread, u *state.Uop)    { asrwh(t, u, false) }
func vasrwhrndsat(t *state.Thread, u *state.Uop) { asrwh(t, u, true) }

func asrwuh(t *state.Thread, u *state.Uop, rnd bool) {
	a, b := *t.W(u.Arg[1]), *t.W(u.Arg[2])
	narrow(t.UH(u.Arg[0])[:], a[:], b[:], *t.R(u.Arg[3])&15, rnd, 0, simd.MaxUH)
}
func vasrwuhsat(t *state.Thread, u *state.Uop)    { asrwuh(t, u, false) }
func vasrwuhrndsat(t *state.Thread, u *state.Uop) { asrwuh(t, u, true) }

func asruwuh(t *state.Thread, u *state.Uop, rnd bool) {
	a, b := *t.UW(u.Arg[1]), *t.UW(u.Arg[2])
	narrow(t.UH(u.Arg[0])[:], a[:], b[:], *t.R(u.Arg[3])&15, rnd, 0, simd.MaxUH)
}
func vasruwuhsat(t *state.Thread, u *state.Uop)    { asruwuh(t, u, false) }
func vasruwuhrndsat(t *state.Thread, u *state.Uop) { asruwuh(t, u, true) }

func asrhub(t *state.Thread, u *state.Uop, rnd bool) {
	a, b := *t.H(u.Arg[1]), *t.H(u.Arg[2])
	narrow(t.UB(u.Arg[0])[:], a[:], b[:], *t.R(u.Arg[3])&7, rnd, 0, simd.MaxUB)
}
func vasrhubsat(t *state.Thread, u *state.Uop)    { asrhub(t, u, false) }
func vasrhubrndsat(t *state.Thread, u *state.Uop) { asrhub(t, u, true) }

func asrhb(t *state.Thread, u *state.Uop, rnd bool) {
	a, b := *t.H(u.Arg[1]), *t.H(u.Arg[2])
	narrow(t.B(u.Arg[0])[:], a[:], b[:], *t.R(u.Arg[3])&7, rnd, simd.MinB, simd.MaxB)
}
func vasrhbsat(t *state.Thread, u *state.Uop)    { asrhb(t, u, false) }
func vasrhbrndsat(t *state.Thread, u *state.Uop) { asrhb(t, u, true) }

func asruhub(t *state.Thread, u *state.Uop, rnd bool) {
	a, b := *t.UH(u.Arg[1]), *t.UH(u.Arg[2])
	narrow(t.UB(u.Arg[0])[:], a[:], b[:], *t.R(u.Arg[3])&7, rnd, 0, simd.MaxUB)
}
func vasruhubsat(t *state.Thread, u *state.Uop)    { asruhub(t, u, false) }
func vasruhubrndsat(t *state.Thread, u *state.Uop) { asruhub(t, u, true) }

// vround: the top half of each lane, rounded.

func vroundhb(t *state.Thread, u *state.Uop) {
	a, b := *t.H(u.Arg[1]), *t.H(u.Arg[2])
	narrow(t.B(u.Arg[0])[:], a[:], b[:], 8, true, simd.MinB, simd.MaxB)
}
func vroundhub(t *state.Thread, u *state.Uop) {
	a, b := *t.H(u.Arg[1]), *t.H(u.Arg[2])
	narrow(t.UB(u.Arg[0])[:], a[:], b[:], 8, true, 0, simd.MaxUB)
}
func vrounduhub(t *state.Thread, u *state.Uop) {
	a, b := *t.UH(u.Arg[1]), *t.UH(u.Arg[2])
	narrow(t.UB(u.Arg[0])[:], a[:], b[:], 8, true, 0, simd.MaxUB)
}
func vroundwh(t *state.Thread, u *state.Uop) {
	a, b := *t.W(u.Arg[1]), *t.W(u.Arg[2])
	narrow(t.H(u.Arg[0])[:], a[:], b[:], 16, true, simd.MinH, simd.MaxH)
}
func vroundwuh(t *state.Thread, u *state.Uop) {
	a, b := *t.W(u.Arg[1]), *t.W(u.Arg[2])
	narrow(t.UH(u.Arg[0])[:], a[:], b[:], 16, true, 0, simd.MaxUH)
}
func vrounduwuh(t *state.Thread, u *state.Uop) {
	a, b := *t.UW(u.Arg[1]), *t.UW(u.Arg[2])
	narrow(t.UH(u.Arg[0])[:], a[:], b[:], 16, true, 0, simd.MaxUH)
}

func vcl0w(t *state.Thread, u *state.Uop) {
	d, a := t.UW(u.Arg[0]), t.UW(u.Arg[1])
	for i := range d {
		d[i] = uint32(bits.LeadingZeros32(a[i]))
	}
}

func vcl0h(t *state.Thread, u *state.Uop) {
	d, a := t.UH(u.Arg[0]), t.UH(u.Arg[1])
	for i := range d {
		d[i] = uint16(bits.LeadingZeros16(a[i]))
	}
}

// vnormamt is the number of redundant sign bits.
func vnormamtw(t *state.Thread, u *state.Uop) {
	d, a := t.W(u.Arg[0]), t.W(u.Arg[1])
	for i := range d {
		d[i] = int32(bits.LeadingZeros32(uint32(a[i]^a[i]>>31))) - 1
	}
}

func vnormamth(t *state.Thread, u *state.Uop) {
	d, a := t.H(u.Arg[0]), t.H(u.Arg[1])
	for i := range d {
		d[i] = int16(bits.LeadingZeros16(uint16(a[i]^a[i]>>15))) - 1
	}
}

func vpopcounth(t *state.Thread, u *state.Uop) {
	d, a := t.UH(u.Arg[0]), t.UH(u.Arg[1])
	for i := range d {
		d[i] = uint16(bits.OnesCount16(a[i]))
	}
}
