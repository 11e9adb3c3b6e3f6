package asm

import (
	"slices"
	"strconv"
	"strings"
)

type tokKind uint8

const (
	tokEOF     tokKind = iota
	tokNewline         // end of a line
	tokWord            // identifier: mnemonic, register, label or directive
	tokNum             // number
	tokString          // quoted text, unquoted
	tokPunct           // one character
	tokBody            // text between .macro and .endm, .rept and .endr
)

type token struct {
	kind      tokKind
	text      string
	line, col int
	glued     bool   // no space before it
	raw       string // quoted text as it is written
}

// written is the token's text in the source.
func (t token) written() string {
	if t.raw != "" {
		return t.raw
	}
	return t.text
}

func wordByte(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// lex splits text that begins at a line.
func (a *assembler) lex(s string, line int) ([]token, error) {
	x := lexer{a: a, s: s, line: line, fresh: true}
	for x.at < len(s) {
		step := x.next
		if n := len(x.toks); x.directive != "" && x.toks[n-1].ends() {
			step = x.body
		}
		if err := step(); err != nil {
			return nil, err
		}
	}
	if x.directive != "" {
		return nil, x.unended()
	}
	return append(x.toks, token{kind: tokEOF, line: x.line, col: x.column()}), nil
}

// lexer is a place in a text.
type lexer struct {
	a               *assembler
	s               string
	at              int
	line, lineStart int
	toks            []token
	directive       string // a body follows its line
	glued           bool   // no space before
	fresh           bool   // nothing but blanks in this line so far
}

func (x *lexer) column() int { return x.at - x.lineStart + 1 }

// unended is the error of a body without an end.
func (x *lexer) unended() error {
	return errorf(x.toks[len(x.toks)-1], "%s without %s", x.directive, bodies[x.directive])
}

// add appends n bytes as a token.
func (x *lexer) add(t token, kind tokKind, text string, n int) {
	t.kind, t.text = kind, text
	x.toks = append(x.toks, t)
	x.at += n
}

// body reads the body that the directive before takes verbatim.
func (x *lexer) body() error {
	end, next, ok := bodyEnd(x.s[x.at:], x.directive)
	if !ok {
		return x.unended()
	}
	rest := x.s[x.at:]
	x.add(token{line: x.line, col: x.column()}, tokBody, rest[:end], next)
	x.line += strings.Count(rest[:next], "\n")
	x.lineStart = strings.LastIndexByte(x.s[:x.at], '\n') + 1
	x.directive, x.glued, x.fresh = "", false, false
	return nil
}

// next reads a token, blanks or a comment.
func (x *lexer) next() error {
	rest := x.s[x.at:]
	c := rest[0]
	t := token{line: x.line, col: x.column(), glued: x.glued}
	x.glued = true
	first := x.fresh
	x.fresh = first && (c == ' ' || c == '\t' || c == '\r')
	switch {
	case c == '\n':
		x.add(t, tokNewline, "\n", 1)
		x.line, x.lineStart = x.line+1, x.at
		x.glued, x.fresh = false, true
	case c == ' ' || c == '\t' || c == '\r':
		x.at++
		x.glued = false
	case c == '#' && first && cppDirective(rest[1:]):
		return errorf(t, "source for the C preprocessor: run clang -E first")
	case strings.HasPrefix(rest, "//"), c == '#' && first: // the second is a line marker of the preprocessor
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			x.at += n
		} else {
			x.at = len(x.s)
		}
	case strings.HasPrefix(rest, "/*"):
		n := strings.Index(rest, "*/")
		if n < 0 {
			return errorf(t, "comment does not end")
		}
		x.comment(n + 2)
	case c >= '0' && c <= '9':
		n := 0
		for n < len(rest) && wordByte(rest[n]) && rest[n] != '.' {
			n++
		}
		x.add(t, tokNum, rest[:n], n)
	case wordByte(c):
		x.word(t, rest)
	case c == '"', c == '\'':
		return x.quoted(t, rest)
	case c < 0x21 || c > 0x7e:
		return errorf(t, "unexpected character %q", c)
	default:
		x.add(t, tokPunct, rest[:1], 1)
	}
	return nil
}

// comment skips n bytes, lines among them.
func (x *lexer) comment(n int) {
	x.line += strings.Count(x.s[x.at:][:n], "\n")
	x.at += n
	if n := strings.LastIndexByte(x.s[:x.at], '\n'); n >= x.lineStart {
		x.lineStart = n + 1
	}
	x.glued = false
}

// word reads an identifier. A register ends where its digits end, so that r2.h and r8.new split; a label may hold dots.
func (x *lexer) word(t token, rest string) {
	n := 1
	for n < len(rest) && wordByte(rest[n]) && (rest[n] != '.' || rest[0] == '.' && !t.glued) {
		n++
	}
	if name := strings.ToLower(rest[:n]); bodies[name] != "" {
		if k := len(x.toks); k == 0 || x.toks[k-1].ends() || x.toks[k-1].is(":") {
			x.directive = name
		}
	}
	x.add(t, tokWord, rest[:n], n)
}

// quoted reads a string or a character, which is a number; an apostrophe alone is punctuation.
func (x *lexer) quoted(t token, rest string) error {
	if rest[0] == '"' {
		text, n, ok := unquote(rest)
		if !ok {
			return errorf(t, "bad string")
		}
		t.raw = rest[:n]
		x.add(t, tokString, text, n)
		return nil
	}
	switch {
	case len(rest) > 2 && rest[2] == '\'' && rest[1] != '\\' && rest[1] != '\n':
		t.raw = rest[:3]
		x.add(t, tokNum, strconv.Itoa(int(rest[1])), 3)
	case len(rest) > 3 && rest[3] == '\'' && rest[1] == '\\' && strings.IndexByte(escapes, rest[2]) >= 0:
		t.raw = rest[:4]
		x.add(t, tokNum, strconv.Itoa(int(escaped[strings.IndexByte(escapes, rest[2])])), 4)
	default:
		x.add(t, tokPunct, rest[:1], 1)
	}
	return nil
}

// joinSuffixes removes the blank in "v1:0 .uh", which preprocessors put between a macro and the text after it.
func joinSuffixes(toks []token) {
	for i := range toks {
		if t := &toks[i]; i > 0 && t.kind == tokWord && t.text[0] == '.' {
			last := toks[i-1]
			t.glued = t.glued || isRegister(last, 0) || i > 2 && last.kind == tokNum && toks[i-2].is(":") && isRegister(toks[i-3], 0)
		}
	}
}

// guarded writes the parentheses around a scalar predicate that "if !p0.new r1 = r2" leaves out.
func guarded(toks []token) []token {
	if len(toks) == 0 || !strings.EqualFold(toks[0].text, "if") {
		return toks
	}
	end := 1
	if tokAt(toks, 1).is("!") {
		end++
	}
	if !isRegister(tokAt(toks, end), 'P') {
		return toks
	}
	end++
	if strings.EqualFold(tokAt(toks, end).text, ".new") {
		end++
	}
	paren := func(s string, at token) token {
		at.kind, at.text = tokPunct, s
		return at
	}
	out := append(make([]token, 0, len(toks)+2), toks[0], paren("(", toks[1]))
	out = append(append(out, toks[1:end]...), paren(")", toks[end-1]))
	return append(out, toks[end:]...)
}

// isRegister reports a register of the class letter, 0 for any.
func isRegister(t token, class byte) bool {
	if t.kind != tokWord {
		return false
	}
	letter, _, ok := registerOf(strings.ToLower(t.text))
	return ok && (class == 0 || letter == class)
}

// cppDirective reports a line that only a preprocessor understands.
func cppDirective(s string) bool {
	s = strings.TrimLeft(s, " \t")
	directives := []string{"include", "define", "undef", "if", "el", "endif", "pragma", "error"}
	return slices.ContainsFunc(directives, func(d string) bool { return strings.HasPrefix(s, d) })
}

// Escapes of C after a backslash and their values.
const (
	escapes = `nrtbfv\"'`
	escaped = "\n\r\t\b\f\v\\\"'"
)

// unquote reads a string with the escapes of C and returns its length in s.
func unquote(s string) (text string, n int, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return b.String(), i + 1, true
		case '\n':
			return "", 0, false
		case '\\':
			if i++; i == len(s) {
				return "", 0, false
			}
			if k := strings.IndexByte(escapes, s[i]); k >= 0 {
				b.WriteByte(escaped[k])
				continue
			}
			from, base, most := i, 8, 3
			if s[i] == 'x' {
				from, base, most = i+1, 16, 2
			}
			j := from
			for j < len(s) && j-from < most && digitOf(s[j]) < base {
				j++
			}
			v, err := strconv.ParseUint(s[from:j], base, 16)
			if err != nil {
				return "", 0, false
			}
			b.WriteByte(byte(v))
			i = j - 1
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}

func digitOf(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|32 >= 'a' && c|32 <= 'f':
		return int(c|32-'a') + 10
	}
	return 99
}
