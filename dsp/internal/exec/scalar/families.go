package scalar

import (
	"strconv"

	"golang.org/x/exp/constraints"

	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Families: forms whose tags are made of parts, each of which says one thing about the operation.

// rows is a table under construction.
type rows [hexagon.NumOps]state.Semantic

// tags are the forms by LLVM's tag.
var tags = func() map[string]hexagon.Op {
	m := map[string]hexagon.Op{}
	for op := hexagon.Op(1); int(op) < hexagon.NumOps; op++ {
		m[op.Form().Name] = op
	}
	return m
}()

// put gives a member of a family its semantics: where the instruction set has the form, for no family is complete,
// and where the table has no row for it, as it has for forms of inner loops.
func (r *rows) put(tag string, f state.Semantic) {
	if op := tags[tag]; op != 0 && r[op] == nil {
		r[op] = f
	}
}

// families adds the families to the rows of the table.
func families(r rows) [hexagon.NumOps]state.Semantic {
	loads[int8](&r, "rb", 0)
	loads[uint8](&r, "rub", 0)
	loads[int16](&r, "rh", 1)
	loads[uint16](&r, "ruh", 1)
	loads[uint32](&r, "ri", 2)
	loads[uint64](&r, "rd", 3)
	r.loadModes("bsw2", 1, ldHalves(2, true))
	r.loadModes("bzw2", 1, ldHalves(2, false))
	r.loadModes("bsw4", 2, ldHalves(4, true))
	r.loadModes("bzw4", 2, ldHalves(4, false))
	r.loadModes("alignb", 0, ldFifo[uint8])
	r.loadModes("alignh", 1, ldFifo[uint16])

	stores[uint8](&r, "b", 0)
	stores[uint16](&r, "h", 1)
	stores[uint32](&r, "i", 2)
	stores[uint64](&r, "d", 3)
	r.storeModes("rf", 1, stHigh)

	memops[uint8](&r, "b")
	memops[uint16](&r, "h")
	memops[uint32](&r, "w")

	r.shifts()
	r.jumps()
	r.halfProducts()
	r.wordsTimesHalves()
	r.complexProducts()
	return r
}

// loads are those of one element, 1<<size bytes large; the letters of a tag behind its name are the address mode.
func loads[T constraints.Integer](r *rows, name string, size uint) {
	r.put("L2_load"+name+"_io", loadIO[T])
	r.put("L2_load"+name+"_pi", loadPI[T])
	r.put("L2_load"+name+"_pr", loadPR[T])
	r.put("L4_load"+name+"_rr", loadRR[T])
	r.loadModes(name, size, ldTo[T])
}

func (r *rows) loadModes(name string, size uint, f mover) {
	r.put("L2_load"+name+"_io", loadOff(f))
	r.put("L2_load"+name+"_pi", loadInc(f))
	r.put("L2_load"+name+"_pr", loadMod(f))
	r.put("L2_load"+name+"_pci", loadCirc(f))
	r.put("L2_load"+name+"_pcr", loadCircM(f, size))
	r.put("L2_load"+name+"_pbr", loadBrev(f))
	r.put("L4_load"+name+"_ap", loadSet(f))
	r.put("L4_load"+name+"_ur", loadShift(f))
	r.put("L2_load"+name+"gp", moveGlobal(f))
}

// stores are those of one element, from a register, of a value that the packet makes, and of a constant.
func stores[T constraints.Integer](r *rows, name string, size uint) {
	for _, name := range []string{"r" + name, "r" + name + "new"} {
		r.put("S2_store"+name+"_io", storeIO[T])
		r.put("S2_store"+name+"_pi", storePI[T])
		r.put("S2_store"+name+"_pr", storePR[T])
		r.put("S4_store"+name+"_rr", storeRR[T])
		r.storeModes(name, size, stFrom[T])
	}
	r.put("S4_storeir"+name+"_io", storeImm[T])
}

func (r *rows) storeModes(name string, size uint, f mover) {
	r.put("S2_store"+name+"_io", storeOff(f))
	r.put("S2_store"+name+"_pi", storeInc(f))
	r.put("S2_store"+name+"_pr", storeMod(f))
	r.put("S4_store"+name+"_rr", storeIndexed(f))
	r.put("S2_store"+name+"_pci", storeCirc(f))
	r.put("S2_store"+name+"_pcr", storeCircM(f, size))
	r.put("S2_store"+name+"_pbr", storeBrev(f))
	r.put("S4_store"+name+"_ap", storeSet(f))
	r.put("S4_store"+name+"_ur", storeShift(f))
	r.put("S2_store"+name+"gp", moveGlobal(f))
}

// memops read, change and write an element of memory: with a register, with an immediate, one bit of it.
func memops[T constraints.Integer](r *rows, size string) {
	r.put("L4_add_memop"+size+"_io", memop[T](mAdd))
	r.put("L4_sub_memop"+size+"_io", memop[T](mSub))
	r.put("L4_and_memop"+size+"_io", memop[T](mAnd))
	r.put("L4_or_memop"+size+"_io", memop[T](mOr))
	r.put("L4_iadd_memop"+size+"_io", memopImm[T](mAdd))
	r.put("L4_isub_memop"+size+"_io", memopImm[T](mSub))
	r.put("L4_iand_memop"+size+"_io", memopImm[T](mClrBit))
	r.put("L4_ior_memop"+size+"_io", memopImm[T](mSetBit))
}

// shifts are by an immediate (i) or a register (r), of a register (r), a pair (p) or its lanes (vh, vw); the last
// part of the tag says how the result is combined with the destination.
func (r *rows) shifts() {
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
			r.put(s.tag+"_i_r"+c.tag, shiftRI(c.word, s.word))
			r.put(s.tag+"_r_r"+c.tag, shiftRR(c.word, s.word))
			r.put(s.tag+"_i_p"+c.tag, shiftPI(c.pair, s.pair))
			r.put(s.tag+"_r_p"+c.tag, shiftPR(c.pair, s.pair))
		}
		r.put(s.tag+"_i_vh", shiftLanesI(16, s.signed, s.pair))
		r.put(s.tag+"_i_vw", shiftLanesI(32, s.signed, s.pair))
		r.put(s.tag+"_r_vh", shiftLanesR(16, s.signed, s.pair))
		r.put(s.tag+"_r_vw", shiftLanesR(32, s.signed, s.pair))
	}
}

// jumps compare and jump where the outcome is t or f: compound ones leave it in p0 or p1, the others compare a
// value that the packet makes. What is predicted (t, nt) changes no meaning.
func (r *rows) jumps() {
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
				r.put(c.tag+on+"p0_jump"+predicted, c.compound(c.is, on == "_t"))
				r.put(c.tag+on+"p1_jump"+predicted, c.compound(c.is, on == "_t"))
				r.put(c.tag+on+"_jumpnv"+predicted, c.new(c.is, on == "_t"))
			}
		}
	}
}

// halfProducts are products and sums of a high or low half of one register and of another.
func (r *rows) halfProducts() {
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
				r.put("M2_mpy"+m.tag+h.tag+s, m.word())
				r.put("M2_mpyd"+m.tag+h.tag+s, m.pair())
				m.unsigned = true
				r.put("M2_mpyu"+m.tag+h.tag+s, m.word())
				r.put("M2_mpyud"+m.tag+h.tag+s, m.pair())
			}
		}
		for _, sat := range []string{"", "_sat"} {
			r.put("A2_addh_h16"+sat+h.tag, addHalves(h.a, h.b, false, sat != "", true))
			r.put("A2_subh_h16"+sat+h.tag, addHalves(h.a, h.b, true, sat != "", true))
			// The tag names the half of the second source first.
			r.put("A2_addh_l16"+sat+h.tag, addHalves(h.b, h.a, false, sat != "", false))
			r.put("A2_subh_l16"+sat+h.tag, addHalves(h.b, h.a, true, sat != "", false))
		}
	}
}

// wordsTimesHalves are products of words and the low or high halves of words: doubled (s1), rounded (r).
func (r *rows) wordsTimesHalves() {
	for odd, half := range []string{"l", "h"} {
		for _, sign := range []string{"", "u"} {
			for _, rounded := range []string{"", "r"} {
				for shift := range uint(2) {
					d := wordsTimesHalves(odd, sign != "", shift, rounded != "")
					tail := "_" + rounded + "s" + strconv.Itoa(int(shift))
					r.put("M2_mmpy"+sign+half+tail, d.words())
					r.put("M2_mmac"+sign+half+"s"+tail, d.add().words())
				}
			}
		}
	}
}

// complexProducts are of halves with saturation, and of words; c in the tag takes the conjugate of the second factor.
func (r *rows) complexProducts() {
	for _, m := range []struct{ conjugate, halves, imaginary, real string }{
		{"", "+00-11 +10+01", "+01+10", "+00-11"},
		{"c", "+00+11 +10-01", "+10-01", "+00+11"},
	} {
		for _, s := range []string{"_s0", "_s1"} {
			d := dots(16, 16, m.halves)
			d.shift = uint(s[2] - '0')
			r.put("M2_cmpys"+m.conjugate+s, d.sat().words())
			r.put("M2_cmacs"+m.conjugate+s, d.add().sat().words())
			r.put("M2_cnacs"+m.conjugate+s, d.subtract().sat().words())
			r.put("M2_cmpyrs"+m.conjugate+s, d.packs())
		}
		for part, terms := range map[string]string{"i": m.imaginary, "r": m.real} {
			d := dots(32, 32, terms)
			r.put("M4_cmpy"+part+"_wh"+m.conjugate, dots(32, 16, terms).plus(0x4000).by(15).sat().word())
			r.put("M7_dcmpy"+part+"w"+m.conjugate, d.total())
			r.put("M7_dcmpy"+part+"w"+m.conjugate+"_acc", d.add().total())
			r.put("M7_wcmpy"+part+"w"+m.conjugate, d.highWord())
			r.put("M7_wcmpy"+part+"w"+m.conjugate+"_rnd", d.plus(0x40000000).highWord())
		}
	}
}
