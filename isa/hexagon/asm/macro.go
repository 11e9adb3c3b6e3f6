package asm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/internal/try"
)

// Macros, repetitions and conditions: they decide which statements the assembler reads. The rules are those of llvm-mc
// for ELF. A body is kept as text until it is used; its expansion is a separate source, so that a packet may begin in
// one macro and end in another.

// Limits of sources inside the source.
const (
	maxAsmNesting  = 64       // macros and repetitions in each other
	maxAsmExpanded = 64 << 20 // bytes of text that macros and repetitions become
)

// source is a source of statements: the file, or a body. The assembler holds the innermost in toks and pos.
type source struct {
	toks  []token
	pos   int
	more  int64 // times to read it again
	conds int   // conditions open where it began
	name  string
	line  int // of its use
}

// macro is a .macro.
type macro struct {
	params []macroParam
	body   token
}

type macroParam struct {
	name, value   string
	required, all bool // all: the rest of the line
}

// condition is an open .if.
type condition struct {
	taken, last bool // a branch of it was taken; .else has been read
	at          token
}

// bodies are the directives that a body follows, with the directive that ends it.
var bodies = map[string]string{".macro": ".endm", ".rept": ".endr", ".rep": ".endr", ".irp": ".endr", ".irpc": ".endr"}

// controls are the directives of this file. They may occur inside a packet.
var controls map[string]func(a *assembler, t token)

func init() {
	unmatched := func(a *assembler, t token) { fail(t, "%s ends nothing", t.text) }
	controls = map[string]func(a *assembler, t token){
		".macro": defineMacro, ".purgem": purgeMacro, ".exitm": exitMacro, ".endm": unmatched, ".endmacro": unmatched,
		".rept": repeat, ".rep": repeat, ".irp": repeatFor, ".irpc": repeatFor, ".endr": unmatched,
		".else": otherwise, ".elseif": otherwise, ".endif": endIf,
		".set": assign, ".equ": assign, ".equiv": assign,
	}
	for name := range conditions {
		controls[name] = ifs
	}
}

// bodyEnd finds where a body that begins at s ends: the text before the directive that ends it, and after it.
func bodyEnd(s, directive string) (end, next int, ok bool) {
	depth := 1
	for i := 0; i < len(s); {
		word := strings.TrimLeft(s[i:], " \t\r")
		at := len(s) - len(word)
		n := 0
		for n < len(word) && wordByte(word[n]) {
			n++
		}
		switch word = strings.ToLower(word[:n]); {
		case bodies[word] == bodies[directive]:
			depth++
		case word == bodies[directive] || word == ".endmacro" && directive == ".macro":
			if depth--; depth == 0 {
				return at, at + n, true
			}
		}
		n = strings.IndexAny(s[i:], "\n;")
		if n < 0 {
			break
		}
		i += n + 1
	}
	return 0, 0, false
}

// control reads a directive of this file or the use of a macro, or leaves a body that has ended.
func (a *assembler) control(t token) bool {
	if t.kind == tokEOF && len(a.outer) > 0 {
		a.leave()
		return true
	}
	if t.kind != tokWord {
		return false
	}
	if t.text[0] == '.' {
		t.text = strings.ToLower(t.text)
		f := controls[t.text]
		if f == nil {
			return false
		}
		a.pos++
		f(a, t)
		return true
	}
	if len(a.macros) == 0 {
		return false
	}
	from := a.pos
	name := a.name()
	m := a.macros[name.text]
	if m == nil || a.peek().is(":") {
		a.pos = from
		return false
	}
	a.use(m, name)
	return true
}

// endLine demands the end of a statement, and that it has a body if there must be one.
func (a *assembler) endLine(t token) {
	if n := a.peek(); !n.ends() {
		fail(n, "%q after %s", n.text, t.text)
	}
}

// body reads the body of the directive t.
func (a *assembler) body(t token) token {
	a.endLine(t)
	if a.peek().kind != tokEOF {
		a.pos++
	}
	b := a.peek()
	if b.kind != tokBody {
		fail(t, "%s without %s", t.text, bodies[t.text])
	}
	a.pos++
	return b
}

// enter reads toks n times before the rest.
func (a *assembler) enter(toks []token, n int64, at token) {
	if len(a.outer) >= maxAsmNesting {
		fail(at, "%s nests too deep", at.text)
	}
	a.outer = append(a.outer, source{toks: a.toks, pos: a.pos, more: a.more, conds: a.base, name: at.text, line: at.line})
	a.toks, a.pos, a.more, a.base = toks, 0, n-1, len(a.conds)
}

// enterText is enter for text that begins at a line.
func (a *assembler) enterText(text string, line int, n int64, at token) {
	if n <= 0 {
		return
	}
	if a.expanded += len(text); a.expanded > maxAsmExpanded {
		fail(at, "macros and repetitions become more than %d bytes", maxAsmExpanded)
	}
	toks := try.V(a.lex(text, line))
	a.enter(toks, n, at)
}

// leave ends a body, or begins it again.
func (a *assembler) leave() {
	if len(a.conds) > a.base {
		a.unclosed()
	}
	if a.more > 0 {
		a.more--
		a.pos = 0
		return
	}
	a.drop()
}

func (a *assembler) drop() {
	n := len(a.outer) - 1
	s := &a.outer[n]
	a.toks, a.pos, a.more, a.base = s.toks, s.pos, s.more, s.conds
	*s = source{}
	a.outer = a.outer[:n]
}

func (a *assembler) unclosed() {
	fail(a.conds[len(a.conds)-1].at, "%s without .endif", a.conds[len(a.conds)-1].at.text)
}

// inside adds the body in which an error is.
func (a *assembler) inside(err error) error {
	var e *SyntaxError
	if n := len(a.outer); n > 0 && errors.As(err, &e) {
		e.Msg = fmt.Sprintf("%s, in %s of line %d", e.Msg, a.outer[n-1].name, a.outer[n-1].line)
	}
	return err
}

// rest is the text of the tokens up to the end of the statement.
func (a *assembler) rest() string {
	var b strings.Builder
	for first := true; !a.peek().ends(); first = false {
		t := a.next()
		if !t.glued && !first {
			b.WriteByte(' ')
		}
		b.WriteString(t.written())
	}
	return b.String()
}

func (t token) operator() bool {
	return t.kind == tokPunct && strings.Contains("+-~/*=|^&!<>%", t.text)
}

// argument reads a macro's argument: up to a comma, or to a blank without an operator beside it.
func (a *assembler) argument() string {
	var b strings.Builder
	depth, first := 0, true
	for ; ; first = false {
		t := a.peek()
		if t.ends() || depth == 0 && t.is(",") {
			break
		}
		if t.is("=") && first {
			fail(t, "= in an argument")
		}
		if depth == 0 && !first && !t.glued && !t.operator() {
			if !a.toks[a.pos-1].operator() {
				break
			}
		}
		if depth > 0 && !t.glued {
			b.WriteByte(' ')
		}
		if t.is("(") {
			depth++
		} else if t.is(")") && depth > 0 {
			depth--
		}
		t = a.next()
		if t.kind == tokString { // the text in the quotes, as it is written
			b.WriteString(t.raw[1 : len(t.raw)-1])
		} else {
			b.WriteString(t.written())
		}
	}
	return b.String()
}

func defineMacro(a *assembler, t token) {
	name := a.name()
	m := &macro{}
	for a.comma(); !a.peek().ends(); a.comma() {
		n := a.name()
		p := macroParam{name: n.text}
		for _, q := range m.params {
			if q.name == p.name {
				fail(n, "macro %s has two parameters %s", name.text, p.name)
			}
			if q.all {
				fail(n, "%s takes the rest of the line", q.name)
			}
		}
		if a.peek().is(":") {
			a.pos++
			switch k := a.next(); k.text {
			case "req":
				p.required = true
			case "vararg":
				p.all = true
			default:
				fail(k, "parameter %s is neither :req nor :vararg", p.name)
			}
		}
		if a.peek().is("=") {
			a.pos++
			p.value = a.argument()
		}
		m.params = append(m.params, p)
	}
	m.body = a.body(t)
	if a.macros[name.text] != nil {
		fail(name, "macro %s is defined twice", name.text)
	}
	if a.macros == nil {
		a.macros = map[string]*macro{}
	}
	a.macros[name.text] = m
}

func purgeMacro(a *assembler, t token) {
	name := a.name()
	if a.macros[name.text] == nil {
		fail(name, "no macro %s", name.text)
	}
	delete(a.macros, name.text)
	a.endLine(t)
}

// exitMacro leaves the innermost body.
func exitMacro(a *assembler, t token) {
	if len(a.outer) == 0 {
		fail(t, ".exitm outside a macro")
	}
	a.conds = a.conds[:a.base]
	a.drop()
}

// use reads a macro's arguments and then its body.
func (a *assembler) use(m *macro, name token) {
	values := make([]string, len(m.params))
	given := make([]bool, len(m.params))
	for k, named := 0, false; !a.peek().ends(); k++ {
		if k > 0 && a.peek().is(",") {
			a.pos++
		}
		t := a.peek()
		to := k
		if t.kind == tokWord && tokAt(a.toks, a.pos+1).is("=") {
			for to = 0; to < len(m.params) && m.params[to].name != t.text; to++ {
			}
			if to == len(m.params) {
				fail(t, "macro %s has no parameter %s", name.text, t.text)
			}
			a.pos += 2
			named = true
		} else if named {
			fail(t, "positional argument behind a named one")
		}
		if to >= len(m.params) {
			fail(t, "macro %s has %d parameters", name.text, len(m.params))
		}
		if m.params[to].all {
			values[to] = a.rest()
		} else {
			values[to] = a.argument()
		}
		given[to] = values[to] != ""
	}
	for k := range m.params {
		p := &m.params[k]
		if !given[k] && p.required {
			fail(name, "macro %s needs %s", name.text, p.name)
		}
		if !given[k] {
			values[k] = p.value
		}
	}
	text := a.fillIn(m.body.text, m.params, values, name)
	a.uses++
	a.enterText(text, m.body.line, 1, name)
}

// fillIn writes arguments in place of \parameters.
func (a *assembler) fillIn(body string, params []macroParam, values []string, at token) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(body, '\\')
		if i < 0 || i+1 == len(body) {
			b.WriteString(body)
			return b.String()
		}
		b.WriteString(body[:i])
		body = body[i+1:]
		n := 0
		for n < len(body) && wordByte(body[n]) {
			n++
		}
		switch {
		case body[0] == '@':
			b.WriteString(strconv.Itoa(a.uses))
			n = 1
		case strings.HasPrefix(body, "()"):
			n = 2
		case n == 0:
			b.WriteByte('\\')
		default:
			k := 0
			for k < len(params) && params[k].name != body[:n] {
				k++
			}
			if k < len(params) {
				b.WriteString(values[k])
			} else {
				b.WriteByte('\\')
				b.WriteString(body[:n])
			}
		}
		body = body[n:]
		if b.Len() > maxAsmExpanded {
			fail(at, "%s becomes more than %d bytes", at.text, maxAsmExpanded)
		}
	}
}

// repeat is .rept COUNT ... .endr.
func repeat(a *assembler, t token) {
	n := a.absolute()
	if n < 0 {
		fail(t, "%s %d", t.text, n)
	}
	b := a.body(t)
	a.enterText(b.text, b.line, n, t)
}

// repeatFor is .irp NAME, VALUE... and .irpc NAME, CHARACTERS.
func repeatFor(a *assembler, t token) {
	name := a.name()
	a.comma()
	var values []string
	for !a.peek().ends() {
		v := a.argument()
		values = append(values, v)
		a.comma()
	}
	if t.text == ".irpc" {
		if len(values) > 1 {
			fail(t, ".irpc takes one text")
		}
		values = strings.Split(strings.Join(values, ""), "")
	} else if len(values) == 0 {
		values = []string{""}
	}
	b := a.body(t)
	var all strings.Builder
	for _, v := range values {
		text := a.fillIn(b.text, []macroParam{{name: name.text}}, []string{v}, t)
		all.WriteString(text)
		if all.Len() > maxAsmExpanded {
			fail(t, "%s becomes more than %d bytes", t.text, maxAsmExpanded)
		}
	}
	a.enterText(all.String(), b.line, 1, t)
}
