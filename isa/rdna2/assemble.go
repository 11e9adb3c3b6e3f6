package rdna2

import (
	"fmt"
	"sort"
	"strings"
	"sync"
)

// Assemble reads one instruction as Text prints it. A mnemonic without its
// encoding suffix means the shortest encoding that can express the rest.
// Comments after // or ; are ignored.
func Assemble(text string, wave64 bool) (Inst, error) {
	line := text
	if i := strings.Index(line, "//"); i >= 0 {
		line = line[:i]
	}
	if i := strings.IndexByte(line, ';'); i >= 0 {
		line = line[:i]
	}
	line = strings.TrimSpace(line)
	name, rest, _ := strings.Cut(line, " ")
	items, err := splitItems(strings.TrimSpace(rest))
	if err != nil {
		return Inst{}, fmt.Errorf("rdna2: assemble %q: %w", text, err)
	}
	err = fmt.Errorf("unknown mnemonic %q", name)
	depth := -1 // progress of the best failed attempt
	for _, suffix := range [...]string{"", "_e32", "_e64", "_dpp", "_sdwa"} {
		want := name + suffix
		for i := sort.Search(len(byText), func(i int) bool { return forms[byText[i]].Text >= want }); i < len(byText) && forms[byText[i]].Text == want; i++ {
			var in Inst
			d, e := in.assemble(&forms[byText[i]], items, wave64)
			if e == nil {
				return in, nil
			}
			if d > depth {
				depth, err = d, e
			}
		}
	}
	return Inst{}, fmt.Errorf("rdna2: assemble %q: %w", text, err)
}

// splitItems splits at commas outside brackets, parentheses and quotes.
func splitItems(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	var out []string
	depth, start := 0, 0
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
		if depth < 0 {
			return nil, fmt.Errorf("unbalanced bracket")
		}
	}
	if depth != 0 || quoted {
		return nil, fmt.Errorf("unbalanced bracket or quote")
	}
	return append(out, strings.TrimSpace(s[start:])), nil
}

// assemble fills in from the items, for one form. depth is how much of the text fitted when it fails.
func (in *Inst) assemble(f *Form, items []string, wave64 bool) (depth int, err error) {
	*in = Inst{Op: f.Op}
	a := assembler{in: in, f: f, wave64: wave64}
	var buf [maxPrinted]printed
	order := f.printOrder(&buf)
	n := f.sources()
	switch f.Format {
	case DPP1, DPP2: // LLVM's defaults of masks
		in.Rows, in.Banks = 15, 15
	case SDWA1, SDWA2, SDWAC:
		in.Sel[0] = SelDword
		if n > 1 {
			in.Sel[1] = SelDword
		}
		if f.Format != SDWAC {
			in.DstSel, in.Unused = SelDword, UnusedPreserve
		}
	}
	if f.Format == VOP3P {
		in.OpSelHi = 7
		if f.Has(FlagNegAbs) {
			in.OpSelHi = 0
		}
	}
	var tail []string
	optional := len(order) == 1 && order[0].Kind == ImmOptional
	switch {
	case len(order) == 1 && order[0].Kind == ImmWaitcnt:
		if err := a.waitcnt(strings.Join(items, " ")); err != nil {
			return 1, err
		}
	case len(order) == 0 || optional && len(items) == 0:
		if len(items) > 1 {
			return 0, fmt.Errorf("%d operands, want none", len(items))
		}
		if len(items) == 1 {
			tail = strings.Fields(items[0])
		}
	default:
		if len(items) != len(order) {
			return 0, fmt.Errorf("%d operands, want %d", len(items), len(order))
		}
		last := splitTail(items[len(items)-1])
		items[len(items)-1], tail = last[0], last[1:]
		for i, o := range order {
			if err := a.operand(o, items[i]); err != nil {
				items[len(items)-1] = strings.Join(last, " ")
				return 1 + i, err
			}
		}
		items[len(items)-1] = strings.Join(last, " ")
	}
	for _, t := range tail {
		if err := a.modifier(t, n); err != nil {
			return 10, err
		}
	}
	if want := f.Flags & (FlagOffEn | FlagIdxEn); a.seen != want {
		return 9, fmt.Errorf("an address register needs offen or idxen")
	}
	if (f.Format >= DPP1 && f.Format <= DPP8_2) != a.lanes {
		return 9, fmt.Errorf("a dpp instruction needs dpp8:[..] or a control as quad_perm:[..] or row_shr:1")
	}
	a.absent()
	in.normalize(f)
	if err := in.check(f); err != nil {
		return 11, err
	}
	if err := in.checkModifiers(f); err != nil {
		return 11, err
	}
	if a.literals > 1 {
		return 11, fmt.Errorf("more than one literal")
	}
	if n, limit := in.scalars(f); n > limit {
		return 11, fmt.Errorf("%d scalar registers and literals, a vector instruction reads at most %d", n, limit)
	}
	in.Size = uint8(in.Bytes())
	return 0, nil
}

// splitTail splits an item at spaces; the first piece is the operand.
func splitTail(s string) []string {
	if i := strings.LastIndexByte(s, ')'); i >= 0 && strings.HasPrefix(s, "hwreg(") {
		return append([]string{s[:i+1]}, strings.Fields(s[i+1:])...)
	}
	p := strings.Fields(s)
	if len(p) == 0 {
		return []string{""}
	}
	return p
}

type assembler struct {
	in       *Inst
	f        *Form
	wave64   bool
	literals int
	literal  uint32
	seen     Flag // addressing flags of a buffer instruction in the text
	null     bool // null stands for the scalar offset, so that a constant one may follow as a modifier
	lanes    bool // how lanes exchange values is specified
}

// absent fills the fields of register operands that a memory form lacks.
func (a *assembler) absent() {
	switch a.f.Format {
	case FLAT, GLOBAL, SCRATCH:
		if !a.f.role(RoleSAddr) {
			a.in.Src[2] = Null
		}
	case SMEM:
		if a.f.NumOps > 1 && !a.f.role(RoleSOffset) {
			a.in.Src[1] = Null
		}
	}
}

func (a *assembler) maskRegs() int {
	if a.wave64 {
		return 2
	}
	return 1
}

func (a *assembler) operand(o printed, s string) error {
	in := a.in
	bad := func() error { return fmt.Errorf("operand %q does not fit %s", s, a.f.Text) }
	switch o.word {
	case wordVCC:
		if code, n, ok := parseReg(s); !ok || code != VCC || n != a.maskRegs() {
			return bad()
		}
		return nil
	case wordOff:
		if s != "off" {
			return bad()
		}
		return nil
	case wordSMEM:
		if s == "null" {
			a.null = true
			return nil
		}
		v, ok := parseInt(s)
		if !ok || v < -1<<20 || v >= 1<<20 {
			return bad()
		}
		in.Offset = int32(v)
		return nil
	}
	switch {
	case o.Class == ClassImm:
		return a.immediate(o.Operand, s)
	case o.Class == ClassMask || o.Class == ClassSGPR || o.Class == ClassVGPR:
		regs := int(o.Regs)
		if o.Class == ClassMask {
			regs = a.maskRegs()
		}
		neg, abs, s := cutModifiers(s)
		code, n, ok := parseReg(s)
		if !ok || n != regs && code != Null || (code >= VGPR0) != (o.Class == ClassVGPR) || o.Class == ClassMask && !sgprTuple(code, regs) {
			return bad()
		}
		switch {
		case o.Role == RoleVDst, o.Role == RoleSDst && o.Class != ClassMask:
			in.Dst = code
		case o.Role == RoleSDst:
			in.SDst = code
		default:
			in.Src[o.slot()] = code
			a.setModifiers(o.slot(), neg, abs)
			return nil
		}
		if neg || abs {
			return bad()
		}
		return nil
	}
	return a.source(o.Operand, s)
}

// takesModifiers reports whether an encoding has sign modifiers for a source. In one that has none, those of a constant
// change the constant if another encoding of the mnemonic has them. Packed operands have neg_lo and neg_hi instead.
func (f *Form) takesModifiers(slot int) bool {
	return f.NegMask>>slot&1 == 1 || f.Has(FlagNegAbs)
}

func (a *assembler) setModifiers(slot int, neg, abs bool) {
	if neg {
		a.in.Neg |= 1 << slot
	}
	if abs {
		a.in.Abs |= 1 << slot
	}
}

// cutModifiers removes -, |x| and neg(x).
func cutModifiers(s string) (neg, abs bool, rest string) {
	if t, ok := strings.CutPrefix(s, "neg("); ok && strings.HasSuffix(t, ")") {
		return true, false, t[:len(t)-1]
	}
	if t, ok := strings.CutPrefix(s, "-"); ok && (strings.HasPrefix(t, "|") || IsRegister(t)) {
		neg, s = true, t
	}
	if len(s) > 2 && s[0] == '|' && s[len(s)-1] == '|' {
		abs, s = true, s[1:len(s)-1]
	}
	return neg, abs, s
}

func (a *assembler) source(o Operand, s string) error {
	in := a.in
	slot := o.slot()
	if body, ok := strings.CutPrefix(s, "sext("); ok && strings.HasSuffix(body, ")") {
		switch body := body[:len(body)-1]; {
		case a.f.Has(FlagSext) && a.f.NegMask>>slot&1 == 0:
			in.Sext |= 1 << slot
			s = body
		case extends()[a.f.Mnemonic] && !IsRegister(body): // A whole constant is its own extension
			s = body
		}
	}
	neg, abs, body := cutModifiers(s)
	if (neg || abs) && !a.f.takesModifiers(slot) && signs()[a.f.Mnemonic]>>slot&1 == 0 {
		return fmt.Errorf("operand %q: neg and abs not available in %s", s, a.f.Text)
	}
	if code, n, ok := parseReg(body); ok {
		if n != int(o.Regs) && n != 0 {
			return fmt.Errorf("operand %q: %d registers, want %d", s, n, o.Regs)
		}
		a.setModifiers(slot, neg, abs)
		in.Src[slot] = code
		return nil
	}
	bits := (neg || abs) && a.f.takesModifiers(slot)
	if bits {
		a.setModifiers(slot, neg, abs)
		neg, abs = false, false
	}
	code, lit, ok := parseConstant(body, o.Kind, neg, abs)
	switch {
	case !ok && (neg || abs):
		return fmt.Errorf("operand %q: this encoding has no sign modifiers for the constant", s)
	case !ok:
		return fmt.Errorf("operand %q is neither register nor constant", s)
	case bits && o.Kind == F64 && upperHalf(body):
		return fmt.Errorf("operand %q: no sign modifiers for an integer that is the upper half of a double", s)
	}
	in.Src[slot] = code
	if code == LiteralK {
		a.setLiteral(lit)
	}
	return nil
}

// extends has the mnemonics of which an encoding sign-extends parts of all sources.
var extends = sync.OnceValue(func() *[NumMnemonics]bool {
	t := new([NumMnemonics]bool)
	for i := range forms {
		t[forms[i].Mnemonic] = t[forms[i].Mnemonic] || forms[i].Has(FlagSext) && forms[i].NegMask == 0
	}
	return t
})

// signs has the sources, bit i for source i, that an encoding of a mnemonic may negate.
var signs = sync.OnceValue(func() *[NumMnemonics]uint8 {
	t := new([NumMnemonics]uint8)
	for i := range forms {
		t[forms[i].Mnemonic] |= forms[i].NegMask
	}
	return t
})

// setLiteral records the literal; several operands may share one value.
func (a *assembler) setLiteral(v uint32) {
	if a.literals == 0 || a.literal != v {
		a.literals++
	}
	a.literal = v
	a.in.Literal = v
}

func (a *assembler) immediate(o Operand, s string) error {
	in := a.in
	switch o.Kind {
	case ImmHwreg:
		v, err := parseHwreg(s)
		in.Simm16 = v
		return err
	case B32, F32, F16:
		code, lit, ok := parseConstant(s, o.Kind, false, false)
		if !ok || o.Kind == B32 && !isInt(s) {
			return fmt.Errorf("immediate %q is no number of %d bits", s, 8*o.Kind.bytes())
		}
		if code != LiteralK {
			lit, _ = Value32(code, o.Kind)
		}
		a.setLiteral(lit)
		return nil
	}
	v, ok := parseInt(s)
	if !ok || v < -32768 || v > 65535 || v < 0 && o.Kind == ImmOptional {
		return fmt.Errorf("immediate %q does not fit 16 bits", s)
	}
	in.Simm16 = uint16(v)
	return nil
}
