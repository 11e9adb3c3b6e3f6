package hexagon

import (
	"strconv"
	"strings"
)

// String is the packet as llvm-objdump prints it, one line per word (constant extenders included), each line without the
// address column: "{ \tr0 = add(r1,r2) } ".
func (p *Packet) String() string { return strings.Join(p.Rows(AbsoluteTarget), "\n") }

// Rows are the lines of String.
func (p *Packet) Rows(target TargetText) []string {
	var rows []string
	add := func(b []byte) {
		lead := "  \t"
		if len(rows) == 0 {
			lead = "{ \t"
		}
		rows = append(rows, lead+string(b))
	}
	n := min(int(p.N), len(p.Insts))
	for i := range p.Insts[:n] {
		in := &p.Insts[i]
		if in.Op != opNone && in.Op < numOps && in.Extended() {
			b := append([]byte(nil), "immext(#0x"...)
			b = strconv.AppendUint(b, uint64(in.extValue()&^0x3f), 16)
			add(append(b, ')'))
		}
		var half *subForm
		if p.Duplex && i >= n-2 {
			if s, ok := subOf(in); ok {
				half = s.row
			}
		}
		if b := in.appendText(nil, p.Addr, target, half); p.Duplex && i == n-1 && len(rows) > 0 {
			rows[len(rows)-1] += "; \t" + string(b)
		} else {
			add(b)
		}
	}
	if len(rows) == 0 {
		rows = []string{"{ "}
	}
	rows[len(rows)-1] += " } " + p.loopSuffix(" ")
	return rows
}

// Asm is the packet on one line, as llvm-mc and Assemble read it: "{ r0 = add(r1,r2) ; r3 = #1 }:endloop0". Branch targets
// are displacements from the packet (#-0x40), so the text does not depend on its address.
func (p *Packet) Asm() string { return p.AsmWith(RelativeTarget) }

// AsmWith is Asm with branch targets written by target.
func (p *Packet) AsmWith(target TargetText) string {
	b := []byte("{ ")
	for i := range p.Insts[:min(int(p.N), len(p.Insts))] {
		if i > 0 {
			b = append(b, " ; "...)
		}
		b = p.Insts[i].appendText(b, p.Addr, target, nil)
	}
	b = append(b, " }"...)
	switch {
	case p.EndLoop0 && p.EndLoop1:
		b = append(b, ":endloop0:endloop1"...)
	case p.EndLoop0:
		b = append(b, ":endloop0"...)
	case p.EndLoop1:
		b = append(b, ":endloop1"...)
	}
	if p.NoShuf {
		b = append(b, ":mem_noshuf"...)
	}
	return string(b)
}

func (p *Packet) loopSuffix(lead string) string {
	switch {
	case p.EndLoop0 && p.EndLoop1:
		return lead + ":endloop01"
	case p.EndLoop0:
		return lead + ":endloop0"
	case p.EndLoop1:
		return lead + ":endloop1"
	}
	return ""
}

// Text is the assembly text of one instruction; branch targets are absolute, so it needs the packet's address.
func (in *Inst) Text(addr uint32) string {
	return string(in.appendText(nil, addr, AbsoluteTarget, nil))
}

// TargetText writes a branch target: the operand's value v, seen from the packet at addr.
type TargetText func(b []byte, o *OperandSpec, addr uint32, v int32, ext bool) []byte

// AbsoluteTarget writes a branch target as an address.
func AbsoluteTarget(b []byte, _ *OperandSpec, addr uint32, v int32, _ bool) []byte {
	b = append(b, "0x"...)
	return strconv.AppendUint(b, uint64(addr+uint32(v)), 16)
}

// RelativeTarget writes a branch target as a displacement from the packet.
func RelativeTarget(b []byte, o *OperandSpec, _ uint32, v int32, ext bool) []byte {
	return appendImm(b, o, v, ext)
}

// appendText writes the instruction; as half of a duplex, sub, the constants that are part of the sub-instruction
// are decimal, those in unsigned fields are unsigned.
func (in *Inst) appendText(b []byte, addr uint32, target TargetText, sub *subForm) (out []byte) {
	if in.Op == opNone || in.Op >= numOps {
		return append(b, "<invalid>"...)
	}
	f := &forms[in.Op]
	if s := in.alias(); s != "" {
		b = append(b, s...)
		if in.Op == S2_allocframe {
			b = appendImm(b, &f.Operands[1], in.Imm[0], false)
			b = append(b, ')')
		}
		return b
	}
	ext := in.Extended()
	if f.Has(FlagPred) && f.Has(FlagIndirect) && f.Has(FlagLoad) {
		defer func() { out = plainReturn(out) }()
	}
	for i := 0; i < len(f.Template); i++ {
		c := f.Template[i]
		if c < 0x80 {
			if ext && c == 'g' && strings.HasPrefix(f.Template[i:], "gp+") {
				i += 2 // extended, the address is the constant alone
				continue
			}
			b = append(b, c)
			continue
		}
		o := &f.Operands[c-0x80]
		switch {
		case o.PCRel:
			b = target(b, o, addr, in.Imm[o.Index], ext && o.Extendable)
		case o.Kind == KindImm && sub != nil && sub.args[c-0x80].from == subConst && in.Imm[o.Index] >= 0:
			b = strconv.AppendInt(append(b, '#'), int64(in.Imm[o.Index]), 10)
		case o.Kind == KindImm && sub != nil && sub.args[c-0x80].from == subUnsigned:
			b = appendImm(b, &OperandSpec{}, in.Imm[o.Index], ext && o.Extendable)
		case o.Kind == KindImm:
			b = appendImm(b, o, in.Imm[o.Index], ext && o.Extendable)
		default:
			b = appendReg(b, o.Kind, o.Reg(in))
		}
	}
	return b
}

// alias returns the short text of the frame instructions on the standard stack registers.
func (in *Inst) alias() string {
	switch {
	case in.Op == S2_allocframe && in.R[0] == 29:
		return "allocframe("
	case in.Op == L2_deallocframe && in.R[0] == 30 && in.R[1] == 30:
		return "deallocframe"
	case in.Op == L4_return && in.R[0] == 30 && in.R[1] == 30:
		return "dealloc_return"
	}
	return ""
}

// plainReturn shortens the text of a return on the standard registers.
func plainReturn(b []byte) []byte {
	s := string(b)
	for _, hint := range []string{"", ":nt", ":t"} {
		s = strings.Replace(s, "r31:30 = dealloc_return(r30)"+hint+":raw", "dealloc_return"+hint, 1)
	}
	return append(b[:0], s...)
}

func appendImm(b []byte, o *OperandSpec, v int32, ext bool) []byte {
	b = append(b, '#')
	if ext {
		b = append(b, '#')
	}
	n := int64(uint32(v))
	if o.Signed {
		n = int64(v)
	}
	if n < 0 {
		b = append(b, '-')
		n = -n
	}
	b = append(b, "0x"...)
	return strconv.AppendInt(b, n, 16)
}

func appendReg(b []byte, k Kind, r uint8) []byte {
	switch k {
	case KindR, KindNR:
		b = append(b, 'r')
	case KindV, KindNV:
		if r == VTmp {
			return append(b, "vtmp"...)
		}
		b = append(b, 'v')
	case KindP:
		b = append(b, 'p')
	case KindQ:
		b = append(b, 'q')
	case KindM, KindMImm:
		b = append(b, 'm')
	case KindC, KindS, KindG:
		return append(b, registerName(k, r)...)
	case KindVVVV:
		b = strconv.AppendUint(append(b, 'v'), uint64(r)+3, 10)
		b = append(b, ':')
	case KindRR, KindVV, KindCC, KindSS, KindGG:
		b = append(b, pairLetter[k])
		b = strconv.AppendUint(b, uint64(r)+1, 10)
		b = append(b, ':')
	}
	return strconv.AppendUint(b, uint64(r), 10)
}

// Target is the address that an instruction of the packet at addr may branch to, or that a loop setup names.
func (in *Inst) Target(addr uint32) (to uint32, ok bool) {
	f := &forms[in.Op]
	for i := range f.Operands {
		if o := &f.Operands[i]; o.PCRel {
			return addr + uint32(in.Imm[o.Index]), true
		}
	}
	return 0, false
}
