package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// tries are the packages whose exported functions may end by package try, each with what ends. Elsewhere an exported
// function returns its errors as they come, with what they are about.
var tries = map[string]string{
	"hal/burst":                  "the reader of a packet",
	"hal/driver/dspdriver/lower": "the lowering of an operation",
	"hal/driver/dspdriver/step":  "the launch of a step",
	"hal/driver/graph/legal":     "the lowering of an operation, by a rule that it breaks",
	"hal/driver/npudriver/lower": "the lowering of an operation",
	"isa/hexagon/asm":            "the parser of assembly",
	"isa/rdna2/codeobject":       "the check of a kernel's metadata",
	"nn/opspec":                  "the reader of an operation's arguments",
	"npu/internal/decode":        "the decoder of a command",
}

// TestTry: exported functions end by package try where the table says so alone, and so does every row of the table.
func TestTry(t *testing.T) {
	_, files := goFiles(t)
	used := map[string]bool{}
	for path, f := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		for _, name := range tried(f) {
			used[dir] = true
			if tries[dir] == "" {
				t.Errorf("%s: %s ends by package try: return its errors", path, name)
			}
		}
	}
	for dir := range tries {
		require.Check(t, used[dir], "no exported function of %s ends by package try", dir)
	}
}

// tried lists the exported functions of a file, and methods of exported types, that call E, V and their like of package
// try, themselves or in a literal. One that only catches what its parser raises is not among them.
func tried(f *ast.File) (list []string) {
	if !slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"`+module+`internal/try"` }) {
		return nil
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !fn.Name.IsExported() || fn.Recv != nil && !ast.IsExported(receiver(fn)) {
			continue
		}
		ends := false
		ast.Inspect(fn, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if ok {
				x, ok := s.X.(*ast.Ident)
				ends = ends || ok && x.Name == "try" && s.Sel.Name != "Catch"
			}
			return true
		})
		if ends {
			list = append(list, fn.Name.Name)
		}
	}
	return list
}

// receiver is the name of a method's type.
func receiver(fn *ast.FuncDecl) (name string) {
	ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// TestTryCanFail: a use in an exported function is found, in a literal too; one in another, and a Catch, are not.
func TestTryCanFail(t *testing.T) {
	const source = `package p

import "` + module + `internal/try"

func Read() (err error) {
	defer try.Catch(&err)
	return parse()
}
func parse() error { return try.V(next()) }
func (p *parser) Next() { try.E(p.err) }
func (p *Parser[T]) Peek() { try.E(p.err) }
func New() func() { return func() { try.V2(next()) } }
`
	f := require.V(parser.ParseFile(token.NewFileSet(), "p.go", source, 0))(t)
	require.Same(t, "Peek New", strings.Join(tried(f), " "), "functions found")
}
