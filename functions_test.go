package nnsoc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// longest is how many lines a function may have that a reader takes in at once.
const longest = 80

// longFunctions are tests with more, by file and name, with their lines: none is added and none grows.
var longFunctions = map[string]int{
	"recorded_test.go life":                       94,
	"report_test.go TestReportReader":             102,
	"trace_test.go counters":                      100,
	"driver_test.go TestPythonDriver":             118,
	"oracle_vector_test.go block":                 81,
	"values_memory_test.go memoryRow":             132,
	"values_scalar_test.go checkScalar":           97,
	"values_text_test.go assign":                  97,
	"programs_test.go randomProgram":              111,
	"keys_npu_test.go emit":                       85,
	"preempt_test.go TestPreemption":              96,
	"depthwise3x3_test.go TestRandomDepthwise3x3": 97,
	"flat_test.go TestRandomReorder":              119,
	"gemm_test.go TestGEMM":                       98,
	"lookup_test.go TestRandomLookup":             121,
	"moves_bench_test.go movesBench":              187,
	"moves_test.go TestRandomRuntimeWeights":      92,
	"oracle_test.go TestOraclePackets":            86,
	"fetch_test.go TestFetches":                   113,
	"kernel_test.go TestConv":                     83,
	"random_test.go tryRandom":                    139,
	"through_test.go TestWriteThrough":            93,
	"systemcache_test.go TestSystemCacheIsLRU":    88,
}

// TestFunctions holds functions to a length. Rows of tables and lines of raw strings do not count; functions in a
// row do.
func TestFunctions(t *testing.T) {
	set, files := goFiles(t)
	left := maps.Clone(longFunctions)
	for path, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n, name := lengthOf(set, fn), filepath.Base(path)+" "+fn.Name.Name
			if most := max(longest, longFunctions[name]); n > most {
				t.Errorf("%s: %s has %d lines, at most %d", path, fn.Name.Name, n, most)
			}
			if n > longest {
				delete(left, name)
			}
		}
	}
	for name := range left {
		t.Errorf("%s has %d lines or fewer, or is gone: take it off the list", name, longest)
	}
}

// lengthOf counts the lines of a function's code.
func lengthOf(set *token.FileSet, fn *ast.FuncDecl) int {
	data := map[int]bool{} // lines of rows and strings
	ast.Inspect(fn, func(n ast.Node) bool {
		if n == nil {
			return true
		}
		first, last := set.Position(n.Pos()).Line, set.Position(n.End()).Line
		switch n := n.(type) {
		case *ast.CompositeLit:
			for i := first + 1; i < last; i++ {
				data[i] = true
			}
		case *ast.BasicLit:
			for i := first + 1; i <= last; i++ {
				data[i] = true
			}
		case *ast.FuncLit:
			for i := set.Position(n.Body.Lbrace).Line + 1; i < last; i++ {
				delete(data, i)
			}
		}
		return true
	})
	return set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1 - len(data)
}

// TestLengthOf counts code: no rows, no text, but functions in rows.
func TestLengthOf(t *testing.T) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "p.go", `package p

func f() {
	list := []row{
		{1},
		{2, func() {
			g()
		}},
	}
	print(`+"`\n\n`"+`, list)
}
`, parser.SkipObjectResolution)
	require.NoError(t, err)
	if n := lengthOf(set, f.Decls[0].(*ast.FuncDecl)); n != 6 { // f, list, g, its end of list, print and the end
		t.Errorf("%d lines, want 6", n)
	}
}
