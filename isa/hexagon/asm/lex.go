package asm

import (
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
func (a *assembler) lex(s string, line int) (toks []token, err error) {
	lineStart := 0
	directive := ""             // a body follows its line
	glued, fresh := false, true // fresh: nothing but blanks in this line so far
	for i := 0; i < len(s); {
		if n := len(toks); directive != "" && toks[n-1].ends() {
			end, next, ok := bodyEnd(s[i:], directive)
			if !ok {
				return nil, a.errorf(toks[n-1], "%s without %s", directive, bodies[directive])
			}
			toks = append(toks, token{kind: tokBody, text: s[i:][:end], line: line, col: i - lineStart + 1})
			line += strings.Count(s[i:][:next], "\n")
			i += next
			lineStart = strings.LastIndexByte(s[:i], '\n') + 1
			directive, glued, fresh = "", false, false
			continue
		}
		c := s[i]
		t := token{line: line, col: i - lineStart + 1, glued: glued}
		glued = true
		first := fresh
		fresh = fresh && (c == ' ' || c == '\t' || c == '\r')
		switch {
		case c == '\n':
			t.kind, t.text = tokNewline, "\n"
			toks = append(toks, t)
			i++
			line, lineStart = line+1, i
			glued, fresh = false, true
		case c == ' ' || c == '\t' || c == '\r':
			i++
			glued = false
		case c == '#' && first && cppDirective(s[i+1:]):
			return nil, a.errorf(t, "source for the C preprocessor: run clang -E first")
		case strings.HasPrefix(s[i:], "//"), c == '#' && first: // the second is a line marker of the preprocessor
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case strings.HasPrefix(s[i:], "/*"):
			n := strings.Index(s[i:], "*/")
			if n < 0 {
				return nil, a.errorf(t, "comment does not end")
			}
			line += strings.Count(s[i:i+n], "\n")
			i += n + 2
			if n := strings.LastIndexByte(s[:i], '\n'); n >= lineStart {
				lineStart = n + 1
			}
			glued = false
		case c >= '0' && c <= '9':
			j := i
			for j < len(s) && wordByte(s[j]) && s[j] != '.' {
				j++
			}
			t.kind, t.text = tokNum, s[i:j]
			i = j
			toks = append(toks, t)
		case wordByte(c):
			// A register ends where its digits end, so that r2.h and r8.new split; a label may hold dots.
			j := i + 1
			for j < len(s) && wordByte(s[j]) && (s[j] != '.' || c == '.' && !t.glued) {
				j++
			}
			t.kind, t.text = tokWord, s[i:j]
			i = j
			if c == '.' && bodies[strings.ToLower(t.text)] != "" && (len(toks) == 0 || toks[len(toks)-1].ends() || toks[len(toks)-1].is(":")) {
				directive = strings.ToLower(t.text)
			}
			toks = append(toks, t)
		case c == '"':
			text, n, ok := unquote(s[i:])
			if !ok {
				return nil, a.errorf(t, "bad string")
			}
			t.kind, t.text, t.raw = tokString, text, s[i:i+n]
			i += n
			toks = append(toks, t)
		case c == '\'' && i+2 < len(s) && s[i+2] == '\'' && s[i+1] != '\\' && s[i+1] != '\n':
			t.kind, t.text, t.raw = tokNum, strconv.Itoa(int(s[i+1])), s[i:i+3]
			i += 3
			toks = append(toks, t)
		case c == '\'' && i+3 < len(s) && s[i+3] == '\'' && s[i+1] == '\\' && strings.IndexByte(escapes, s[i+2]) >= 0:
			t.kind, t.text, t.raw = tokNum, strconv.Itoa(int(escaped[strings.IndexByte(escapes, s[i+2])])), s[i:i+4]
			i += 4
			toks = append(toks, t)
		case c < 0x21 || c > 0x7e:
			return nil, a.errorf(t, "unexpected character %q", c)
		default:
			t.kind, t.text = tokPunct, s[i:i+1]
			i++
			toks = append(toks, t)
		}
	}
	if directive != "" {
		return nil, a.errorf(toks[len(toks)-1], "%s without %s", directive, bodies[directive])
	}
	return append(toks, token{kind: tokEOF, line: line, col: len(s) - lineStart + 1}), nil
}

// joinSuffixes takes the blank out of "v1:0 .uh", which preprocessors put between a macro and what follows it.
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
	for _, d := range [...]string{"include", "define", "undef", "if", "el", "endif", "pragma", "error"} {
		if strings.HasPrefix(s, d) {
			return true
		}
	}
	return false
}

// Escapes of C after a backslash and what they stand for.
const (
	escapes = `nrtbfv\"'`
	escaped = "\n\r\t\b\f\v\\\"'"
)

// unquote reads a string with the escapes of C and answers how much of s it took.
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
