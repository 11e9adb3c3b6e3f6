package asm

import (
	"strconv"
	"strings"
	"sync"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// An instruction's shape is its text with registers replaced by class letters and immediates by '#', '@' (branch
// target): "R=add(R,#)". Forms of one shape are distinguished by their operands.

// shapes maps a shape to the forms that have it; words holds every literal word of the table.
type shapeIndex struct {
	shapes     map[string][]hexagon.Op
	words      map[string]bool
	privileged map[string]bool // words of instructions that are never assembled
}

var index = sync.OnceValue(func() *shapeIndex {
	ix := &shapeIndex{map[string][]hexagon.Op{}, map[string]bool{"zxtb": true, "neg": true, "not": true, "asrrnd": true, "mpyui": true,
		"vaddb": true, "vsubb": true, "lt": true, "ltu": true, "ge": true, "geu": true, "vtrans2x2": true}, map[string]bool{}} // of aliases
	for op := hexagon.Op(1); int(op) < hexagon.NumOps; op++ {
		words := ix.words
		if op.Form().Has(hexagon.FlagSupervisor) {
			words = ix.privileged
		} else {
			s := formShape(op.Form())
			ix.shapes[s] = append(ix.shapes[s], op)
		}
		a := &assembler{}
		literal := strings.Map(func(r rune) rune {
			if r >= 0x80 {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(op.Form().Template, "\u0080"))
		toks, _ := a.lex(literal, 1)
		for _, t := range toks {
			if t.kind == tokWord {
				words[strings.TrimPrefix(t.text, ".")] = true
			}
		}
	}
	for w := range ix.words {
		delete(ix.privileged, w)
	}
	return ix
})

var shapeLetter = [...]byte{hexagon.KindR: 'R', hexagon.KindRR: 'D', hexagon.KindV: 'V', hexagon.KindVV: 'W', hexagon.KindVVVV: 'Y', hexagon.KindP: 'P', hexagon.KindQ: 'Q', hexagon.KindC: 'C', hexagon.KindCC: 'X', hexagon.KindM: 'M', hexagon.KindMImm: 'M', hexagon.KindNR: 'R', hexagon.KindNV: 'V', hexagon.KindImm: '#'}

// operandLetters are the letters of operands in shapes.
const operandLetters = "RDVWYPQCXM#@"

func formShape(f *hexagon.Form) string {
	var b strings.Builder
	lit := f.Template
	lit = strings.Replace(lit, "p3 =", "P=", 1)
	for i := 0; i < len(lit); i++ {
		c := lit[i]
		switch {
		case c == ' ':
		case c < 0x80:
			b.WriteByte(c)
			_, n := fixedImm(lit[i:])
			i += n
		default:
			o := &f.Operands[c-0x80]
			if o.PCRel {
				b.WriteByte('@')
			} else {
				b.WriteByte(shapeLetter[o.Kind])
			}
		}
	}
	return b.String()
}

// fixedImm reads an immediate that is part of a form's text, "#-0x1", and returns how many bytes follow its #.
func fixedImm(s string) (v int64, n int) {
	if s[0] != '#' {
		return 0, 0
	}
	for n = 1; n < len(s) && strings.IndexByte("-0123456789xabcdef", s[n]) >= 0; n++ {
	}
	v, err := strconv.ParseInt(s[1:n], 0, 64)
	if err != nil {
		return 0, 0
	}
	return v, n - 1
}

// operand is one parsed operand of the text.
type operand struct {
	letter byte
	reg    uint8
	val    value // immediate
	ext    bool  // written with ##
	bare   bool  // without #: an address
	at     token
}

// namedRegisters are pairs with a name, and the predicates as one register.
var namedRegisters = map[string]operand{
	"p3:0": {letter: 'C', reg: hexagon.CtrlP30}, "lr:fp": {letter: 'D', reg: 30},
	"lc0:sa0": {letter: 'X', reg: 0}, "lc1:sa1": {letter: 'X', reg: 2}, "m1:0": {letter: 'X', reg: 6}, "cs1:0": {letter: 'X', reg: 12},
	"upcycle": {letter: 'X', reg: 14}, "pktcount": {letter: 'X', reg: 18}, "utimer": {letter: 'X', reg: 30},
}

// registerOf parses r7, v12, p3, q0, m1 and control register names.
func registerOf(s string) (letter byte, n uint8, ok bool) {
	for c := range hexagon.NumControls {
		name := hexagon.ControlName(uint8(c))
		if name == s && name != "" && c != hexagon.CtrlM0 && c != hexagon.CtrlM1 {
			if name == "pc" {
				return 0, 0, false // literal in add(pc,#n); as a register it is read through c9
			}
			return 'C', uint8(c), true
		}
	}
	switch s {
	case "vtmp":
		return 'V', hexagon.VTmp, true
	case "sp":
		return 'R', 29, true
	case "fp":
		return 'R', 30, true
	case "lr":
		return 'R', 31, true
	}
	if len(s) < 2 || len(s) > 3 || s[1] == '0' && len(s) > 2 {
		return 0, 0, false
	}
	v := 0
	for _, c := range []byte(s[1:]) {
		if c < '0' || c > '9' {
			return 0, 0, false
		}
		v = v*10 + int(c-'0')
	}
	limit := 0
	switch s[0] {
	case 'r', 'v':
		limit = 32
	case 'p', 'q':
		limit = 4
	case 'm':
		limit = 2
	case 'c':
		limit = hexagon.NumControls
	}
	if v >= limit {
		return 0, 0, false
	}
	return s[0] - 'a' + 'A', uint8(v), true
}

// shape converts the tokens of an instruction to its shape and operands.
func (a *assembler) shape(toks []token) (string, []operand) {
	s := shaper{a: a, toks: toks}
	for i := 0; i < len(toks); {
		switch t := toks[i]; {
		case t.kind == tokWord:
			i = s.word(i)
		case t.kind == tokString:
			i = s.address(i)
		case t.kind == tokNum:
			if i > 0 && toks[i-1].is("<") && (t.text == "1" || t.text == "16") || i > 0 && toks[i-1].is(">") {
				s.b.WriteString(t.text) // :<<1, :>>16
				i++
				continue
			}
			i = s.address(i)
		case t.is("#"):
			i = s.immediate(i)
		case t.is("@"): // no instruction has one, and in a shape it means a target
			fail(t, "@ belongs to a symbol")
		default:
			s.b.WriteString(t.text)
			i++
		}
	}
	return s.b.String(), s.ops
}

// shaper collects the shape and the operands of an instruction. Its methods read what begins
// at token i and return the token after it.
type shaper struct {
	a    *assembler
	toks []token
	b    strings.Builder
	ops  []operand
}

func (s *shaper) add(o operand) {
	s.ops = append(s.ops, o)
	s.b.WriteByte(o.letter)
}

// at is token i, an empty one after the last.
func (s *shaper) at(i int) token {
	if i < len(s.toks) {
		return s.toks[i]
	}
	return token{}
}

// address reads the target of a branch: an expression without #.
func (s *shaper) address(i int) (next int) {
	o := operand{letter: '@', bare: true, at: s.toks[i]}
	o.val, next = s.a.expr(s.toks, i)
	s.add(o)
	return next
}

// immediate reads #n or ##n.
func (s *shaper) immediate(i int) (next int) {
	o := operand{letter: '#', at: s.toks[i]}
	i++
	if o.ext = s.at(i).is("#"); o.ext {
		i++
	}
	o.val, next = s.a.expr(s.toks, i)
	s.add(o)
	return next
}

// word reads a register, a pair, a word of a mnemonic, or an address that begins with a name.
func (s *shaper) word(i int) (next int) {
	t, ix := s.toks[i], index()
	word := t.text // mnemonics and registers may be written in capitals; names of symbols keep their case
	if !ix.words[strings.TrimPrefix(word, ".")] && !(strings.HasPrefix(word, ".") && (i == 0 || s.toks[i-1].kind == tokPunct)) {
		word = strings.ToLower(word) // but .Lo in loop0(.Lo,#2) is a label, .LO in r2.LO is not
	}
	named, next := namedRegisters[word], i+1
	if s.at(i+1).is(":") && named.letter == 0 {
		named, next = namedRegisters[word+":"+strings.ToLower(s.at(i+2).text)], i+3
	}
	if named.letter != 0 {
		named.at = t
		s.add(named)
		return next
	}
	if t.text == "gp" && s.at(i+1).is("+") || t.text == "vtmp" && s.at(i+1).text != ".new" { // literal words
		s.b.WriteString(t.text)
		return i + 1
	}
	if letter, n, ok := registerOf(word); ok {
		return s.register(i, operand{letter: letter, reg: n, at: t})
	}
	if ix.words[strings.TrimPrefix(word, ".")] && !expectsTarget(s.toks, i) && (word[0] != '.' || isSuffix(s.toks, i)) {
		s.b.WriteString(word)
		return i + 1
	}
	return s.address(i)
}

// pairLetters are the letters of pairs of registers by those of the registers.
var pairLetters = [256]byte{'R': 'D', 'V': 'W', 'C': 'X'}

// register adds a register, or the pair or quad that it begins: r1:0, v3:0.
func (s *shaper) register(i int, o operand) (next int) {
	pair := pairLetters[o.letter]
	low := s.at(i + 2)
	if pair == 0 || !s.at(i+1).is(":") || low.kind != tokNum {
		s.add(o)
		return i + 1
	}
	n, err := strconv.ParseUint(low.text, 10, 8)
	if err == nil && o.letter == 'V' && n+3 == uint64(o.reg) {
		if n&3 != 0 {
			fail(o.at, "vector quad %s:%s does not start at a multiple of 4", o.at.text, low.text)
		}
		o.reg, o.letter = uint8(n), 'Y'
		s.add(o)
		return i + 3
	}
	if err != nil || n+1 != uint64(o.reg) || n&1 != 0 {
		fail(o.at, "register pair %s:%s is not odd:even", o.at.text, low.text)
	}
	o.reg, o.letter = uint8(n), pair
	s.add(o)
	return i + 3
}

// isSuffix reports that ".h" belongs to the token before it: it is no label.
func isSuffix(toks []token, i int) bool {
	return i > 0 && toks[i].glued && (toks[i-1].kind == tokWord || toks[i-1].kind == tokNum || toks[i-1].is(")"))
}

// expectsTarget reports places where a word is the target of a branch or the start of a loop, whatever else it means: functions may be called abs.
func expectsTarget(toks []token, i int) bool {
	if i > 2 && toks[i-2].is(":") && (toks[i-1].text == "t" || toks[i-1].text == "nt") {
		i -= 2
	}
	if i > 1 && toks[i-1].is("(") && strings.Contains(toks[i-2].text, "loop") {
		return true
	}
	return i > 0 && (toks[i-1].text == "jump" || toks[i-1].text == "call")
}

// match finds the form of an instruction and fills its operands.
func (a *assembler) match(toks []token) (hexagon.Inst, []fixup) {
	s, ops := a.shape(toks)
	s, ops = a.respelled(s, ops)
	s = otherSpelling(s, func(s string) bool { return index().shapes[s] != nil })
	if in, ok := aliasOf(s, ops); ok {
		for i := range ops {
			if ops[i].val.open() {
				fail(ops[i].at, "number expected, not a symbol")
			}
		}
		return in, nil
	}
	if guard, hint, ok := strings.Cut(s, ")dealloc_return"); ok && strings.HasPrefix(s, "if(") && !strings.HasSuffix(s, ":raw") {
		s = guard + ")D=dealloc_return(R)" + hint + ":raw" // of the standard registers
		ops = append(ops, operand{letter: 'D', reg: 30, at: toks[0]}, operand{letter: 'R', reg: 30, at: toks[0]})
	}
	cands := candidates(s, ops)
	if at := max(strings.Index(s, "mem"), strings.Index(s, "dcfetch")); len(cands) == 0 && at >= 0 {
		if long, more, ok := zeroOffset(s, at, ops); ok { // memw(r1) is memw(r1+#0)
			s, ops = long, more
			cands = candidates(s, ops)
		}
	}
	if len(cands) == 0 {
		for _, t := range toks {
			if t.kind == tokWord && index().privileged[strings.ToLower(t.text)] {
				fail(t, "%s is an instruction of supervisors", t.text)
			}
		}
		fail(toks[0], "no instruction has the form %s", s)
	}
	var firstErr error
	for _, op := range cands {
		in, fix, err := a.fill(op, ops)
		if err == nil {
			return in, fix
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	try.E(firstErr)
	return hexagon.Inst{}, nil
}

// zeroOffset spells out the offset of a memory operand without one.
func zeroOffset(s string, at int, ops []operand) (string, []operand, bool) {
	open := strings.IndexByte(s[at:], '(')
	if open < 0 || !strings.HasPrefix(s[at+open:], "(R)") {
		return "", nil, false
	}
	k := 0 // operand that is the address
	for _, c := range []byte(s[:at+open]) {
		if strings.IndexByte(operandLetters, c) >= 0 {
			k++
		}
	}
	if k >= len(ops) {
		return "", nil, false
	}
	more := append([]operand{}, ops[:k+1]...)
	more = append(more, operand{letter: '#', at: ops[k].at})
	more = append(more, ops[k+1:]...)
	return s[:at+open] + "(R+#)" + s[at+open+3:], more, true
}

// candidates looks the shape up; a branch target written #n and a modifier register moved as a control register are
// spelled alike but shaped otherwise.
func candidates(s string, ops []operand) []hexagon.Op {
	ix := index()
	if c := ix.shapes[s]; len(c) > 0 {
		return c
	}
	k := 0
	b := []byte(s)
	for i := range b {
		if !strings.ContainsRune(operandLetters, rune(b[i])) {
			continue
		}
		if k >= len(ops) || b[i] != ops[k].letter {
			continue
		}
		old := b[i]
		if old == '#' {
			b[i] = '@'
		}
		if old == 'M' {
			b[i] = 'C'
		}
		if b[i] != old {
			if c := ix.shapes[string(b)]; len(c) > 0 {
				return c
			}
			b[i] = old
		}
		k++
	}
	return nil
}

func (a *assembler) fill(op hexagon.Op, ops []operand) (hexagon.Inst, []fixup, error) {
	f := op.Form()
	in := hexagon.Inst{Op: op}
	var fix []fixup
	if hexagon.WritesP3Late(op) {
		if ops[0].reg != 3 {
			return in, nil, errorf(ops[0].at, "the loop predicate is p3")
		}
		ops = ops[1:]
	}
	k := 0
	for i := 0; i < len(f.Template); i++ {
		fixed, n := int64(0), 0
		if f.Template[i] < 0x80 {
			if fixed, n = fixedImm(f.Template[i:]); n == 0 {
				continue
			}
		}
		if k >= len(ops) {
			return in, nil, errorf(ops[0].at, "too few operands for %s", f.Syntax)
		}
		if n > 0 {
			if x := &ops[k].val; x.open() || x.add != fixed {
				return in, nil, errorf(ops[k].at, "only #%d can stand here", fixed)
			}
			i += n
			k++
			continue
		}
		o := &f.Operands[f.Template[i]-0x80]
		x := ops[k]
		k++
		if o.Kind != hexagon.KindImm {
			repeat := strings.IndexByte(f.Template[:i], f.Template[i]) >= 0
			if err := a.fillRegister(&in, o, &x, repeat); err != nil {
				return in, nil, err
			}
			continue
		}
		if x.bare && !o.PCRel {
			return in, nil, errorf(x.at, "immediate operands start with #")
		}
		if x.ext && !o.Extendable {
			return in, nil, errorf(x.at, "immediate of %s cannot be extended", f.Syntax)
		}
		in.Ext = in.Ext || x.ext || x.val.late && o.Extendable && !o.PCRel
		if x.bare && a.opt.Addresses || x.val.open() {
			// Branches grow when they turn out too short; other forms get an extender for a symbol at once, as in LLVM.
			in.Ext = in.Ext || !o.PCRel && o.Extendable
			fix = append(fix, fixup{imm: int(o.Index), value: x.val, at: x.at})
			continue
		}
		if x.val.add < -1<<31 || x.val.add >= 1<<32 {
			return in, nil, errorf(x.at, "immediate does not fit 32 bits")
		}
		in.Imm[o.Index] = int32(uint32(x.val.add))
		if v := in.Imm[o.Index]; !o.Fits(v) && (!o.Extendable || !in.Ext && (v&(1<<o.Scale-1) != 0 || strings.Contains(f.Template, "gp+"))) {
			return in, nil, errorf(x.at, "immediate %d does not fit %s", x.val.add, o.ImmType()) // extended it would mean something else
		}
	}
	in.Ext = in.Ext || op.Form().Has(hexagon.FlagExtended)
	if k != len(ops) {
		return in, nil, errorf(ops[k].at, "too many operands for %s", f.Syntax)
	}
	if err := in.Valid(); err != nil {
		return in, nil, errorf(ops[0].at, "%s", err)
	}
	return in, fix, nil
}

// fillRegister fills in operand o, which repeats one of in or is new.
func (a *assembler) fillRegister(in *hexagon.Inst, o *hexagon.OperandSpec, x *operand, repeat bool) error {
	r := x.reg
	if x.letter == 'M' && o.Kind == hexagon.KindC {
		r += hexagon.CtrlM0
	}
	if repeat && in.R[o.Index] != r {
		return errorf(x.at, "%s names one register twice", in.Op.Form().Syntax)
	}
	if o.Low8 && r > 7 {
		return errorf(x.at, "only registers 0 to 7 can stand here")
	}
	if o.Kind == hexagon.KindMImm {
		in.Imm[o.Index] = int32(r)
	} else {
		in.R[o.Index] = r
	}
	return nil
}
