package python

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// MaxNesting bounds brackets, blocks and operators.
const MaxNesting = 100

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
	FnAdd, FnSub, FnMul, FnDiv = "·add", "·sub", "·mul", "·truediv"
	FnFloorDiv, FnMod, FnPow   = "·floordiv", "·mod", "·pow"
	FnAnd, FnOr, FnXor         = "·and", "·or", "·xor"
	FnShl, FnShr               = "·shl", "·shr"
	FnIs                       = "·is"
	FnDict                     = "·dict"
	FnUnpack                   = "·unpack"
	FnSlice                    = "·slice"
	FnGetSlice                 = "·getslice"
	FnIn                       = "·in"
	FnSetSlice                 = "·setslice"
	FnDelete                   = "·delete"
	FnAssert                   = "·assert"
	FnRaise                    = "·raise"
	FnImport                   = "·import"
	FnFormat                   = "·format"
	FnMethod                   = "·method"
	FnConst                    = "·const"
	FnEnter                    = "·enter"
	FnInPlace                  = "·inplace"
)

func (p *parser) peek(n int) *token {
	for p.at+n >= len(p.lex.out) {
		if k := len(p.lex.out); k > 0 && p.lex.out[k-1].kind == kEOF {
			return &p.lex.out[k-1]
		}
		if p.at > 512 { // drop consumed tokens
			p.lex.out = p.lex.out[:copy(p.lex.out, p.lex.out[p.at:])]
			p.at = 0
		}
		p.lex.more()
	}
	return &p.lex.out[p.at+n]
}

func (p *parser) next() token {
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
	return p.next()
}

func (p *parser) expectWord(s string) token {
	if !p.isWord(s) {
		t := p.peek(0)
		fail(t.pos, "%s where %q is needed", t, s)
	}
	return p.next()
}

// enter counts the nesting of expressions and blocks; leave undoes it.
func (p *parser) enter() {
	if p.nest++; p.nest > 4*MaxNesting {
		fail(p.peek(0).pos, "expressions and blocks are nested deeper than %d", 4*MaxNesting)
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
	t := p.next()
	if t.kind != kName || keywords[t.text] {
		fail(t.pos, "%s where a name is needed", t)
	}
	return &syntax.Ident{NamePos: t.pos, Name: t.text}
}

// maxArgs is the limit of the arguments of a call in the tree; Starlark's is 255.
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
		pos := p.next().pos
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

// sequence makes a tuple or list of elements, some of which may be starred.
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

// joined makes a call that returns the list of all elements, starred ones spread.
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
	return call(pos, FnUnpack, parts...)
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
		pos := p.next().pos
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
	pos := p.next().pos
	params := p.params(":", false)
	p.expectOp(":")
	body := p.expr()
	// Each call passes through the depth check.
	body = &syntax.BinaryExpr{X: call(pos, FnEnter), OpPos: pos, Op: syntax.AND, Y: body}
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
				eq := p.next().pos
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

func (p *parser) or() syntax.Expr  { return p.operations("or", syntax.OR, p.and) }
func (p *parser) and() syntax.Expr { return p.operations("and", syntax.AND, p.not) }

// operations parses operands with a word between them.
func (p *parser) operations(word string, op syntax.Token, operand func() syntax.Expr) syntax.Expr {
	x := operand()
	for n := 0; p.isWord(word); n++ {
		pos := p.next().pos
		p.chain(n, pos)
		x = &syntax.BinaryExpr{X: x, OpPos: pos, Op: op, Y: operand()}
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
		pos := p.next().pos
		return &syntax.UnaryExpr{OpPos: pos, Op: syntax.NOT, X: p.not()}
	}
	return p.comparison()
}
