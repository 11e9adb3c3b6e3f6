package python

import (
	"go.starlark.net/syntax"
)

// compareOp reads a comparison operator; name is "" when there is none.
func (p *parser) compareOp() (name string, pos syntax.Position) {
	t := p.peek(0)
	pos = t.pos
	if t.kind == kOp && Comparisons[t.text] != "" {
		return p.next().text, pos
	}
	switch {
	case p.acceptWord("in"):
		return "in", pos
	case p.acceptWord("is"):
		if p.acceptWord("not") {
			return "is not", pos
		}
		return "is", pos
	case p.isWord("not") && p.peek(1).kind == kName && p.peek(1).text == "in":
		p.at += 2
		return "not in", pos
	}
	return "", pos
}

func compare(pos syntax.Position, op string, x, y syntax.Expr) syntax.Expr {
	switch op {
	case "is":
		return call(pos, FnIs, x, y)
	case "is not":
		return &syntax.UnaryExpr{OpPos: pos, Op: syntax.NOT, X: call(pos, FnIs, x, y)}
	case "in":
		return call(pos, FnIn, x, y)
	case "not in":
		return &syntax.UnaryExpr{OpPos: pos, Op: syntax.NOT, X: call(pos, FnIn, x, y)}
	}
	return call(pos, Comparisons[op], x, y)
}

// comparison parses a chain of Comparisons; a < b < c becomes a < b and b < c,
// with b evaluated once.
func (p *parser) comparison() syntax.Expr {
	x := p.binary(0)
	op, pos := p.compareOp()
	if op == "" {
		return x
	}
	y := p.binary(0)
	op2, pos2 := p.compareOp()
	if op2 == "" {
		return compare(pos, op, x, y)
	}
	// (lambda b: a < b and b < c)(b) per link, from the left.
	type link struct {
		op  string
		pos syntax.Position
		x   syntax.Expr
	}
	links := []link{{op, pos, y}}
	for n := 0; op2 != ""; n++ {
		p.chain(10*n, pos2)
		links = append(links, link{op2, pos2, p.binary(0)})
		op2, pos2 = p.compareOp()
	}
	return p.chained(x, func(i int) (string, syntax.Position, syntax.Expr, bool) {
		return links[i].op, links[i].pos, links[i].x, i == len(links)-1
	}, 0)
}

func (p *parser) chained(x syntax.Expr, link func(int) (string, syntax.Position, syntax.Expr, bool), i int) syntax.Expr {
	op, pos, y, last := link(i)
	if last {
		return compare(pos, op, x, y)
	}
	if simple(y) {
		return &syntax.BinaryExpr{X: compare(pos, op, x, y), OpPos: pos, Op: syntax.AND, Y: p.chained(copyExpr(y), link, i+1)}
	}
	p.temps++
	name := "·m" + itoa(p.temps)
	id := func() *syntax.Ident { return &syntax.Ident{NamePos: pos, Name: name} }
	body := &syntax.BinaryExpr{X: compare(pos, op, x, id()), OpPos: pos, Op: syntax.AND, Y: p.chained(id(), link, i+1)}
	fn := &syntax.LambdaExpr{Lambda: pos, Params: []syntax.Expr{id()}, Body: body}
	return &syntax.CallExpr{Fn: fn, Lparen: pos, Args: []syntax.Expr{y}, Rparen: pos}
}

// simple reports whether x may be evaluated twice.
func simple(x syntax.Expr) bool {
	switch x := x.(type) {
	case *syntax.Ident, *syntax.Literal:
		return true
	case *syntax.DotExpr:
		return simple(x.X)
	case *syntax.IndexExpr:
		return simple(x.X) && simple(x.Y)
	case *syntax.UnaryExpr:
		return x.X != nil && simple(x.X)
	case *syntax.TupleExpr:
		return allSimple(x.List)
	case *syntax.SliceExpr:
		return simple(x.X) && (x.Lo == nil || simple(x.Lo)) && (x.Hi == nil || simple(x.Hi)) && (x.Step == nil || simple(x.Step))
	case *syntax.CallExpr:
		f, ok := x.Fn.(*syntax.Ident)
		return ok && f.Name == FnSlice && allSimple(x.Args)
	}
	return false
}

func allSimple(list []syntax.Expr) bool {
	for _, e := range list {
		if !simple(e) {
			return false
		}
	}
	return true
}

// copyExpr copies a simple expression: a tree's identifiers may not be shared.
func copyExpr(x syntax.Expr) syntax.Expr {
	switch x := x.(type) {
	case *syntax.Ident:
		return &syntax.Ident{NamePos: x.NamePos, Name: x.Name}
	case *syntax.DotExpr:
		return &syntax.DotExpr{X: copyExpr(x.X), Dot: x.Dot, NamePos: x.NamePos, Name: copyExpr(x.Name).(*syntax.Ident)}
	case *syntax.IndexExpr:
		return &syntax.IndexExpr{X: copyExpr(x.X), Lbrack: x.Lbrack, Y: copyExpr(x.Y), Rbrack: x.Rbrack}
	case *syntax.UnaryExpr:
		return &syntax.UnaryExpr{OpPos: x.OpPos, Op: x.Op, X: copyExpr(x.X)}
	case *syntax.TupleExpr:
		return &syntax.TupleExpr{Lparen: x.Lparen, List: copyList(x.List), Rparen: x.Rparen}
	case *syntax.SliceExpr:
		c := *x
		c.X = copyExpr(x.X)
		for _, part := range []*syntax.Expr{&c.Lo, &c.Hi, &c.Step} {
			if *part != nil {
				*part = copyExpr(*part)
			}
		}
		return &c
	case *syntax.CallExpr:
		return &syntax.CallExpr{Fn: copyExpr(x.Fn), Lparen: x.Lparen, Args: copyList(x.Args), Rparen: x.Rparen}
	}
	return x
}

func copyList(list []syntax.Expr) []syntax.Expr {
	out := make([]syntax.Expr, len(list))
	for i, e := range list {
		out[i] = copyExpr(e)
	}
	return out
}

// binaryLevels are Python's binary operators, weakest first.
var binaryLevels = []map[string]string{
	{"|": FnOr}, {"^": FnXor}, {"&": FnAnd}, {"<<": FnShl, ">>": FnShr}, {"+": FnAdd, "-": FnSub},
	{"*": FnMul, "/": FnDiv, "//": FnFloorDiv, "%": FnMod},
}

func (p *parser) binary(level int) syntax.Expr {
	if level == len(binaryLevels) {
		return p.unary()
	}
	x := p.binary(level + 1)
	for n := 0; ; n++ {
		t := p.peek(0)
		fn := ""
		if t.kind == kOp {
			fn = binaryLevels[level][t.text]
		}
		if fn == "" {
			if t.kind == kOp && t.text == "@" {
				fail(t.pos, "operator @ is not supported")
			}
			return x
		}
		pos := p.next().pos
		p.chain(n, pos)
		x = call(pos, fn, x, p.binary(level+1))
	}
}

func (p *parser) unary() syntax.Expr {
	t := p.peek(0)
	if t.kind == kOp && (t.text == "-" || t.text == "+" || t.text == "~") {
		p.enter()
		defer p.leave()
		pos := t.pos
		op := map[string]syntax.Token{"-": syntax.MINUS, "+": syntax.PLUS, "~": syntax.TILDE}[p.next().text]
		return &syntax.UnaryExpr{OpPos: pos, Op: op, X: p.unary()}
	}
	x := p.primary()
	if p.isOp("**") {
		p.enter()
		defer p.leave()
		pos := p.next().pos
		return call(pos, FnPow, x, p.unary())
	}
	return x
}

// Comparisons are Python's, by the built-in that does each.
var Comparisons = map[string]string{"==": "·eq", "!=": "·ne", "<": "·lt", "<=": "·le", ">": "·gt", ">=": "·ge"}

// Symbol is an operator as it is written.
var Symbol = map[string]string{
	FnAdd: "+", FnSub: "-", FnMul: "*", FnDiv: "/", FnFloorDiv: "//", FnMod: "%", FnPow: "**",
	FnAnd: "&", FnOr: "|", FnXor: "^", FnShl: "<<", FnShr: ">>",
}
