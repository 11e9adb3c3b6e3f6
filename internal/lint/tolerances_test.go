package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// TestTolerances holds tests to tolerances that NaN does not meet: !(math.Abs(got-want) <= tolerance).
func TestTolerances(t *testing.T) {
	set, files := goFiles(t)
	for path, f := range files {
		if !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(path, "testvectors/conformance/") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			b, ok := n.(*ast.BinaryExpr)
			if !ok || b.Op != token.GTR {
				return true
			}
			if call, ok := b.X.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "math.Abs" {
				if _, value := call.Args[0].(*ast.Ident); !value {
					t.Errorf("%s: NaN is within %s", set.Position(b.Pos()), types.ExprString(b))
				}
			}
			return true
		})
	}
}
