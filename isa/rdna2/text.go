package rdna2

import "strconv"

// String is Text in wave32.
func (in *Inst) String() string { return in.Text(false) }

// Text is the instruction as llvm-objdump prints it, without comments. The
// wave size decides how lane masks are named.
func (in *Inst) Text(wave64 bool) string {
	return string(in.AppendText(make([]byte, 0, 64), wave64))
}

// AppendText appends Text to b.
func (in *Inst) AppendText(b []byte, wave64 bool) []byte {
	f := in.Form()
	b = append(b, f.Text...)
	p := printer{b: b, in: in, f: f, wave64: wave64}
	var order [maxPrinted]printed
	for i, o := range f.printOrder(&order) {
		if i == 0 {
			p.b = append(p.b, ' ')
		} else {
			p.b = append(p.b, ", "...)
		}
		p.operand(o)
	}
	p.tail()
	return p.b
}

// printed is one comma-separated item of the text: an operand of the form, or a word for something implicit.
type printed struct {
	Operand
	word byte // 0: operand; else one of the constants below
}

const (
	wordVCC    = 'v' // the implicit carry or mask
	wordOff    = 'o' // "off" in place of an address
	wordSMEM   = 's' // scalar memory's offset
	maxPrinted = MaxOperands + 2
)

// printOrder is the list of items printed between commas. The assembler reads the same.
func (f *Form) printOrder(buf *[maxPrinted]printed) []printed {
	out := buf[:0]
	add := func(o Operand) { out = append(out, printed{Operand: o}) }
	word := func(w byte) { out = append(out, printed{word: w}) }
	byRole := func(r Role, absent byte) {
		for _, o := range f.Operands() {
			if o.Role == r {
				add(o)
				return
			}
		}
		if absent != 0 {
			word(absent)
		}
	}
	switch f.Format {
	case GLOBAL, SCRATCH:
		byRole(RoleVDst, 0)
		if f.Format == SCRATCH {
			byRole(RoleVAddr, wordOff)
		} else {
			byRole(RoleVAddr, 0)
		}
		byRole(RoleVData, 0)
		byRole(RoleSAddr, wordOff)
		return out
	case FLAT:
		byRole(RoleVDst, 0)
		byRole(RoleVAddr, 0)
		byRole(RoleVData, 0)
		return out
	case MUBUF:
		if f.NumOps == 0 {
			return out
		}
		byRole(RoleVDst, 0)
		byRole(RoleVData, 0)
		byRole(RoleVAddr, wordOff)
		byRole(RoleSRsrc, 0)
		byRole(RoleBufOffset, 0)
		return out
	case SMEM:
		byRole(RoleSDst, 0)
		if f.NumOps > 1 {
			byRole(RoleSBase, 0)
			byRole(RoleSOffset, wordSMEM)
		}
		return out
	case SOPK:
		if f.NumOps == 2 && f.Ops[1].Kind == ImmHwreg && f.Ops[0].Role != RoleSDst {
			add(f.Ops[1])
			add(f.Ops[0])
			return out
		}
	case VOPC:
		if f.Defs&ImplVCC != 0 {
			word(wordVCC)
		}
	}
	vop2 := f.Format == VOP2 || f.Format == DPP2 || f.Format == DPP8_2 || f.Format == SDWA2
	for _, o := range f.Operands() {
		switch o.Role {
		case RoleOffset, RoleOffset0, RoleOffset1:
			continue
		}
		add(o)
		if o.Role == RoleVDst && vop2 && f.Defs&ImplVCC != 0 {
			word(wordVCC)
		}
	}
	if vop2 && f.Uses&ImplVCC != 0 {
		word(wordVCC)
	}
	return out
}

type printer struct {
	b      []byte
	in     *Inst
	f      *Form
	wave64 bool
}

func (p *printer) str(s string)  { p.b = append(p.b, s...) }
func (p *printer) int(n int64)   { p.b = strconv.AppendInt(p.b, n, 10) }
func (p *printer) hex(n uint64)  { p.str("0x"); p.b = strconv.AppendUint(p.b, n, 16) }
func (p *printer) flag(s string) { p.b = append(append(p.b, ' '), s...) }

func (p *printer) maskRegs() int {
	if p.wave64 {
		return 2
	}
	return 1
}

func (p *printer) operand(o printed) {
	in := p.in
	switch o.word {
	case wordVCC:
		p.reg(VCC, p.maskRegs())
		return
	case wordOff:
		p.str("off")
		return
	case wordSMEM:
		if in.Offset == 0 {
			p.str("null")
		} else {
			p.signedHex(in.Offset)
		}
		return
	}
	switch {
	case o.Class == ClassImm:
		p.immediate(o.Operand)
	case o.Role == RoleVDst:
		p.reg(in.Dst, int(o.Regs))
	case o.Role == RoleSDst && o.Class == ClassMask:
		p.reg(in.SDst, p.maskRegs())
	case o.Role == RoleSDst:
		p.reg(in.Dst, int(o.Regs))
	case o.Class == ClassMask:
		p.reg(in.Src[o.slot()], p.maskRegs())
	default:
		p.source(o.Operand)
	}
}

func (p *printer) signedHex(n int32) {
	if n < 0 {
		p.str("-")
		n = -n
	}
	p.hex(uint64(n))
}

// source prints a source with its modifiers.
func (p *printer) source(o Operand) {
	s := o.slot()
	code := p.in.Src[s]
	neg := p.in.Neg>>s&1 == 1 && !p.f.Has(FlagNegLoHi)
	abs := p.in.Abs>>s&1 == 1
	if p.in.Sext>>s&1 == 1 {
		p.str("sext(")
		defer p.str(")")
	}
	isReg := code >= VGPR0 || code <= EXECHi || code >= 235 && code <= 239 || code >= VCCZ && code <= LDSDirect
	mnemo := neg && !abs && !isReg
	switch {
	case mnemo:
		p.str("neg(")
	case neg:
		p.str("-")
	}
	if abs {
		p.str("|")
	}
	if isReg {
		p.reg(code, int(o.Regs))
	} else {
		p.constant(code, o.Kind)
	}
	if abs {
		p.str("|")
	}
	if mnemo {
		p.str(")")
	}
}

var inlineFloats = [8]string{"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"}

func (p *printer) constant(code uint16, k Kind) {
	switch {
	case code <= 192:
		p.int(int64(code) - Const0)
	case code <= 208:
		p.int(192 - int64(code))
	case code >= ConstHalf && code <= ConstInv && k == B16:
		p.hex(uint64(half[code-ConstHalf]))
	case code >= ConstHalf && code < ConstInv:
		p.str(inlineFloats[code-ConstHalf])
	case code == ConstInv:
		if k == F64 || k == B64 {
			p.str("0.15915494309189532")
		} else {
			p.str("0.15915494")
		}
	case code == LiteralK && (k == B16 || k == F16):
		p.hex(uint64(uint16(p.in.Literal)))
	case code == LiteralK:
		p.hex(uint64(p.in.Literal))
	default:
		p.str("?")
	}
}

// reg prints n consecutive registers from code on.
func (p *printer) reg(code uint16, n int) {
	name, base := "s", uint16(SGPR0)
	switch {
	case code >= VGPR0:
		name, base = "v", VGPR0
	case code >= TTMP0 && code < M0:
		name, base = "ttmp", TTMP0
	case code >= VCC:
		p.str(specialName(code, n))
		return
	}
	p.str(name)
	if n <= 1 {
		p.int(int64(code - base))
		return
	}
	p.str("[")
	p.int(int64(code - base))
	p.str(":")
	p.int(int64(code-base) + int64(n) - 1)
	p.str("]")
}

func specialName(code uint16, n int) string {
	for _, s := range specials {
		if s.code == code && (s.regs == 0 || s.regs == n) {
			return s.name
		}
	}
	return "?"
}

// specials are the named scalar registers; regs 0 means of any width. The first name of a code is printed.
var specials = []struct {
	name string
	code uint16
	regs int
}{
	{"vcc_lo", VCC, 1}, {"vcc", VCC, 2}, {"vcc_hi", VCCHi, 1}, {"m0", M0, 1}, {"null", Null, 0},
	{"exec_lo", EXEC, 1}, {"exec", EXEC, 2}, {"exec_hi", EXECHi, 1},
	{"src_shared_base", 235, 0}, {"src_shared_limit", 236, 0}, {"src_private_base", 237, 0}, {"src_private_limit", 238, 0},
	{"src_vccz", VCCZ, 0}, {"src_execz", EXECZ, 0}, {"src_scc", SCC, 0}, {"src_lds_direct", LDSDirect, 0},
	// The same without src_, which assemblers read too.
	{"shared_base", 235, 0}, {"shared_limit", 236, 0}, {"private_base", 237, 0}, {"private_limit", 238, 0},
	{"vccz", VCCZ, 0}, {"execz", EXECZ, 0}, {"scc", SCC, 0}, {"lds_direct", LDSDirect, 0},
}

func (p *printer) immediate(o Operand) {
	in := p.in
	n := in.Simm16
	switch o.Kind {
	case ImmHex:
		p.hex(uint64(n))
	case ImmLabel:
		p.int(int64(n))
	case ImmDec:
		if n <= 64 {
			p.int(int64(n))
		} else {
			p.hex(uint64(n))
		}
	case ImmOptional:
		if n == 0 {
			p.b = p.b[:len(p.b)-1] // the space before the first operand
			return
		}
		p.int(int64(n))
	case ImmHwreg:
		p.hwreg(n)
	case ImmWaitcnt:
		p.waitcnt(n)
	case B32:
		if code, ok := inline32(in.Literal); ok {
			p.constant(code, B32)
		} else {
			p.hex(uint64(in.Literal))
		}
	default: // K of VOP2K
		p.hex(uint64(in.Literal))
	}
}

func (p *printer) waitcnt(n uint16) {
	c := splitWaitcnt(n)
	all := c.VM == MaxVM && c.Exp == MaxExp && c.LGKM == MaxLGKM
	first := true
	put := func(name string, v, max int) {
		if v == max && !all {
			return
		}
		if !first {
			p.str(" ")
		}
		first = false
		p.str(name)
		p.str("(")
		p.int(int64(v))
		p.str(")")
	}
	put("vmcnt", c.VM, MaxVM)
	put("expcnt", c.Exp, MaxExp)
	put("lgkmcnt", c.LGKM, MaxLGKM)
}

func (p *printer) hwreg(n uint16) {
	p.str("hwreg(")
	id := int(n & 63)
	if name := hwregNames[id]; name != "" {
		p.str("HW_REG_")
		p.str(name)
	} else {
		p.int(int64(id))
	}
	if off, size := n>>6&31, n>>11+1; off != 0 || size != 32 {
		p.str(", ")
		p.int(int64(off))
		p.str(", ")
		p.int(int64(size))
	}
	p.str(")")
}
