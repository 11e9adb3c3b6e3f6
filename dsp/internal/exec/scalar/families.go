package scalar

import (
	"strconv"

	"golang.org/x/exp/constraints"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
)

// families adds the families to the rows of the table.
func families(r family.Table) *family.Table {
	loads[int8](&r, "rb", 0)
	loads[uint8](&r, "rub", 0)
	loads[int16](&r, "rh", 1)
	loads[uint16](&r, "ruh", 1)
	loads[uint32](&r, "ri", 2)
	loads[uint64](&r, "rd", 3)
	loadModes(&r, "bsw2", 1, ldHalves(2, true))
	loadModes(&r, "bzw2", 1, ldHalves(2, false))
	loadModes(&r, "bsw4", 2, ldHalves(4, true))
	loadModes(&r, "bzw4", 2, ldHalves(4, false))
	loadModes(&r, "alignb", 0, ldFifo[uint8])
	loadModes(&r, "alignh", 1, ldFifo[uint16])

	stores[uint8](&r, "b", 0)
	stores[uint16](&r, "h", 1)
	stores[uint32](&r, "i", 2)
	stores[uint64](&r, "d", 3)
	storeModes(&r, "rf", 1, stHigh)

	memops[uint8](&r, "b")
	memops[uint16](&r, "h")
	memops[uint32](&r, "w")

	laneOps(&r, "b", 8, true)
	laneOps(&r, "ub", 8, false)
	laneOps(&r, "h", 16, true)
	laneOps(&r, "uh", 16, false)
	laneOps(&r, "w", 32, true)
	laneOps(&r, "uw", 32, false)
	laneCompares(&r, "b", 8)
	laneCompares(&r, "h", 16)
	laneCompares(&r, "w", 32)

	shifts(&r)
	jumps(&r)
	halfProducts(&r)
	wordProducts(&r)
	complexProducts(&r)
	return &r
}

// loads adds the loads of one element of 1<<size bytes; the letters of a tag after its name are the address mode.
func loads[T constraints.Integer](r *family.Table, name string, size uint) {
	r.Put("L2_load"+name+"_io", loadIO[T])
	r.Put("L2_load"+name+"_pi", loadPI[T])
	r.Put("L2_load"+name+"_pr", loadPR[T])
	r.Put("L4_load"+name+"_rr", loadRR[T])
	loadModes(r, name, size, ldTo[T])
}

func loadModes(r *family.Table, name string, size uint, f mover) {
	modes(r, "L", "_load"+name, size, f, loading, loading)
}

// modes are the address modes of loads or stores, in the forms of versions 2 and 4; with has the operands of forms with
// a modifier register.
func modes(r *family.Table, unit, name string, size uint, f mover, with, without operands) {
	two, four := unit+"2"+name, unit+"4"+name
	r.Put(two+"_io", without.off(f))
	r.Put(two+"_pi", without.inc(f))
	r.Put(two+"_pr", with.mod(f))
	r.Put(two+"_pci", with.circ(f))
	r.Put(two+"_pcr", with.circM(f, size))
	r.Put(two+"_pbr", with.brev(f))
	r.Put(four+"_ap", without.set(f))
	r.Put(four+"_ur", without.shift(f))
	r.Put(two+"gp", moveGlobal(f))
}

// stores adds the stores of one element: from a register, of a value that the packet makes, and of a constant.
func stores[T constraints.Integer](r *family.Table, name string, size uint) {
	for _, name := range []string{"r" + name, "r" + name + "new"} {
		r.Put("S2_store"+name+"_io", storeIO[T])
		r.Put("S2_store"+name+"_pi", storePI[T])
		r.Put("S2_store"+name+"_pr", storePR[T])
		r.Put("S4_store"+name+"_rr", storeRR[T])
		storeModes(r, name, size, stFrom[T])
	}
	r.Put("S4_storeir"+name+"_io", storeImm[T])
}

func storeModes(r *family.Table, name string, size uint, f mover) {
	r.Put("S4_store"+name+"_rr", storeIndexed(f))
	modes(r, "S", "_store"+name, size, f, storingWith, storing)
}

// memops read, change and write an element of memory: with a register, with an immediate, one bit of it.
func memops[T constraints.Integer](r *family.Table, size string) {
	r.Put("L4_add_memop"+size+"_io", memop[T](mAdd))
	r.Put("L4_sub_memop"+size+"_io", memop[T](mSub))
	r.Put("L4_and_memop"+size+"_io", memop[T](mAnd))
	r.Put("L4_or_memop"+size+"_io", memop[T](mOr))
	r.Put("L4_iadd_memop"+size+"_io", memopImm[T](mAdd))
	r.Put("L4_isub_memop"+size+"_io", memopImm[T](mSub))
	r.Put("L4_iand_memop"+size+"_io", memopImm[T](mClrBit))
	r.Put("L4_ior_memop"+size+"_io", memopImm[T](mSetBit))
}

// laneOps are arithmetic on the lanes of pairs, w bits wide: s in the tag saturates, r rounds, cr rounds halves to even.
func laneOps(r *family.Table, name string, w uint, signed bool) {
	lo, hi := int64(0), int64(1)<<w-1
	if signed {
		lo, hi = -1<<(w-1), 1<<(w-1)-1
	}
	for _, x := range []struct {
		before, after string
		f             laneOp
	}{
		{"A2_vadd", "", lAdd}, {"A2_vadd", "s", lSat(lAdd, lo, hi)},
		{"A2_vsub", "", lSub}, {"A2_vsub", "s", lSat(lSub, lo, hi)},
		{"A2_vmax", "", lMax}, {"A2_vmin", "", lMin},
		{"A2_vavg", "", lAvg}, {"A2_vavg", "r", lAvgRnd}, {"A2_vavg", "cr", lAvgCnv},
		{"A2_vnavg", "", lNavg}, {"A2_vnavg", "r", lSat(lNavgRnd, lo, hi)}, {"A2_vnavg", "cr", lSat(lNavgCnv, lo, hi)},
		{"M2_vabsdiff", "", lAbsDiff}, {"M6_vabsdiff", "", lAbsDiff},
	} {
		r.Put(x.before+name+x.after, lanes(w, signed, x.f))
	}
	r.Put("A2_vabs"+name, lanes1(w, lAbs))
	r.Put("A2_vabs"+name+"sat", lanes1(w, lAbsSat(lo, hi)))
}

// laneCompares compare lanes of pairs with those of another pair, or with an immediate.
func laneCompares(r *family.Table, name string, w uint) {
	for _, part := range []string{"A2_vcmp", "A4_vcmp"} {
		r.Put(part+name+"eq", laneCmp(w, true, cEq))
		r.Put(part+name+"gt", laneCmp(w, true, cGt))
		r.Put(part+name+"gtu", laneCmp(w, false, cGt))
	}
	r.Put("A4_vcmp"+name+"eqi", laneCmpI(w, w > 8, cEq)) // the immediate of bytes has no sign
	r.Put("A4_vcmp"+name+"gti", laneCmpI(w, true, cGt))
	r.Put("A4_vcmp"+name+"gtui", laneCmpI(w, false, cGt))
}

// shifts are by an immediate (i) or a register (r), of a register (r), a pair (p) or its lanes (vh, vw); the last part
// of the tag is how the result is combined with the destination.
func shifts(r *family.Table) {
	for _, s := range []struct {
		tag    string
		word   shift32
		pair   shift64
		signed bool // lanes are extended by their sign
	}{
		{"S2_asl", shl32, shl64, true},
		{"S2_asr", shr32, shr64, true},
		{"S2_lsr", lsr32, lsr64, false},
		{"S2_lsl", lsl32, lsl64, false},
		{"S6_rol", rol32, rol64, false},
	} {
		for _, c := range []struct {
			tag  string
			word func(x, y uint32) uint32
			pair func(x, y uint64) uint64
		}{
			{"", opFirst[uint32], opFirst[uint64]},
			{"_acc", opAdd[uint32], opAdd[uint64]},
			{"_nac", opSub[uint32], opSub[uint64]},
			{"_and", opAnd[uint32], opAnd[uint64]},
			{"_or", opOr[uint32], opOr[uint64]},
			{"_xor", opXor[uint32], opXor[uint64]},
			{"_xacc", opXor[uint32], opXor[uint64]},
		} {
			r.Put(s.tag+"_i_r"+c.tag, shiftRI(c.word, s.word))
			r.Put(s.tag+"_r_r"+c.tag, shiftRR(c.word, s.word))
			r.Put(s.tag+"_i_p"+c.tag, shiftPI(c.pair, s.pair))
			r.Put(s.tag+"_r_p"+c.tag, shiftPR(c.pair, s.pair))
		}
		r.Put(s.tag+"_i_vh", shiftLanesI(16, s.signed, s.pair))
		r.Put(s.tag+"_i_vw", shiftLanesI(32, s.signed, s.pair))
		r.Put(s.tag+"_r_vh", shiftLanesR(16, s.signed, s.pair))
		r.Put(s.tag+"_r_vw", shiftLanesR(32, s.signed, s.pair))
	}
}

// jumps compare and jump where the outcome is t or f: compound ones leave it in p0 or p1, the others compare a
// value that the packet makes. What is predicted (t, nt) changes no meaning.
func jumps(r *family.Table) {
	type jump = func(relation, bool) state.Semantic
	for _, c := range []struct {
		tag           string
		compound, new jump
		is            relation
	}{
		{"J4_cmpeq", cmpJump, jumpNew, isEq},
		{"J4_cmpgt", cmpJump, jumpNew, isGt},
		{"J4_cmpgtu", cmpJump, jumpNew, isGtu},
		{"J4_cmplt", cmpJump, jumpNew, isGt}, // the new value is the second operand of the text
		{"J4_cmpltu", cmpJump, jumpNew, isGtu},
		{"J4_cmpeqi", cmpJumpI, jumpNewI, isEq},
		{"J4_cmpgti", cmpJumpI, jumpNewI, isGt},
		{"J4_cmpgtui", cmpJumpI, jumpNewI, isGtu},
		{"J4_cmpeqn1", cmpJumpC, jumpNewC, isEq},
		{"J4_cmpgtn1", cmpJumpC, jumpNewC, isGt},
		{"J4_tstbit0", cmpJumpC, jumpNewC, isBit0},
	} {
		for _, on := range []string{"_t", "_f"} {
			for _, predicted := range []string{"_t", "_nt"} {
				r.Put(c.tag+on+"p0_jump"+predicted, c.compound(c.is, on == "_t"))
				r.Put(c.tag+on+"p1_jump"+predicted, c.compound(c.is, on == "_t"))
				r.Put(c.tag+on+"_jumpnv"+predicted, c.new(c.is, on == "_t"))
			}
		}
	}
}

// halfProducts are products and sums of a high or low half of one register and of another.
func halfProducts(r *family.Table) {
	for _, h := range []struct {
		tag  string
		a, b int
	}{{"_hh", 1, 1}, {"_hl", 1, 0}, {"_lh", 0, 1}, {"_ll", 0, 0}} {
		for _, m := range []struct {
			tag string
			halfMul
		}{
			{"", halfMul{}},
			{"_sat", halfMul{sat: true}},
			{"_rnd", halfMul{round: true}},
			{"_sat_rnd", halfMul{round: true, sat: true}},
			{"_acc", halfMul{acc: 1}},
			{"_acc_sat", halfMul{acc: 1, sat: true}},
			{"_nac", halfMul{acc: -1}},
			{"_nac_sat", halfMul{acc: -1, sat: true}},
		} {
			m.a, m.b = h.a, h.b
			for _, s := range []string{"_s0", "_s1"} {
				m.shift, m.unsigned = uint(s[2]-'0'), false
				r.Put("M2_mpy"+m.tag+h.tag+s, m.word())
				r.Put("M2_mpyd"+m.tag+h.tag+s, m.pair())
				m.unsigned = true
				r.Put("M2_mpyu"+m.tag+h.tag+s, m.word())
				r.Put("M2_mpyud"+m.tag+h.tag+s, m.pair())
			}
		}
		for _, sat := range []string{"", "_sat"} {
			r.Put("A2_addh_h16"+sat+h.tag, addHalves(h.a, h.b, false, sat != "", true))
			r.Put("A2_subh_h16"+sat+h.tag, addHalves(h.a, h.b, true, sat != "", true))
			// The tag names the half of the second source first.
			r.Put("A2_addh_l16"+sat+h.tag, addHalves(h.b, h.a, false, sat != "", false))
			r.Put("A2_subh_l16"+sat+h.tag, addHalves(h.b, h.a, true, sat != "", false))
		}
	}
}

// wordProducts are products of words and the low or high halves of words: doubled (s1), rounded (r).
func wordProducts(r *family.Table) {
	for odd, half := range []string{"l", "h"} {
		for _, sign := range []string{"", "u"} {
			for _, rounded := range []string{"", "r"} {
				for shift := range uint(2) {
					d := wordsTimesHalves(odd, sign != "", shift, rounded != "")
					tail := "_" + rounded + "s" + strconv.Itoa(int(shift))
					r.Put("M2_mmpy"+sign+half+tail, d.words())
					r.Put("M2_mmac"+sign+half+"s"+tail, d.add().words())
				}
			}
		}
	}
}

// complexProducts are of halves with saturation, and of words; c in the tag conjugates the second factor.
func complexProducts(r *family.Table) {
	for _, m := range []struct{ conjugate, halves, imaginary, real string }{
		{"", "+00-11 +10+01", "+01+10", "+00-11"},
		{"c", "+00+11 +10-01", "+10-01", "+00+11"},
	} {
		for _, s := range []string{"_s0", "_s1"} {
			d := dots(16, 16, m.halves)
			d.shift = uint(s[2] - '0')
			r.Put("M2_cmpys"+m.conjugate+s, d.sat().words())
			r.Put("M2_cmacs"+m.conjugate+s, d.add().sat().words())
			r.Put("M2_cnacs"+m.conjugate+s, d.subtract().sat().words())
			r.Put("M2_cmpyrs"+m.conjugate+s, d.packs())
		}
		for part, terms := range map[string]string{"i": m.imaginary, "r": m.real} {
			d := dots(32, 32, terms)
			r.Put("M4_cmpy"+part+"_wh"+m.conjugate, dots(32, 16, terms).plus(0x4000).by(15).sat().word())
			r.Put("M7_dcmpy"+part+"w"+m.conjugate, d.total())
			r.Put("M7_dcmpy"+part+"w"+m.conjugate+"_acc", d.add().total())
			r.Put("M7_wcmpy"+part+"w"+m.conjugate, d.highWord())
			r.Put("M7_wcmpy"+part+"w"+m.conjugate+"_rnd", d.plus(0x40000000).highWord())
		}
	}
}
