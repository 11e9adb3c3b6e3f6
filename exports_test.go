package nnsoc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// mostExported and mostMethods are how many names a package shows and a type has that a reader takes in.
const (
	mostExported = 100
	mostMethods  = 50
)

// manyNames are the packages with more names, generated ones aside, and the types with more methods: none is added and
// none grows.
var manyNames = map[string]int{
	// What users of the module write models and drivers with.
	"hal":        127,
	"nn":         178,
	"nn/opspec":  112,
	"isa/ethosu": 182,

	"isa/hexagon": 157,
	"isa/rdna2":   231,

	// A method per word of a language that is written or read.
	"hal/driver/dspdriver/kernel/hvx Builder":  80,
	"hal/driver/gpudriver/kernel/rdna Builder": 130,
	"importer/modpy/internal/python parser":    57,
	"isa/hexagon/asm assembler":                61,
	"nn/builder Builder":                       63,
	"nn/opspec Args":                           57,
	"importer/lowering Graph":                  84,
	"importer/onnx conversion":                 144,
	"importer/tflite conversion":               63,

	// A method per stage of a wave.
	"gpu machine": 96,
}

// TestExports holds packages to the names that they export, and types to their methods.
func TestExports(t *testing.T) {
	_, files := goFiles(t)
	left := maps.Clone(manyNames)
	for name, n := range namesOf(files) {
		most := mostExported
		if strings.Contains(name, " ") {
			most = mostMethods
		}
		if n > max(most, manyNames[name]) {
			t.Errorf("%s has %d names, at most %d", name, n, max(most, manyNames[name]))
		}
		if n > most {
			delete(left, name)
		}
	}
	for name := range left {
		t.Errorf("%s has no more names than others, or is gone: take it off the list", name)
	}
}

// namesOf counts the exported names of each package, and by package and type the methods.
func namesOf(files map[string]*ast.File) map[string]int {
	count := map[string]int{}
	for path, f := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					count[dir+" "+receiver(d)]++
				} else if d.Name.IsExported() {
					count[dir]++
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if s.Name.IsExported() {
							count[dir]++
						}
					case *ast.ValueSpec:
						for _, n := range s.Names {
							if n.IsExported() {
								count[dir]++
							}
						}
					}
				}
			}
		}
	}
	return count
}

// receiver is the type of a method.
func receiver(d *ast.FuncDecl) (name string) {
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}

func TestNamesOf(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "a/x.go", `package a
type (T[K any] struct{ K K }; u int)
const A, b = 1, 2
var C int
func (t *T[K]) m() {}
func (T[K]) N() {}
func D() {}
func e() {}`, 0)
	require.NoError(t, err)
	if got, want := namesOf(map[string]*ast.File{"a/x.go": f, "a/x_test.go": f}), map[string]int{"a": 4, "a T": 2}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
