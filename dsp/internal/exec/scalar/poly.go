package scalar

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var polyRows = []family.Row{
	{hexagon.M4_pmpyw, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = carryless(*t.R(u.Arg[1]), *t.R(u.Arg[2])) }},
	{hexagon.M4_pmpyw_acc, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) ^= carryless(*t.R(u.Arg[1]), *t.R(u.Arg[2])) }},
	{hexagon.M4_vpmpyh, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = vpmpy(*t.R(u.Arg[1]), *t.R(u.Arg[2])) }},
	{hexagon.M4_vpmpyh_acc, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) ^= vpmpy(*t.R(u.Arg[1]), *t.R(u.Arg[2])) }},
	{hexagon.A2_vraddub, bytesPerWord(sumOf, 0)},
	{hexagon.A2_vraddub_acc, bytesPerWord(sumOf, 1)},
	{hexagon.A2_vrsadub, bytesPerWord(diffOf, 0)},
	{hexagon.A2_vrsadub_acc, bytesPerWord(diffOf, 1)},
	{hexagon.M2_vraddh, sumHalves(true)},
	{hexagon.M2_vradduh, sumHalves(false)},
	// The add-compare-select step of a Viterbi decoder.
	{hexagon.A5_ACS, func(t *state.Thread, u *state.Uop) {
		d, x, y := *t.D(u.Arg[0]), *t.D(u.Arg[2]), *t.D(u.Arg[3])
		var out uint64
		var p uint8
		for i := uint(0); i < 64; i += 16 {
			a := lane(d, i, 16, true) + lane(y, i, 16, true)
			b := lane(x, i, 16, true) - lane(y, i, 16, true)
			if a > b {
				p |= 3 << (i / 8)
			}
			out |= uint64(satTo(t, max(a, b), simd.MinH, simd.MaxH)&0xffff) << i
		}
		*t.D(u.Arg[0]), *t.P(u.Arg[1]) = out, p
	}},
	// The predicate marks the bytes in which the first source is the larger one.
	{hexagon.A6_vminub_RdP, func(t *state.Thread, u *state.Uop) {
		x, y := *t.D(u.Arg[2]), *t.D(u.Arg[3])
		p := cmpBits(x, y, 8, false, cGt)
		m := bytemask(p)
		*t.D(u.Arg[0]), *t.P(u.Arg[1]) = y&m|x&^m, p
	}},
}

// Multiplies that are no sums of integer products, and sums without products.

// carryless multiplies polynomials over GF(2).
func carryless(x, y uint32) (p uint64) {
	for i := range 32 {
		if y>>i&1 != 0 {
			p ^= uint64(x) << i
		}
	}
	return p
}

// vpmpy multiplies halves; the low halves of both products are first.
func vpmpy(x, y uint32) uint64 {
	p, q := carryless(x&0xffff, y&0xffff), carryless(x>>16, y>>16)
	return p&0xffff | q&0xffff<<16 | p>>16<<32 | q>>16<<48
}

// bytesPerWord sums f over the bytes of each word.
func bytesPerWord(f func(a, b uint64) uint64, acc uint64) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, y := *t.D(u.Arg[1]), *t.D(u.Arg[2])
		var sum [2]uint32
		for i := range 8 {
			sum[i/4] += uint32(f(x>>(8*i)&0xff, y>>(8*i)&0xff))
		}
		d := t.D(u.Arg[0])
		*d = pair(uint32(*d>>32*acc)+sum[1], uint32(*d*acc)+sum[0])
	}
}

func sumOf(a, b uint64) uint64  { return a + b }
func diffOf(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// sumHalves adds up the halves of two pairs.
func sumHalves(signed bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, y := *t.D(u.Arg[1]), *t.D(u.Arg[2])
		var s int64
		for i := uint(0); i < 64; i += 16 {
			s += lane(x, i, 16, signed) + lane(y, i, 16, signed)
		}
		*t.R(u.Arg[0]) = uint32(s)
	}
}
