package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nnsoc/nnsoc/testvectors/conformance"
)

// Planted is a fault of the table: a part of a function replaced by another, and the row of the obligations that
// it breaks.
type Planted struct {
	Row      string `json:"row"`
	File     string `json:"file"`
	Function string `json:"function"` // of a method with its receiver: Device.Allocate
	Old      string `json:"old"`
	New      string `json:"new"`
	By       string `json:"by,omitempty"` // check that found it
	Found    bool   `json:"found"`
	line     int
}

// readPlanted reads the table: a line "ROW FILE FUNCTION" and below it the old text, each line after "- ", and
// the new one after "+ ". Lines with # are comments.
func readPlanted(file string) (list []Planted, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	n := 0
	join := func(to *string, line string) { // further lines of a text
		if *to != "" {
			*to += "\n"
		}
		*to += line
	}
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "- ") && len(list) > 0:
			join(&list[len(list)-1].Old, line[2:])
		case strings.HasPrefix(line, "+ ") && len(list) > 0:
			join(&list[len(list)-1].New, line[2:])
		default:
			f := strings.Fields(line)
			if len(f) != 3 {
				return nil, fmt.Errorf("%s:%d: %q, want ROW FILE FUNCTION", file, n, line)
			}
			list = append(list, Planted{Row: f[0], File: f[1], Function: f[2], line: n})
		}
	}
	for _, p := range list {
		if p.Old == "" || p.Old == p.New {
			return nil, fmt.Errorf("%s:%d: no change", file, p.line)
		}
	}
	return list, nil
}

// plant returns the text of a file with all faults of the table in it, each inactive: a function begins with a copy of
// itself for every fault, which runs when the environment names the fault. One build serves the whole table.
func plant(file string, table []Planted) ([]byte, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	at := func(p token.Pos) int { return set.Position(p).Offset }
	before := map[int]string{at(tree.Name.End()): "\n\nimport planted \"github.com/nnsoc/nnsoc/internal/planted\"\n"}
	var wrong []error
	for k := range table {
		p := &table[k]
		if p.File != file {
			continue
		}
		f, err := function(tree, p)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		start, stop := at(f.Body.Lbrace)+1, at(f.Body.Rbrace)
		body := string(src[start:stop])
		if n := strings.Count(body, p.Old); n != 1 {
			wrong = append(wrong, fmt.Errorf("line %d: %q stands %d times in %s of %s", p.line, p.Old, n, p.Function, file))
			continue
		}
		end := "\n"
		if f.Type.Results == nil {
			end = "\nreturn\n"
		}
		before[start] += fmt.Sprintf("\nif planted.On(%d) {%s%s}\n", k+1, strings.Replace(body, p.Old, p.New, 1), end)
	}
	var out bytes.Buffer
	for i, b := range src {
		out.WriteString(before[i])
		out.WriteByte(b)
	}
	return out.Bytes(), errors.Join(wrong...)
}

// function is the one that a fault names.
func function(tree *ast.File, p *Planted) (*ast.FuncDecl, error) {
	for _, d := range tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			t := f.Recv.List[0].Type
			if s, ok := t.(*ast.StarExpr); ok {
				t = s.X
			}
			if g, ok := t.(*ast.IndexExpr); ok {
				t = g.X
			}
			name = t.(*ast.Ident).Name + "." + name
		}
		if name == p.Function {
			return f, nil
		}
	}
	return nil, fmt.Errorf("line %d: no function %s in %s", p.line, p.Function, p.File)
}

// overlay writes the files with the faults into a folder, and a list of them for the go command.
func overlay(table []Planted, dir string) (list string, err error) {
	texts := map[string][]byte{switchFile: []byte(switchSource)}
	var wrong []error
	for i := range table {
		file := table[i].File
		if texts[file] != nil {
			continue
		}
		text, err := plant(file, table)
		texts[file] = text
		wrong = append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		return "", err
	}
	return writeOverlay(dir, texts)
}

// suite is the test that must find the faults.
const suite = "./testvectors/conformance"

// checksOf is a pattern of the checks that prove a row.
func checksOf(row string) string {
	var names []string
	for _, c := range conformance.Checks() {
		if slices.Contains(c.Rows, row) {
			name, _, _ := strings.Cut(c.Name, "/") // a slash begins another level of tests
			names = append(names, regexp.QuoteMeta(strings.ReplaceAll(name, " ", "_")))
		}
	}
	return "^TestChecks$/^(" + strings.Join(names, "|") + ")$"
}

// tryTable wakes the faults of a table one at a time. The checks of a fault's row look first, then, unless near, all.
func tryTable(ctx context.Context, w io.Writer, file, only, cache string, near bool, limit time.Duration) (table []Planted, err error) {
	if table, err = readPlanted(file); err != nil {
		return nil, err
	}
	in, err := newWorkspace(ctx, cache)
	if err != nil {
		return nil, err
	}
	defer in.remove()
	list, err := overlay(table, in.dir)
	if err != nil {
		return nil, err
	}
	program := filepath.Join(in.dir, "suite.test")
	build := in.goCommand("test", "-c", "-vet=off", "-overlay", list, "-o", program, suite)
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mutants: the suite with the faults of %s does not build:\n%s", file, out)
	}
	// found runs some checks with a fault awake.
	found := func(fault int, checks string) (bool, string) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		c := exec.CommandContext(ctx, program, "-test.run", checks, "-test.v", "-test.failfast", "-test.timeout", limit.String())
		c.Dir = suite
		c.Env = append(slices.Clip(in.env), fmt.Sprint("NNSOC_PLANTED=", fault))
		out, err := c.CombinedOutput()
		name := "the program, which ends" // with a panic in another goroutine, or without an end
		if m := regexp.MustCompile(`--- FAIL: TestChecks/(\S+)`).FindSubmatch(out); m != nil {
			name = strings.ReplaceAll(string(m[1]), "_", " ")
		}
		return err != nil, name
	}
	if only == "" && !near {
		if bad, by := found(0, "^TestChecks$"); bad {
			return nil, fmt.Errorf("mutants: without a fault %q fails", by)
		}
	}
	for i := range table {
		p := &table[i]
		if !strings.HasPrefix(p.Row, only) {
			continue
		}
		checks := []string{checksOf(p.Row), "^TestChecks$"}
		if near {
			checks = checks[:1]
		}
		for _, checks := range checks {
			if p.Found, p.By = found(i+1, checks); p.Found {
				break
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		verdict := "found by " + p.By
		if !p.Found {
			p.By, verdict = "", "SURVIVED"
		}
		if _, err := fmt.Fprintf(w, "%s %s %s: %s => %s: %s\n", p.Row, p.File, p.Function, p.Old, p.New, verdict); err != nil {
			return nil, err
		}
	}
	table = slices.DeleteFunc(table, func(p Planted) bool { return !strings.HasPrefix(p.Row, only) })
	if len(table) == 0 {
		return nil, errors.New("mutants: no fault of such a row")
	}
	return table, nil
}
