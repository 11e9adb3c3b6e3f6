package asm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// LLVM reads operands as lists of tokens: blanks mean nothing, registers and offsets may be expressions, modifiers of
// sources are signs or functions. The instruction reader of package rdna2 reads what its disassembler prints. A speller
// writes the first as the second:
//
//	v_add_f64 v [N+2 : N+3], - abs( [v0,v1] ), 2*4, clamp    v_add_f64 v[6:7], -|v[0:1]|, 8 clamp
//	s_waitcnt vmcnt( 1 ) & lgkmcnt(0)                        s_waitcnt vmcnt(1) lgkmcnt(0)
//
// Expressions of symbols that are not known yet stay as they are, for substitute.
type speller struct {
	tokens   []string
	at       int
	depth    int
	evaluate func(expr string) (int64, bool)
}

// spell is the text of an instruction as package rdna2 reads it.
func (a *assembler) spell(word, rest string) string {
	s := speller{tokens: tokens(rest), evaluate: a.evaluate}
	word = strings.ToLower(word)
	if word == "s_waitcnt" {
		rest = s.counters()
	} else {
		rest = strings.Join(s.items(), ", ")
	}
	return strings.TrimSpace(word + " " + rest)
}

// evaluate is the number of an expression whose symbols are known.
func (a *assembler) evaluate(expr string) (n int64, ok bool) {
	err := func() (err error) {
		defer try.Catch(&err)
		n, ok = a.constant(a.parse(expr))
		return nil
	}()
	return n, ok && err == nil
}

// twoByte are the operators of two bytes.
var twoByte = []string{"<<", ">>", "==", "!=", "<>", "<=", ">=", "&&"}

// tokens splits operands into names, numbers, strings and signs.
func tokens(s string) []string {
	var out []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		n := 1
		switch {
		case s[0] == '"':
			n = strings.IndexByte(s[1:], '"') + 2
		case s[0] == '\'' && len(s) > 2 && s[2] == '\'':
			n = 3
		case isName(s[0]):
			n = wordLength(s)
		case len(s) > 1 && slices.Contains(twoByte, s[:2]):
			n = 2
		}
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

// wordLength is the length of the name or number that s begins with; the exponent of a number has a sign.
func wordLength(s string) int {
	n := 1
	number := isNumber(s[:1]) || s[0] == '.' && len(s) > 1 && isNumber(s[1:2])
	exponents := "eE"
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		exponents = "pP"
	}
	for n < len(s) && (isName(s[n]) || s[n] == '@' ||
		number && (s[n] == '+' || s[n] == '-') && strings.IndexByte(exponents, s[n-1]) >= 0 && n+1 < len(s) && isNumber(s[n+1:n+2])) {
		n++
	}
	return n
}

// peek is the token i places ahead, empty behind the last.
func (s *speller) peek(i int) string {
	if s.at+i < len(s.tokens) {
		return s.tokens[s.at+i]
	}
	return ""
}

// accept passes over a token if it is the one.
func (s *speller) accept(t string) bool {
	if s.peek(0) != t || t == "" {
		return false
	}
	s.at++
	return true
}

// expect passes over a token that must be there.
func (s *speller) expect(t string) {
	if !s.accept(t) {
		fail("%s, want %q", s.found(), t)
	}
}

func (s *speller) found() string {
	if s.at >= len(s.tokens) {
		return "the operands end early"
	}
	return fmt.Sprintf("found %q", s.tokens[s.at])
}

// flags are the modifiers without a value.
var flags = []string{"clamp", "glc", "slc", "dlc", "gds", "lds", "tfe", "offen", "idxen", "row_mirror", "row_half_mirror"}

// items are the operands, each followed by the modifiers behind it.
func (s *speller) items() []string {
	var items []string
	for s.at < len(s.tokens) {
		word := s.peek(0)
		switch {
		case isName(word[0]) && s.peek(1) == ":":
			items = attach(items, s.modifier())
		case slices.Contains(flags, word) || slices.Contains(flags, strings.TrimPrefix(word, "no")):
			s.at++
			items = attach(items, word)
		default:
			items = append(items, s.operand())
		}
		if s.accept(",") && s.at == len(s.tokens) {
			fail("an operand is missing behind the last comma")
		}
	}
	return items
}

// attach adds a modifier to the last operand.
func attach(items []string, modifier string) []string {
	if len(items) == 0 {
		return []string{modifier}
	}
	items[len(items)-1] += " " + modifier
	return items
}

// modifier reads name:value.
func (s *speller) modifier() string {
	name := s.peek(0)
	s.at += 2
	switch first := s.peek(0); {
	case first == "[":
		s.at++
		return name + ":[" + strings.Join(s.list("]"), ",") + "]"
	case first == "swizzle" && s.peek(1) == "(":
		s.at += 2
		return name + ":swizzle(" + strings.Join(s.list(")"), ",") + ")"
	}
	return name + ":" + s.expression(true)
}

// list reads expressions and words up to the sign that ends them.
func (s *speller) list(end string) []string {
	var out []string
	for !s.accept(end) {
		if len(out) > 0 {
			s.expect(",")
		}
		if t := s.peek(0); strings.HasPrefix(t, `"`) {
			s.at++
			out = append(out, t)
			continue
		}
		out = append(out, s.expression(true))
	}
	return out
}

// operand reads a register, a constant or an expression, with the modifiers of a source.
func (s *speller) operand() string {
	if s.depth++; s.depth > maxExprDepth {
		fail("operand is nested too deeply")
	}
	defer func() { s.depth-- }()
	word := s.peek(0)
	if s.peek(1) == "(" {
		switch word {
		case "neg", "abs", "sext", "lit":
			s.at += 2
			x := s.operand()
			s.expect(")")
			return wrap(word, x)
		case "hwreg":
			s.at += 2
			return "hwreg(" + strings.Join(s.list(")"), ", ") + ")"
		}
	}
	switch next := s.peek(1); {
	case word == "|":
		s.at++
		x := s.bare(false)
		s.expect("|")
		return wrap("abs", x)
	case word == "-" && (next == "|" || next == "abs" || next == "[" || s.isRegister(1)):
		s.at++
		return wrap("neg", s.operand())
	case word == "{":
		s.at++
		return s.fields()
	}
	return s.bare(true)
}

// wrap is a source with a modifier; the negative of an absolute value is -|x|.
func wrap(modifier, x string) string {
	register := rdna2.IsRegister(strings.Trim(x, "|"))
	switch {
	case modifier == "lit":
		return x
	case modifier == "sext":
		return "sext(" + x + ")"
	case strings.HasPrefix(x, "-") && modifier == "neg" && !strings.HasPrefix(x, "-|") && !rdna2.IsRegister(x[1:]):
		return "neg(" + x + ")"
	case strings.HasPrefix(x, "-") && (strings.HasPrefix(x, "-|") || rdna2.IsRegister(x[1:])), strings.HasPrefix(x, "neg("), modifier == "abs" && strings.HasPrefix(x, "|"):
		fail("%s of %s: the negative of an absolute value is written -|x|", modifier, x)
	case modifier == "abs":
		return "|" + x + "|"
	case register || strings.HasPrefix(x, "|"):
		return "-" + x
	}
	return "neg(" + x + ")"
}

// bare reads a source without modifiers; bars says whether | is an operator in it.
func (s *speller) bare(bars bool) string {
	if word := s.peek(0); s.isRegister(0) {
		s.at++
		if s.peek(0) != "[" {
			return word
		}
		s.at++
		first, last := s.index(), int64(0)
		if last = first; s.accept(":") {
			last = s.index()
		}
		s.expect("]")
		return tuple(word, first, last)
	}
	if s.accept("[") {
		return registerList(s.list("]"))
	}
	return s.expression(bars)
}

// files are the names of the register files.
var files = []string{"v", "s", "ttmp"}

// isRegister reports whether the token i places ahead names a register, or a file before an index.
func (s *speller) isRegister(i int) bool {
	word := s.peek(i)
	return rdna2.IsRegister(word) || slices.Contains(files, word) && s.peek(i+1) == "["
}

// index reads the number of a register.
func (s *speller) index() int64 {
	text := s.expression(true)
	n, ok := s.evaluate(text)
	if !ok {
		fail("%s is no number of a register", text)
	}
	return n
}

// tuple is the text of registers first to last.
func tuple(file string, first, last int64) string {
	if first == last {
		return file + strconv.FormatInt(first, 10)
	}
	return fmt.Sprintf("%s[%d:%d]", file, first, last)
}

// registerList is the text of a list of consecutive registers, as [v1,v2].
func registerList(list []string) string {
	text := "[" + strings.Join(list, ",") + "]"
	switch text {
	case "[vcc_lo,vcc_hi]":
		return "vcc"
	case "[exec_lo,exec_hi]":
		return "exec"
	}
	if len(list) == 0 || !rdna2.IsRegister(list[0]) {
		fail("%s is no list of registers", text)
	}
	if len(list) == 1 {
		return list[0]
	}
	file := strings.TrimRight(list[0], "0123456789")
	first, err := strconv.ParseInt(list[0][len(file):], 10, 32)
	for i, r := range list {
		if err != nil || r != tuple(file, first+int64(i), first+int64(i)) {
			fail("%s is no list of consecutive registers", text)
		}
	}
	return tuple(file, first, first+int64(len(list))-1)
}

// fields reads {id: 1, offset: 2, size: 3}, the bits of a hardware register.
func (s *speller) fields() string {
	names := []string{"id", "offset", "size"}
	values := []string{"0", "0", "32"}
	for i := 0; !s.accept("}"); i++ {
		if i > 0 {
			s.expect(",")
		}
		n := slices.Index(names, s.peek(0))
		if n < 0 {
			fail("%s, want id, offset or size", s.found())
		}
		s.at++
		s.expect(":")
		values[n] = s.expression(true)
	}
	return "hwreg(" + strings.Join(values, ", ") + ")"
}

// infix are the operators between the parts of an expression.
var infix = []string{"+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "==", "!=", "<>", "<", ">", "<=", ">="}

// expression reads an expression and returns its number if it has one, its text otherwise. Single words and numbers
// stay as they are, since what a number means depends on the instruction.
func (s *speller) expression(bars bool) string {
	start := s.at
	s.skipBinary(bars)
	t := s.tokens[start:s.at]
	text := strings.Join(t, "")
	if len(t) == 2 && t[0] == "-" {
		return "-" + plainNumber(t[1])
	}
	if len(t) == 1 && isNumber(text[:1]) && !isLocalRef(text) {
		return plainNumber(text)
	}
	if len(t) == 1 && text[0] == '.' && len(text) > 1 && isNumber(text[1:2]) {
		return text
	}
	if n, ok := s.evaluate(text); ok {
		return strconv.FormatInt(n, 10)
	}
	return text
}

// plainNumber writes octal and binary integers as decimal ones.
func plainNumber(t string) string {
	t = strings.Replace(strings.Replace(t, "0X", "0x", 1), "0B", "0b", 1)
	if len(t) > 1 && t[0] == '0' && !strings.HasPrefix(t, "0x") && !strings.ContainsAny(t, "_.") {
		if n, err := strconv.ParseUint(t, 0, 64); err == nil {
			return strconv.FormatUint(n, 10)
		}
	}
	return t
}

// skipBinary passes over an expression.
func (s *speller) skipBinary(bars bool) {
	if s.depth++; s.depth > maxExprDepth {
		fail("expression is nested too deeply")
	}
	defer func() { s.depth-- }()
	for {
		for slices.Contains([]string{"-", "+", "~", "!"}, s.peek(0)) {
			s.at++
		}
		s.skipPrimary()
		op := s.peek(0)
		if !slices.Contains(infix, op) || op == "|" && !bars {
			return
		}
		s.at++
	}
}

// skipPrimary passes over a number, a symbol, a function's call or a parenthesis.
func (s *speller) skipPrimary() {
	word := s.peek(0)
	switch {
	case word == "(":
		s.at++
		s.skipBinary(true)
		s.expect(")")
	case word != "" && (isName(word[0]) || word[0] == '\''):
		s.at++
		if isName(word[0]) && s.accept("(") {
			s.list(")")
		}
	default:
		fail("%s, want an operand", s.found())
	}
}

// saturating are the counters of s_waitcnt and their largest values; a value of name_sat above them is the largest.
var saturating = map[string]int64{"vmcnt_sat": rdna2.MaxVM, "expcnt_sat": rdna2.MaxExp, "lgkmcnt_sat": rdna2.MaxLGKM}

// counters reads the counters of s_waitcnt, which blanks, commas or & part, or a number.
func (s *speller) counters() string {
	if len(s.tokens) < 2 || s.tokens[1] != "(" || !strings.Contains(s.tokens[0], "cnt") {
		return strings.Join(s.items(), ", ")
	}
	var out []string
	for {
		name := s.peek(0)
		if name == "" || !isName(name[0]) {
			fail("%s, want a counter", s.found())
		}
		s.at++
		s.expect("(")
		value := s.expression(true)
		s.expect(")")
		if most, ok := saturating[name]; ok {
			n, ok := s.evaluate(value)
			if !ok || n < 0 {
				fail("%s(%s) is no count", name, value)
			}
			name, value = strings.TrimSuffix(name, "_sat"), strconv.FormatInt(min(n, most), 10)
		}
		out = append(out, name+"("+value+")")
		parted := s.accept(",") || s.accept("&")
		if s.at == len(s.tokens) && !parted {
			return strings.Join(out, " ")
		}
	}
}
