package asm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
)

const absolute = codeobject.Absolute

// Limits of macros and repetitions.
const (
	maxNesting  = 64
	maxExpanded = 16 << 20 // bytes of text
)

// macro is a .macro.
type macro struct {
	params []string
	preset map[string]string
	body   []string
}

// later reports whether the source defines the name somewhere.
func (a *assembler) later(name string) bool {
	_, ok := a.types["\x00"+name]
	return ok
}

// run assembles the lines of a source.
func (a *assembler) run(src string) {
	if len(src) > maxBytes {
		fail("a source of %d bytes, at most %d", len(src), maxBytes)
	}
	lines := a.stripComments(src)
	for _, l := range lines {
		for {
			name, rest, ok := cutLabel(strings.TrimSpace(l))
			if !ok {
				break
			}
			a.types["\x00"+name], l = "", rest
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		switch word {
		case ".set", ".equ", ".equiv":
			name, _, _ := strings.Cut(rest, ",")
			a.types["\x00"+strings.TrimSpace(name)] = ""
		case ".extern", ".globl", ".global":
			a.types["\x00"+strings.TrimSpace(rest)] = ""
		}
	}
	a.lines(lines, 0)
}

// stripComments splits a source into lines without comments.
func (a *assembler) stripComments(src string) []string {
	var out []string
	inside := false // of /* */
	for n, line := range strings.Split(src, "\n") {
		line = strings.TrimRight(line, "\r")
		var b strings.Builder
		quoted := false
	scan:
		for i := 0; i < len(line); i++ {
			c := line[i]
			switch {
			case inside:
				if strings.HasPrefix(line[i:], "*/") {
					inside = false
					i++
				}
			case quoted:
				b.WriteByte(c)
				if c == '\\' && i+1 < len(line) {
					i++
					b.WriteByte(line[i])
				} else if c == '"' {
					quoted = false
				}
			case c == '"':
				quoted = true
				b.WriteByte(c)
			case strings.HasPrefix(line[i:], "/*"):
				inside = true
				i++
				b.WriteByte(' ')
			case c == ';', strings.HasPrefix(line[i:], "//"), c == '#' && strings.TrimSpace(b.String()) == "":
				break scan
			case c == '\t':
				b.WriteByte(' ')
			default:
				b.WriteByte(c)
			}
		}
		if quoted {
			a.line = n + 1
			fail("a string is not closed")
		}
		out = append(out, b.String())
	}
	if inside {
		a.line = len(out)
		fail("a comment is not closed")
	}
	return out
}

// lines handles lines, the first of which is at line base+1 of the file; with
// base < 0 they are the text of a macro.
func (a *assembler) lines(lines []string, base int) {
	if a.depth++; a.depth > maxNesting {
		fail("macros and repetitions are nested too deeply")
	}
	defer func() { a.depth-- }()
	for i := 0; i < len(lines); i++ {
		if base >= 0 {
			a.line = base + i + 1
		}
		s := strings.TrimSpace(lines[i])
		if a.inYAML {
			if s == ".end_amdgpu_metadata" {
				a.metadata()
				continue
			}
			a.yaml = append(a.yaml, lines[i])
			continue
		}
		word, rest, _ := strings.Cut(s, " ")
		rest = strings.TrimSpace(rest)
		if end, ok := bodies[word]; ok {
			n := bodyEnd(lines, i, word, end)
			a.body(word, rest, lines[i+1:n])
			i = n
			continue
		}
		if strings.HasPrefix(word, ".if") {
			n := bodyEnd(lines, i, ".if", ".endif")
			at := a.branchOf(lines[i:n+1], i, base)
			if at[1] > at[0] {
				b := -1
				if base >= 0 {
					b = base + i + at[0]
				}
				a.lines(lines[i+at[0]:i+at[1]], b)
			}
			i = n
			continue
		}
		if m := a.macros[word]; m != nil {
			a.expand(m, word, rest)
			continue
		}
		a.statement(lines[i])
	}
}

// bodies are the directives that a body follows, with the directive that ends it.
var bodies = map[string]string{".macro": ".endm", ".rept": ".endr", ".irp": ".endr"}

// bodyEnd is the line that ends the body that begins at line i.
func bodyEnd(lines []string, i int, begin, end string) int {
	depth := 0
	for n := i; n < len(lines); n++ {
		word, _, _ := strings.Cut(strings.TrimSpace(lines[n]), " ")
		switch {
		case bodies[word] == end, begin == ".if" && strings.HasPrefix(word, ".if"):
			depth++
		case word == end, end == ".endm" && word == ".endmacro":
			if depth--; depth == 0 {
				return n
			}
		}
	}
	fail("%s has no %s", begin, end)
	return 0
}

// body handles .macro, .rept and .irp.
func (a *assembler) body(word, rest string, body []string) {
	switch word {
	case ".macro":
		f := strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == ',' })
		if len(f) == 0 {
			fail(".macro has no name")
		}
		m := &macro{body: body, preset: map[string]string{}}
		for _, p := range f[1:] {
			name, def, has := strings.Cut(p, "=")
			name, _, _ = strings.Cut(name, ":")
			m.params = append(m.params, name)
			if has {
				m.preset[name] = def
			}
		}
		a.macros[f[0]] = m
		return
	case ".rept":
		v := a.parse(rest)
		n, ok := a.constant(v)
		if !ok || n < 0 || n > 1<<20 {
			fail(".rept %s: want a count up to 2^20", rest)
		}
		for range n {
			a.expandBody(body, nil)
		}
		return
	}
	name, list, _ := strings.Cut(rest, ",")
	for _, v := range splitOperands(list) {
		a.expandBody(body, map[string]string{strings.TrimSpace(name): v})
	}
}

// expand uses a macro.
func (a *assembler) expand(m *macro, name, rest string) {
	args := map[string]string{}
	maps.Copy(args, m.preset)
	if rest != "" {
		for i, v := range splitOperands(rest) {
			if key, val, ok := strings.Cut(v, "="); ok && hasParam(m, strings.TrimSpace(key)) {
				args[strings.TrimSpace(key)] = strings.TrimSpace(val)
				continue
			}
			if i >= len(m.params) {
				fail("%s takes %d arguments", name, len(m.params))
			}
			args[m.params[i]] = v
		}
	}
	for _, p := range m.params {
		if _, ok := args[p]; !ok {
			args[p] = ""
		}
	}
	a.expandBody(m.body, args)
}

func hasParam(m *macro, name string) bool {
	return slices.Contains(m.params, name)
}

// expandBody assembles a body with \name replaced by its argument and \@ by a number
// of the use.
func (a *assembler) expandBody(body []string, args map[string]string) {
	use := a.uses
	a.uses++
	out := make([]string, len(body))
	for i, l := range body {
		out[i] = substituteArgs(l, args, use)
		if a.text += len(out[i]) + 1; a.text > maxExpanded {
			fail("macros and repetitions become more than %d bytes", maxExpanded)
		}
	}
	a.lines(out, -1)
}

func substituteArgs(l string, args map[string]string, use int) string {
	if strings.IndexByte(l, '\\') < 0 {
		return l
	}
	var b strings.Builder
	for i := 0; i < len(l); i++ {
		if l[i] != '\\' || i+1 == len(l) {
			b.WriteByte(l[i])
			continue
		}
		if l[i+1] == '@' {
			fmt.Fprint(&b, use)
			i++
			continue
		}
		if strings.HasPrefix(l[i+1:], "()") {
			i += 2
			continue
		}
		n := i + 1
		for n < len(l) && isName(l[n]) && l[n] != '.' {
			n++
		}
		if v, ok := args[l[i+1:n]]; ok {
			b.WriteString(v)
			i = n - 1
			continue
		}
		b.WriteByte('\\')
	}
	return b.String()
}

// branchOf is the lines of the branch that is taken of .if ... .endif, relative
// to the first of them.
func (a *assembler) branchOf(lines []string, i, base int) [2]int {
	depth, start := 0, -1
	taken := false
	for n, l := range lines {
		word, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		switch {
		case strings.HasPrefix(word, ".if"):
			if depth++; depth > 1 {
				continue
			}
		case word == ".endif":
			if depth--; depth > 0 {
				continue
			}
			if start >= 0 {
				return [2]int{start, n}
			}
			return [2]int{}
		case depth == 1 && (word == ".else" || word == ".elseif"):
		default:
			continue
		}
		if start >= 0 {
			return [2]int{start, n}
		}
		if base >= 0 {
			a.line = base + i + n + 1
		}
		ok := !taken
		if word != ".else" && ok {
			ok = a.condition(word, rest)
		}
		if ok {
			taken, start = true, n+1
		}
	}
	return [2]int{}
}

// condition is the value of an .if or .elseif.
func (a *assembler) condition(word, rest string) bool {
	switch word {
	case ".ifdef", ".ifndef":
		_, ok := a.symbols[strings.TrimSpace(rest)]
		return ok == (word == ".ifdef")
	case ".ifb", ".ifnb":
		return (strings.TrimSpace(rest) == "") == (word == ".ifb")
	case ".ifc", ".ifnc":
		x, y, _ := strings.Cut(rest, ",")
		return (strings.TrimSpace(x) == strings.TrimSpace(y)) == (word == ".ifc")
	}
	holds := conditions[word]
	if holds == nil {
		fail("unknown directive %s", word)
	}
	return holds(a.known(rest))
}

// conditions are the directives that compare a number with 0.
var conditions = map[string]func(n int64) bool{
	".if":     func(n int64) bool { return n != 0 },
	".elseif": func(n int64) bool { return n != 0 },
	".ifne":   func(n int64) bool { return n != 0 },
	".ifeq":   func(n int64) bool { return n == 0 },
	".ifgt":   func(n int64) bool { return n > 0 },
	".ifge":   func(n int64) bool { return n >= 0 },
	".iflt":   func(n int64) bool { return n < 0 },
	".ifle":   func(n int64) bool { return n <= 0 },
}
