package modpy

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// parser builds a Starlark syntax tree from Python tokens.
type parser struct {
	lex   *lexer
	at    int
	nest  int
	temps int
	// consts are the values of long displays of numbers; the tree refers to
	// them by index, so that weights do not become a node each.
	consts [][]starlark.Value
}

// Names of built-in functions that the tree calls. The middle dot keeps them
// apart from the names of a specification.
const (
	fnAdd, fnSub, fnMul, fnDiv = "·add", "·sub", "·mul", "·truediv"
	fnFloorDiv, fnMod, fnPow   = "·floordiv", "·mod", "·pow"
	fnAnd, fnOr, fnXor         = "·and", "·or", "·xor"
	fnShl, fnShr               = "·shl", "·shr"
	fnIs                       = "·is"
	fnDict                     = "·dict"
	fnUnpack                   = "·unpack"
	fnSlice                    = "·slice"
	fnSetSlice                 = "·setslice"
	fnDelete                   = "·delete"
	fnAssert                   = "·assert"
	fnRaise                    = "·raise"
	fnImport                   = "·import"
	fnFormat                   = "·format"
	fnMethod                   = "·method"
	fnConst                    = "·const"
	fnEnter                    = "·enter"
	fnInPlace                  = "·inplace"
)

func (p *parser) peek(n int) *token {
	for p.at+n >= len(p.lex.out) {
		if k := len(p.lex.out); k > 0 && p.lex.out[k-1].kind == kEOF {
			return &p.lex.out[k-1]
		}
		if p.at > 512 { // drop what is taken
			p.lex.out = p.lex.out[:copy(p.lex.out, p.lex.out[p.at:])]
			p.at = 0
		}
		p.lex.more()
	}
	return &p.lex.out[p.at+n]
}

func (p *parser) take() token {
	t := *p.peek(0)
	if t.kind != kEOF {
		p.at++
	}
	return t
}

func (p *parser) isOp(s string) bool {
	t := p.peek(0)
	return t.kind == kOp && t.text == s
}

func (p *parser) isWord(s string) bool {
	t := p.peek(0)
	return t.kind == kName && t.text == s
}

func (p *parser) acceptOp(s string) bool {
	if p.isOp(s) {
		p.at++
		return true
	}
	return false
}

func (p *parser) acceptWord(s string) bool {
	if p.isWord(s) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expectOp(s string) token {
	if !p.isOp(s) {
		t := p.peek(0)
		fail(t.pos, "%s where %q is needed", t, s)
	}
	return p.take()
}

func (p *parser) expectWord(s string) token {
	if !p.isWord(s) {
		t := p.peek(0)
		fail(t.pos, "%s where %q is needed", t, s)
	}
	return p.take()
}

// enter counts the nesting of expressions and blocks; leave undoes it.
func (p *parser) enter() {
	if p.nest++; p.nest > 4*maxNesting {
		fail(p.peek(0).pos, "expressions and blocks are nested deeper than %d", 4*maxNesting)
	}
}

func (p *parser) leave() { p.nest-- }

// keywords may not be names.
var keywords = map[string]bool{
	"False": true, "None": true, "True": true, "and": true, "as": true, "assert": true, "async": true, "await": true,
	"break": true, "class": true, "continue": true, "def": true, "del": true, "elif": true, "else": true,
	"except": true, "finally": true, "for": true, "from": true, "global": true, "if": true, "import": true,
	"in": true, "is": true, "lambda": true, "nonlocal": true, "not": true, "or": true, "pass": true,
	"raise": true, "return": true, "try": true, "while": true, "with": true, "yield": true,
}

func (p *parser) ident() *syntax.Ident {
	t := p.take()
	if t.kind != kName || keywords[t.text] {
		fail(t.pos, "%s where a name is needed", t)
	}
	return &syntax.Ident{NamePos: t.pos, Name: t.text}
}

// maxArgs is how many arguments a call in the tree has; Starlark takes 255.
const maxArgs = 200

func call(pos syntax.Position, fn string, args ...syntax.Expr) *syntax.CallExpr {
	if len(args) > maxArgs { // f(*[...])
		args = []syntax.Expr{&syntax.UnaryExpr{OpPos: pos, Op: syntax.STAR,
			X: &syntax.ListExpr{Lbrack: pos, List: args, Rbrack: pos}}}
	}
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: pos, Name: fn}, Lparen: pos, Args: args, Rparen: pos}
}

func str(pos syntax.Position, s string) *syntax.Literal {
	return &syntax.Literal{Token: syntax.STRING, TokenPos: pos, Raw: "s", Value: s}
}

func integer(pos syntax.Position, i int64) *syntax.Literal {
	return &syntax.Literal{Token: syntax.INT, TokenPos: pos, Raw: "i", Value: i}
}

func none(pos syntax.Position) syntax.Expr { return &syntax.Ident{NamePos: pos, Name: "None"} }

// exprList parses one expression or, with commas, a tuple.
func (p *parser) exprList() syntax.Expr {
	pos := p.peek(0).pos
	x := p.starred()
	if !p.isOp(",") {
		p.notStarred(x)
		return x
	}
	list := []syntax.Expr{x}
	for p.acceptOp(",") {
		if p.endOfList() {
			break
		}
		list = append(list, p.starred())
	}
	return p.sequence(pos, list, true)
}

// endOfList reports whether the next token cannot start an expression, after
// a trailing comma.
func (p *parser) endOfList() bool {
	t := p.peek(0)
	switch t.kind {
	case kNewline, kEOF:
		return true
	case kOp:
		switch t.text {
		case ")", "]", "}", "=", ":", ";", "+=", "-=", "*=", "/=":
			return true
		}
	case kName:
		return t.text == "in"
	}
	return false
}

// starred parses "*x" or an expression.
func (p *parser) starred() syntax.Expr {
	if p.isOp("*") {
		pos := p.take().pos
		return &syntax.UnaryExpr{OpPos: pos, Op: syntax.STAR, X: p.binary(0)}
	}
	return p.expr()
}

// notStarred rejects "*x" where one value is needed.
func (p *parser) notStarred(x syntax.Expr) {
	if u, ok := x.(*syntax.UnaryExpr); ok && u.Op == syntax.STAR {
		fail(u.OpPos, "a starred expression is not possible here")
	}
}

// sequence makes a tuple or list of elements of which some may be starred.
func (p *parser) sequence(pos syntax.Position, list []syntax.Expr, tuple bool) syntax.Expr {
	stars := false
	for _, e := range list {
		if u, ok := e.(*syntax.UnaryExpr); ok && u.Op == syntax.STAR {
			stars = true
		}
	}
	if !stars {
		if tuple {
			return &syntax.TupleExpr{Lparen: pos, List: list, Rparen: pos}
		}
		return &syntax.ListExpr{Lbrack: pos, List: list, Rbrack: pos}
	}
	x := p.joined(pos, list)
	if tuple {
		return call(pos, "·tuple", x)
	}
	return x
}

// joined makes a call that gives the list of all elements, starred ones spread.
func (p *parser) joined(pos syntax.Position, list []syntax.Expr) syntax.Expr {
	var parts, run []syntax.Expr
	flush := func() {
		if len(run) > 0 {
			parts = append(parts, &syntax.ListExpr{Lbrack: pos, List: run, Rbrack: pos})
			run = nil
		}
	}
	for _, e := range list {
		if u, ok := e.(*syntax.UnaryExpr); ok && u.Op == syntax.STAR {
			flush()
			parts = append(parts, u.X)
		} else {
			run = append(run, e)
		}
	}
	flush()
	return call(pos, fnUnpack, parts...)
}

// expr parses a lambda or a conditional expression.
func (p *parser) expr() syntax.Expr {
	p.enter()
	defer p.leave()
	if p.isWord("lambda") {
		return p.lambda()
	}
	x := p.or()
	if p.isWord("if") {
		pos := p.take().pos
		cond := p.or()
		elsePos := p.expectWord("else").pos
		return &syntax.CondExpr{If: pos, Cond: cond, True: x, ElsePos: elsePos, False: p.expr()}
	}
	if p.isOp(":=") {
		fail(p.peek(0).pos, "assignment expressions (:=) are not supported")
	}
	return x
}

func (p *parser) lambda() syntax.Expr {
	pos := p.take().pos
	params := p.params(":", false)
	p.expectOp(":")
	body := p.expr()
	// Each call passes through the depth check.
	body = &syntax.BinaryExpr{X: call(pos, fnEnter), OpPos: pos, Op: syntax.AND, Y: body}
	return &syntax.LambdaExpr{Lambda: pos, Params: params, Body: body}
}

// params parses parameters up to the closing token, which stays.
func (p *parser) params(end string, annotations bool) []syntax.Expr {
	var out []syntax.Expr
	for !p.isOp(end) {
		pos := p.peek(0).pos
		switch {
		case p.acceptOp("**"):
			out = append(out, &syntax.UnaryExpr{OpPos: pos, Op: syntax.STARSTAR, X: p.ident()})
		case p.acceptOp("*"):
			u := &syntax.UnaryExpr{OpPos: pos, Op: syntax.STAR}
			if !p.isOp(",") {
				u.X = p.ident()
			}
			out = append(out, u)
		case p.isOp("/"):
			fail(pos, "positional-only parameters are not supported")
		default:
			name := p.ident()
			if annotations && p.acceptOp(":") {
				p.expr()
			}
			if p.isOp("=") {
				eq := p.take().pos
				out = append(out, &syntax.BinaryExpr{X: name, OpPos: eq, Op: syntax.EQ, Y: p.expr()})
			} else {
				out = append(out, name)
			}
		}
		if !p.acceptOp(",") {
			break
		}
	}
	return out
}

func (p *parser) or() syntax.Expr {
	x := p.and()
	for n := 0; p.isWord("or"); n++ {
		pos := p.take().pos
		p.chain(n, pos)
		x = &syntax.BinaryExpr{X: x, OpPos: pos, Op: syntax.OR, Y: p.and()}
	}
	return x
}

func (p *parser) and() syntax.Expr {
	x := p.not()
	for n := 0; p.isWord("and"); n++ {
		pos := p.take().pos
		p.chain(n, pos)
		x = &syntax.BinaryExpr{X: x, OpPos: pos, Op: syntax.AND, Y: p.not()}
	}
	return x
}

// chain bounds the length of a chain of operators, each of which deepens the tree.
func (p *parser) chain(n int, pos syntax.Position) {
	if n > 1000 {
		fail(pos, "an expression has more than 1000 operators in a row")
	}
}

func (p *parser) not() syntax.Expr {
	if p.isWord("not") {
		p.enter()
		defer p.leave()
		pos := p.take().pos
		return &syntax.UnaryExpr{OpPos: pos, Op: syntax.NOT, X: p.not()}
	}
	return p.comparison()
}

var comparisons = map[string]syntax.Token{
	"==": syntax.EQL, "!=": syntax.NEQ, "<": syntax.LT, "<=": syntax.LE, ">": syntax.GT, ">=": syntax.GE,
}

// compareOp takes a comparison operator; name is "" when there is none.
func (p *parser) compareOp() (name string, pos syntax.Position) {
	t := p.peek(0)
	pos = t.pos
	if t.kind == kOp && comparisons[t.text] != 0 {
		return p.take().text, pos
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
		return call(pos, fnIs, x, y)
	case "is not":
		return &syntax.UnaryExpr{OpPos: pos, Op: syntax.NOT, X: call(pos, fnIs, x, y)}
	case "in":
		return &syntax.BinaryExpr{X: x, OpPos: pos, Op: syntax.IN, Y: y}
	case "not in":
		return &syntax.BinaryExpr{X: x, OpPos: pos, Op: syntax.NOT_IN, Y: y}
	}
	return &syntax.BinaryExpr{X: x, OpPos: pos, Op: comparisons[op], Y: y}
}

// comparison parses a chain of comparisons; a < b < c becomes a < b and b < c,
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
		return ok && f.Name == fnSlice && allSimple(x.Args)
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
	{"|": fnOr}, {"^": fnXor}, {"&": fnAnd}, {"<<": fnShl, ">>": fnShr}, {"+": fnAdd, "-": fnSub},
	{"*": fnMul, "/": fnDiv, "//": fnFloorDiv, "%": fnMod},
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
		pos := p.take().pos
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
		op := map[string]syntax.Token{"-": syntax.MINUS, "+": syntax.PLUS, "~": syntax.TILDE}[p.take().text]
		return &syntax.UnaryExpr{OpPos: pos, Op: op, X: p.unary()}
	}
	x := p.primary()
	if p.isOp("**") {
		p.enter()
		defer p.leave()
		pos := p.take().pos
		return call(pos, fnPow, x, p.unary())
	}
	return x
}
