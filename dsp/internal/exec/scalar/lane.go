package scalar

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var laneRows = []family.Row{
	// Compares and predicates.
	{hexagon.A4_cmpbeq, lowCmp(8, true, cEq)},
	{hexagon.A4_cmpbeqi, lowCmpI(8, false, cEq)},
	{hexagon.A4_cmpbgt, lowCmp(8, true, cGt)},
	{hexagon.A4_cmpbgti, lowCmpI(8, true, cGt)},
	{hexagon.A4_cmpbgtu, lowCmp(8, false, cGt)},
	{hexagon.A4_cmpbgtui, lowCmpI(8, false, cGt)},
	{hexagon.A4_cmpheq, lowCmp(16, true, cEq)},
	{hexagon.A4_cmpheqi, lowCmpI(16, true, cEq)},
	{hexagon.A4_cmphgt, lowCmp(16, true, cGt)},
	{hexagon.A4_cmphgti, lowCmpI(16, true, cGt)},
	{hexagon.A4_cmphgtu, lowCmp(16, false, cGt)},
	{hexagon.A4_cmphgtui, lowCmpI(16, false, cGt)},
	{hexagon.C4_and_and, logic3(p8and, p8and)},
	{hexagon.C4_and_or, logic3(p8and, p8or)},
	{hexagon.C4_and_andn, logic3(p8and, p8andn)},
	{hexagon.C4_and_orn, logic3(p8and, p8orn)},
	{hexagon.C4_or_and, logic3(p8or, p8and)},
	{hexagon.C4_or_or, logic3(p8or, p8or)},
	{hexagon.C4_or_andn, logic3(p8or, p8andn)},
	{hexagon.C4_or_orn, logic3(p8or, p8orn)},

	// ALU64: 64-bit and min/max.
	{hexagon.A2_negsat, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = satTo(t, -int64(t.S(u.Arg[1])), simd.MinW, simd.MaxW)
	}},
	{hexagon.A2_abssat, func(t *state.Thread, u *state.Uop) {
		x := int64(t.S(u.Arg[1]))
		*t.R(u.Arg[0]) = satTo(t, max(x, -x), simd.MinW, simd.MaxW)
	}},
	{hexagon.A2_absp, func(t *state.Thread, u *state.Uop) {
		x := s64(t, u.Arg[1])
		*t.D(u.Arg[0]) = uint64(max(x, -x))
	}},
	{hexagon.A2_maxup, umaxp},
	{hexagon.A2_minup, uminp},
	{hexagon.A4_andnp, andnp},
	{hexagon.A4_ornp, ornp},
	{hexagon.M4_xor_xacc, func(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) ^= *t.D(u.Arg[1]) ^ *t.D(u.Arg[2]) }},

	// Multiply.
	{hexagon.M4_mpyri_addr_u2, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = *t.R(u.Arg[1]) + uint32(u.Imm)**t.R(u.Arg[2])
	}},

	// Halves.
	{hexagon.A2_svaddh, halves(true, lAdd)},
	{hexagon.A2_svaddhs, halves(true, lSat(lAdd, simd.MinH, simd.MaxH))},
	{hexagon.A2_svadduhs, halves(false, lSat(lAdd, 0, simd.MaxUH))},
	{hexagon.A2_svsubh, halves(true, lSub)},
	{hexagon.A2_svsubhs, halves(true, lSat(lSub, simd.MinH, simd.MaxH))},
	{hexagon.A2_svsubuhs, halves(false, lSat(lSub, 0, simd.MaxUH))},
	{hexagon.A2_svavgh, halves(true, lAvg)},
	{hexagon.A2_svavghs, halves(true, lAvgRnd)},
	{hexagon.A2_svnavgh, halves(true, lNavg)},

	// Lanes of pairs.
	{hexagon.S2_vsxtbh, extendLanes(8, true)},
	{hexagon.S2_vzxtbh, extendLanes(8, false)},
	{hexagon.S2_vsxthw, extendLanes(16, true)},
	{hexagon.S2_vzxthw, extendLanes(16, false)},
	{hexagon.S2_vtrunehb, selectLanes(8, 0)},
	{hexagon.S2_vtrunohb, selectLanes(8, 1)},
	{hexagon.S2_shuffeb, interleave(8, 0)},
	{hexagon.S2_shuffob, interleave(8, 1)},
	{hexagon.S2_shuffeh, interleave(16, 0)},
	{hexagon.S2_shuffoh, interleave(16, 1)},
	{hexagon.S2_valignrb, func(t *state.Thread, u *state.Uop) {
		s := uint(*t.P(u.Arg[3])&7) * 8
		*t.D(u.Arg[0]) = *t.D(u.Arg[2])>>s | *t.D(u.Arg[1])<<(64-s)
	}},
}

// Lanes of scalar pairs: bytes, halves and words side by side.

// lane is the lane of w bits at bit i.
func lane(x uint64, i, w uint, signed bool) int64 {
	if signed {
		return int64(x<<(64-w-i)) >> (64 - w)
	}
	return int64(x >> i & (1<<w - 1))
}

type laneOp = func(t *state.Thread, a, b int64) int64

// lanes applies f to the lanes of two pairs.
func lanes(w uint, signed bool, f laneOp) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, y := *t.D(u.Arg[1]), *t.D(u.Arg[2])
		var d uint64
		for i := uint(0); i < 64; i += w {
			d |= uint64(f(t, lane(x, i, w, signed), lane(y, i, w, signed))) & (1<<w - 1) << i
		}
		*t.D(u.Arg[0]) = d
	}
}

// halves applies f to the halves of two registers.
func halves(signed bool, f laneOp) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, y := uint64(*t.R(u.Arg[1])), uint64(*t.R(u.Arg[2]))
		var d uint64
		for i := uint(0); i < 32; i += 16 {
			d |= uint64(f(t, lane(x, i, 16, signed), lane(y, i, 16, signed))) & 0xffff << i
		}
		*t.R(u.Arg[0]) = uint32(d)
	}
}

// lanes1 applies f to the lanes of one pair.
func lanes1(w uint, f func(t *state.Thread, a int64) int64) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x := *t.D(u.Arg[1])
		var d uint64
		for i := uint(0); i < 64; i += w {
			d |= uint64(f(t, lane(x, i, w, true))) & (1<<w - 1) << i
		}
		*t.D(u.Arg[0]) = d
	}
}

func lAdd(_ *state.Thread, a, b int64) int64 { return a + b }
func lSub(_ *state.Thread, a, b int64) int64 { return a - b }
func lMax(_ *state.Thread, a, b int64) int64 { return max(a, b) }
func lMin(_ *state.Thread, a, b int64) int64 { return min(a, b) }

func lAvg(_ *state.Thread, a, b int64) int64    { return (a + b) >> 1 }
func lAvgRnd(_ *state.Thread, a, b int64) int64 { return (a + b + 1) >> 1 }
func lAvgCnv(_ *state.Thread, a, b int64) int64 { return converge(a+b) >> 1 }
func lNavg(_ *state.Thread, a, b int64) int64   { return (a - b) >> 1 }

// converge rounds halves to even before a shift by one.
func converge(x int64) int64 {
	if x&3 == 3 {
		return x + 1
	}
	return x
}

// lSat saturates the result of f to lo..hi.
func lSat(f laneOp, lo, hi int64) laneOp {
	return func(t *state.Thread, a, b int64) int64 { return int64(int32(satTo(t, f(t, a, b), lo, hi))) }
}

func lNavgRnd(_ *state.Thread, a, b int64) int64 { return (a - b + 1) >> 1 }
func lNavgCnv(_ *state.Thread, a, b int64) int64 { return converge(a-b) >> 1 }
func lAbsDiff(_ *state.Thread, a, b int64) int64 { return max(a-b, b-a) }

func lAbs(_ *state.Thread, a int64) int64 { return max(a, -a) }
func lAbsSat(lo, hi int64) func(*state.Thread, int64) int64 {
	return func(t *state.Thread, a int64) int64 { return int64(int32(satTo(t, max(a, -a), lo, hi))) }
}

// laneCmp compares lanes; each sets as many predicate bits as it has bytes.
func laneCmp(w uint, signed bool, f func(a, b int64) bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.P(u.Arg[0]) = cmpBits(*t.D(u.Arg[1]), *t.D(u.Arg[2]), w, signed, f)
	}
}

func cmpBits(x, y uint64, w uint, signed bool, f func(a, b int64) bool) (p uint8) {
	for i := uint(0); i < 64; i += w {
		if f(lane(x, i, w, signed), lane(y, i, w, signed)) {
			p |= uint8(1<<(w/8)-1) << (i / 8)
		}
	}
	return p
}

// laneCmpI compares lanes with an immediate.
func laneCmpI(w uint, signed bool, f func(a, b int64) bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x := *t.D(u.Arg[1])
		var p uint8
		for i := uint(0); i < 64; i += w {
			if f(lane(x, i, w, signed), int64(u.Imm)) {
				p |= uint8(1<<(w/8)-1) << (i / 8)
			}
		}
		*t.P(u.Arg[0]) = p
	}
}

func cEq(a, b int64) bool { return a == b }
func cGt(a, b int64) bool { return a > b }

// lowCmp and lowCmpI compare the low w bits of registers.
func lowCmp(w uint, signed bool, f func(a, b int64) bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.P(u.Arg[0]) = flag(f(lane(uint64(*t.R(u.Arg[1])), 0, w, signed), lane(uint64(*t.R(u.Arg[2])), 0, w, signed)))
	}
}
func lowCmpI(w uint, signed bool, f func(a, b int64) bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		b := int64(u.Imm)
		if !signed {
			b = int64(uint32(u.Imm))
		}
		*t.P(u.Arg[0]) = flag(f(lane(uint64(*t.R(u.Arg[1])), 0, w, signed), b))
	}
}

func umaxp(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = max(*t.D(u.Arg[1]), *t.D(u.Arg[2])) }
func uminp(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = min(*t.D(u.Arg[1]), *t.D(u.Arg[2])) }
func andnp(t *state.Thread, u *state.Uop) { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) &^ *t.D(u.Arg[2]) }
func ornp(t *state.Thread, u *state.Uop)  { *t.D(u.Arg[0]) = *t.D(u.Arg[1]) | ^*t.D(u.Arg[2]) }

// extendLanes extends the lanes of w bits of a register to a pair of twice the width.
func extendLanes(w uint, signed bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x := uint64(*t.R(u.Arg[1]))
		var d uint64
		for i := uint(0); i < 32; i += w {
			d |= uint64(lane(x, i, w, signed)) & (1<<(2*w) - 1) << (2 * i)
		}
		*t.D(u.Arg[0]) = d
	}
}

// selectLanes keeps the even or odd lanes of w bits of a pair.
func selectLanes(w uint, odd uint) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x := *t.D(u.Arg[1])
		var d uint64
		for i := uint(0); i < 32; i += w {
			d |= uint64(lane(x, 2*i+odd*w, w, false)) << i
		}
		*t.R(u.Arg[0]) = uint32(d)
	}
}

// interleave merges the even or odd lanes of two pairs: the first operand
// supplies the odd lanes of the result.
func interleave(w, odd uint) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, y := *t.D(u.Arg[1]), *t.D(u.Arg[2])
		var d uint64
		for i := uint(0); i < 64; i += 2 * w {
			d |= uint64(lane(y, i+odd*w, w, false))<<i | uint64(lane(x, i+odd*w, w, false))<<(i+w)
		}
		*t.D(u.Arg[0]) = d
	}
}

// logic3 is a predicate combined with a combination of two others.
func logic3(outer, inner func(x, y uint8) uint8) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		*t.P(u.Arg[0]) = outer(*t.P(u.Arg[1]), inner(*t.P(u.Arg[2]), *t.P(u.Arg[3])))
	}
}
func p8and(x, y uint8) uint8  { return x & y }
func p8or(x, y uint8) uint8   { return x | y }
func p8andn(x, y uint8) uint8 { return x &^ y }
func p8orn(x, y uint8) uint8  { return x | ^y }
