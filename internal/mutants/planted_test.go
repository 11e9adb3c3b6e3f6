package main

import (
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/testvectors/conformance"
)

// TestTable: every fault of the table still has its place, and breaks a row that checks prove.
func TestTable(t *testing.T) {
	table := require.V(readPlanted("planted.txt"))(t)
	proved := map[string]bool{}
	for _, c := range conformance.Checks() {
		for _, row := range c.Rows {
			proved[row] = true
		}
	}
	seen := map[string]bool{}
	for _, p := range table {
		require.Check(t, proved[p.Row], "line %d: no check proves row %s", p.line, p.Row)
		key := p.File + p.Function + p.Old + p.New
		require.Check(t, !seen[key], "line %d: the fault stands there twice", p.line)
		seen[key] = true
	}
	require.Check(t, len(table) >= 450, "%d faults", len(table))
	t.Chdir("../..")
	require.Report(t, require.Err(overlay(table, t.TempDir())))
}

// TestPlant: a function begins with a copy of itself for each fault, whose own end returns.
func TestPlant(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	src := "package a\n\ntype T struct{}\n\nfunc (t *T) f(a int) int {\n\treturn a + 1\n}\n\nfunc g(p *int) {\n\t*p = 2\n}\n"
	require.NoError(t, os.WriteFile(file, []byte(src), 0o644))
	got, err := plant(file, []Planted{{File: file, Function: "T.f", Old: "+ 1", New: "- 1"}, {File: "other.go"}, {File: file, Function: "g", Old: "*p = 2", New: "*p = 3"}})
	require.NoError(t, err)
	want := "package a\n\nimport planted \"github.com/nnsoc/nnsoc/internal/planted\"\n\ntype T struct{}\n\n" +
		"func (t *T) f(a int) int {\n\tif planted.On(1) {\n\t\treturn a - 1\n\n\t}\n\n\treturn a + 1\n}\n\n" +
		"func g(p *int) {\n\tif planted.On(3) {\n\t\t*p = 3\n\n\t\treturn\n\t}\n\n\t*p = 2\n}\n"
	require.Same(t, want, string(require.V(format.Source(got))(t)))
	for _, bad := range []Planted{{Function: "f", Old: "+ 1"}, {Function: "T.f", Old: "+ 2"}, {Function: "T.f", Old: "r"}} {
		bad.File = file
		require.Check(t, require.Err(plant(file, []Planted{bad})) != nil, "%+v is planted", bad)
	}
}

// TestReadPlanted: an invalid fault is an error with its line.
func TestReadPlanted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.txt")
	for text, want := range map[string]string{
		"A1-1 a.go f\n- x\n- y\n+ z\n": "", "A1-1 a.go\n": ":1: ", "# c\n\nA1-1 a.go f\n- x\n+ x\n": ":3: no change", "A1-1 a.go f\n+ x\n": "no change", "- x\n": ":1: ",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		table, err := readPlanted(file)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err == nil && !slices.Equal(table, []Planted{{Row: "A1-1", File: "a.go", Function: "f", Old: "x\ny", New: "z", line: 1}}) {
			t.Errorf("%q: %+v", text, table)
		}
	}
}
