package hvx

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var shiftRows = []family.Row{
	// Shifts, rounding, counting.
	{hexagon.V6_vasrwh, func(t *state.Thread, u *state.Uop) {
		d, a, b, s := t.H(u.Arg[0]), *t.W(u.Arg[1]), *t.W(u.Arg[2]), *t.R(u.Arg[3])&15
		for i := range a {
			d[2*i], d[2*i+1] = int16(b[i]>>s), int16(a[i]>>s)
		}
	}},
	{hexagon.V6_vcl0h, func(t *state.Thread, u *state.Uop) {
		d, a := t.UH(u.Arg[0]), t.UH(u.Arg[1])
		for i := range d {
			d[i] = uint16(bits.LeadingZeros16(a[i]))
		}
	}},
	{hexagon.V6_vcl0w, func(t *state.Thread, u *state.Uop) {
		d, a := t.UW(u.Arg[0]), t.UW(u.Arg[1])
		for i := range d {
			d[i] = uint32(bits.LeadingZeros32(a[i]))
		}
	}},
	{hexagon.V6_vnormamth, func(t *state.Thread, u *state.Uop) {
		d, a := t.H(u.Arg[0]), t.H(u.Arg[1])
		for i := range d {
			d[i] = int16(bits.LeadingZeros16(uint16(a[i]^a[i]>>15))) - 1
		}
	}},
	// vnormamt is the number of redundant sign bits.
	{hexagon.V6_vnormamtw, func(t *state.Thread, u *state.Uop) {
		d, a := t.W(u.Arg[0]), t.W(u.Arg[1])
		for i := range d {
			d[i] = int32(bits.LeadingZeros32(uint32(a[i]^a[i]>>31))) - 1
		}
	}},
	{hexagon.V6_vpopcounth, func(t *state.Thread, u *state.Uop) {
		d, a := t.UH(u.Arg[0]), t.UH(u.Arg[1])
		for i := range d {
			d[i] = uint16(bits.OnesCount16(a[i]))
		}
	}},
}

// HVX shifts, narrowing shifts, bit counts.

// aslR and asrR shift by the low bits of Rt; asrR of unsigned lanes is the logical shift.
func aslR[T number](t *state.Thread, u *state.Uop, keep T) {
	d, a, s := lanes[T](t, u.Arg[0]), lanes[T](t, u.Arg[1]), *t.R(u.Arg[2])&(bitsOf[T]()-1)
	for i := range d {
		d[i] = d[i]&keep + a[i]<<s
	}
}
func asrR[T number](t *state.Thread, u *state.Uop, keep T) {
	d, a, s := lanes[T](t, u.Arg[0]), lanes[T](t, u.Arg[1]), *t.R(u.Arg[2])&(bitsOf[T]()-1)
	for i := range d {
		d[i] = d[i]&keep + a[i]>>s
	}
}

// Shifts by a vector are bidirectional: the amount of a lane is signed, one bit wider than the lane's index needs. Go's
// shifts produce 0 or the sign beyond the lane's width, as the hardware does.

func amount[T number](x T) int32 {
	n := 32 - bits.Len32(bitsOf[T]())
	return int32(x) << n >> n
}

func aslV[T number](d, a, b []T) {
	for i := range d {
		if s := amount(b[i]); s < 0 {
			d[i] = a[i] >> -s
		} else {
			d[i] = a[i] << s
		}
	}
}

func asrV[T number](d, a, b []T) {
	for i := range d {
		if s := amount(b[i]); s < 0 {
			d[i] = a[i] << -s
		} else {
			d[i] = a[i] >> s
		}
	}
}

// Narrowing shifts interleave: even lanes are from Vv, odd lanes from Vu. half is the rounding addend before a shift by
// s.

func half(s uint32, rnd bool) int64 {
	if !rnd || s == 0 {
		return 0
	}
	return 1 << (s - 1)
}

func narrow[D, S number](d []D, u, v []S, s uint32, rnd bool) {
	h := half(s, rnd)
	lo, hi := limits[D]()
	for i := range u {
		d[2*i] = D(simd.Clamp((int64(v[i])+h)>>s, lo, hi))
		d[2*i+1] = D(simd.Clamp((int64(u[i])+h)>>s, lo, hi))
	}
}

// asrNarrow shifts by Rt, narrowBy by a number: 0 saturates only, half the width of a lane rounds it to its top half.
func asrNarrow[D, S number](rnd bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		a, b := *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
		narrow(lanes[D](t, u.Arg[0]), view[S](&a), view[S](&b), *t.R(u.Arg[3])&(bitsOf[D]()-1), rnd)
	}
}
func narrowBy[D, S number](s uint32, rnd bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		a, b := *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
		narrow(lanes[D](t, u.Arg[0]), view[S](&a), view[S](&b), s, rnd)
	}
}
