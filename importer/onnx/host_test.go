package onnx

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
)

// TestFormsOutliveRefusals: the form of a value that a refused conversion made, here an image in the file's order, still
// has what computes it when other nodes read it.
func TestFormsOutliveRefusals(t *testing.T) {
	weights := &onnxfile.Tensor{Name: "w", Type: onnxfile.Float, Dims: []int64{2, 1, 1, 1}, Floats: []float32{1, 2}}
	g := &onnxfile.Graph{
		Nodes: []*onnxfile.Node{
			{Op: "Conv", Name: "conv", Inputs: []string{"x", "w"}, Outputs: []string{"c"}},
			{Op: "Slice", Name: "cut", Inputs: []string{"c", "from", "to"}, Outputs: []string{"s"}},
			{Op: "Shape", Inputs: []string{"s"}, Outputs: []string{"n"}},
			{Op: "Softmax", Name: "soft", Inputs: []string{"c"}, Outputs: []string{"y"}},
		},
		Inputs:       []*onnxfile.Value{typed(onnxfile.Float, "x", 1, 1, 3, 3), typed(onnxfile.Int64, "from", 4), typed(onnxfile.Int64, "to", 4)},
		Initializers: []*onnxfile.Tensor{weights},
		Outputs:      []*onnxfile.Value{value32("s"), value32("n"), value32("c"), value32("y")},
	}
	m := require.V(importFile(model(g, 13), nil))(t)
	require.NoError(t, validate.ModelOf(hostop.Table().Spec(), m))
	names := map[string]string{}
	for _, op := range m.Main.Operations {
		names[op.Type.String()] = op.Name
	}
	require.Check(t, names["CONV_2D"] == "conv" && names["HOST_SLICE"] == "cut" && names["HOST_SHAPE"] == "n" && names["SOFTMAX"] == "soft", "names of nodes: %v", names)
}
