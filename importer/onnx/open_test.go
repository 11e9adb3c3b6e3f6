package onnx_test

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// openOperator is an operator on a matrix [4, 6] of which an execution chooses rows.
type openOperator struct {
	name string
	of   onnxfile.DataType
	draw func(n *network, x string) string
}

// openOne is an operator of the matrix alone.
func openOne(op string, attributes ...*onnxfile.Attribute) openOperator {
	return openOperator{op, onnxfile.Float, func(n *network, x string) string { return n.add(op, []string{x}, attributes...) }}
}

// openTwo are operators of the matrix and a row, or a matrix with as many rows as are chosen.
func openTwo(op string, of onnxfile.DataType) (list []openOperator) {
	return append(list, openOperator{op, of, func(n *network, x string) string { return n.add(op, []string{x, n.pos(6)}) }},
		openOperator{op + " of two", of, func(n *network, x string) string { return n.add(op, []string{x, n.add("Exp", []string{x})}) }})
}

func openOperators() (list []openOperator) {
	f := onnxfile.Float
	for _, op := range []string{"Erf", "Gelu", "Sign", "Softmax", "LogSoftmax", "Cos", "Round", "Softplus"} {
		list = append(list, openOne(op))
	}
	for _, op := range []string{"Add", "Sub", "Mul", "Div", "Max", "Mean", "PRelu"} {
		list = append(list, openTwo(op, f)...)
	}
	list = append(append(list, openTwo("Greater", onnxfile.Bool)...), openTwo("Equal", onnxfile.Bool)...)
	for _, op := range []string{"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare"} {
		list = append(list, openOperator{op + " of rows", f, func(n *network, x string) string { return n.add(op, []string{x, n.ints(1)}) }},
			openOperator{op + " of columns", f, func(n *network, x string) string { return n.add(op, []string{x, n.ints(0)}, attribute("keepdims", 0)) }},
			openOperator{op + " of all", f, func(n *network, x string) string { return n.add(op, []string{x}) }})
	}
	return append(list,
		openOne("Transpose", attribute("perm", []int64{1, 0})), openOne("Flatten"), openOne("ReduceLogSum"),
		openOperator{"Flatten of more", f, func(n *network, x string) string {
			return n.add("Flatten", []string{n.add("Reshape", []string{x, n.ints(-1, 1, 2, 3)})})
		}},
		openOperator{"MatMul", f, func(n *network, x string) string { return n.add("MatMul", []string{x, n.noise(6, 6, 3)}) }},
		openOperator{"Gemm", f, func(n *network, x string) string {
			return n.add("Gemm", []string{x, n.noise(6, 3, 6), n.noise(1, 3)}, attribute("transB", 1), attribute("alpha", 0.5))
		}},
		openOperator{"LayerNormalization", f, func(n *network, x string) string {
			return n.add("LayerNormalization", []string{x, n.noise(1, 6), n.noise(1, 6)})
		}},
		openOperator{"BatchNormalization", f, func(n *network, x string) string {
			return n.add("BatchNormalization", []string{x, n.pos(6), n.pos(6), n.pos(6), n.pos(6)})
		}},
		openOperator{"Concat", f, func(n *network, x string) string {
			return n.add("Concat", []string{x, n.noise(1, 2, 6)}, attribute("axis", 0))
		}},
		openOperator{"Concat of two", f, func(n *network, x string) string { return n.add("Concat", []string{x, x}, attribute("axis", 1)) }},
		openOperator{"Split", f, func(n *network, x string) string {
			y := n.add("Split", []string{x}, attribute("axis", 1), attribute("num_outputs", 2))
			node := n.graph.Nodes[len(n.graph.Nodes)-1]
			node.Outputs = append(node.Outputs, "second")
			return n.add("Sub", []string{y, "second"})
		}},
		openOperator{"Cast of truths", f, func(n *network, x string) string {
			return n.add("Cast", []string{n.add("Greater", []string{x, n.scalar(0)})}, attribute("to", int(onnxfile.Float)))
		}},
		openOperator{"ArgMax", onnxfile.Int64, func(n *network, x string) string { return n.add("ArgMax", []string{x}, attribute("axis", 1)) }},
		openOperator{"Size", onnxfile.Int64, func(n *network, x string) string { return n.add("Size", []string{x}) }},
	)
}

// network is the operator on a matrix that is known, or of which an execution chooses all rows, or none where none is set.
func (o *openOperator) network(chosen, none bool) *network {
	n := newNetwork(3)
	n.opset = 18
	if o.name == "Gelu" {
		n.opset = 20
	}
	x := n.in(onnxfile.Float, 4, 6)
	if o.name == "ReduceLogSum" {
		x = n.add("Abs", []string{x})
	}
	if chosen {
		rows := []float64{1, 1, 1, 1}
		if none {
			rows = make([]float64, 4)
		}
		x = n.add("Compress", []string{x, n.given(onnxfile.Bool, []int64{4}, rows...)}, attribute("axis", 0))
	}
	n.out(o.draw(n, x), o.of)
	return n
}

// openNetworks are the operators on no rows and on all.
func openNetworks() (list []oddity) {
	for _, o := range openOperators() {
		for rows, none := range map[string]bool{" of rows that an execution chooses": false, " of no rows": true} {
			if o.name == "ReduceMax of columns" || o.name == "ReduceMax of all" || o.name == "ReduceMean of columns" || o.name == "ReduceMean of all" {
				continue // ONNX Runtime refuses the greatest of none, and has 0 for their mean
			}
			list = append(list, oddity{o.name + rows, o.network(true, none).opset, func(n *network) { *n = *o.network(true, none) }})
		}
	}
	return list
}

// TestOpenShapes: an operator on a matrix of which an execution chooses all rows has the result that it has on the matrix.
func TestOpenShapes(t *testing.T) {
	for _, o := range openOperators() {
		want, got := runOf(t, o.network(false, false))[0], runOf(t, o.network(true, false))[0]
		require.Equal(t, got.Dimensions, want.Dimensions, o.name)
		require.Check(t, len(want.Data) > 0, "%s has no result", o.name)
		require.Equal(t, got.Data, want.Data, o.name)
	}
}

// TestNoElements: what reductions make of no elements, and what is known to have none, is the same during import and execution.
func TestNoElements(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	begin := map[string]float64{
		"ReduceSum": 0, "ReduceProd": 1, "ReduceMax": -inf, "ReduceMin": inf, "ReduceMean": nan, "ReduceL1": 0, "ReduceL2": 0, "ReduceSumSquare": 0, "ReduceLogSum": -inf, "ReduceLogSumExp": -inf,
	}
	cut := func(n *network, x string) string { return n.add("Slice", []string{x, n.ints(4), n.ints(9), n.ints(0)}) }
	for op, want := range begin {
		for _, later := range []bool{false, true} {
			o := openOperator{op, onnxfile.Float, func(n *network, x string) string {
				if !later {
					x = cut(n, x)
				}
				return n.add(op, []string{x, n.ints(0)})
			}}
			got := floatsIn(runOf(t, o.network(later, later))[0].Data)
			require.Equal(t, len(got), 6, op)
			for _, v := range got {
				require.Check(t, v == want || math.IsNaN(v) && math.IsNaN(want), "%s of no elements is %v, want %v", op, v, want)
			}
		}
	}
	for _, c := range []struct {
		name string
		dims []uint32
		draw func(n *network, x string) string
	}{
		{"TopK", []uint32{4, 0}, func(n *network, x string) string {
			y := n.add("TopK", []string{x, n.ints(0)}, attribute("axis", 1))
			node := n.graph.Nodes[len(n.graph.Nodes)-1]
			node.Outputs = append(node.Outputs, "places")
			return y
		}},
		{"Split", []uint32{0, 6}, func(n *network, x string) string {
			n.add("Split", []string{x, n.ints(4, 0)}, attribute("axis", 0))
			node := n.graph.Nodes[len(n.graph.Nodes)-1]
			node.Outputs = append(node.Outputs, "rest")
			return "rest"
		}},
		{"Add", []uint32{0, 6}, func(n *network, x string) string { return n.add("Add", []string{cut(n, x), n.noise(1, 1, 6)}) }},
		{"Transpose", []uint32{6, 0}, func(n *network, x string) string { return n.add("Transpose", []string{cut(n, x)}) }},
		{"Reshape", []uint32{0, 6}, func(n *network, x string) string { return n.add("Reshape", []string{cut(n, x), n.ints(-1, 6)}) }},
		{"Concat", []uint32{0, 12}, func(n *network, x string) string {
			return n.add("Concat", []string{cut(n, x), cut(n, x)}, attribute("axis", 1))
		}},
		{"Gather", []uint32{0, 6}, func(n *network, x string) string { return n.add("Gather", []string{x, n.ints()}) }},
		{"Pad", []uint32{2, 6}, func(n *network, x string) string {
			return n.add("Pad", []string{cut(n, x), n.ints(1, 0, 1, 0), n.scalar(7)})
		}},
	} {
		o := openOperator{c.name, onnxfile.Float, c.draw}
		got := runOf(t, o.network(false, false))[0]
		require.Equal(t, got.Dimensions, c.dims, c.name)
	}
	o := openOperator{"TopK", onnxfile.Float, func(n *network, x string) string {
		n.add("TopK", []string{x, n.ints(-1)})
		node := n.graph.Nodes[len(n.graph.Nodes)-1]
		node.Outputs = append(node.Outputs, "places")
		return "places"
	}}
	_, err := onnx.Import(o.network(false, false).bytes(), nil)
	require.ErrorContains(t, err, "the -1 greatest of 6")
}
