package input

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestExternalData: a model's data may be beside it or below, nowhere else.
func TestExternalData(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "model")
	require.NoError(t, os.MkdirAll(filepath.Join(inner, "data"), 0o755))
	for _, p := range []string{filepath.Join(dir, "secret.bin"), filepath.Join(inner, "w.bin"), filepath.Join(inner, "data", "w.bin")} {
		require.NoError(t, os.WriteFile(p, make([]byte, 8), 0o644))
	}
	require.NoError(t, os.Symlink("../secret.bin", filepath.Join(inner, "link.bin")))
	value := func(name string) []*onnxfile.Value {
		return []*onnxfile.Value{{Name: name, Type: onnxfile.Float, Dims: []onnxfile.Dim{{Size: 2}}}}
	}
	for location, good := range map[string]bool{
		"w.bin": true, "data/w.bin": true, "../secret.bin": false, "link.bin": false, filepath.Join(dir, "secret.bin"): false, "data": false, "none.bin": false,
	} {
		file := onnxfile.Append(nil, &onnxfile.Model{Opsets: []onnxfile.Opset{{Version: 13}}, Graph: &onnxfile.Graph{
			Nodes:        []*onnxfile.Node{{Op: "Add", Inputs: []string{"x", "w"}, Outputs: []string{"y"}}},
			Initializers: []*onnxfile.Tensor{{Name: "w", Type: onnxfile.Float, Dims: []int64{2}, Location: onnxfile.InOtherFile, External: map[string]string{"location": location}}},
			Inputs:       value("x"), Outputs: value("y"),
		}})
		path := filepath.Join(inner, "m.onnx")
		require.NoError(t, os.WriteFile(path, file, 0o644))
		m, err := ReadModel(&cli.App{Err: t.Output()}, path, Choice{})
		if good != (err == nil) || good && len(m.Main.Operations) != 1 {
			t.Errorf("%s: %v", location, err)
		}
		require.Check(t, err == nil || strings.Contains(err.Error(), `tensor "w"`), "%s: %v does not name the tensor", location, err)
	}
}
