package hvx

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var carryRows = []family.Row{
	{hexagon.V6_vaddcarry, func(t *state.Thread, u *state.Uop) {
		a, b, q := *t.UW(u.Arg[1]), *t.UW(u.Arg[2]), t.UB(u.Arg[3])
		addCarry(t, u.Arg[0], &a, &b, q, q, 0, 0)
	}},
	{hexagon.V6_vaddcarryo, func(t *state.Thread, u *state.Uop) {
		a, b := *t.UW(u.Arg[2]), *t.UW(u.Arg[3])
		addCarry(t, u.Arg[0], &a, &b, nil, t.UB(u.Arg[1]), 0, 0)
	}},
	{hexagon.V6_vaddcarrysat, func(t *state.Thread, u *state.Uop) {
		d, a, b, q := t.W(u.Arg[0]), t.W(u.Arg[1]), t.W(u.Arg[2]), t.UB(u.Arg[3])
		for i := range d {
			d[i] = satw(int64(a[i]) + int64(b[i]) + int64(q[4*i]&1))
		}
	}},
	{hexagon.V6_vsubcarry, func(t *state.Thread, u *state.Uop) {
		a, b, q := *t.UW(u.Arg[1]), *t.UW(u.Arg[2]), t.UB(u.Arg[3])
		addCarry(t, u.Arg[0], &a, &b, q, q, ^uint32(0), 0)
	}},
	{hexagon.V6_vsubcarryo, func(t *state.Thread, u *state.Uop) {
		a, b := *t.UW(u.Arg[2]), *t.UW(u.Arg[3])
		addCarry(t, u.Arg[0], &a, &b, nil, t.UB(u.Arg[1]), ^uint32(0), 1)
	}},
	// Shifts a word through a 64-bit lane. Right shifts move the old low
	// word in from above the word's own fraction; left shifts move it in below.
	{hexagon.V6_vasr_into, func(t *state.Thread, u *state.Uop) {
		a, n := *t.W(u.Arg[1]), *t.W(u.Arg[2])
		lo, hi := t.UW(u.Arg[0]), t.UW(state.High(u.Arg[0]))
		for i := range a {
			x, fill := int64(a[i])<<32, int64(int32(lo[i]))<<32|int64(lo[i])
			s := n[i] << 25 >> 25 // signed, seven bits
			const low = 1<<32 - 1
			switch {
			case s == -64:
				x = 0
			case s < 0:
				x = x<<uint(-s) | fill&(low<<uint(-s))
			default:
				x = x>>uint(s) | fill&(low>>uint(s))
			}
			lo[i], hi[i] = uint32(x), uint32(uint64(x)>>32)
		}
	}},
}

// HVX word arithmetic with carry vectors, and lane counts. A carry is read
// from the lowest byte lane of a word's predicate bits and written to all four.

func addCarry(t *state.Thread, d uint16, a, b *state.VecUW, in, out *state.VecUB, flip, first uint32) {
	var c uint32
	s := t.UW(d)
	for i := range s {
		if c = first; in != nil {
			c = uint32(in[4*i] & 1)
		}
		s[i], c = bits.Add32(a[i], b[i]^flip, c)
		put(out, i, 4, c != 0, qset)
	}
}

func vsatdw(d, a, b []int32) {
	for i := range d {
		d[i] = satw(int64(a[i])<<32 | int64(uint32(b[i])))
	}
}

// vadd(vclb): how many leading bits equal the sign, plus Vv.

func vaddclbw(d, a, b []int32) {
	for i := range d {
		d[i] = int32(bits.LeadingZeros32(uint32(a[i]^a[i]>>31))) + b[i]
	}
}

func vaddclbh(d, a, b []int16) {
	for i := range d {
		d[i] = int16(bits.LeadingZeros16(uint16(a[i]^a[i]>>15))) + b[i]
	}
}

func vrotr(d, a, b []uint32) {
	for i := range d {
		d[i] = bits.RotateLeft32(a[i], -int(b[i]&31))
	}
}

// prefix counts the set bytes of a predicate up to the end of each lane.
func prefix[T number](t *state.Thread, u *state.Uop) {
	q, d, sum := *t.UB(u.Arg[1]), lanes[T](t, u.Arg[0]), T(0)
	n := len(q) / len(d)
	for i := range d {
		for _, b := range q[i*n:][:n] {
			sum += T(b & 1)
		}
		d[i] = sum
	}
}
