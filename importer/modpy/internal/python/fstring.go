package python

import (
	"strings"

	"go.starlark.net/syntax"
)

// fstring parses an f-string to its parts: literals, and triples (value, conversion, format) as tuples. Nested fields
// in a format are not supported.
func (p *parser) fstring(t token) []syntax.Expr {
	var parts []syntax.Expr
	text := ""
	body := t.text
	for i := 0; i < len(body); i++ {
		c := body[i]
		if (c == '{' || c == '}') && i+1 < len(body) && body[i+1] == c {
			text += string(c)
			i++
			continue
		}
		if c == '}' {
			fail(t.pos, "f-string has a single '}'")
		}
		if c != '{' {
			text += string(c)
			continue
		}
		src, conv, format, n := p.field(t, body[i+1:])
		i += n + 1
		if text != "" {
			parts = append(parts, str(t.pos, unescape(t.pos, text, t.raw)))
			text = ""
		}
		sub := &parser{lex: newLexer(p.lex.file, "("+src+")"), nest: p.nest + 8, temps: p.temps + 1000}
		sub.lex.line, sub.lex.col = t.pos.Line, t.pos.Col
		sub.consts = p.consts
		if sub.nest > 4*MaxNesting {
			fail(t.pos, "f-strings are nested too deep")
		}
		x := sub.expr()
		if k := sub.peek(0).kind; k != kNewline && k != kEOF {
			fail(t.pos, "f-string field {%.40s} is not an expression", src)
		}
		p.consts = sub.consts
		p.temps = sub.temps
		parts = append(parts, &syntax.TupleExpr{Lparen: t.pos, Rparen: t.pos,
			List: []syntax.Expr{x, str(t.pos, conv), str(t.pos, format)}})
	}
	if text != "" {
		parts = append(parts, str(t.pos, unescape(t.pos, text, t.raw)))
	}
	return parts
}

// field splits "expr!conv:format}..." and returns its length without the brace.
func (p *parser) field(t token, s string) (expr, conv, format string, n int) {
	depth := 0
	end := -1
	colon, bang := -1, -1
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case colon >= 0 && c == '{':
			fail(t.pos, "a field inside a format of an f-string is not supported")
		case colon < 0 && (c == '(' || c == '[' || c == '{'):
			depth++
		case c == '}' && depth == 0:
			end = i
		case colon < 0 && (c == ')' || c == ']' || c == '}'):
			depth--
		case c == ':' && depth == 0 && colon < 0:
			colon = i
		case c == '!' && depth == 0 && colon < 0 && !strings.HasPrefix(s[i:], "!="):
			bang = i
		}
		if end >= 0 {
			break
		}
	}
	if end < 0 {
		fail(t.pos, "f-string has a '{' without '}'")
	}
	stop := end
	if colon >= 0 {
		format, stop = s[colon+1:end], colon
	}
	if bang >= 0 {
		conv, stop = s[bang+1:stop], bang
	}
	expr = s[:stop]
	if strings.TrimSpace(expr) == "" {
		fail(t.pos, "f-string has an empty field")
	}
	return expr, conv, format, end
}
