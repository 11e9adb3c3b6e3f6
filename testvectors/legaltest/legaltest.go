// Package legaltest compares the table of legalization of a device (hal/driver/graph/legal) with the device: operations
// that the table supports are run on random models and compared with the reference CPU, those that it refuses are
// refused, and each function that lowers operations has its row.
package legaltest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// Device is a device with a table.
type Device interface {
	hal.Device
	Facts() []legal.Fact
}

// Run draws count models, of which each variant of operation and type has its share, and checks that every row is true
// of the device. few names variants of which no drawn model keeps the row's rules. A short run draws half as many.
func Run(t *testing.T, d Device, count int, few ...string) {
	t.Helper()
	if testing.Short() {
		count /= 2
	}
	excused := map[string]bool{}
	for _, name := range few {
		excused[name] = true
	}
	facts := map[string]legal.Fact{}
	var exact, near []string // operations
	for _, f := range d.Facts() {
		facts[randgraph.Variant{Op: f.Operation, Key: f.Type}.String()] = f
		if f.Differs != "" {
			near = append(near, f.Operation.String())
		} else {
			exact = append(exact, f.Operation.String())
		}
	}
	exact = slices.DeleteFunc(exact, func(op string) bool { return slices.Contains(near, op) })
	var coverage []randgraph.Coverage
	for i, names := range [2][]string{exact, near} {
		if len(names) == 0 {
			continue
		}
		o := randgraph.Options{Seed: 25, Count: count, Exact: i == 0, Functional: true,
			Operations: regexp.MustCompile("^(" + strings.Join(names, "|") + ")$")}
		if i == 1 {
			o.Count = 20 * len(near)
		}
		r := require.V(randgraph.Run(d, o))(t)
		for _, f := range r.Failures {
			t.Errorf("%+v", f)
		}
		coverage = append(coverage, r.Coverage...)
	}
	taken := 0
	for _, c := range coverage {
		v := c.Variant
		name := v.String()
		f, ok := facts[randgraph.Variant{Op: v.Op, Key: v.Key}.String()]
		switch {
		case !ok:
			t.Errorf("%s: the table has no row", name)
		case f.Kind == legal.Refused && c.Ran > 0:
			t.Errorf("%s: the table refuses it (%s), the device ran %d models with it", name, f.Why, c.Ran)
		case f.Kind != legal.Refused && c.Passed == 0 && !excused[name]:
			if n, passed := redraw(t, d, f, v); passed == 0 {
				t.Errorf("%s: %s, but of %d models with it none passed", name, f.Kind, c.Generated+n)
			} else {
				taken++
			}
		case f.Kind != legal.Refused:
			taken++
		}
		require.Check(t, c.Passed <= 0 || !excused[name], "%s passed: it needs no excuse", name)
	}
	t.Logf("%d variants of %d are taken", taken, len(coverage))
}

// redraw draws more models of a variant's operation, for one all of whose few models were declined for another reason,
// as floats on the other side, and counts the variant's and those that passed.
func redraw(t *testing.T, d Device, f legal.Fact, v randgraph.Variant) (generated, passed int) {
	t.Helper()
	r, err := randgraph.Run(d, randgraph.Options{Seed: 26, Count: 60, Exact: f.Differs == "", Functional: true,
		Operations: regexp.MustCompile("^" + f.Operation.String() + "$")})
	require.NoError(t, err)
	for _, x := range r.Failures {
		t.Errorf("%+v", x)
	}
	for _, c := range r.Coverage {
		if c.Variant == v {
			return c.Generated, c.Passed
		}
	}
	return 0, 0
}

// Functions demands that every function of the package in a folder that lowers operations, of the
// form func(*Lowering, *nn.Operation), with an error or without, with the parameters of the operation or without, or one that returns a
// lowering, is named by a row of its table.go or helps another.
func Functions(t *testing.T, dir string) {
	t.Helper()
	files := require.V(filepath.Glob(filepath.Join(dir, "*.go")))(t)
	named, found := map[string]bool{}, map[string]token.Position{}
	set := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f := require.V(parser.ParseFile(set, name, nil, 0))(t)
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.FuncDecl:
				if lowers(x) {
					found[x.Name.Name] = set.Position(x.Pos())
				}
				if x.Body != nil {
					ast.Inspect(x.Body, func(n ast.Node) bool {
						if y, ok := n.(*ast.Ident); ok && y.Name != x.Name.Name {
							named[y.Name] = true
						}
						return true
					})
				}
				return false
			case *ast.Ident:
				named[x.Name] = true
			}
			return true
		})
	}
	for name, at := range found {
		require.Check(t, named[name], "%s: no row of the table has %s", at, name)
	}
	require.Check(t, len(found) >= 10, "%s has %d functions that lower operations", dir, len(found))
}

// lowers reports whether a function has the form of a lowering.
func lowers(fn *ast.FuncDecl) bool {
	result := "error" // where a lowering ends by package try, it has none
	if results := fn.Type.Results; results != nil {
		result = text(results.List[0].Type)
		if len(results.List) != 1 || result == "lowering" {
			return result == "lowering"
		}
	}
	var params []string
	if fn.Recv != nil && text(fn.Recv.List[0].Type) == "*Lowering" {
		params = append(params, "*Lowering")
	}
	for _, p := range fn.Type.Params.List {
		for range max(len(p.Names), 1) {
			params = append(params, strings.Replace(text(p.Type), "lower.Lowering", "Lowering", 1))
		}
	}
	return result == "error" && len(params) >= 2 && params[0] == "*Lowering" && params[1] == "*nn.Operation" &&
		(len(params) == 2 || len(params) == 3 && strings.HasPrefix(params[2], "opspec."))
}

// text is a name, a pointer to one, or one of another package.
func text(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.StarExpr:
		return "*" + text(x.X)
	case *ast.SelectorExpr:
		return text(x.X) + "." + x.Sel.Name
	}
	return ""
}
