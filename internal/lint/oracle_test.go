package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestNeedOfOracles: a test named TestOracle begins with oracle.Need, so that
// it runs in `make oracle` only.
func TestNeedOfOracles(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "TestOracle") {
				continue
			}
			seen++
			require.Check(t, asksFirst(f), "%s: %s does not begin with oracle.Need", path, f.Name.Name)
		}
		return nil
	})
	require.Check(t, err == nil && seen >= 20, "%d oracle tests seen, error %v", seen, err)
}

func asksFirst(f *ast.FuncDecl) bool {
	if len(f.Body.List) == 0 {
		return false
	}
	stmt, ok := f.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := stmt.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := name.X.(*ast.Ident)
	return ok && from.Name == "oracle" && name.Sel.Name == "Need"
}
