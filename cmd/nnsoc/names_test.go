package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// namedNetwork is a file of two nodes of an operator whose names, inputs and outputs begin with a name.
func namedNetwork(t *testing.T, op, name string) string {
	of := func(name string) *onnxfile.Value {
		return &onnxfile.Value{Name: name, Type: onnxfile.Float, Dims: []onnxfile.Dim{{Size: 2}, {Size: 3}}}
	}
	at := func(s string) string { return name + s }
	m := onnxfile.Model{IRVersion: 8, Opsets: []onnxfile.Opset{{Version: 13}}, Graph: &onnxfile.Graph{
		Name: name, Inputs: []*onnxfile.Value{of(at("in"))}, Outputs: []*onnxfile.Value{of(at("out"))},
		Nodes: []*onnxfile.Node{
			{Op: op, Name: at("first"), Inputs: []string{at("in")}, Outputs: []string{at("between")}},
			{Op: op, Name: at("second"), Inputs: []string{at("between")}, Outputs: []string{at("out")}},
		},
	}}
	path := filepath.Join(t.TempDir(), "named.onnx")
	require.NoError(t, os.WriteFile(path, onnxfile.Append(nil, &m), 0o600))
	return path
}

// TestNames: names from a network cannot control the terminal that shows them, break its lines or fill them; those that are
// letters of any script are shown as they are.
func TestNames(t *testing.T) {
	const evil = "a\x1b[31m\x1b]0;title\x07\rb\nnnsoc: all is well\u202e"
	for name, want := range map[string]string{evil: `\x0annsoc: all is well\u202efirst`, "слой/卷积-🧠/": "слой/卷积-🧠/first", strings.Repeat("block/", 500): "block/block/block/first", "": "first"} {
		path := namedNetwork(t, "Relu", name)
		for _, args := range [][]string{{"compile", path, "--device", "gpu"}, {"supported", path}, {"run", path, "--device", "cpu", "--all"}} {
			var out, errs bytes.Buffer
			require.Same(t, 0, execute(append(args, "-q"), &out, &errs), errs.String())
			text := out.String() + errs.String()
			require.Check(t, !strings.ContainsAny(text, "\x1b\x07\r\u202e") && !strings.Contains(text, "\nnnsoc:"), "%v: %q", args[0], text)
			require.Check(t, strings.Contains(text, want), "%v: %q lacks %q", args[0], text, want)
			for line := range strings.Lines(text) {
				require.Check(t, len(line) < 300, "%v: a line of %d bytes", args[0], len(line))
			}
		}
		var errs bytes.Buffer
		require.Same(t, cli.ExitUsage, execute([]string{"run", namedNetwork(t, "Foo"+name, name), "-q"}, io.Discard, &errs), "code")
		require.Check(t, !strings.ContainsAny(errs.String(), "\x1b\x07\r\u202e") && strings.Count(errs.String(), "\n") == 1 && len(errs.String()) < 2*maxLine, "%q", errs.String())
	}
}
