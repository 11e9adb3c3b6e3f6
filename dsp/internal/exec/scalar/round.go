package scalar

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var roundRows = []family.Row{
	{hexagon.A4_cround_ri, roundWord(evenShift, false)},
	{hexagon.A4_round_ri, roundWord(roundShift, false)},
	{hexagon.A4_round_ri_sat, roundWordSat(false)},
	{hexagon.A7_croundd_ri, roundPair(false)},
	{hexagon.A4_cround_rr, roundWord(evenShift, true)},
	{hexagon.A4_round_rr, roundWord(roundShift, true)},
	{hexagon.A4_round_rr_sat, roundWordSat(true)},
	{hexagon.A7_croundd_rr, roundPair(true)},
	{hexagon.A7_clip, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(clipTo(int64(t.S(u.Arg[1])), u.Imm)) }},
	{hexagon.A7_vclip, func(t *state.Thread, u *state.Uop) {
		x := *t.D(u.Arg[1])
		*t.D(u.Arg[0]) = pair(uint32(clipTo(lane(x, 32, 32, true), u.Imm)), uint32(clipTo(lane(x, 0, 32, true), u.Imm)))
	}},
	{hexagon.A2_addpsat, func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = uint64(add64sat(t, s64(t, u.Arg[1]), s64(t, u.Arg[2])))
	}},
	{hexagon.A2_roundsat, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(add64sat(t, s64(t, u.Arg[1]), 1<<31) >> 32)
	}},
	{hexagon.A2_addsph, addWord(1)},
	{hexagon.A2_addspl, addWord(0)},
	{hexagon.S2_asr_i_p_rnd, func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = uint64((s64(t, u.Arg[1])>>u.Imm)>>1 + (s64(t, u.Arg[1])>>u.Imm)&1)
	}},
	{hexagon.S2_asl_r_r_sat, shiftSat(1)},
	{hexagon.S2_asr_r_r_sat, shiftSat(-1)},
	{hexagon.S2_asr_i_svw_trun, shrink(32, nAsrI)},
	{hexagon.S2_asr_r_svw_trun, shrink(32, nAsrR)},
	{hexagon.S2_vrndpackwh, shrink(32, nHigh)},
	{hexagon.S2_vrndpackwhs, shrink(32, vrndwhSat)},
	{hexagon.S2_vsathb, shrink(16, nSat(nSame, simd.MinB, simd.MaxB))},
	{hexagon.S2_vsathub, shrink(16, nSat(nSame, 0, simd.MaxUB))},
	{hexagon.S2_vsatwh, shrink(32, nSat(nSame, simd.MinH, simd.MaxH))},
	{hexagon.S2_vsatwuh, shrink(32, nSat(nSame, 0, simd.MaxUH))},
	{hexagon.S2_vsathb_nopack, inPlace(16, nSat(nSame, simd.MinB, simd.MaxB))},
	{hexagon.S2_vsathub_nopack, inPlace(16, nSat(nSame, 0, simd.MaxUB))},
	{hexagon.S2_vsatwh_nopack, inPlace(32, nSat(nSame, simd.MinH, simd.MaxH))},
	{hexagon.S2_vsatwuh_nopack, inPlace(32, nSat(nSame, 0, simd.MaxUH))},
	{hexagon.S2_svsathb, shrinkReg(16, nSat(nSame, simd.MinB, simd.MaxB))},
	{hexagon.S2_svsathub, shrinkReg(16, nSat(nSame, 0, simd.MaxUB))},
	{hexagon.S5_asrhub_rnd_sat, shrink(16, nSat(nRndI, 0, simd.MaxUB))},
	{hexagon.S5_asrhub_sat, shrink(16, nSat(nAsrI, 0, simd.MaxUB))},
	{hexagon.S5_vasrhrnd, inPlace(16, nRndI)},
	{hexagon.A5_vaddhubs, func(t *state.Thread, u *state.Uop) {
		x, y := *t.D(u.Arg[1]), *t.D(u.Arg[2])
		var d uint32
		for i := uint(0); i < 64; i += 16 {
			d |= satTo(t, lane(x, i, 16, true)+lane(y, i, 16, true), 0, simd.MaxUB) << (i / 2)
		}
		*t.R(u.Arg[0]) = d
	}},
	// Negates the odd halves.
	{hexagon.A2_vconj, func(t *state.Thread, u *state.Uop) {
		x := *t.D(u.Arg[1])
		d := x & 0x0000ffff0000ffff
		for i := uint(16); i < 64; i += 32 {
			d |= uint64(satTo(t, -lane(x, i, 16, true), simd.MinH, simd.MaxH)&0xffff) << i
		}
		*t.D(u.Arg[0]) = d
	}},
	{hexagon.S2_vcnegh, func(t *state.Thread, u *state.Uop) {
		x, neg := *t.D(u.Arg[1]), *t.R(u.Arg[2])
		var d uint64
		for i := uint(0); i < 4; i++ {
			v := lane(x, 16*i, 16, true)
			if neg>>i&1 != 0 {
				v = int64(int32(satTo(t, -v, simd.MinH, simd.MaxH)))
			}
			d |= uint64(v) & 0xffff << (16 * i)
		}
		*t.D(u.Arg[0]) = d
	}},
	{hexagon.S2_vrcnegh, func(t *state.Thread, u *state.Uop) {
		x, neg := *t.D(u.Arg[1]), *t.R(u.Arg[2])
		var s int64
		for i := uint(0); i < 4; i++ {
			v := lane(x, 16*i, 16, true)
			if neg>>i&1 != 0 {
				v = -v
			}
			s += v
		}
		*t.D(u.Arg[0]) += uint64(s)
	}},
	{hexagon.S2_vcrotate, func(t *state.Thread, u *state.Uop) {
		x, code := *t.D(u.Arg[1]), *t.R(u.Arg[2])
		var d uint64
		for i := uint(0); i < 64; i += 32 {
			re, im := turned(lane(x, i, 16, true), lane(x, i+16, 16, true), quarterTurns[code>>(i/16)&3])
			d |= uint64(satTo(t, re, simd.MinH, simd.MaxH)&0xffff|satTo(t, im, simd.MinH, simd.MaxH)<<16) << i
		}
		*t.D(u.Arg[0]) = d
	}},
	{hexagon.S4_vrcrotate, vrcrotate(0)},
	{hexagon.S4_vrcrotate_acc, vrcrotate(1)},
	{hexagon.S4_vxaddsubh, crossed(16, false, false)},
	{hexagon.S4_vxaddsubhr, crossed(16, false, true)},
	{hexagon.S4_vxaddsubw, crossed(32, false, false)},
	{hexagon.S4_vxsubaddh, crossed(16, true, false)},
	{hexagon.S4_vxsubaddhr, crossed(16, true, true)},
	{hexagon.S4_vxsubaddw, crossed(32, true, false)},
	{hexagon.A4_vrmaxh, extreme(16, true, cGt)},
	{hexagon.A4_vrmaxuh, extreme(16, false, cGt)},
	{hexagon.A4_vrmaxw, extreme(32, true, cGt)},
	{hexagon.A4_vrmaxuw, extreme(32, false, cGt)},
	{hexagon.A4_vrminh, extreme(16, true, cLt)},
	{hexagon.A4_vrminuh, extreme(16, false, cLt)},
	{hexagon.A4_vrminw, extreme(32, true, cLt)},
	{hexagon.A4_vrminuw, extreme(32, false, cLt)},
	// The left shift that normalizes a 64-bit number.
	{hexagon.S4_clbpnorm, func(t *state.Thread, u *state.Uop) {
		x := *t.D(u.Arg[1])
		*t.R(u.Arg[0]) = 0
		if x != 0 {
			*t.R(u.Arg[0]) = clb64(x) - 1
		}
	}},
	{hexagon.S2_lfsp, func(t *state.Thread, u *state.Uop) {
		x := *t.D(u.Arg[1])
		*t.D(u.Arg[0]) = x>>1 | uint64(bits.OnesCount64(x&*t.D(u.Arg[2])))<<63
	}},
}

// Rounding, saturating, packing and turning of lanes.

// roundShift shifts right, rounding half up.
func roundShift(x int64, n uint32) int64 {
	if n == 0 {
		return x
	}
	return (x + 1<<(n-1)) >> n
}

// evenShift shifts right, rounding half to even. The sum has 65 bits.
func evenShift(x int64, n uint32) int64 {
	if n == 0 {
		return x
	}
	q, rest, half := x>>n, uint64(x)&(1<<n-1), uint64(1)<<(n-1)
	if rest > half || rest == half && q&1 != 0 {
		q++
	}
	return q
}

// shiftAmount is the immediate or the low bits of the second source.
func shiftAmount(t *state.Thread, u *state.Uop, register bool, mask uint32) uint32 {
	if register {
		return *t.R(u.Arg[2]) & mask
	}
	return uint32(u.Imm)
}

func roundWord(f func(x int64, n uint32) int64, register bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(f(int64(t.S(u.Arg[1])), shiftAmount(t, u, register, 31)))
	}
}

// roundWordSat saturates the sum before it is shifted.
func roundWordSat(register bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, n := int64(t.S(u.Arg[1])), shiftAmount(t, u, register, 31)
		if n > 0 {
			x += 1 << (n - 1)
		}
		*t.R(u.Arg[0]) = uint32(int32(satTo(t, x, simd.MinW, simd.MaxW)) >> n)
	}
}

func roundPair(register bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = uint64(evenShift(s64(t, u.Arg[1]), shiftAmount(t, u, register, 63)))
	}
}

func clipTo(x int64, n int32) int64 { return simd.Clamp(x, -1<<n, 1<<n-1) }

// add64sat is the sum of two 64-bit numbers, saturated.
func add64sat(t *state.Thread, x, y int64) int64 {
	s := x + y
	if (x^s)&(y^s) < 0 {
		saturated(t)
		return x>>63 ^ (1<<63 - 1)
	}
	return s
}

// addWord adds a word of the first source, sign-extended, to the second.
func addWord(high uint) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.D(u.Arg[0]) = uint64(lane(*t.D(u.Arg[1]), 32*high, 32, true)) + *t.D(u.Arg[2])
	}
}

// shiftSat shifts a word by a register, to the left for positive amounts times
// sign, and saturates.
func shiftSat(sign int32) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, n := int64(t.S(u.Arg[1])), sign*amount(*t.R(u.Arg[2]))
		switch {
		case n < 0:
			x >>= -n
		case n >= 32 && x > 0:
			x = simd.MaxW + 1
		case n >= 32 && x < 0:
			x = simd.MinW - 1
		default:
			x <<= n
		}
		*t.R(u.Arg[0]) = satTo(t, x, simd.MinW, simd.MaxW)
	}
}

// shrink makes the lanes of w bits of the second operand, shortened by f, the
// lanes of half the width of a register.
func shrink(w uint, f laneFn) state.Semantic {
	return func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(shrunk(t, u, *t.D(u.Arg[1]), w, f)) }
}

// shrinkReg does that to a single register.
func shrinkReg(w uint, f laneFn) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(shrunk(t, u, uint64(*t.R(u.Arg[1])), w, f)) & 0xffff
	}
}

func shrunk(t *state.Thread, u *state.Uop, x uint64, w uint, f laneFn) (d uint64) {
	for i := uint(0); i < 64; i += w {
		d |= uint64(f(t, u, lane(x, i, w, true))) & (1<<(w/2) - 1) << (i / 2)
	}
	return d
}

// inPlace applies f to the lanes of a pair.
func inPlace(w uint, f laneFn) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x := *t.D(u.Arg[1])
		var d uint64
		for i := uint(0); i < 64; i += w {
			d |= uint64(f(t, u, lane(x, i, w, true))) & (1<<w - 1) << i
		}
		*t.D(u.Arg[0]) = d
	}
}

// laneFn makes one lane of the result.
type laneFn = func(t *state.Thread, u *state.Uop, x int64) int64

// nSat saturates the result of f.
func nSat(f laneFn, lo, hi int64) laneFn {
	return func(t *state.Thread, u *state.Uop, x int64) int64 { return int64(int32(satTo(t, f(t, u, x), lo, hi))) }
}

func nSame(_ *state.Thread, _ *state.Uop, x int64) int64 { return x }
func nHigh(_ *state.Thread, _ *state.Uop, x int64) int64 { return (x + 0x8000) >> 16 }
func nAsrI(_ *state.Thread, u *state.Uop, x int64) int64 { return x >> u.Imm }
func nRndI(_ *state.Thread, u *state.Uop, x int64) int64 { return (x>>u.Imm + 1) >> 1 }
func nAsrR(t *state.Thread, u *state.Uop, x int64) int64 {
	return int64(int32(asr64(x, amount(*t.R(u.Arg[2])))))
}

func asr64(x int64, n int32) int64 { return int64(shr64(uint64(x), n)) }

// vrndwhSat saturates the rounded word, then returns its high half.
func vrndwhSat(t *state.Thread, u *state.Uop, x int64) int64 {
	return int64(int32(satTo(t, x+0x8000, simd.MinW, simd.MaxW))) >> 16
}

// crossed adds the neighbour lane of the second source in even lanes and
// subtracts it in odd ones (or the other way round), then shifts and saturates.
func crossed(w uint, subFirst, halve bool) state.Semantic {
	lo, hi := int64(-1)<<(w-1), int64(1)<<(w-1)-1
	return func(t *state.Thread, u *state.Uop) {
		x, y := *t.D(u.Arg[1]), *t.D(u.Arg[2])
		var d uint64
		for i := uint(0); i < 64; i += w {
			s := lane(y, i^w, w, true)
			if (i&w != 0) != subFirst {
				s = -s
			}
			s += lane(x, i, w, true)
			if halve {
				s = (s + 1) >> 1
			}
			d |= uint64(satTo(t, s, lo, hi)) & (1<<w - 1) << i
		}
		*t.D(u.Arg[0]) = d
	}
}

// Quarter turns of complex lanes.

// turned multiplies re + j im by -j n times: j is (0, 1).
func turned(re, im int64, n uint32) (int64, int64) {
	for range n & 3 {
		re, im = im, -re
	}
	return re, im
}

// quarterTurns maps a two-bit code to the number of quarter turns by -j.
var quarterTurns = [4]uint32{0, 1, 3, 2}

// vrcrotate sums four complex bytes, each rotated by the code in the byte of the second source that the immediate
// names.
func vrcrotate(acc uint64) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, code := *t.D(u.Arg[1]), *t.R(u.Arg[2])>>(8*u.Imm)
		var re, im int64
		for i := uint(0); i < 64; i += 16 {
			a, b := turned(lane(x, i, 8, true), lane(x, i+8, 8, true), quarterTurns[code>>(i/8)&3])
			re, im = re+a, im+b
		}
		d := t.D(u.Arg[0])
		*d = pair(uint32(*d>>32*acc)+uint32(im), uint32(*d*acc)+uint32(re))
	}
}

// extreme keeps the largest (or smallest) of the low word of the destination
// and the lanes of the first source, and its address in the high word.
func extreme(w uint, signed bool, better func(a, b int64) bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		d, x, base := *t.D(u.Arg[0]), *t.D(u.Arg[1]), *t.R(u.Arg[2])
		best, at := lane(d, 0, w, signed), uint32(d>>32)
		for i := uint(0); i < 64; i += w {
			if v := lane(x, i, w, signed); better(v, best) {
				best, at = v, base|uint32(i/8)
			}
		}
		*t.D(u.Arg[0]) = pair(at, uint32(best))
	}
}

func cLt(a, b int64) bool { return a < b }
