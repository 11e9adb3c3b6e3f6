package python

import (
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Parse reads a specification into a tree for starlark.FileProgram. consts are the values
// of long displays of numbers, to which the tree refers by index.
func Parse(name, src string) (f *syntax.File, consts [][]starlark.Value, err error) {
	file := name
	p := &parser{lex: newLexer(&file, src)}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			f, err = nil, e
		}
	}()
	f = &syntax.File{Path: name, Options: &syntax.FileOptions{
		Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true,
	}}
	for p.peek(0).kind != kEOF {
		f.Stmts = p.statement(f.Stmts)
	}
	return f, p.consts, nil
}

// unsupported statements, by their first word.
var unsupported = map[string]string{
	"class": "a class", "try": "exception handling", "with": "a with statement", "yield": "a generator",
	"async": "async", "await": "await", "global": "a global statement", "nonlocal": "a nonlocal statement",
	"except": "exception handling", "finally": "exception handling",
}

// statement parses one statement, which may become several, onto out.
func (p *parser) statement(out []syntax.Stmt) []syntax.Stmt {
	t := p.peek(0)
	if t.kind == kIndent {
		fail(t.pos, "unexpected indentation")
	}
	if t.kind == kOp && t.text == "@" {
		fail(t.pos, "a decorator is not supported")
	}
	if t.kind == kName {
		if what, ok := unsupported[t.text]; ok {
			fail(t.pos, "%s is not supported in a specification", what)
		}
		switch t.text {
		case "if":
			return append(out, p.ifStmt())
		case "for":
			return append(out, p.forStmt())
		case "while":
			return append(out, p.whileStmt())
		case "def":
			return append(out, p.def())
		}
	}
	for {
		out = p.simple(out)
		if !p.acceptOp(";") || p.peek(0).kind == kNewline {
			break
		}
	}
	if t := p.next(); t.kind != kNewline && t.kind != kEOF {
		fail(t.pos, "%s where the statement should end", t)
	}
	return out
}

// block parses ":" and the statements that belong to it.
func (p *parser) block(out []syntax.Stmt) []syntax.Stmt {
	p.enter()
	defer p.leave()
	pos := p.expectOp(":").pos
	if p.peek(0).kind != kNewline {
		for {
			out = p.simple(out)
			if !p.acceptOp(";") || p.peek(0).kind == kNewline {
				break
			}
		}
		if t := p.next(); t.kind != kNewline && t.kind != kEOF {
			fail(t.pos, "%s where the statement should end", t)
		}
		return p.nonEmpty(out, pos)
	}
	p.next()
	if t := p.next(); t.kind != kIndent {
		fail(t.pos, "%s where an indented block is needed", t)
	}
	for p.peek(0).kind != kDedent && p.peek(0).kind != kEOF {
		out = p.statement(out)
	}
	if p.peek(0).kind == kDedent {
		p.next()
	}
	return p.nonEmpty(out, pos)
}

func (p *parser) nonEmpty(out []syntax.Stmt, pos syntax.Position) []syntax.Stmt {
	if len(out) == 0 {
		out = append(out, &syntax.BranchStmt{Token: syntax.PASS, TokenPos: pos})
	}
	return out
}

func (p *parser) ifStmt() syntax.Stmt {
	root := &syntax.IfStmt{If: p.next().pos}
	root.Cond = p.expr()
	root.True = p.block(nil)
	last := root
	for n := 0; p.isWord("elif"); n++ {
		pos := p.next().pos
		p.chain(n, pos)
		next := &syntax.IfStmt{If: pos, Cond: p.expr()}
		next.True = p.block(nil)
		last.ElsePos, last.False = pos, []syntax.Stmt{next}
		last = next
	}
	if p.isWord("else") {
		last.ElsePos = p.next().pos
		last.False = p.block(nil)
	}
	return root
}

func (p *parser) forStmt() syntax.Stmt {
	s := &syntax.ForStmt{For: p.next().pos}
	s.Vars = p.targets()
	p.expectWord("in")
	s.X = iterable(p.exprList())
	s.Body = p.block(nil)
	p.noElse("for")
	return s
}

func (p *parser) whileStmt() syntax.Stmt {
	s := &syntax.WhileStmt{While: p.next().pos}
	s.Cond = p.expr()
	s.Body = p.block(nil)
	p.noElse("while")
	return s
}

func (p *parser) noElse(of string) {
	if p.isWord("else") {
		fail(p.peek(0).pos, "else after %s is not supported", of)
	}
}

func (p *parser) def() syntax.Stmt {
	s := &syntax.DefStmt{Def: p.next().pos}
	s.Name = p.ident()
	s.Lparen = p.expectOp("(").pos
	s.Params = p.params(")", true)
	s.Rparen = p.expectOp(")").pos
	if p.acceptOp("->") {
		p.expr()
	}
	// Each call passes through the depth check.
	s.Body = p.block([]syntax.Stmt{&syntax.ExprStmt{X: call(s.Def, FnEnter)}})
	return s
}

// simple parses a statement within a line.
func (p *parser) simple(out []syntax.Stmt) []syntax.Stmt {
	t := p.peek(0)
	pos := t.pos
	if t.kind == kName {
		switch t.text {
		case "import", "from":
			return p.importStmt(out)
		case "pass", "break", "continue":
			tok := map[string]syntax.Token{"pass": syntax.PASS, "break": syntax.BREAK, "continue": syntax.CONTINUE}[p.next().text]
			return append(out, &syntax.BranchStmt{Token: tok, TokenPos: pos})
		case "return":
			p.next()
			s := &syntax.ReturnStmt{Return: pos}
			if k := p.peek(0).kind; k != kNewline && k != kEOF && !p.isOp(";") {
				s.Result = p.exprList()
			}
			return append(out, s)
		case "assert":
			p.next()
			x := p.expr()
			msg := syntax.Expr(none(pos))
			if p.acceptOp(",") {
				msg = p.expr()
			}
			return append(out, &syntax.ExprStmt{X: call(pos, FnAssert, x, msg)})
		case "raise":
			p.next()
			return append(out, &syntax.ExprStmt{X: call(pos, FnRaise, p.expr())})
		case "del":
			return p.del(out)
		}
	}
	return p.assignment(out)
}

// importStmt binds the modules that are known; others fail when run.
func (p *parser) importStmt(out []syntax.Stmt) []syntax.Stmt {
	dotted := func() (syntax.Position, string) {
		id := p.ident()
		name := id.Name
		for p.acceptOp(".") {
			name += "." + p.ident().Name
		}
		return id.NamePos, name
	}
	bind := func(pos syntax.Position, as string, args ...syntax.Expr) {
		out = append(out, &syntax.AssignStmt{OpPos: pos, Op: syntax.EQ,
			LHS: &syntax.Ident{NamePos: pos, Name: as}, RHS: call(pos, FnImport, args...)})
	}
	if p.next().text == "import" {
		for {
			pos, name := dotted()
			as, _, _ := strings.Cut(name, ".")
			module := as
			if p.acceptWord("as") {
				as, module = p.ident().Name, name
			}
			bind(pos, as, str(pos, module))
			if !p.acceptOp(",") {
				return out
			}
		}
	}
	pos, name := dotted()
	p.expectWord("import")
	if p.isOp("*") {
		fail(p.peek(0).pos, "import * is not supported")
	}
	paren := p.acceptOp("(")
	for {
		id := p.ident()
		as := id.Name
		if p.acceptWord("as") {
			as = p.ident().Name
		}
		if name != "__future__" {
			bind(id.NamePos, as, str(pos, name), str(pos, id.Name))
		}
		if !p.acceptOp(",") || paren && p.isOp(")") {
			break
		}
	}
	if paren {
		p.expectOp(")")
	}
	return out
}

func (p *parser) del(out []syntax.Stmt) []syntax.Stmt {
	pos := p.next().pos
	for {
		x := p.primary()
		i, ok := x.(*syntax.IndexExpr)
		if !ok {
			fail(pos, "del of anything but an element is not supported")
		}
		out = append(out, &syntax.ExprStmt{X: call(pos, FnDelete, i.X, i.Y)})
		if !p.acceptOp(",") {
			return out
		}
	}
}

// inPlace are the augmented assignments.
var inPlace = map[string]string{
	"+=": FnAdd, "-=": FnSub, "*=": FnMul, "/=": FnDiv, "//=": FnFloorDiv, "%=": FnMod, "**=": FnPow,
	"&=": FnAnd, "|=": FnOr, "^=": FnXor, "<<=": FnShl, ">>=": FnShr,
}

// assignment parses an expression statement or an assignment.
func (p *parser) assignment(out []syntax.Stmt) []syntax.Stmt {
	pos := p.peek(0).pos
	x := p.exprList()
	t := p.peek(0)
	if t.kind != kOp {
		return append(out, &syntax.ExprStmt{X: x})
	}
	opPos := t.pos
	if p.isOp(":") { // an annotation
		p.next()
		p.expr()
		if !p.isOp("=") {
			return out
		}
	}
	if fn := inPlace[t.text]; fn != "" {
		p.next()
		y := p.exprList()
		if !simple(x) {
			fail(pos, "the target of %s is not supported", t.text)
		}
		// x = inplace(op(x, y)); lists and arrays keep their identity.
		v := call(opPos, FnInPlace, str(opPos, fn), copyExpr(x), y)
		return append(out, p.assign(opPos, x, v))
	}
	if !p.isOp("=") {
		return append(out, &syntax.ExprStmt{X: x})
	}
	targets := []syntax.Expr{x}
	var value syntax.Expr
	for p.isOp("=") {
		opPos = p.next().pos
		value = p.exprList()
		targets = append(targets, value)
		p.chain(10*len(targets), opPos)
	}
	targets = targets[:len(targets)-1]
	if len(targets) > 1 {
		p.temps++
		temp := "·t" + itoa(p.temps)
		out = append(out, p.assign(opPos, &syntax.Ident{NamePos: opPos, Name: temp}, value))
		for _, t := range targets {
			out = append(out, p.assign(opPos, t, &syntax.Ident{NamePos: opPos, Name: temp}))
		}
		return out
	}
	return append(out, p.assign(opPos, x, value))
}

// assign makes target = value; to a slice it is a call.
func (p *parser) assign(pos syntax.Position, target, value syntax.Expr) syntax.Stmt {
	if s, ok := target.(*syntax.SliceExpr); ok {
		return &syntax.ExprStmt{X: call(pos, FnSetSlice, s.X, orNone(pos, s.Lo), orNone(pos, s.Hi), orNone(pos, s.Step), value)}
	}
	p.checkTarget(target)
	return &syntax.AssignStmt{OpPos: pos, Op: syntax.EQ, LHS: target, RHS: value}
}

// checkTarget rejects invalid targets of assignments.
func (p *parser) checkTarget(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.Ident:
		switch x.Name {
		case "None", "True", "False":
			fail(x.NamePos, "%s cannot be assigned to", x.Name)
		}
		return
	case *syntax.DotExpr, *syntax.IndexExpr:
		return
	case *syntax.ParenExpr:
		p.checkTarget(x.X)
		return
	case *syntax.TupleExpr:
		for _, e := range x.List {
			p.checkTarget(e)
		}
		return
	case *syntax.ListExpr:
		for _, e := range x.List {
			p.checkTarget(e)
		}
		return
	}
	pos, _ := x.Span()
	fail(pos, "this expression cannot be assigned to")
}
