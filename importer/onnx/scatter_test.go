package onnx

import (
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestScatterReductions reduces values at equal places, of elements and of rows, reals and integers.
func TestScatterReductions(t *testing.T) {
	combine := map[string]func(a, b float64) float64{
		"add": func(a, b float64) float64 { return a + b }, "mul": func(a, b float64) float64 { return a * b },
		"max": func(a, b float64) float64 { return max(a, b) }, "min": func(a, b float64) float64 { return min(a, b) },
	}
	x, updates, places := []float32{1, -2, 3, 4, 5, -6}, []float32{7, -8, 0.5, 2, 3, -1}, []int32{0, 1, 0, 1, 2, -3}
	for mode, f := range combine {
		reduction := &onnxfile.Attribute{Name: "reduction", Type: onnxfile.AttributeString, String: mode}
		// Elements of [3, 2] along axis 0.
		elements := make([]float64, 6)
		rows := make([]float64, 6)
		for i := range x {
			elements[i], rows[i] = float64(x[i]), float64(x[i])
		}
		for i, p := range places {
			row := (int(p) + 3) % 3
			elements[row*2+i%2] = f(elements[row*2+i%2], float64(updates[i]))
		}
		for i, p := range []int32{2, 0, 2} {
			for e := range 2 {
				rows[int(p)*2+e] = f(rows[int(p)*2+e], float64(updates[i*2+e]))
			}
		}
		inputs := []*onnxfile.Value{value32("x", 3, 2), typed(onnxfile.Int32, "i", 3, 2), value32("u", 3, 2)}
		g := &onnxfile.Graph{Inputs: inputs, Outputs: []*onnxfile.Value{value32("y")}, Nodes: []*onnxfile.Node{node("ScatterElements", []string{"x", "i", "u"}, []string{"y"}, reduction)}}
		near(t, "ScatterElements "+mode, elements, numbers(nn.TensorFloat32, runGraph(t, g, floats32(x...), ints(places...), floats32(updates...))))
		inputs = []*onnxfile.Value{value32("x", 3, 2), typed(onnxfile.Int32, "i", 3, 1), value32("u", 3, 2)}
		g = &onnxfile.Graph{Inputs: inputs, Outputs: []*onnxfile.Value{value32("y")}, Nodes: []*onnxfile.Node{node("ScatterND", []string{"x", "i", "u"}, []string{"y"}, reduction)}}
		near(t, "ScatterND "+mode, rows, numbers(nn.TensorFloat32, runGraph(t, g, floats32(x...), ints(2, 0, 2), floats32(updates...))))

		want := []float64{5, 6, 7}
		want[1] = f(f(6, 3), -2)
		whole := []*onnxfile.Value{typed(onnxfile.Int32, "x", 3), typed(onnxfile.Int32, "i", 2), typed(onnxfile.Int32, "u", 2)}
		g = &onnxfile.Graph{Inputs: whole, Outputs: []*onnxfile.Value{typed(onnxfile.Int32, "y")}, Nodes: []*onnxfile.Node{node("ScatterElements", []string{"x", "i", "u"}, []string{"y"}, reduction)}}
		require.Equal(t, want, numbers(nn.TensorInt32, runGraph(t, g, ints(5, 6, 7), ints(1, 1), ints(3, -2))), mode)
	}
}

// TestTensorScatter writes two entries into a cache of three in each batch, beyond its end where it is circular.
func TestTensorScatter(t *testing.T) {
	cache, update := make([]float32, 2*2*3*2), pattern(2*2*2*2)
	for i := range cache {
		cache[i] = 100 + float32(i)
	}
	for mode, places := range map[string][]int32{"linear": {1, 0}, "circular": {2, 1}} {
		want := make([]float64, len(cache))
		for i, v := range cache {
			want[i] = float64(v)
		}
		for i, v := range update {
			batch, head, at, e := i/8, i/4%2, i/2%2, i%2
			want[((batch*2+head)*3+(int(places[batch])+at)%3)*2+e] = float64(v)
		}
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("c", 2, 2, 3, 2), value32("u", 2, 2, 2, 2), typed(onnxfile.Int64, "w", 2)}, Outputs: []*onnxfile.Value{value32("y")},
			Nodes: []*onnxfile.Node{node("TensorScatter", []string{"c", "u", "w"}, []string{"y"}, &onnxfile.Attribute{Name: "mode", Type: onnxfile.AttributeString, String: mode})}}
		m := require.V(importFile(model(g, 24), nil))(t)
		require.Equal(t, want, numbers(nn.TensorFloat32, require.V(execute(m, [][]byte{floats32(cache...), floats32(update...), ints(places...)}))(t)[0]), mode)
	}
}
