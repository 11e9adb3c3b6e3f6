package asm

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
)

// Error is a mistake in a source.
type Error struct {
	Line int // from 1
	Msg  string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// maxBytes bounds the size of an assembled source.
const maxBytes = 64 << 20

// Assemble reads a source. Errors are *Error.
func Assemble(src string) (*codeobject.Unit, error) {
	a := &assembler{symbols: map[string]int{}, numbered: map[string]int{}, macros: map[string]*macro{}, types: map[string]string{}}
	a.unit.Symbols = append(a.unit.Symbols, codeobject.UnitSymbol{Section: codeobject.Undefined})
	a.section(".text", sectionKinds[".text"])
	if err := a.assemble(src); err != nil {
		return nil, &Error{a.line, err.Error()}
	}
	return &a.unit, nil
}

// assemble reads a source, whose line an error is of.
func (a *assembler) assemble(src string) (err error) {
	defer try.Catch(&err)
	a.run(src)
	a.resolve()
	return nil
}

// fail ends the assembly with an error.
func fail(format string, args ...any) { try.E(fmt.Errorf(format, args...)) }

type assembler struct {
	unit     codeobject.Unit
	cur      int // section
	line     int
	total    int
	symbols  map[string]int // index into unit.Symbols
	numbered map[string]int // times a numbered label was defined
	types    map[string]string
	fixups   []fixup
	kernel   *kernel // .amdhsa_kernel that is open
	yaml     []string
	inYAML   bool

	macros map[string]*macro
	depth  int
	text   int // bytes of text that macros became
	uses   int
}

// fixup is a place that is filled when all symbols are known.
type fixup struct {
	section int
	offset  uint64
	size    int // of data: 1, 2, 4, 8
	branch  bool
	expr    value
	line    int
}

// statement handles one line without comments.
func (a *assembler) statement(s string) {
	for {
		s = strings.TrimSpace(s)
		name, rest, ok := cutLabel(s)
		if !ok {
			break
		}
		a.label(name)
		s = rest
	}
	if s == "" {
		return
	}
	if name, expr, ok := cutAssign(s); ok {
		a.assign(name, expr, false)
		return
	}
	word, rest, _ := strings.Cut(s, " ")
	if i := strings.IndexByte(word, '\t'); i >= 0 {
		word, rest = s[:i], s[i+1:]
	}
	rest = strings.TrimSpace(rest)
	if word[0] == '.' {
		a.directive(word, rest)
		return
	}
	a.instruction(word, rest)
}

// cutLabel splits "name: rest".
func cutLabel(s string) (name, rest string, ok bool) {
	n := 0
	if len(s) > 1 && s[0] == '"' {
		if i := strings.IndexByte(s[1:], '"'); i > 0 && i+2 < len(s) && s[i+2] == ':' {
			return s[1 : i+1], s[i+3:], true
		}
		return "", "", false
	}
	for n < len(s) && isName(s[n]) {
		n++
	}
	if n == 0 || n == len(s) || s[n] != ':' {
		return "", "", false
	}
	return s[:n], s[n+1:], true
}

// cutAssign splits "name = expression".
func cutAssign(s string) (name, expr string, ok bool) {
	n := 0
	for n < len(s) && isName(s[n]) {
		n++
	}
	rest := strings.TrimSpace(s[n:])
	if n == 0 || !strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "==") {
		return "", "", false
	}
	return s[:n], strings.TrimSpace(rest[1:]), true
}

func isName(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// symbol is the index of a symbol, made when it is new.
func (a *assembler) symbol(name string) int {
	i, ok := a.symbols[name]
	if !ok {
		i = len(a.unit.Symbols)
		a.symbols[name] = i
		a.unit.Symbols = append(a.unit.Symbols, codeobject.UnitSymbol{Symbol: codeobject.Symbol{Name: name}, Section: codeobject.Undefined})
	}
	return i
}

func (a *assembler) label(name string) {
	if isNumber(name) {
		a.numbered[name]++
		name = numberedName(name, a.numbered[name])
	}
	s := &a.unit.Symbols[a.symbol(name)]
	if s.Section != codeobject.Undefined {
		fail("symbol %s is defined twice", name)
	}
	s.Section, s.Addr = a.cur, uint64(len(a.here().Data))
}

// numberedName is the hidden name of the n-th label of a number.
func numberedName(number string, n int) string { return fmt.Sprintf("\x00%s.%d", number, n) }

func (a *assembler) here() *codeobject.Section { return &a.unit.Sections[a.cur] }

// emit appends bytes to the section.
func (a *assembler) emit(b ...byte) {
	if a.total += len(b); a.total > maxBytes {
		fail("more than %d bytes of code and data", maxBytes)
	}
	s := a.here()
	s.Data = append(s.Data, b...)
}

// placeholder is a literal that no inline constant replaces.
const placeholder = 0x7FFF1234

// instruction assembles one instruction, with wave32's or wave64's masks: the
// encoding is the same.
func (a *assembler) instruction(word, rest string) {
	if !a.here().Exec {
		fail("instruction %s in section %s, which holds no code", word, a.here().Name)
	}
	if len(a.here().Data)%4 != 0 {
		fail("instruction %s at an address that is no multiple of 4", word)
	}
	text := a.spell(word, rest)
	in, err := assembleAny(text)
	var fix *fixup
	if word, rest, ok := strings.Cut(text, " "); ok && err != nil {
		sub, expr := a.substitute(word, rest)
		if sub != rest {
			in, err = assembleAny(word + " " + sub)
			fix = expr
		}
	}
	if err != nil {
		fail("%s", cleanError(err, text))
	}
	start := uint64(len(a.here().Data))
	b, err := in.Encode(nil)
	if err != nil {
		fail("%s", cleanError(err, text))
	}
	if fix != nil {
		fix.section, fix.offset, fix.line = a.cur, start, a.line
		if !fix.branch {
			at := slices.Index(wordsOf(b), placeholder)
			if at < 0 {
				fail("%s takes no literal, so no address", word)
			}
			fix.offset += uint64(4 * at)
		}
		a.fixups = append(a.fixups, *fix)
	}
	s := a.here()
	s.Lines = append(s.Lines, codeobject.Line{Addr: start, Line: a.line})
	a.emit(b...)
}

func wordsOf(b []byte) []uint32 {
	var out []uint32
	for ; len(b) >= 4; b = b[4:] {
		out = append(out, binary.LittleEndian.Uint32(b))
	}
	return out
}

func assembleAny(text string) (rdna2.Inst, error) {
	in, err := rdna2.Assemble(text, false)
	if err != nil {
		if wide, werr := rdna2.Assemble(text, true); werr == nil {
			return wide, nil
		}
	}
	return in, err
}

// cleanError drops the part of an error that the caller adds anyway.
func cleanError(err error, text string) string {
	msg := strings.TrimPrefix(err.Error(), "rdna2: ")
	return strings.Replace(msg, fmt.Sprintf("assemble %q", text), text, 1)
}

// substitute replaces the operands that are expressions: by their
// value when it is known, else one of them by a placeholder that is fixed up.
func (a *assembler) substitute(word, rest string) (string, *fixup) {
	items := splitOperands(rest)
	branch := strings.HasPrefix(word, "s_branch") || strings.HasPrefix(word, "s_cbranch") || strings.HasPrefix(word, "s_call_b64") || strings.HasPrefix(word, "s_subvector")
	var fix *fixup
	for i, item := range items {
		expr, tail, ok := a.operandExpr(item)
		if !ok {
			continue
		}
		v := a.parse(expr)
		if n, ok := a.constant(v); ok {
			items[i] = fmt.Sprint(n) + tail
			continue
		}
		if fix != nil {
			fail("two operands of %s are addresses", word)
		}
		fix = &fixup{size: 4, branch: branch, expr: v}
		items[i] = fmt.Sprint(placeholder) + tail
		if branch {
			items[i] = "0"
		}
	}
	return strings.Join(items, ", "), fix
}

// splitOperands splits at commas outside brackets and parentheses.
func splitOperands(s string) []string {
	var out []string
	depth, start := 0, 0
	quoted := false
	for i := range len(s) {
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
	}
	return append(out, strings.TrimSpace(s[start:]))
}

// operandExpr reports whether an operand is an expression, with a symbol in it or an operation
// of integers, and splits modifiers off.
func (a *assembler) operandExpr(item string) (expr, tail string, ok bool) {
	names, integers := 0, 0
	depth := 0
	for i := 0; i < len(item); {
		c := item[i]
		switch {
		case isName(c):
			n := i
			for n < len(item) && (isName(item[n]) || item[n] == '@') {
				n++
			}
			if name := item[i:n]; !isNumber(name[:1]) || isLocalRef(name) {
				base, _, at := strings.Cut(name, "@")
				if _, known := a.symbols[base]; !known && !at && !isLocalRef(name) && !a.forward(base) {
					return "", "", false
				}
				names++
			} else if _, err := strconv.ParseInt(name, 0, 64); err == nil {
				integers++
			} else {
				return "", "", false
			}
			i = n
		case c == '(':
			depth++
			i++
		case c == ')':
			depth--
			i++
		case c == ' ' || c == '\t':
			// A space before a name that is no operator's operand begins the modifiers.
			if rest := strings.TrimSpace(item[i:]); depth == 0 && rest != "" && isName(rest[0]) && !strings.ContainsRune("+-*/|&<>~", rune(lastByte(item[:i]))) {
				return item[:i], item[i:], names > 0 || integers > 1
			}
			i++
		case strings.IndexByte("+-*/%~<>|&^", c) >= 0:
			i++
		default:
			return "", "", false
		}
	}
	return item, "", (names > 0 || integers > 1) && depth == 0
}

func lastByte(s string) byte {
	s = strings.TrimRight(s, " \t")
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

// isLocalRef reports a reference to a numbered label, as 1b or 2f.
func isLocalRef(s string) bool {
	return len(s) > 1 && (s[len(s)-1] == 'b' || s[len(s)-1] == 'f') && isNumber(s[:len(s)-1])
}

// forward reports whether a name can be a label defined later: neither register nor constant.
func (a *assembler) forward(name string) bool {
	return strings.HasPrefix(name, ".L") || strings.HasPrefix(name, "BB") || strings.HasPrefix(name, "L_") || a.later(name)
}

// resolve fills in the operands that waited for symbols, and makes relocations of the rest.
func (a *assembler) resolve() {
	if a.kernel != nil {
		fail(".amdhsa_kernel %s has no .end_amdhsa_kernel", a.kernel.name)
	}
	if a.inYAML {
		fail(".amdgpu_metadata has no .end_amdgpu_metadata")
	}
	for name, typ := range a.types {
		if i, ok := a.symbols[name]; ok {
			a.unit.Symbols[i].Func = typ == "function"
		}
	}
	for i := range a.fixups {
		f := &a.fixups[i]
		a.line = f.line
		a.fill(f)
	}
	for i := range a.unit.Symbols {
		// Labels of the assembler's own are no symbols of the file.
		if s := &a.unit.Symbols[i]; strings.HasPrefix(s.Name, "\x00") || strings.HasPrefix(s.Name, ".L") {
			s.Name = ""
		}
	}
}

func (a *assembler) fill(f *fixup) {
	data := a.unit.Sections[f.section].Data[f.offset:]
	v := a.fold(f.expr)
	if f.branch {
		a.fillBranch(f, data, v)
		return
	}
	if v.plus == "" && v.minus == "" {
		putInt(data, f.size, v.add)
		return
	}
	if v.minus != "" {
		// A difference of two places of one section.
		p, m := a.place(v.plus), a.place(v.minus)
		if p == nil || m == nil || p.Section != m.Section {
			fail("%s - %s is no constant", v.plus, v.minus)
		}
		putInt(data, f.size, v.add+int64(p.Addr-m.Addr))
		return
	}
	typ, ok := relocTypes[v.variant]
	switch {
	case !ok:
		fail("unknown relocation @%s", v.variant)
	case v.variant == "" && f.size == 8:
		typ = codeobject.RelAbs64
	case v.variant == "rel64" && f.size == 8:
	case f.size != 4:
		fail("an address in %d bytes", f.size)
	}
	a.unit.Relocs = append(a.unit.Relocs, codeobject.Reloc{Section: f.section, Offset: f.offset, Type: typ, Symbol: a.symbol(v.plus), Addend: v.add})
}

var relocTypes = map[string]uint32{
	"": codeobject.RelAbs32, "rel32": codeobject.RelRel32, "rel32@lo": codeobject.RelRel32Lo, "rel32@hi": codeobject.RelRel32Hi, "rel64": codeobject.RelRel64,
	"gotpcrel32@lo": codeobject.RelGOTLo, "gotpcrel32@hi": codeobject.RelGOTHi, "abs32@lo": codeobject.RelAbs32Lo, "abs32@hi": codeobject.RelAbs32Hi,
}

func (a *assembler) fillBranch(f *fixup, data []byte, v value) {
	if v.plus == "" || v.minus != "" {
		fail("a branch goes to a label")
	}
	p := a.place(v.plus)
	if p == nil || p.Section != f.section {
		a.unit.Relocs = append(a.unit.Relocs, codeobject.Reloc{Section: f.section, Offset: f.offset, Type: codeobject.RelRel16, Symbol: a.symbol(v.plus), Addend: v.add})
		return
	}
	d := int64(p.Addr) + v.add - int64(f.offset) - 4
	if d%4 != 0 || d/4 < -32768 || d/4 > 32767 {
		fail("branch to %s over %d bytes", v.plus, d)
	}
	binary.LittleEndian.PutUint16(data, uint16(d/4))
}

// place is a symbol that is a place of a section.
func (a *assembler) place(name string) *codeobject.UnitSymbol {
	if i, ok := a.symbols[name]; ok && a.unit.Symbols[i].Section >= 0 {
		return &a.unit.Symbols[i]
	}
	return nil
}

func putInt(b []byte, size int, v int64) {
	if size < 8 && (v < -1<<(8*size-1) || v >= 1<<(8*size)) {
		fail("%d does not fit %d bytes", v, size)
	}
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], uint64(v))
	copy(b, w[:size])
}
