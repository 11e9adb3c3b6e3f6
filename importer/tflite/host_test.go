package tflite

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
)

// hostCases are operators in the forms that NNAPI does not express, with TensorFlow Lite's results.
var hostCases = []opCase{
	{op: "WHERE", in: []arg{bools(dims(2, 3), 1, 0, 0, 0, 1, 1)}, out: []arg{i64(dims(3, 2), 0, 0, 1, 1, 1, 2)}},
	{op: "WHERE", in: []arg{f32(dims(2), 0, 0)}, out: []arg{i64(dims(0, 1))}},
	{op: "UNIQUE", kind: "UniqueOptions", in: []arg{f32(dims(6), 2, 1, 1, 3, 4, 3)}, out: []arg{f32(dims(4), 2, 1, 3, 4), i32(dims(6), 0, 1, 1, 2, 3, 2)}},
	{op: "NON_MAX_SUPPRESSION_V4", in: []arg{f32(dims(3, 4), 0, 0, 1, 1, 0, 0.1, 1, 1.1, 3, 3, 4, 4), f32(dims(3), 0.5, 0.9, 0.1), k(i32(nil, 4)), k(f32(nil, 0.5)), k(f32(nil, 0))},
		out: []arg{i32(dims(4), 1, 2, 0, 0), i32(nil, 2)}},
	{op: "NON_MAX_SUPPRESSION_V4", in: []arg{f32(dims(1, 4), 0, 0, 1, 1), f32(dims(1), 0.5), i32(nil, 2), k(f32(nil, 0.5)), k(f32(nil, 0.7))},
		out: []arg{i32(dims(2), 0, 0), i32(nil, 0)}},
	// The overlap of 9/11 lowers 0.5 by exp(-0.5 (9/11)^2 / 0.5).
	{op: "NON_MAX_SUPPRESSION_V5", in: []arg{f32(dims(3, 4), 0, 0, 1, 1, 0, 0.1, 1, 1.1, 3, 3, 4, 4), f32(dims(3), 0.5, 0.9, 0.3), k(i32(nil, 4)), k(f32(nil, 1)), k(f32(nil, 0)), k(f32(nil, 0.5))},
		out: []arg{i32(dims(4), 1, 2, 0, 0), within(1e-4, f32(dims(4), 0.9, 0.3, 0.256, 0)), i32(nil, 3)}},
	{op: "SEGMENT_SUM", in: []arg{f32(dims(3, 2), 1, 2, 3, 4, 5, 6), i32(dims(3), 0, 0, 1)}, out: []arg{f32(dims(2, 2), 4, 6, 5, 6)}},
	{op: "UNSORTED_SEGMENT_SUM", in: []arg{f32(dims(3), 1, 2, 3), i32(dims(3), 1, 0, 1), i32(nil, 3)}, out: []arg{f32(dims(3), 2, 4, 0)}},
	{op: "UNSORTED_SEGMENT_PROD", in: []arg{f32(dims(3), 2, 3, 4), i32(dims(3), 1, -1, 1), k(i32(nil, 2))}, out: []arg{f32(dims(2), 1, 8)}},
	{op: "UNSORTED_SEGMENT_MAX", in: []arg{i32(dims(3), 2, 3, 4), k(i32(dims(3), 1, 0, 1)), k(i32(nil, 3))}, out: []arg{i32(dims(3), 3, 4, math.MinInt32)}},
	{op: "UNSORTED_SEGMENT_MIN", in: []arg{f32(dims(3), 2, 3, 4), k(i32(dims(3), 1, 0, 1)), k(i32(nil, 2))}, out: []arg{f32(dims(2), 3, 2)}},
	{op: "ATAN2", in: []arg{f32(dims(2), 1, -1), f32(dims(2), 0, -1)}, out: []arg{f32(dims(2), math.Pi/2, -3*math.Pi/4)}},
	{op: "BITCAST", in: []arg{f32(dims(2), 1, -2)}, out: []arg{i32(dims(2), 0x3f800000, -1<<30)}},
	{op: "BITCAST", in: []arg{i32(dims(1), 0x01020304)}, out: []arg{tensorArg(typeUint8, dims(1, 4), []float64{4, 3, 2, 1})}},
	{op: "BITCAST", in: []arg{tensorArg(typeUint8, dims(1, 4), []float64{4, 3, 2, 1})}, out: []arg{i32(dims(1), 0x01020304)}},
	{op: "RIGHT_SHIFT", in: []arg{i32(dims(3), -9, 5, 16), i32(dims(1), 2)}, out: []arg{i32(dims(3), -3, 1, 4)}},
	{op: "RIGHT_SHIFT", in: []arg{tensorArg(typeUint8, dims(2), []float64{200, 7}), tensorArg(typeUint8, dims(2), []float64{1, 9})}, out: []arg{tensorArg(typeUint8, dims(2), []float64{100, 0})}},
	{op: "BITWISE_XOR", in: []arg{i32(dims(2), 6, -1), i32(nil, 3)}, out: []arg{i32(dims(2), 5, -4)}},
	{op: "DILATE", in: []arg{f32(dims(2, 2), 1, 2, 3, 4), k(i32(dims(2), 1, 2)), k(f32(nil, 9))}, out: []arg{f32(dims(2, 3), 1, 9, 2, 3, 9, 4)}},
	{op: "BROADCAST_TO", in: []arg{f32(dims(2, 1), 1, 2), i32(dims(2), 2, 3)}, out: []arg{f32(dims(2, 3), 1, 1, 1, 2, 2, 2)}},
	{op: "BROADCAST_ARGS", in: []arg{i32(dims(2), 2, 1), i32(dims(1), 3)}, out: []arg{i32(dims(2), 2, 3)}},
	{op: "EXPAND_DIMS", in: []arg{f32(dims(2), 1, 2), i32(nil, -1)}, out: []arg{f32(dims(2, 1), 1, 2)}},
	{op: "FILL", in: []arg{i32(dims(2), 2, 2), f32(nil, 7)}, out: []arg{f32(dims(2, 2), 7, 7, 7, 7)}},
	{op: "FILL", in: []arg{k(i32(dims(2), 0, 2)), f32(nil, 7)}, out: []arg{f32(dims(0, 2))}},
	{op: "RANGE", in: []arg{i32(nil, 1), i32(nil, 7), i32(nil, 3)}, out: []arg{i32(dims(2), 1, 4)}},
	{op: "RANGE", in: []arg{k(f32(nil, 1)), f32(nil, 1), k(f32(nil, 1))}, out: []arg{f32(dims(0))}},
	{op: "PADV2", in: []arg{f32(dims(1, 2), 1, 2), k(i32(dims(2, 2), 1, 0, 0, 2)), f32(nil, 9)}, out: []arg{f32(dims(2, 4), 9, 9, 9, 9, 1, 2, 9, 9)}},
	{op: "PADV2", in: []arg{q8(0.5, 3, dims(2), 1, 2), i32(dims(1, 2), 1, 0), q8(0.5, 3, nil, 9)}, out: []arg{q8(0.5, 3, dims(3), 9, 1, 2)}},
	{op: "SCATTER_ND", in: []arg{i32(dims(3, 1), 2, 0, 2), f32(dims(3, 2), 1, 2, 3, 4, 5, 6), i32(dims(2), 3, 2)}, out: []arg{f32(dims(3, 2), 3, 4, 0, 0, 6, 8)}},
	{op: "DYNAMIC_UPDATE_SLICE", in: []arg{f32(dims(4), 1, 2, 3, 4), f32(dims(2), 8, 9), i32(dims(1), 7)}, out: []arg{f32(dims(4), 1, 2, 8, 9)}},
	{op: "CUMSUM", kind: "CumsumOptions", options: fields{"reverse": true}, in: []arg{f32(dims(3), 1, 2, 3), i32(nil, 0)}, out: []arg{f32(dims(3), 6, 5, 3)}},
	{op: "TOPK_V2", in: []arg{f32(dims(2, 3), 1, 3, 3, 0, -1, 5), i32(nil, 2)}, out: []arg{f32(dims(2, 2), 3, 3, 5, 0), i32(dims(2, 2), 1, 2, 2, 0)}},
	{op: "ONE_HOT", kind: "OneHotOptions", options: fields{"axis": -1}, in: []arg{i32(dims(3), 1, -1, 3), i32(nil, 3), k(f32(nil, 5)), k(f32(nil, 2))},
		out: []arg{f32(dims(3, 3), 2, 5, 2, 2, 2, 2, 2, 2, 2)}},
	{op: "SPLIT_V", kind: "SplitVOptions", options: fields{"num_splits": 2}, in: []arg{f32(dims(3), 1, 2, 3), i32(dims(2), -1, 2), k(i32(nil, 0))}, out: []arg{f32(dims(1), 1), f32(dims(2), 2, 3)}},
	{op: "SPLIT_V", kind: "SplitVOptions", options: fields{"num_splits": 2}, in: []arg{f32(dims(3), 1, 2, 3), k(i32(dims(2), 0, 3)), k(i32(nil, 0))}, out: []arg{f32(dims(0)), f32(dims(3), 1, 2, 3)}},
	{op: "RESIZE_NEAREST_NEIGHBOR", kind: "ResizeNearestNeighborOptions", in: []arg{q8(0.5, 3, dims(1, 1, 2, 1), 1, 2), i32(dims(2), 2, 4)}, out: []arg{q8(0.5, 3, dims(1, 2, 4, 1), 1, 1, 2, 2, 1, 1, 2, 2)}},
	{op: "RESIZE_BILINEAR", kind: "ResizeBilinearOptions", options: fields{"half_pixel_centers": true}, in: []arg{f32(dims(1, 1, 2, 1), 1, 2), i32(dims(2), 1, 4)}, out: []arg{f32(dims(1, 1, 4, 1), 1, 1.25, 1.75, 2)}},
	{op: "STRIDED_SLICE", kind: "StridedSliceOptions", options: fields{"ellipsis_mask": 1, "shrink_axis_mask": 2}, in: []arg{f32(dims(2, 3), 1, 2, 3, 4, 5, 6), i32(dims(2), 0, 1), i32(dims(2), 0, 2), k(i32(dims(2), 1, 1))},
		out: []arg{f32(dims(2), 2, 5)}},
	{op: "STRIDED_SLICE", kind: "StridedSliceOptions", in: []arg{f32(dims(2, 3), 1, 2, 3, 4, 5, 6), k(i32(dims(1), 1)), k(i32(dims(1), 1)), k(i32(dims(1), 1))},
		out: []arg{f32(dims(0, 3))}},
}

// TestHostOperators runs operators outside NNAPI, and each form that the host has for them.
func TestHostOperators(t *testing.T) {
	// Those that need values of open shape are in TestOpenShapes.
	tested := map[string]bool{"SHAPE": true, "RESHAPE": true, "GATHER": true, "GATHER_ND": true, "SELECT": true, "SELECT_V2": true, "STABLEHLO_SELECT": true}
	for _, c := range hostCases {
		tested[c.op] = true
		t.Run(c.op, func(t *testing.T) {
			m := open(t, c.file(), nil)
			host := false
			for _, o := range m.Main.Operations {
				host = host || o.Type.IsHost()
			}
			require.Check(t, host, "no operation of the host")
			c.compare(t, m, execute(t, m, c.given()), 1e-5)
		})
	}
	for name := range hostForms {
		require.Check(t, tested[name], "%s has no test", name)
	}
	for _, b := range hostBuiltins {
		require.Check(t, hostForms[b.name].op != 0, "%s has no form", b.name)
	}
}

// chain is a network of operators on tensors of which the first is its input, the last its output; the first operator
// selects the elements above zero, so that all that follows has an open length.
type chain struct {
	name    string
	tensors []arg // behind input [4], its condition [4], its places [n, 1] and its elements [n]
	then    []tflitefile.Operator
	some    arg // of 0, 2, -1, 3
	empty   arg // of zeros
}

func (c *chain) file() []byte {
	zero := k(f32(nil, 0))
	open := func(a arg, signature ...int32) arg {
		for len(signature) < len(a.Shape) {
			signature = append(signature, -1)
		}
		a.More = fields{"shape_signature": signature}
		return a
	}
	tensors := []arg{f32(dims(4)), zero, bools(dims(4)), open(i64(dims(1, 1)), -1, 1), open(f32(dims(1)))}
	operators := []tflitefile.Operator{apply("GREATER", []int32{0, 1}, []int32{2}), apply("WHERE", []int32{2}, []int32{3}), apply("GATHER_ND", []int32{0, 3}, []int32{4})}
	for _, a := range c.tensors {
		if !a.constant {
			a = open(a)
		}
		tensors = append(tensors, a)
	}
	return network(tensors, []int32{0}, []int32{int32(len(tensors) - 1)}, append(operators, c.then...)...)
}

func with(o tflitefile.Operator, kind string, options fields) tflitefile.Operator {
	o.Kind, o.Options = kind, options
	return o
}

// TestOpenShapes: what follows an operator whose result is as long as the input's values say works on that length, also
// where it is none.
func TestOpenShapes(t *testing.T) {
	one := func(name string, in ...int32) []tflitefile.Operator {
		return []tflitefile.Operator{apply(name, append([]int32{4}, in...), []int32{int32(5 + len(in))})}
	}
	for _, c := range []chain{
		{"relu", []arg{f32(dims(1))}, one("RELU"), f32(dims(2), 2, 3), f32(dims(0))},
		{"add", []arg{k(f32(nil, 1)), f32(dims(1))}, one("ADD", 5), f32(dims(2), 3, 4), f32(dims(0))},
		{"cast", []arg{i32(dims(1))}, one("CAST"), i32(dims(2), 2, 3), i32(dims(0))},
		{"select", []arg{k(f32(nil, 0)), bools(dims(1)), k(f32(dims(1, 1), 9)), f32(dims(1, 1))},
			[]tflitefile.Operator{apply("GREATER", []int32{4, 5}, []int32{6}), apply("SELECT_V2", []int32{6, 4, 7}, []int32{8})}, f32(dims(1, 2), 2, 3), f32(dims(1, 0))},
		{"select slices", []arg{k(f32(nil, 2)), bools(dims(1)), k(i32(dims(2), -1, 1)), f32(dims(1, 1)), f32(dims(1, 1))},
			[]tflitefile.Operator{apply("GREATER", []int32{4, 5}, []int32{6}), apply("RESHAPE", []int32{4, 7}, []int32{8}), apply("SELECT", []int32{6, 8, 8}, []int32{9})}, f32(dims(2, 1), 2, 3), f32(dims(0, 1))},
		{"expand a sum", []arg{i32(dims(1)), k(i32(nil, 2)), i32(dims(1)), k(f32(dims(2), 3, 4)), f32(nil), k(i32(nil, 0)), f32(dims(1))},
			[]tflitefile.Operator{apply("SHAPE", []int32{4}, []int32{5}), apply("SUB", []int32{5, 6}, []int32{7}), with(apply("SUM", []int32{8, 7}, []int32{9}), "ReducerOptions", nil), apply("EXPAND_DIMS", []int32{9, 10}, []int32{11})}, f32(dims(1), 7), arg{}},
		{"pack", []arg{f32(dims(1, 2))}, []tflitefile.Operator{with(apply("PACK", []int32{4, 4}, []int32{5}), "PackOptions", fields{"axis": -1, "values_count": 2})}, f32(dims(2, 2), 2, 2, 3, 3), f32(dims(0, 2))},
		{"gather one", []arg{k(i32(nil, 1)), k(i32(dims(2), 1, -1)), f32(dims(1, 1)), f32(dims(1))},
			[]tflitefile.Operator{apply("RESHAPE", []int32{4, 6}, []int32{7}), with(apply("GATHER", []int32{7, 5}, []int32{8}), "GatherOptions", fields{"axis": -1})}, f32(dims(1), 3), arg{}},
		{"gather a scalar", []arg{k(i32(nil, 1)), f32(nil)}, []tflitefile.Operator{with(apply("GATHER", []int32{4, 5}, []int32{6}), "GatherOptions", nil)}, f32(nil, 3), arg{}},
		{"product of a list", []arg{k(f32(dims(1, 2), 1, 10)), f32(dims(1, 1))}, []tflitefile.Operator{with(apply("FULLY_CONNECTED", []int32{4, 5, -1}, []int32{6}), "FullyConnectedOptions", nil)}, f32(dims(1, 1), 32), f32(dims(0, 1))},
		{"shape", []arg{i32(dims(1))}, one("SHAPE"), i32(dims(1), 2), i32(dims(1), 0)},
		{"sum", []arg{k(i32(dims(1), 0)), f32(nil)}, one("SUM", 5), f32(nil, 5), arg{}},
		{"expand", []arg{k(i32(nil, 0)), f32(dims(1, 1))}, one("EXPAND_DIMS", 5), f32(dims(1, 2), 2, 3), f32(dims(1, 0))},
		{"tile", []arg{k(i32(dims(1), 2)), f32(dims(1))}, one("TILE", 5), f32(dims(4), 2, 3, 2, 3), f32(dims(0))},
		{"reshape", []arg{k(i32(dims(2), -1, 1)), f32(dims(1, 1))}, one("RESHAPE", 5), f32(dims(2, 1), 2, 3), f32(dims(0, 1))},
		{"one", []arg{k(i32(dims(1), 0)), k(i32(dims(1), 1)), f32(dims(1)), k(i32(dims(0))), f32(nil)},
			[]tflitefile.Operator{apply("SLICE", []int32{4, 5, 6}, []int32{7}), apply("RESHAPE", []int32{7, 8}, []int32{9})}, f32(nil, 2), arg{}},
		{"gather", []arg{k(f32(dims(4, 2), 1, 2, 3, 4, 5, 6, 7, 8)), i32(dims(1)), f32(dims(1, 2))},
			[]tflitefile.Operator{apply("CAST", []int32{4}, []int32{6}), apply("GATHER", []int32{5, 6}, []int32{7})}, f32(dims(2, 2), 5, 6, 7, 8), f32(dims(0, 2))},
		{"gather of batches", []arg{k(i32(dims(1, 1), 0)), i32(dims(1, 1)), k(i32(nil, 0)), f32(dims(1, 1)), f32(dims(1, 1))},
			[]tflitefile.Operator{apply("EXPAND_DIMS", []int32{4, 7}, []int32{8}), with(apply("GATHER", []int32{8, 5}, []int32{9}), "GatherOptions", fields{"axis": 1, "batch_dims": 1})}, f32(dims(1, 1), 2), arg{}},
		{"concat", []arg{k(f32(dims(1), 9)), f32(dims(1))}, []tflitefile.Operator{with(apply("CONCATENATION", []int32{4, 5}, []int32{6}), "ConcatenationOptions", fields{"axis": 0})}, f32(dims(3), 2, 3, 9), f32(dims(1), 9)},
		{"slice", []arg{k(i32(dims(1), 1)), k(i32(dims(1), 2)), k(i32(dims(1), 1)), f32(dims(1))}, []tflitefile.Operator{with(apply("STRIDED_SLICE", []int32{4, 5, 6, 7}, []int32{8}), "StridedSliceOptions", nil)}, f32(dims(1), 3), f32(dims(0))},
		{"fill", []arg{i32(dims(1)), k(f32(nil, 7)), f32(dims(1))}, []tflitefile.Operator{apply("SHAPE", []int32{4}, []int32{5}), apply("FILL", []int32{5, 6}, []int32{7})}, f32(dims(2), 7, 7), f32(dims(0))},
		{"product", []arg{k(i32(dims(2), -1, 1)), f32(dims(1, 1)), k(f32(dims(2, 1), 1, 10)), f32(dims(1, 2))},
			[]tflitefile.Operator{apply("RESHAPE", []int32{4, 5}, []int32{6}), with(apply("FULLY_CONNECTED", []int32{6, 7, -1}, []int32{8}), "FullyConnectedOptions", nil)}, f32(dims(2, 2), 2, 20, 3, 30), f32(dims(0, 2))},
		{"transpose", []arg{k(i32(dims(2), -1, 1)), f32(dims(1, 1)), k(i32(dims(2), 1, 0)), f32(dims(1, 1))},
			[]tflitefile.Operator{apply("RESHAPE", []int32{4, 5}, []int32{6}), apply("TRANSPOSE", []int32{6, 7}, []int32{8})}, f32(dims(1, 2), 2, 3), f32(dims(1, 0))},
		{"unique", []arg{f32(dims(1)), i32(dims(1))}, []tflitefile.Operator{apply("UNIQUE", []int32{4}, []int32{5, 6})}, i32(dims(2), 0, 1), i32(dims(0))},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := open(t, c.file(), nil)
			for _, x := range m.Main.Operations {
				for _, y := range x.Outputs {
					require.Check(t, len(m.Main.Operands[y].Dimensions) > 0, "the rank of %v is not known", x.Type)
				}
			}
			check := func(in, want arg) {
				o := opCase{in: []arg{in}, out: []arg{want}}
				o.compare(t, m, execute(t, m, o.given()), 1e-5)
			}
			check(f32(dims(4), 0, 2, -1, 3), c.some)
			if c.empty.values != nil || len(c.empty.Shape) > 0 {
				check(f32(dims(4), 0, 0, -1, 0), c.empty)
			}
		})
	}
}

// TestHostPadIsBounded: paddings of the execution that ask for a tensor of terabytes are an error.
func TestHostPadIsBounded(t *testing.T) {
	c := opCase{op: "PADV2", in: []arg{f32(dims(1, 2), 1, 2), i32(dims(2, 2), 1<<20, 0, 0, 1<<20), f32(nil, 9)}, out: []arg{f32(dims(1, 2), 0, 0)}}
	m := open(t, c.file(), nil)
	p := require.V(refcpu.CompileConfig(m, refcpu.Config{Operations: hostop.Table()}))(t)
	var in []refcpu.Tensor
	for _, b := range c.given() {
		in = append(in, refcpu.Tensor{Data: b})
	}
	_, err := p.Execute(in, refcpu.Options{})
	require.ErrorContains(t, err, "values of the execution may give at most 134217728")
}

// TestHostRefusals: what the host does not do either says so, with both reasons.
func TestHostRefusals(t *testing.T) {
	c := opCase{op: "WHERE", in: []arg{f32(dims(1, 1, 1, 1, 2))}, out: []arg{i64(dims(1, 5))}}
	_, err := Import(c.file(), nil)
	require.ErrorContains(t, err, "WHERE (1): NNAPI has no operation whose result has as many elements as are true; on the host: a tensor of rank 5")
	c = opCase{op: "WHERE", version: 9, in: []arg{f32(dims(2))}, out: []arg{i64(dims(1, 1))}}
	_, err = Import(c.file(), nil)
	require.ErrorContains(t, err, "WHERE (1): NNAPI has no operation whose result")
	c = opCase{op: "BITCAST", in: []arg{i64(dims(2))}, out: []arg{i32(dims(4))}}
	_, err = Import(c.file(), nil)
	require.ErrorContains(t, err, "the bits of INT64 in another width")
}
