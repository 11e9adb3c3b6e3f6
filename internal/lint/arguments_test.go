package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// byPlace are the files that may read an input of an operation by its place, each with
// why. Elsewhere nn/opspec alone knows the places, and the defaults of what is left out.
var byPlace = map[string]string{
	"runtime/partition/aosp.go":              "AOSP's rule goes by the type of the first operand, whatever it is",
	"testvectors/conformance/model/model.go": "a check looks how a slice of the model that it built is wired",
}

// byName are the packages that may read an input by its name. Elsewhere operations are
// read into the struct of their family.
var byName = []string{
	"nn/opspec",
	"hal/driver/graph",       // Graph.Input
	"hal/driver/graph/pass",  // passes replace an input of operations of any family
	"docs/examples/gelu",     // an operation that nn/opspec does not have
	"importer/tflite/export", // another format takes the operands as they are, not what they mean
	"importer/onnx/export",
}

// TestArguments: nobody but nn/opspec reads the inputs of an operation by place or name.
func TestArguments(t *testing.T) {
	w := loadPackages(t)
	used := map[string]bool{}
	seen := 0
	for _, p := range w.packages {
		name, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours || !slices.Contains(p.Imports, module+"nn") || name == "nn/opspec" {
			continue
		}
		seen++
		var files []*ast.File
		for _, f := range p.GoFiles {
			file := require.V(parser.ParseFile(w.set, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution))(t)
			files = append(files, file)
		}
		for _, f := range w.reads(t, p.ImportPath, files) {
			path := name + "/" + filepath.Base(f.at.Filename)
			switch {
			case !f.place && slices.Contains(byName, name):
			case f.place && byPlace[path] != "":
				used[path] = true
			default:
				t.Errorf("%s:%d: %s, which is for nn/opspec", path, f.at.Line, f.what)
			}
		}
	}
	for path := range byPlace {
		require.Check(t, used[path], "%s reads no input by its place", path)
	}
	require.Check(t, seen >= 20, "only %d packages seen", seen)
}

// TestArgumentsCanFail: reads by place and name are found, writes and walks are not.
func TestArgumentsCanFail(t *testing.T) {
	w := loadPackages(t)
	const source = `package p

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

func f(g *nn.Subgraph, op *nn.Operation, a *opspec.Args, i int) (x uint32) {
	x = op.Inputs[2] // found
	x = g.Operations[i].Inputs[0] // found
	list := op.Inputs[1:] // found
	in := op.Inputs
	x += in[3] // found
	x += a.In("filter") // found
	n, _ := a.Int32("axis") // found
	x += uint32(n) + list[0] + op.Inputs[i] + g.Inputs[0] + op.Outputs[0]
	op.Inputs[1] = x
	for _, y := range op.Inputs {
		x += y
	}
	return x
}
`
	file := require.V(parser.ParseFile(w.set, "p.go", source, parser.SkipObjectResolution))(t)
	var got, want []int
	for _, f := range w.reads(t, "p", []*ast.File{file}) {
		got = append(got, f.at.Line)
	}
	for i, line := range strings.Split(source, "\n") {
		if strings.Contains(line, "// found") {
			want = append(want, i+1)
		}
	}
	require.Equal(t, want, got, "found in lines")
}

// world is the packages of the module, and those that they import, as the compiler knows
// them.
type world struct {
	set      *token.FileSet
	packages []goPackage
	from     types.Importer
}

type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
}

func loadPackages(t *testing.T) *world {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports", "./...")
	cmd.Stderr = os.Stderr
	out := require.V(cmd.Output())(t)
	w := &world{set: token.NewFileSet()}
	export := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		w.packages = append(w.packages, p)
		export[p.ImportPath] = p.Export
	}
	w.from = importer.ForCompiler(w.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	return w
}

// read is a read of an input of an operation.
type read struct {
	at    token.Position
	place bool // by its place, not by its name
	what  string
}

// readers are the methods of opspec.Args that take the name of an input, or give it.
var readers = []string{"In", "Has", "Position", "Variadic", "SlotName", "Dims", "Int32", "Bool", "Float", "Int32s"}

// reads finds where a package reads inputs of operations.
func (w *world) reads(t *testing.T, path string, files []*ast.File) (found []read) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	require.V((&types.Config{Importer: w.from}).Check(path, w.set, files, info))(t, path)
	is := func(x ast.Expr, name string) bool {
		t := info.Types[x].Type
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		return t != nil && t.String() == module+name
	}
	aliases := map[types.Object]bool{} // variables that are the inputs of an operation
	inputs := func(x ast.Expr) bool {
		switch x := x.(type) {
		case *ast.SelectorExpr:
			return x.Sel.Name == "Inputs" && is(x.X, "nn.Operation")
		case *ast.Ident:
			return aliases[info.Uses[x]]
		}
		return false
	}
	constant := func(x ast.Expr) bool { return x != nil && info.Types[x].Value != nil }
	written := map[ast.Expr]bool{}
	add := func(x ast.Node, place bool, format string, args ...any) {
		found = append(found, read{w.set.Position(x.Pos()), place, fmt.Sprintf(format, args...)})
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, x := range n.Lhs {
					written[x] = true
					if id, ok := x.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) && inputs(n.Rhs[i]) {
						aliases[info.Defs[id]] = true
					}
				}
			case *ast.IndexExpr:
				if inputs(n.X) && constant(n.Index) && !written[n] {
					add(n, true, "input %s of an operation", info.Types[n.Index].Value)
				}
			case *ast.SliceExpr:
				if inputs(n.X) && (constant(n.Low) || constant(n.High)) {
					add(n, true, "some inputs of an operation")
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(readers, f.Sel.Name) && is(f.X, "nn/opspec.Args") {
					add(n, false, "%s of an operation's arguments", f.Sel.Name)
				}
			}
			return true
		})
	}
	return found
}
