package asm

import (
	"strings"

	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// aliasOf has the short forms that stand for other instructions.
func aliasOf(s string, ops []operand) (hexagon.Inst, bool) {
	r := func(i int) uint8 { return ops[i].reg }
	switch s {
	case "deallocframe":
		return hexagon.Inst{Op: hexagon.L2_deallocframe, R: [4]uint8{30, 30}}, true
	case "dealloc_return":
		return hexagon.Inst{Op: hexagon.L4_return, R: [4]uint8{30, 30}}, true
	case "allocframe(#)":
		return hexagon.Inst{Op: hexagon.S2_allocframe, R: [4]uint8{29}, Imm: [2]int32{int32(ops[0].val.add)}}, true
	case "R=pc":
		return hexagon.Inst{Op: hexagon.A2_tfrcrr, R: [4]uint8{r(0), hexagon.CtrlPC}}, true
	case "D=D":
		return hexagon.Inst{Op: hexagon.A2_combinew, R: [4]uint8{r(0), r(1) + 1, r(1)}}, true
	case "R=not(R)":
		return hexagon.Inst{Op: hexagon.A2_subri, R: [4]uint8{r(0), r(1)}, Imm: [2]int32{-1}}, true
	case "R=neg(R)":
		return hexagon.Inst{Op: hexagon.A2_subri, R: [4]uint8{r(0), r(1)}}, true
	case "R=zxtb(R)":
		return hexagon.Inst{Op: hexagon.A2_andir, R: [4]uint8{r(0), r(1)}, Imm: [2]int32{255}}, true
	case "R=mpyi(R,#)":
		in := hexagon.Inst{Op: hexagon.M2_mpysip, R: [4]uint8{r(0), r(1)}, Imm: [2]int32{int32(ops[2].val.add)}, Ext: ops[2].ext}
		if in.Imm[0] < 0 && !in.Ext {
			in.Op, in.Imm[0] = hexagon.M2_mpysin, -in.Imm[0]
		}
		return in, true
	case "W=W":
		return hexagon.Inst{Op: hexagon.V6_vcombine, R: [4]uint8{r(0), r(1) + 1, r(1)}}, true
	case "P=P":
		return hexagon.Inst{Op: hexagon.C2_or, R: [4]uint8{r(0), r(1), r(1)}}, true
	case "D=#":
		v := int32(ops[1].val.add)
		if ops[1].ext || v != int32(int8(v)) {
			return hexagon.Inst{Op: hexagon.A4_combineii, R: [4]uint8{r(0)}, Imm: [2]int32{v >> 31, v}, Ext: true}, true
		}
		return hexagon.Inst{Op: hexagon.A2_combineii, R: [4]uint8{r(0)}, Imm: [2]int32{v >> 31, v}}, true
	case "R=asrrnd(R,#)":
		if n := int32(ops[2].val.add); n > 0 {
			return hexagon.Inst{Op: hexagon.S2_asr_i_r_rnd, R: [4]uint8{r(0), r(1)}, Imm: [2]int32{n - 1}}, true
		}
		return hexagon.Inst{Op: hexagon.A2_tfr, R: [4]uint8{r(0), r(1)}}, true
	case "R=mpyui(R,R)":
		return hexagon.Inst{Op: hexagon.M2_mpyi, R: [4]uint8{r(0), r(1), r(2)}}, true
	case "if(P)R=R":
		return hexagon.Inst{Op: hexagon.A2_paddit, R: [4]uint8{r(0), r(1), r(2)}}, true
	case "if(!P)R=R":
		return hexagon.Inst{Op: hexagon.A2_paddif, R: [4]uint8{r(0), r(1), r(2)}}, true
	case "if(P.new)R=R":
		return hexagon.Inst{Op: hexagon.A2_padditnew, R: [4]uint8{r(0), r(1), r(2)}}, true
	case "if(!P.new)R=R":
		return hexagon.Inst{Op: hexagon.A2_paddifnew, R: [4]uint8{r(0), r(1), r(2)}}, true
	case "V=#":
		if ops[1].val.add == 0 {
			return hexagon.Inst{Op: hexagon.V6_vxor, R: [4]uint8{r(0), r(0), r(0)}}, true
		}
	case "W=#":
		if ops[1].val.add == 0 {
			return hexagon.Inst{Op: hexagon.V6_vsubw_dv, R: [4]uint8{r(0), 30, 30}}, true
		}
	}
	if op, ok := pairMoves[s]; ok {
		return hexagon.Inst{Op: op, R: [4]uint8{r(0), r(1), r(2) + 1, r(2)}}, true
	}
	return hexagon.Inst{}, false
}

// pairMoves are the conditional copies of a pair.
var pairMoves = map[string]hexagon.Op{
	"if(P)D=D": hexagon.C2_ccombinewt, "if(!P)D=D": hexagon.C2_ccombinewf, "if(P.new)D=D": hexagon.C2_ccombinewnewt, "if(!P.new)D=D": hexagon.C2_ccombinewnewf,
}

// otherSpelling rewrites shapes that stand for another one with the same operands.
func otherSpelling(s string, known func(string) bool) string {
	if known(s) {
		return s
	}
	spellings := []string{
		strings.Replace(s, "(#)", "(gp+#)", 1), // a constant address is the extended form of a gp-relative one
		strings.NewReplacer(")jump@", ")jump:nt@", ")jump#", ")jump:nt@", ")jumprR", ")jumpr:ntR").Replace(s), // without a hint
	}
	if strings.Contains(s, "vcmp.eq") { // equality has no sign
		spellings = append(spellings, strings.NewReplacer(".ub", ".b", ".uh", ".h", ".uw", ".w").Replace(s))
	}
	for _, x := range spellings {
		if known(x) {
			return x
		}
	}
	return s
}
