package hexagon

// A duplex is two sub-instructions of 13 bits in one word, which ends its packet. Each is a short encoding of an ordinary
// form and decodes to that form. The one in the high bits runs in slot 1, the one in the low bits in slot 0.
//
// One table serves both directions: the decoder uses the row whose bits match, the encoder the first row that decodes
// to the instruction.

// subGroup is a group of sub-instructions: the meaning of bits 31:29 and 13 of a duplex for each of its halves.
type subGroup uint8

const (
	subL1 subGroup = iota
	subL2
	subS1
	subS2
	subA
	subNone
)

// duplexGroups holds, by class of duplex, the groups of the low and of the high half.
var duplexGroups = [16][2]subGroup{
	{subL1, subL1}, {subL2, subL1}, {subL2, subL2}, {subA, subA},
	{subL1, subA}, {subL2, subA}, {subS1, subA}, {subS2, subA},
	{subS1, subL1}, {subS1, subL2}, {subS1, subS1}, {subS2, subS1},
	{subS2, subL1}, {subS2, subL2}, {subS2, subS2}, {subNone, subNone},
}

// subForm is a sub-instruction: mask and match of its bits, the form it represents, and the sources of that form's
// operands, in their order. Where two rows can hold an instruction the special one is first.
type subForm struct {
	mask, match uint16
	op          Op
	ext         bool // a constant extender widens the first field immediate
	args        [4]subArg
}

// subArg is an operand: a field of the word or a constant.
type subArg struct {
	from  subSource
	shift uint8 // low bit of the field
	width uint8
	scale uint8
	value int32
}

type subSource uint8

const (
	subNothing subSource = iota
	subReg               // r0..r7, r16..r23
	subPair              // r1:0..r7:6, r17:16..r23:22
	subUnsigned
	subSigned
	subConst
)

func sReg(shift uint8) subArg { return subArg{from: subReg, shift: shift, width: 4} }
func sImm(shift, width, scale uint8) subArg {
	return subArg{from: subUnsigned, shift: shift, width: width, scale: scale}
}
func sVal(v int32) subArg { return subArg{from: subConst, value: v} }

var sPair = subArg{from: subPair, width: 3}

var subForms = [...][]subForm{
	subL1: {
		{0x1000, 0x0000, L2_loadri_io, false, [4]subArg{sReg(0), sReg(4), sImm(8, 4, 2)}},
		{0x1000, 0x1000, L2_loadrub_io, false, [4]subArg{sReg(0), sReg(4), sImm(8, 4, 0)}},
	},
	subL2: {
		{0x1800, 0x0000, L2_loadrh_io, false, [4]subArg{sReg(0), sReg(4), sImm(8, 3, 1)}},
		{0x1800, 0x0800, L2_loadruh_io, false, [4]subArg{sReg(0), sReg(4), sImm(8, 3, 1)}},
		{0x1800, 0x1000, L2_loadrb_io, false, [4]subArg{sReg(0), sReg(4), sImm(8, 3, 0)}},
		{0x1e00, 0x1c00, L2_loadri_io, false, [4]subArg{sReg(0), sVal(29), sImm(4, 5, 2)}},
		{0x1f00, 0x1e00, L2_loadrd_io, false, [4]subArg{sPair, sVal(29), sImm(3, 5, 3)}},
		{0x1fc4, 0x1f00, L2_deallocframe, false, [4]subArg{sVal(30), sVal(30)}},
		{0x1fc4, 0x1f40, L4_return, false, [4]subArg{sVal(30), sVal(30)}},
		{0x1fc7, 0x1f44, L4_return_t, false, [4]subArg{sVal(0), sVal(30), sVal(30)}},
		{0x1fc7, 0x1f45, L4_return_f, false, [4]subArg{sVal(0), sVal(30), sVal(30)}},
		{0x1fc7, 0x1f46, L4_return_tnew_pnt, false, [4]subArg{sVal(0), sVal(30), sVal(30)}},
		{0x1fc7, 0x1f47, L4_return_fnew_pnt, false, [4]subArg{sVal(0), sVal(30), sVal(30)}},
		{0x1fc4, 0x1fc0, J2_jumpr, false, [4]subArg{sVal(31)}},
		{0x1fc7, 0x1fc4, J2_jumprt, false, [4]subArg{sVal(0), sVal(31)}},
		{0x1fc7, 0x1fc5, J2_jumprf, false, [4]subArg{sVal(0), sVal(31)}},
		{0x1fc7, 0x1fc6, J2_jumprtnew, false, [4]subArg{sVal(0), sVal(31)}},
		{0x1fc7, 0x1fc7, J2_jumprfnew, false, [4]subArg{sVal(0), sVal(31)}},
	},
	subS1: {
		{0x1000, 0x0000, S2_storeri_io, false, [4]subArg{sReg(4), sImm(8, 4, 2), sReg(0)}},
		{0x1000, 0x1000, S2_storerb_io, false, [4]subArg{sReg(4), sImm(8, 4, 0), sReg(0)}},
	},
	subS2: {
		{0x1800, 0x0000, S2_storerh_io, false, [4]subArg{sReg(4), sImm(8, 3, 1), sReg(0)}},
		{0x1e00, 0x0800, S2_storeri_io, false, [4]subArg{sVal(29), sImm(4, 5, 2), sReg(0)}},
		{0x1e00, 0x0a00, S2_storerd_io, false, [4]subArg{sVal(29), {from: subSigned, shift: 3, width: 6, scale: 3}, sPair}},
		{0x1e00, 0x1c00, S2_allocframe, false, [4]subArg{sVal(29), sImm(4, 5, 3)}},
		{0x1f00, 0x1000, S4_storeiri_io, false, [4]subArg{sReg(4), sImm(0, 4, 2), sVal(0)}},
		{0x1f00, 0x1100, S4_storeiri_io, false, [4]subArg{sReg(4), sImm(0, 4, 2), sVal(1)}},
		{0x1f00, 0x1200, S4_storeirb_io, false, [4]subArg{sReg(4), sImm(0, 4, 0), sVal(0)}},
		{0x1f00, 0x1300, S4_storeirb_io, false, [4]subArg{sReg(4), sImm(0, 4, 0), sVal(1)}},
	},
	subA: {
		{0x1c00, 0x0c00, A2_addi, false, [4]subArg{sReg(0), sVal(29), sImm(4, 6, 2)}},
		{0x1f00, 0x1000, A2_tfr, false, [4]subArg{sReg(0), sReg(4)}},
		{0x1f00, 0x1100, A2_addi, false, [4]subArg{sReg(0), sReg(4), sVal(1)}},
		{0x1f00, 0x1200, A2_andir, false, [4]subArg{sReg(0), sReg(4), sVal(1)}},
		{0x1f00, 0x1300, A2_addi, false, [4]subArg{sReg(0), sReg(4), sVal(-1)}},
		{0x1f00, 0x1400, A2_sxth, false, [4]subArg{sReg(0), sReg(4)}},
		{0x1f00, 0x1500, A2_sxtb, false, [4]subArg{sReg(0), sReg(4)}},
		{0x1f00, 0x1600, A2_zxth, false, [4]subArg{sReg(0), sReg(4)}},
		{0x1f00, 0x1700, A2_andir, false, [4]subArg{sReg(0), sReg(4), sVal(255)}},
		{0x1f00, 0x1800, A2_add, false, [4]subArg{sReg(0), sReg(0), sReg(4)}},
		{0x1f00, 0x1900, C2_cmpeqi, false, [4]subArg{sVal(0), sReg(4), sImm(0, 2, 0)}},
		{0x1f70, 0x1a00, A2_tfrsi, false, [4]subArg{sReg(0), sVal(-1)}},
		{0x1f70, 0x1a40, C2_cmovenewit, false, [4]subArg{sVal(0), sReg(0), sVal(0)}},
		{0x1f70, 0x1a50, C2_cmovenewif, false, [4]subArg{sVal(0), sReg(0), sVal(0)}},
		{0x1f70, 0x1a60, C2_cmoveit, false, [4]subArg{sVal(0), sReg(0), sVal(0)}},
		{0x1f70, 0x1a70, C2_cmoveif, false, [4]subArg{sVal(0), sReg(0), sVal(0)}},
		{0x1f98, 0x1c00, A2_combineii, false, [4]subArg{sPair, sVal(0), sImm(5, 2, 0)}},
		{0x1f98, 0x1c08, A2_combineii, false, [4]subArg{sPair, sVal(1), sImm(5, 2, 0)}},
		{0x1f98, 0x1c10, A2_combineii, false, [4]subArg{sPair, sVal(2), sImm(5, 2, 0)}},
		{0x1f98, 0x1c18, A2_combineii, false, [4]subArg{sPair, sVal(3), sImm(5, 2, 0)}},
		{0x1f08, 0x1d00, A4_combineir, false, [4]subArg{sPair, sVal(0), sReg(4)}},
		{0x1f08, 0x1d08, A4_combineri, false, [4]subArg{sPair, sReg(4), sVal(0)}},
		{0x1800, 0x0000, A2_addi, true, [4]subArg{sReg(0), sReg(0), {from: subSigned, shift: 4, width: 7}}},
		{0x1c00, 0x0800, A2_tfrsi, true, [4]subArg{sReg(0), sImm(4, 6, 0)}},
	},
}

// decodeDuplex decodes the two halves of a duplex, the one in slot 1 first. An extender widens the high half's constant.
func decodeDuplex(w, ext uint32, haveExt bool) (high, low Inst, reason string) {
	g := duplexGroups[w>>29<<1|w>>13&1]
	if g[0] == subNone {
		return high, low, "reserved class of duplex"
	}
	if reason = decodeSub(&high, g[1], uint16(w>>16&0x1fff), ext, haveExt); reason == "" {
		reason = decodeSub(&low, g[0], uint16(w&0x1fff), 0, false)
	}
	return high, low, reason
}

// decodeSub decodes a sub-instruction of group g. Only Rx=add(Rx,#s7) and Rd=#u6 accept an extender; llvm-mc puts one
// in front of Rd=add(r29,#u6:2), too, which its own disassembler does not read.
func decodeSub(in *Inst, g subGroup, w uint16, ext uint32, haveExt bool) (reason string) {
	for i := range subForms[g] {
		if s := &subForms[g][i]; w&s.mask == s.match {
			if !s.decode(in, w, ext, haveExt) {
				return "constant extender before a sub-instruction that takes none"
			}
			return ""
		}
	}
	return "no known sub-instruction"
}

func (s *subForm) decode(in *Inst, w uint16, ext uint32, haveExt bool) bool {
	if haveExt && !s.ext {
		return false
	}
	in.Op = s.op
	f := &forms[s.op]
	for k := range f.Operands {
		o, a := &f.Operands[k], &s.args[k]
		v := int32(w >> a.shift & (1<<a.width - 1))
		switch a.from {
		case subReg:
			v = v&7 | v>>3<<4
		case subPair:
			v = v&3<<1 | v>>2<<4
		case subSigned:
			n := 32 - uint(a.width)
			v = v << n >> n << a.scale
		case subUnsigned:
			v <<= a.scale
		case subConst:
			v = a.value
		}
		if o.Kind != KindImm {
			in.R[o.Index] = uint8(v)
			continue
		}
		if haveExt && o.Extendable {
			in.Ext, v = true, int32(ext|uint32(v)&0x3f)
		}
		in.Imm[o.Index] = v
	}
	return true
}

// encode returns the bits of the sub-instruction; ok is false when they would not decode to the same instruction.
func (s *subForm) encode(in *Inst) (w uint16, ok bool) {
	if in.Op != s.op || in.Ext && !s.ext {
		return 0, false
	}
	f := &forms[s.op]
	w = s.match
	ext := uint32(0)
	for k := range f.Operands {
		o, a := &f.Operands[k], &s.args[k]
		v := int32(in.R[o.Index])
		if o.Kind == KindImm {
			if v = in.Imm[o.Index] >> a.scale; in.Ext && o.Extendable {
				ext, v = uint32(v)&^0x3f, v&0x3f
			}
		}
		switch a.from {
		case subReg:
			v = v&7 | v>>4<<3
		case subPair:
			v = v>>1&3 | v>>4<<2
		case subConst:
			continue
		}
		w |= uint16(v) & (1<<a.width - 1) << a.shift
	}
	var back Inst
	return w, s.decode(&back, w, ext, in.Ext) && back == *in
}

// sub is an instruction as a sub-instruction.
type sub struct {
	group subGroup
	row   *subForm
	bits  uint16
}

// subOf finds the sub-instruction that represents in. Ext must be set if in has an extender.
func subOf(in *Inst) (sub, bool) {
	for g := range subForms {
		for i := range subForms[g] {
			s := &subForms[g][i]
			if w, ok := s.encode(in); ok {
				return sub{subGroup(g), s, w}, true
			}
		}
	}
	return sub{}, false
}

// encodeDuplex packs two instructions into a duplex, high in slot 1 and low in slot 0.
func encodeDuplex(high, low *Inst) (uint32, bool) {
	h, ok := subOf(high)
	if !ok || low.Ext {
		return 0, false
	}
	l, ok := subOf(low)
	if !ok {
		return 0, false
	}
	class, ok := duplexClass(l.group, h.group)
	return class>>1<<29 | class&1<<13 | uint32(h.bits)<<16 | uint32(l.bits), ok
}

// duplexClass is the class of a duplex whose low and high halves are of these groups.
func duplexClass(low, high subGroup) (uint32, bool) {
	for c := range duplexGroups {
		if duplexGroups[c] == [2]subGroup{low, high} {
			return uint32(c), true
		}
	}
	return 0, false
}
