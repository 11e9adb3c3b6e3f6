package python

import (
	"math/big"
	"strconv"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

func itoa(i int) string { return strconv.Itoa(i) }

// ownMethods are methods that Python's types have and Starlark's lack, or that
// must be bounded: they are looked up by a built-in.
var ownMethods = map[string]bool{
	"sort": true, "reverse": true, "count": true, "copy": true, "extend": true, "join": true, "format": true,
	"replace": true, "update": true, "zfill": true, "ljust": true, "rjust": true,
	"index": true, "remove": true, "insert": true, "pop": true, "items": true, "keys": true, "values": true,
	"split": true, "rsplit": true, "splitlines": true, "strip": true, "lower": true, "upper": true, "find": true, "rfind": true,
}

// primary parses an atom and the calls, indexes and attributes applied to it.
func (p *parser) primary() syntax.Expr {
	x := p.atom()
	for n := 0; ; n++ {
		t := p.peek(0)
		if s, ok := x.(*syntax.SliceExpr); ok && !(t.kind == kOp && (t.text == "=" || inPlace[t.text] != "")) {
			// Not a target: the slice is read.
			x = call(s.Lbrack, FnGetSlice, s.X, orNone(s.Lbrack, s.Lo), orNone(s.Lbrack, s.Hi), orNone(s.Lbrack, s.Step))
		}
		if t.kind != kOp {
			return x
		}
		pos := t.pos
		p.chain(n, pos)
		switch t.text {
		case ".":
			p.at++
			name := p.ident()
			if ownMethods[name.Name] {
				x = call(pos, FnMethod, x, str(name.NamePos, name.Name))
			} else {
				x = &syntax.DotExpr{X: x, Dot: pos, NamePos: name.NamePos, Name: name}
			}
		case "(":
			x = p.arguments(x)
		case "[":
			x = p.subscript(x)
		default:
			return x
		}
	}
}

// arguments parses a call's arguments. Starlark accepts one *args, after all positional ones and after named ones;
// several are joined.
func (p *parser) arguments(fn syntax.Expr) syntax.Expr {
	c := &syntax.CallExpr{Fn: fn, Lparen: p.next().pos}
	var positional, named, double []syntax.Expr
	stars := false
	for !p.isOp(")") {
		pos := p.peek(0).pos
		switch {
		case p.acceptOp("**"):
			double = append(double, p.expr())
		case p.acceptOp("*"):
			stars = true
			positional = append(positional, &syntax.UnaryExpr{OpPos: pos, Op: syntax.STAR, X: p.expr()})
		case p.peek(0).kind == kName && p.peek(1).kind == kOp && p.peek(1).text == "=":
			name := p.ident()
			eq := p.next().pos
			named = append(named, &syntax.BinaryExpr{X: name, OpPos: eq, Op: syntax.EQ, Y: p.expr()})
		default:
			x := p.expr()
			if p.isWord("for") {
				x = p.comprehension(pos, x, nil)
			} else if len(named) > 0 {
				fail(pos, "positional argument follows keyword argument")
			}
			positional = append(positional, x)
		}
		if !p.acceptOp(",") {
			break
		}
	}
	c.Rparen = p.expectOp(")").pos
	if len(named)+len(double) > maxArgs {
		fail(c.Lparen, "a call has more than %d named arguments", maxArgs)
	}
	if len(positional)+len(named) > maxArgs {
		stars = true
	}
	if stars {
		c.Args = append(named, &syntax.UnaryExpr{OpPos: c.Lparen, Op: syntax.STAR, X: p.joined(c.Lparen, positional)})
	} else {
		c.Args = append(positional, named...)
	}
	if len(double) > 0 {
		x := double[0]
		if len(double) > 1 {
			args := []syntax.Expr{}
			for _, d := range double {
				args = append(args, none(c.Lparen), d)
			}
			x = call(c.Lparen, FnDict, args...)
		}
		c.Args = append(c.Args, &syntax.UnaryExpr{OpPos: c.Lparen, Op: syntax.STARSTAR, X: x})
	}
	return c
}

// subscript parses an index, a slice, or indexes and slices with commas.
func (p *parser) subscript(x syntax.Expr) syntax.Expr {
	open := p.next().pos
	var items []syntax.Expr
	var single *syntax.SliceExpr
	tuple := false
	for !p.isOp("]") {
		pos := p.peek(0).pos
		var lo, hi, step syntax.Expr
		if !p.isOp(":") {
			lo = p.expr()
		}
		if p.acceptOp(":") {
			if !p.isOp(":") && !p.isOp("]") && !p.isOp(",") {
				hi = p.expr()
			}
			if p.acceptOp(":") && !p.isOp("]") && !p.isOp(",") {
				step = p.expr()
			}
			single = &syntax.SliceExpr{X: x, Lbrack: open, Lo: lo, Hi: hi, Step: step}
			items = append(items, call(pos, FnSlice, orNone(pos, lo), orNone(pos, hi), orNone(pos, step)))
		} else {
			items = append(items, lo)
		}
		if !p.acceptOp(",") {
			break
		}
		tuple = true
	}
	end := p.expectOp("]").pos
	switch {
	case len(items) == 0:
		fail(open, "index is empty")
	case tuple:
		return &syntax.IndexExpr{X: x, Lbrack: open, Rbrack: end,
			Y: &syntax.TupleExpr{Lparen: open, List: items, Rparen: end}}
	case single != nil:
		single.Rbrack = end
		return single
	}
	return &syntax.IndexExpr{X: x, Lbrack: open, Y: items[0], Rbrack: end}
}

func orNone(pos syntax.Position, x syntax.Expr) syntax.Expr {
	if x == nil {
		return none(pos)
	}
	return x
}

// atom parses a name, literal, display or parenthesized expression.
func (p *parser) atom() syntax.Expr {
	t := p.peek(0)
	switch t.kind {
	case kName:
		switch t.text {
		case "None", "True", "False":
			t := p.next()
			return &syntax.Ident{NamePos: t.pos, Name: t.text}
		case "await", "yield":
			fail(t.pos, "%s is not supported", t.text)
		}
		return p.ident()
	case kNumber:
		t := p.next()
		return number(t.pos, t.value)
	case kString, kFormat:
		return p.strings()
	case kOp:
		switch t.text {
		case "(":
			return p.parens()
		case "[":
			return p.list()
		case "{":
			return p.braces()
		case "...":
			pos := p.next().pos
			return &syntax.Ident{NamePos: pos, Name: "Ellipsis"}
		}
	}
	fail(t.pos, "%s where an expression is needed", *t)
	return nil
}

func number(pos syntax.Position, v any) *syntax.Literal {
	l := &syntax.Literal{Token: syntax.INT, TokenPos: pos, Raw: "n", Value: v}
	if _, ok := v.(float64); ok {
		l.Token = syntax.FLOAT
	}
	return l
}

// strings parses adjacent string literals, which are one string.
func (p *parser) strings() syntax.Expr {
	pos := p.peek(0).pos
	var parts []syntax.Expr
	text := ""
	flush := func() {
		if text != "" {
			parts = append(parts, str(pos, text))
			text = ""
		}
	}
	for {
		t := p.peek(0)
		if t.kind == kString {
			text += p.next().value.(string)
		} else if t.kind == kFormat {
			flush()
			parts = append(parts, p.fstring(p.next())...)
		} else {
			break
		}
	}
	if len(parts) == 0 {
		return str(pos, text)
	}
	flush()
	return call(pos, FnFormat, parts...)
}

func (p *parser) parens() syntax.Expr {
	p.enter()
	defer p.leave()
	pos := p.next().pos
	if p.isOp(")") {
		end := p.next().pos
		return &syntax.TupleExpr{Lparen: pos, Rparen: end}
	}
	first := p.starred()
	if p.isWord("for") {
		x := p.comprehension(pos, first, nil)
		p.expectOp(")")
		return x
	}
	if !p.isOp(",") {
		p.notStarred(first)
		end := p.expectOp(")").pos
		return &syntax.ParenExpr{Lparen: pos, X: first, Rparen: end}
	}
	list := []syntax.Expr{first}
	for p.acceptOp(",") && !p.isOp(")") {
		list = append(list, p.starred())
	}
	p.expectOp(")")
	return p.sequence(pos, list, true)
}

// list parses a list display or comprehension.
func (p *parser) list() syntax.Expr {
	p.enter()
	defer p.leave()
	pos := p.next().pos
	consts := p.numbers()
	if len(consts) >= 16 && p.isOp("]") {
		p.at++
		p.consts = append(p.consts, consts)
		return call(pos, FnConst, integer(pos, int64(len(p.consts)-1)))
	}
	list := make([]syntax.Expr, 0, len(consts)+1)
	for _, v := range consts {
		list = append(list, constant(pos, v))
	}
	for !p.isOp("]") {
		x := p.starred()
		if len(list) == 0 && p.isWord("for") {
			c := p.comprehension(pos, x, nil)
			p.expectOp("]")
			return c
		}
		list = append(list, x)
		if !p.acceptOp(",") {
			break
		}
	}
	p.expectOp("]")
	return p.sequence(pos, list, false)
}

func constant(pos syntax.Position, v starlark.Value) syntax.Expr {
	switch v := v.(type) {
	case starlark.Float:
		return number(pos, float64(v))
	case starlark.Int:
		if i, ok := v.Int64(); ok {
			return number(pos, i)
		}
		return number(pos, v.BigInt())
	}
	return none(pos)
}

// numbers reads elements of a display while they are plain numbers. It stops before the first that is not.
func (p *parser) numbers() []starlark.Value {
	var out []starlark.Value
	for {
		i, negative := 0, false
		if t := p.peek(0); t.kind == kOp && t.text == "-" {
			i, negative = 1, true
		}
		t := *p.peek(i)
		if t.kind != kNumber {
			return out
		}
		end := p.peek(i + 1)
		if end.kind != kOp || end.text != "," && end.text != "]" {
			return out
		}
		p.at += i + 1
		p.acceptOp(",")
		var v starlark.Value
		switch x := t.value.(type) {
		case int64:
			if negative {
				x = -x
			}
			v = starlark.MakeInt64(x)
		case *big.Int:
			if negative {
				x = new(big.Int).Neg(x)
			}
			v = starlark.MakeBigInt(x)
		case float64:
			if negative {
				x = -x
			}
			v = starlark.Float(x)
		}
		out = append(out, v)
	}
}

// braces parses a dictionary or set, display or comprehension.
func (p *parser) braces() syntax.Expr {
	p.enter()
	defer p.leave()
	pos := p.next().pos
	var args []syntax.Expr // pairs; None before a ** part
	var set []syntax.Expr
	for first := true; !p.isOp("}"); first = false {
		if p.acceptOp("**") {
			args = append(args, none(pos), p.expr())
		} else {
			key := p.starred()
			if len(set) == 0 && p.acceptOp(":") {
				p.notStarred(key)
				value := p.expr()
				if first && p.isWord("for") {
					c := p.comprehension(pos, key, value)
					p.expectOp("}")
					return c
				}
				args = append(args, &syntax.TupleExpr{Lparen: pos, List: []syntax.Expr{key}, Rparen: pos}, value)
			} else if len(args) > 0 {
				fail(p.peek(0).pos, "%s where \":\" is needed", *p.peek(0))
			} else if first && p.isWord("for") {
				c := p.comprehension(pos, key, nil)
				p.expectOp("}")
				return call(pos, "·set", c)
			} else {
				set = append(set, key)
			}
		}
		if !p.acceptOp(",") {
			break
		}
	}
	p.expectOp("}")
	if len(set) > 0 {
		return call(pos, "·set", p.sequence(pos, set, false))
	}
	if len(args) == 0 {
		return &syntax.DictExpr{Lbrace: pos, Rbrace: pos}
	}
	return call(pos, FnDict, args...)
}

// comprehension parses the clauses after its element (and value, for a
// dictionary). A generator expression becomes a list.
func (p *parser) comprehension(pos syntax.Position, x, value syntax.Expr) syntax.Expr {
	c := &syntax.Comprehension{Lbrack: pos, Body: x}
	p.notStarred(x)
	if value != nil {
		c.Curly = true
		c.Body = &syntax.DictEntry{Key: x, Colon: pos, Value: value}
	}
	for n := 0; ; n++ {
		t := p.peek(0)
		pos := t.pos
		if p.acceptWord("for") {
			vars := p.targets()
			in := p.expectWord("in").pos
			c.Clauses = append(c.Clauses, &syntax.ForClause{For: pos, Vars: vars, In: in, X: iterable(p.or())})
		} else if p.acceptWord("if") {
			c.Clauses = append(c.Clauses, &syntax.IfClause{If: pos, Cond: p.or()})
		} else if p.isWord("async") {
			fail(pos, "async is not supported")
		} else {
			break
		}
		if n > 20 {
			fail(pos, "a comprehension has more than 20 clauses")
		}
	}
	c.Rbrack = p.peek(0).pos
	return c
}

// iterable lets strings be iterated, as in Python.
func iterable(x syntax.Expr) syntax.Expr {
	switch x.(type) {
	case *syntax.ListExpr, *syntax.TupleExpr:
		return x
	}
	pos, _ := x.Span()
	return call(pos, "·iter", x)
}

// targets parses the variables of a for.
func (p *parser) targets() syntax.Expr {
	pos := p.peek(0).pos
	one := func() syntax.Expr {
		if p.isOp("*") {
			fail(p.peek(0).pos, "starred targets are not supported")
		}
		return p.primary()
	}
	x := one()
	if !p.isOp(",") {
		return x
	}
	list := []syntax.Expr{x}
	for p.acceptOp(",") && !p.isWord("in") {
		list = append(list, one())
	}
	return &syntax.TupleExpr{Lparen: pos, List: list, Rparen: pos}
}
