package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A build with all faults of a sample, each inactive, is a mutant schema (R. Untch, M. J. Harrold, J. Offutt: Mutation
// analysis using mutant schemata, ISSTA 1993). The innermost function around a fault begins with a copy of its body
// that has the fault and runs when the environment names it; the value of a package's variable becomes a choice of two.
// One build serves the sample, and records the faults that each test reaches.

// switchFile is the path of switchSource in the module.
const switchFile = "internal/planted/planted.go"

// switchSource is the package that selects the active fault.
const switchSource = `// Package planted exists in builds of cmd mutants alone.
package planted

import (
	"os"
	"strconv"
	"syscall"
)

var active, _ = strconv.Atoi(os.Getenv("NNSOC_PLANTED"))

// On reports whether fault n is awake.
func On(n int) bool { return active == n }

// Pick is the first value, or the second where fault n is awake.
func Pick[T any](n int, right, wrong T) T {
	Reach(n)
	if active == n {
		return wrong
	}
	return right
}

// reached has a byte for every fault that was reached, in a file that all processes share.
var reached = func() []byte {
	f, err := os.OpenFile(os.Getenv("NNSOC_REACHED"), os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	s, err := f.Stat()
	if err != nil {
		return nil
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(s.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return b
}()

// Reach notes that the place of fault n was reached.
func Reach(n int) {
	if reached != nil {
		reached[n] = 1
	}
}
`

// insertions are texts by the offset before which they go.
type insertions map[int][]insertion

type insertion struct {
	text  string
	fault int // whose copy it is, 0 for none
}

// embed returns the text of a file with some faults in it, number by fault, and the last line of each fault's copy by
// the first: errors of the compiler name lines.
func embed(file string, number map[*Fault]int) (text []byte, copies map[int][2]int, err error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	at := func(p token.Pos) int { return set.Position(p).Offset }
	before := insertions{at(tree.Name.End()): {{text: "\n\nimport planted \"" + modulePath() + "/internal/planted\"\n"}}}
	var order []*Fault
	for f := range number {
		order = append(order, f)
	}
	slices.SortFunc(order, func(a, b *Fault) int { return number[a] - number[b] })
	for _, f := range order {
		k := number[f]
		wrong := func(from, to int) string {
			return string(src[from:f.from]) + f.with + string(src[f.to:to])
		}
		body, results, statement, value, kind := enclosing(tree, at, f)
		switch {
		case body != nil:
			start, stop := at(body.Lbrace)+1, at(body.Rbrace)
			end := "\n}\n"
			if !results {
				end = "\nreturn\n}\n"
			}
			if statement != nil {
				p := at(statement.Pos())
				before[p] = append(before[p], insertion{text: fmt.Sprintf("planted.Reach(%d); ", k)})
			}
			before[start] = append(before[start], insertion{fmt.Sprintf("\nif planted.On(%d) {\n%s%s", k, wrong(start, stop), end), k})
		case value != nil:
			start, stop := at(value.Pos()), at(value.End())
			param := ""
			if kind != nil {
				param = "[" + string(src[at(kind.Pos()):at(kind.End())]) + "]"
			}
			before[start] = append(before[start], insertion{text: fmt.Sprintf("planted.Pick%s(%d, ", param, k)})
			before[stop] = append([]insertion{{fmt.Sprintf(",\n%s)", wrong(start, stop)), k}}, before[stop]...)
		}
	}
	var out bytes.Buffer
	copies = map[int][2]int{}
	line := 1
	for i := range len(src) + 1 {
		for _, s := range before[i] {
			n := strings.Count(s.text, "\n")
			if s.fault > 0 {
				copies[s.fault] = [2]int{line, line + n}
			}
			line += n
			out.WriteString(s.text)
		}
		if i < len(src) {
			out.WriteByte(src[i])
			if src[i] == '\n' {
				line++
			}
		}
	}
	return out.Bytes(), copies, nil
}

// enclosing finds the innermost body around a fault, whether its function has results, and the innermost statement of
// a list in it; outside of functions the value of a variable with its declared type, nil where there is none.
func enclosing(tree *ast.File, at func(token.Pos) int, f *Fault) (body *ast.BlockStmt, results bool, statement ast.Stmt, value, kind ast.Expr) {
	within := func(n ast.Node) bool { return at(n.Pos()) <= f.from && f.to <= at(n.End()) }
	list := func(l []ast.Stmt) {
		for _, s := range l {
			switch s.(type) {
			case *ast.CaseClause, *ast.CommClause:
			default:
				if within(s) {
					statement = s
				}
			}
		}
	}
	enter := func(t *ast.FuncType, b *ast.BlockStmt) {
		if b != nil && within(b) {
			body, results, statement = b, t.Results != nil, nil
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if n == nil || !within(n) {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			enter(n.Type, n.Body)
		case *ast.FuncLit:
			enter(n.Type, n.Body)
		case *ast.BlockStmt:
			list(n.List)
		case *ast.CaseClause:
			list(n.Body)
		case *ast.CommClause:
			list(n.Body)
		case *ast.ValueSpec:
			for _, v := range n.Values {
				if body == nil && within(v) {
					value, kind = v, n.Type
				}
			}
		}
		return true
	})
	return body, results, statement, value, kind
}

// modulePath is the path of the module in the current folder.
func modulePath() string {
	b, _ := os.ReadFile("go.mod")
	return string(regexp.MustCompile(`(?m)^module (\S+)`).FindSubmatch(b)[1])
}

// schema is a build with faults, which are numbered from 1.
type schema struct {
	*workspace
	overlay string // the list of them
	faults  []*Fault
}

// newSchema selects the first each of every list of faults that compile.
func newSchema(w *workspace, lists [][]Fault, each int) (*schema, error) {
	s := &schema{workspace: w}
	next := make([]int, len(lists))
	have := make([]int, len(lists))
	for {
		var area []int // of each fault
		for i, list := range lists {
			for ; have[i] < each && next[i] < len(list); next[i]++ {
				s.faults = append(s.faults, &list[next[i]])
				have[i]++
			}
		}
		for _, f := range s.faults {
			area = append(area, slices.IndexFunc(lists, func(l []Fault) bool { return len(l) > 0 && l[0].Area == f.Area }))
		}
		copies, err := s.write()
		if err != nil {
			return nil, err
		}
		unfit, err := s.compile(copies)
		if err != nil {
			return nil, err
		}
		if len(unfit) == 0 {
			return s, nil
		}
		var fit []*Fault
		for i, f := range s.faults {
			if unfit[i+1] {
				have[area[i]]--
			} else {
				fit = append(fit, f)
			}
		}
		s.faults = fit
	}
}

// write writes the files of the build and returns the lines of the copies by the name of the text.
func (s *schema) write() (copies map[string]map[int][2]int, err error) {
	byFile := map[string]map[*Fault]int{}
	for i, f := range s.faults {
		if byFile[f.File] == nil {
			byFile[f.File] = map[*Fault]int{}
		}
		byFile[f.File][f] = i + 1
	}
	texts := map[string][]byte{switchFile: []byte(switchSource)}
	copies = map[string]map[int][2]int{}
	for file, number := range byFile {
		text, lines, err := embed(file, number)
		if err != nil {
			return nil, err
		}
		texts[file], copies[overlaid(file)] = text, lines
	}
	s.overlay, err = writeOverlay(s.dir, texts)
	return copies, err
}

// overlaid is the name of a file's text with faults, as in errors of the compiler.
func overlaid(file string) string { return strings.ReplaceAll(filepath.ToSlash(file), "/", "_") }

// writeOverlay writes texts of files into a folder, and the list of them for the go command.
func writeOverlay(dir string, texts map[string][]byte) (list string, err error) {
	replace := map[string]string{}
	for file, text := range texts {
		at, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		replace[at] = filepath.Join(dir, overlaid(file))
		if err := os.WriteFile(replace[at], text, 0o644); err != nil {
			return "", err
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, b, 0o644)
}

// compile builds the packages with faults; faults with an error in their copy are unfit.
func (s *schema) compile(copies map[string]map[int][2]int) (unfit map[int]bool, err error) {
	args := []string{"build", "-gcflags=-e", "-overlay", s.overlay}
	for _, f := range s.faults {
		if p := "./" + f.Package; !slices.Contains(args, p) {
			args = append(args, p)
		}
	}
	out, err := s.goCommand(args...).CombinedOutput()
	if err == nil {
		return nil, nil
	}
	unfit = map[int]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(\S+\.go):(\d+):`).FindAllSubmatch(out, -1) {
		line, _ := strconv.Atoi(string(m[2]))
		for k, c := range copies[filepath.Base(string(m[1]))] {
			if c[0] <= line && line <= c[1] {
				unfit[k] = true
			}
		}
	}
	if len(unfit) == 0 {
		return nil, errors.New("mutants: the sample does not build:\n" + string(out))
	}
	return unfit, nil
}
