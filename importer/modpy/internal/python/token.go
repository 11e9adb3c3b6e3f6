package python

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/syntax"
)

// kind classifies a token.
type kind uint8

const (
	kEOF kind = iota
	kNewline
	kIndent
	kDedent
	kName   // identifiers and keywords
	kNumber // value is int64, *big.Int or float64
	kString // value is string
	kFormat // an f-string; value is its raw body
	kOp
)

// token is one lexical element of a specification.
type token struct {
	kind  kind
	text  string
	value any
	raw   bool // of a kFormat: escapes are not processed
	pos   syntax.Position
}

func (t token) String() string {
	switch t.kind {
	case kEOF:
		return "end of file"
	case kNewline:
		return "end of line"
	case kIndent:
		return "indentation"
	case kDedent:
		return "end of block"
	}
	return strconv.Quote(t.text)
}

// Error is a failure to read a specification. It names file, line and column
// (one-based, columns in runes) where these are known.
type Error struct {
	Pos syntax.Position
	Msg string
	Err error // the cause, or nil
}

func (e *Error) Error() string {
	if e.Pos.IsValid() {
		return fmt.Sprintf("modpy: %s: %s", e.Pos, e.Msg)
	}
	return "modpy: " + e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

// fail ends tokenizing or parsing; parse recovers it.
func fail(pos syntax.Position, format string, args ...any) {
	panic(&Error{Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// lexer splits source text into tokens, with Python's layout rules.
type lexer struct {
	file   *string
	src    string
	at     int // byte offset
	line   int32
	col    int32
	depth  []byte // open brackets
	indent []int
	bol    bool    // at the beginning of a logical line
	out    []token // scanned and not yet consumed by the parser
}

// operators, longest first.
var operators = []string{
	"**=", "//=", ">>=", "<<=", "...",
	"**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", ":=", "@=",
	"+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "=",
}

func newLexer(file *string, src string) *lexer {
	return &lexer{file: file, src: strings.TrimPrefix(src, "\ufeff"), line: 1, col: 1, indent: []int{0}, bol: true}
}

// more appends at least one token to out, the last of all being kEOF. It fails
// (see fail) with the position of the error.
func (l *lexer) more() {
	for n := len(l.out); len(l.out) == n; {
		if l.bol && len(l.depth) == 0 {
			if !l.layout() {
				l.end()
				return
			}
			l.bol = false
		}
		l.blanks()
		if l.at >= len(l.src) {
			l.end()
			return
		}
		switch c := l.src[l.at]; {
		case c == '#':
			for l.at < len(l.src) && l.src[l.at] != '\n' {
				l.next()
			}
		case c == '\n':
			pos := l.pos()
			l.next()
			if len(l.depth) == 0 {
				l.out = append(l.out, token{kind: kNewline, pos: pos})
				l.bol = true
			}
		case c >= '0' && c <= '9' || c == '.' && l.peekDigit(1):
			l.number()
		case c == '"' || c == '\'':
			l.str("")
		case c == '_' || c >= utf8.RuneSelf || c|0x20 >= 'a' && c|0x20 <= 'z':
			l.name()
		default:
			l.operator()
		}
	}
}

// end closes the last line and the open blocks.
func (l *lexer) end() {
	pos := l.pos()
	if n := len(l.depth); n > 0 {
		fail(pos, "end of file inside %q", l.depth[n-1])
	}
	if !l.bol {
		l.out = append(l.out, token{kind: kNewline, pos: pos})
		l.bol = true
	}
	for range l.indent[1:] {
		l.out = append(l.out, token{kind: kDedent, pos: pos})
	}
	l.indent = l.indent[:1]
	l.out = append(l.out, token{kind: kEOF, pos: pos})
}

func (l *lexer) pos() syntax.Position { return syntax.MakePosition(l.file, l.line, l.col) }

// next consumes one rune.
func (l *lexer) next() {
	if l.src[l.at] == '\n' {
		l.at++
		l.line++
		l.col = 1
		return
	}
	_, n := utf8.DecodeRuneInString(l.src[l.at:])
	l.at += n
	l.col++
}

func (l *lexer) skip(n int) { l.at += n; l.col += int32(n) }

func (l *lexer) peekDigit(n int) bool {
	return l.at+n < len(l.src) && l.src[l.at+n] >= '0' && l.src[l.at+n] <= '9'
}

// blanks skips white space within a line and line continuations.
func (l *lexer) blanks() {
	for l.at < len(l.src) {
		switch l.src[l.at] {
		case ' ', '\t', '\r', '\f':
			l.next()
		case '\\':
			rest := strings.TrimPrefix(l.src[l.at+1:], "\r")
			if !strings.HasPrefix(rest, "\n") {
				fail(l.pos(), "backslash is not at the end of its line")
			}
			for l.src[l.at] != '\n' {
				l.next()
			}
			l.next()
		default:
			return
		}
	}
}

// layout reads the indentation of the next line that has a statement.
// It returns false at the end of the file.
func (l *lexer) layout() bool {
	for {
		width := 0
		for l.at < len(l.src) {
			c := l.src[l.at]
			if c == ' ' {
				width++
			} else if c == '\t' {
				width += 8 - width%8
			} else if c == '\f' {
				width = 0
			} else if c != '\r' {
				break
			}
			l.next()
		}
		if l.at >= len(l.src) {
			return false
		}
		switch l.src[l.at] {
		case '#':
			for l.at < len(l.src) && l.src[l.at] != '\n' {
				l.next()
			}
			continue
		case '\n':
			l.next()
			continue
		}
		top := l.indent[len(l.indent)-1]
		if width > top {
			if len(l.indent) > MaxNesting {
				fail(l.pos(), "blocks are nested deeper than %d", MaxNesting)
			}
			l.indent = append(l.indent, width)
			l.out = append(l.out, token{kind: kIndent, pos: l.pos()})
		}
		for width < l.indent[len(l.indent)-1] {
			l.indent = l.indent[:len(l.indent)-1]
			l.out = append(l.out, token{kind: kDedent, pos: l.pos()})
		}
		if width != l.indent[len(l.indent)-1] {
			fail(l.pos(), "indentation matches no open block")
		}
		return true
	}
}

func (l *lexer) name() {
	start, pos := l.at, l.pos()
	for l.at < len(l.src) {
		r, _ := utf8.DecodeRuneInString(l.src[l.at:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		l.next()
	}
	text := l.src[start:l.at]
	if text == "" {
		fail(pos, "character %q does not belong here", l.src[l.at:l.at+1])
	}
	if len(text) <= 2 && l.at < len(l.src) && (l.src[l.at] == '"' || l.src[l.at] == '\'') {
		switch p := strings.ToLower(text); p {
		case "r", "u", "f", "fr", "rf":
			l.str(p)
			l.out[len(l.out)-1].pos = pos
			return
		case "b", "br", "rb":
			fail(pos, "bytes literals are not supported")
		}
	}
	l.out = append(l.out, token{kind: kName, text: text, pos: pos})
}

func (l *lexer) number() {
	start, pos := l.at, l.pos()
	src := l.src
	hex := strings.HasPrefix(src[l.at:], "0x") || strings.HasPrefix(src[l.at:], "0X")
	for l.at < len(src) {
		c := src[l.at]
		digit := c >= '0' && c <= '9' || c == '_' || c == '.' && !hex || c|0x20 >= 'a' && c|0x20 <= 'z'
		sign := (c == '+' || c == '-') && !hex && src[l.at-1]|0x20 == 'e' && l.at > start
		if !digit && !sign {
			break
		}
		l.skip(1)
	}
	text := src[start:l.at]
	plain := strings.ReplaceAll(text, "_", "")
	var value any
	if !hex && strings.ContainsAny(plain, ".eE") {
		f, err := strconv.ParseFloat(plain, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			fail(pos, "%.40q is not a number", text)
		}
		value = f
	} else if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		value = i
	} else if b, ok := new(big.Int).SetString(plain, 0); ok && len(plain) < 1000 {
		value = b
	} else {
		fail(pos, "%.40q is not a number", text)
	}
	l.out = append(l.out, token{kind: kNumber, text: text, value: value, pos: pos})
}

// str reads a string literal whose prefix (r, u, f or none) is consumed.
func (l *lexer) str(prefix string) {
	pos := l.pos()
	raw, format := strings.Contains(prefix, "r"), strings.Contains(prefix, "f")
	quote := l.src[l.at : l.at+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(l.src[l.at:], long) {
		quote = long
	}
	l.skip(len(quote))
	start := l.at
	for !strings.HasPrefix(l.src[l.at:], quote) {
		if l.at >= len(l.src) || l.src[l.at] == '\n' && len(quote) == 1 {
			fail(pos, "string is not terminated")
		}
		if l.src[l.at] == '\\' && l.at+1 < len(l.src) {
			l.next()
		}
		l.next()
	}
	body := l.src[start:l.at]
	l.skip(len(quote))
	t := token{kind: kString, text: body, pos: pos, raw: raw}
	if format {
		t.kind, t.value = kFormat, body
	} else {
		t.value = unescape(pos, body, raw)
	}
	l.out = append(l.out, t)
}

// unescape processes the backslash escapes of a string's body.
func unescape(pos syntax.Position, s string, raw bool) string {
	if raw || !strings.Contains(s, "\\") {
		return s
	}
	simple := map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': "\\", '\'': "'", '"': "\"",
		'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '\n': "", '0': "\x00"}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i]]
		if digits > 0 {
			if i+1+digits > len(s) {
				fail(pos, `escape \%c is cut short`, s[i])
			}
			v, err := strconv.ParseUint(s[i+1:i+1+digits], 16, 32)
			if err != nil {
				fail(pos, `escape \%s is not hexadecimal`, s[i:i+1+digits])
			}
			b.WriteRune(rune(v))
			i += digits
		} else if r, ok := simple[s[i]]; ok {
			b.WriteString(r)
		} else {
			b.WriteString(s[i-1 : i+1])
		}
	}
	return b.String()
}

func (l *lexer) operator() {
	pos := l.pos()
	if l.src[l.at] == ',' {
		l.skip(1)
		l.out = append(l.out, token{kind: kOp, text: ",", pos: pos})
		return
	}
	for _, op := range operators {
		if !strings.HasPrefix(l.src[l.at:], op) {
			continue
		}
		switch op {
		case "(", "[", "{":
			if len(l.depth) >= MaxNesting {
				fail(pos, "brackets are nested deeper than %d", MaxNesting)
			}
			l.depth = append(l.depth, op[0])
		case ")", "]", "}":
			n := len(l.depth)
			if n == 0 || l.depth[n-1] != map[string]byte{")": '(', "]": '[', "}": '{'}[op] {
				fail(pos, "unexpected %q", op)
			}
			l.depth = l.depth[:n-1]
		}
		l.skip(len(op))
		l.out = append(l.out, token{kind: kOp, text: op, pos: pos})
		return
	}
	fail(pos, "character %q does not belong here", l.src[l.at:l.at+1])
}
