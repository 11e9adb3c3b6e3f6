package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// enumTrees are where a forgotten field of a row or of a kernel's shape would be a silent choice.
var enumTrees = regexp.MustCompile(`^(hal/driver|dsp|gpu|npu|nn)/`)

// nothing are names of values that say that there is nothing.
var nothing = regexp.MustCompile(`None$|^None|^No[A-Z]|^_$`)

// enum is a type of constants that count from 0.
type enum struct{ name, first string }

// countedFromZero are the types of a file whose constants begin at iota.
func countedFromZero(f *ast.File) (list []enum) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			t, named := v.Type.(*ast.Ident)
			if !named || len(v.Values) != 1 {
				continue
			}
			if x, ok := v.Values[0].(*ast.Ident); ok && x.Name == "iota" && !builtin[t.Name] {
				list = append(list, enum{t.Name, v.Names[0].Name})
			}
		}
	}
	return list
}

// builtin are types whose constants are mere numbers.
var builtin = map[string]bool{"int": true, "uint8": true, "uint16": true, "uint32": true, "byte": true}

// TestZeroMeansNothing holds that the zero value of a type of constants is no valid one, so that a field that was
// forgotten is noticed.
func TestZeroMeansNothing(t *testing.T) {
	_, files := goFiles(t)
	seen := 0
	for path, f := range files {
		if strings.HasSuffix(path, "_test.go") || !enumTrees.MatchString(path) {
			continue
		}
		for _, e := range countedFromZero(f) {
			seen++
			require.Check(t, nothing.MatchString(e.first), "%s: %s is the zero value of %s: begin at iota + 1", path, e.first, e.name)
		}
	}
	require.Check(t, seen >= 10, "only %d types of constants", seen)
}

// TestZeroMeansNothingCanFail shows what is found, and what is none.
func TestZeroMeansNothingCanFail(t *testing.T) {
	for src, want := range map[string]string{
		"const (\n A Mode = iota\n B\n)":                 "Mode A",
		"const (\n A mode = iota\n B\n)":                 "mode A",
		"const (\n A Mode = iota + 1\n B\n)":             "",
		"const (\n A = iota\n B\n)":                      "",
		"const (\n A int = iota\n B\n)":                  "",
		"const C = 1\nconst (\n None Mode = iota\n B\n)": "Mode None",
	} {
		f := require.V(parser.ParseFile(token.NewFileSet(), "", "package x\n"+src, 0))(t)
		got := ""
		for _, e := range countedFromZero(f) {
			got += e.name + " " + e.first
		}
		require.Same(t, want, got, src)
	}
	for name, want := range map[string]bool{"NoViolation": true, "DMANone": true, "None": true, "SourceNone": true, "Normal": false, "Conv": false} {
		require.Same(t, want, nothing.MatchString(name), name, !want)
	}
}
