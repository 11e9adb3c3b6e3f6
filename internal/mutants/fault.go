package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
)

// Fault replaces a part of a file.
type Fault struct {
	Area     string `json:"area"`
	Package  string `json:"package"` // directory
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
	Old      string `json:"old"` // the line before and with the fault, trimmed
	New      string `json:"new"`

	from, to int // bytes of the file
	with     string
}

// Key names the fault whatever its line number.
func (f *Fault) Key() string {
	return fmt.Sprintf("%s %s: %s => %s", f.File, f.Function, f.Old, f.New)
}

// swaps are the tokens that a fault puts in the place of another.
var swaps = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.ADD, token.QUO: token.MUL, token.REM: token.QUO,
	token.SHL: token.SHR, token.SHR: token.SHL, token.AND: token.OR, token.OR: token.AND, token.XOR: token.OR, token.AND_NOT: token.AND,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.ADD_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN,
	token.AND_ASSIGN: token.OR_ASSIGN, token.SHL_ASSIGN: token.SHR_ASSIGN, token.SHR_ASSIGN: token.SHL_ASSIGN, token.XOR_ASSIGN: token.OR_ASSIGN,
	token.AND_NOT_ASSIGN: token.AND_ASSIGN, token.INC: token.DEC, token.DEC: token.INC,
}

// faults are all that can be planted into a file: another operator or comparison, a constant one greater, a negation
// left out, min for max, two arguments exchanged. Texts of errors and names are no place for one.
func faults(file string) ([]Fault, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(tree) {
		return nil, nil
	}
	c := collector{file: file, src: src, set: set}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil && d.Name.Name != "String" && d.Name.Name != "Error" {
				c.function = d.Name.Name
				ast.Inspect(d.Body, c.visit)
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR { // tables
				c.function = "var"
				if v, ok := d.Specs[0].(*ast.ValueSpec); ok {
					c.function = v.Names[0].Name
				}
				ast.Inspect(d, c.visit)
			}
		}
	}
	return c.out, nil
}

// collector gathers the faults of a file.
type collector struct {
	file     string
	src      []byte
	set      *token.FileSet
	function string
	out      []Fault
}

func (c *collector) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		if describes(n) {
			return false
		}
		if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "min" || id.Name == "max") {
			c.replace(id.Pos(), id.End(), map[string]string{"min": "max", "max": "min"}[id.Name])
		}
		for i := 0; i+1 < len(n.Args) && n.Ellipsis == 0; i++ {
			a, b := n.Args[i], n.Args[i+1]
			x, y := c.text(a), c.text(b)
			if x != y && !commutes(n) {
				c.replace(a.Pos(), b.End(), y+string(c.src[c.offset(a.End()):c.offset(b.Pos())])+x)
			}
		}
	case *ast.BinaryExpr:
		c.token(n.OpPos, n.Op)
	case *ast.AssignStmt:
		c.token(n.TokPos, n.Tok)
	case *ast.IncDecStmt:
		c.token(n.TokPos, n.Tok)
	case *ast.UnaryExpr:
		if n.Op == token.NOT || n.Op == token.SUB {
			c.replace(n.OpPos, n.OpPos+1, " ")
		}
	case *ast.BasicLit:
		if n.Kind != token.INT {
			break
		}
		if v, err := strconv.ParseUint(n.Value, 0, 63); err == nil {
			c.replace(n.Pos(), n.End(), fmt.Sprint(v+1))
		}
	case *ast.ArrayType: // a length
		return false
	}
	return true
}

// describes reports a call that makes the text of an error or of a message.
func describes(n *ast.CallExpr) bool {
	name := ""
	switch f := n.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if x, ok := f.X.(*ast.Ident); ok && (x.Name == "fmt" || x.Name == "errors" || x.Name == "strings") {
			return true
		}
	case *ast.Ident:
		name = f.Name
	}
	switch strings.ToLower(name) {
	case "panic", "fail", "bad", "broken", "errorf", "sprintf", "logf", "make", "grow":
		return true
	}
	return false
}

// commutes reports a call whose arguments may be in any order.
func commutes(n *ast.CallExpr) bool {
	id, ok := n.Fun.(*ast.Ident)
	return ok && (id.Name == "min" || id.Name == "max" || id.Name == "append")
}

func (c *collector) token(pos token.Pos, op token.Token) {
	if to, ok := swaps[op]; ok {
		c.replace(pos, pos+token.Pos(len(op.String())), to.String())
	}
}

func (c *collector) offset(p token.Pos) int { return c.set.Position(p).Offset }
func (c *collector) text(n ast.Node) string {
	return string(c.src[c.offset(n.Pos()):c.offset(n.End())])
}
func (c *collector) start(at int) int { return strings.LastIndexByte(string(c.src[:at]), '\n') + 1 }
func (c *collector) stop(at int) int {
	if i := strings.IndexByte(string(c.src[at:]), '\n'); i >= 0 {
		return at + i
	}
	return len(c.src)
}

// replace notes a fault.
func (c *collector) replace(pos, end token.Pos, with string) {
	from, to := c.offset(pos), c.offset(end)
	start, stop := c.start(from), c.stop(to)
	old := string(c.src[start:stop])
	changed := string(c.src[start:from]) + with + string(c.src[to:stop])
	one := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	c.out = append(c.out, Fault{
		File: c.file, Line: c.set.Position(pos).Line, Function: c.function, Old: one(old), New: one(changed), from: from, to: to, with: with,
	})
}
