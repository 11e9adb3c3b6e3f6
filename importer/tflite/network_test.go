package tflite

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// network is a file of one subgraph.
func network(tensors []arg, in, out []int32, operators ...tflitefile.Operator) []byte {
	return networkOf(subgraph(tensors, in, out, operators...))
}

func subgraph(tensors []arg, in, out []int32, operators ...tflitefile.Operator) tflitefile.Subgraph {
	s := tflitefile.Subgraph{Inputs: in, Outputs: out, Operators: operators}
	for i, a := range tensors {
		t := a.Tensor
		if t.Name == "" {
			t.Name = string(rune('a' + i))
		}
		if a.constant {
			t.Data = a.bytes()
		}
		s.Tensors = append(s.Tensors, t)
	}
	return s
}

func networkOf(subgraphs ...tflitefile.Subgraph) []byte {
	m := tflitefile.Model{Subgraphs: subgraphs}
	return m.Bytes()
}

func apply(name string, in, out []int32) tflitefile.Operator {
	return tflitefile.Operator{Code: codeOf(name), Inputs: in, Outputs: out}
}

func floatsOf(b []byte) (v []float32) {
	for i := 0; i < len(b); i += 4 {
		v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(b[i:])))
	}
	return v
}

// TestUnsupported lists every operator without NNAPI form with its count, also
// those inside branches, and strings among the inputs.
func TestUnsupported(t *testing.T) {
	x := f32(dims(1, 4))
	custom := apply("no builtin", []int32{1}, []int32{2})
	custom.Custom = "Mine"
	file := network([]arg{x, x, x, x, tensorArg(typeString, dims(1), nil)}, []int32{0, 4}, []int32{3},
		apply("RANDOM_UNIFORM", []int32{0}, []int32{1}), custom, apply("RANDOM_UNIFORM", []int32{2}, []int32{3}))
	_, err := Import(file, nil)
	var u *Unsupported
	if !errors.As(err, &u) {
		t.Fatalf("error %v, want an *Unsupported", err)
	}
	counts := map[string]int{}
	for _, o := range u.Operators {
		counts[o.Name] += o.Count
	}
	require.Check(t, counts["RANDOM_UNIFORM"] == 2 && counts[`CUSTOM "Mine"`] == 1 && counts[`input "e"`] == 1 && len(counts) == 3, "%v", u.Operators)
	for _, want := range []string{"RANDOM_UNIFORM (2): NNAPI draws from categories only", `CUSTOM "Mine" (1)`, `input "e" (1): is a tensor of type STRING`, `instead: the random numbers as an input of the network [at "b", "d"]`, `instead: TensorFlow Lite's own operators in its place`} {
		require.Check(t, strings.Contains(err.Error(), want), "error %q lacks %q", err, want)
	}
}

// TestVersion refuses an operator whose version has no known meaning.
func TestVersion(t *testing.T) {
	x := f32(dims(2))
	o := apply("RELU", []int32{0}, []int32{1})
	o.Version = 99
	require.ErrorContains(t, require.Err(Import(network([]arg{x, x}, []int32{0}, []int32{1}, o), nil)), "version 99 is not known")
}

// TestShapes overrides the shape of an input by name; all others follow.
func TestShapes(t *testing.T) {
	x := f32(dims(1, 2))
	file := network([]arg{x, x}, []int32{0}, []int32{1}, apply("RELU", []int32{0}, []int32{1}))
	m := open(t, file, &Options{Shapes: map[string][]uint32{"a": {5, 3}}})
	if d := m.Main.Operands[m.Main.Outputs[0]].Dimensions; !slices.Equal(d, []uint32{5, 3}) {
		t.Errorf("output of shape %v, want [5 3]", d)
	}
	require.ErrorContains(t, require.Err(Import(file, &Options{Shapes: map[string][]uint32{"z": {1}}})), `the inputs are "a"`)
	y := f32(dims(-1, 2))
	file = network([]arg{y, y}, []int32{0}, []int32{1}, apply("RELU", []int32{0}, []int32{1}))
	require.ErrorContains(t, require.Err(Import(file, nil)), "--shape a=", "an open shape")
	open(t, file, &Options{Shapes: map[string][]uint32{"a": {5, 2}}})
}

// TestOutputs: a constant, an input and one value twice can be outputs.
func TestOutputs(t *testing.T) {
	x, c := f32(dims(2)), k(f32(dims(2), 3, 4))
	m := open(t, network([]arg{x, c, x}, []int32{0}, []int32{0, 1, 2, 2}, apply("RELU", []int32{0}, []int32{2})), nil)
	out := execute(t, m, [][]byte{f32(nil, 1, -2).bytes()})
	for i, want := range [][]float32{{1, -2}, {3, 4}, {1, 0}, {1, 0}} {
		if got := floatsOf(out[i].Data); !slices.Equal(got, want) {
			t.Errorf("output %d is %v, want %v", i, got, want)
		}
	}
}

// TestWideConstant: an INT64 beyond 32 bits is an error where its value counts,
// a bound of a slice where it does not.
func TestWideConstant(t *testing.T) {
	x := i64(dims(1))
	file := network([]arg{x, k(i64(dims(1), 1<<40)), x}, []int32{0}, []int32{2}, apply("ADD", []int32{0, 1}, []int32{2}))
	require.ErrorContains(t, require.Err(Import(file, nil)), "do not fit 32 bits")
	y := f32(dims(3))
	file = network([]arg{y, k(i64(dims(1), 1)), k(i64(dims(1), 1<<62)), k(i64(dims(1), 1)), y}, []int32{0}, []int32{4},
		apply("STRIDED_SLICE", []int32{0, 1, 2, 3}, []int32{4}))
	m := open(t, file, nil)
	if got := floatsOf(execute(t, m, [][]byte{f32(nil, 1, 2, 3).bytes()})[0].Data); !slices.Equal(got, []float32{2, 3}) {
		t.Errorf("slice is %v, want [2 3]", got)
	}
}

// TestVariables: a counter in a resource variable begins with what CALL_ONCE
// assigns and keeps its value between invocations.
func TestVariables(t *testing.T) {
	handle, x := tensorArg(typeResource, nil, nil), f32(dims(1))
	named := func(out int32) tflitefile.Operator {
		o := apply("VAR_HANDLE", nil, []int32{out})
		o.Kind, o.Options = "VarHandleOptions", fields{"shared_name": "count"}
		return o
	}
	once := apply("CALL_ONCE", nil, nil)
	once.Kind, once.Options = "CallOnceOptions", fields{"init": 1}
	file := networkOf(
		subgraph([]arg{x, handle, x, x}, []int32{0}, []int32{3}, once, named(1), apply("READ_VARIABLE", []int32{1}, []int32{2}),
			apply("ADD", []int32{0, 2}, []int32{3}), apply("ASSIGN_VARIABLE", []int32{1, 3}, nil)),
		subgraph([]arg{handle, k(f32(dims(1), 100))}, nil, nil, named(0), apply("ASSIGN_VARIABLE", []int32{0, 1}, nil)),
	)
	m := open(t, file, nil)
	if len(m.States) != 1 {
		t.Fatalf("%d states, want 1", len(m.States))
	}
	states := nnrt.NewStates(m)
	for _, want := range []float32{107, 114, 121} {
		all := require.V(states.Inputs([][]byte{f32(nil, 7).bytes()}))(t)
		var out [][]byte
		for _, v := range execute(t, m, all) {
			out = append(out, v.Data)
		}
		states.Update(out)
		require.Same(t, want, floatsOf(out[0])[0], "count is")
	}
}

// TestStates: the memory of an SVDF is an input and an output, and a variable
// that no operator writes a constant.
func TestStates(t *testing.T) {
	c := &recurrentCases[slices.IndexFunc(recurrentCases, func(c opCase) bool { return c.op == "SVDF" })]
	m := open(t, c.file(), nil)
	if len(m.States) != 1 || len(nnrt.NonStateInputs(m)) != 1 || len(nnrt.Results(m)) != 1 {
		t.Fatalf("states %v, inputs %v, results %v", m.States, nnrt.NonStateInputs(m), nnrt.Results(m))
	}
	x, v := f32(dims(2)), variableOf(typeFloat32, dims(2))
	m = open(t, network([]arg{x, v, x}, []int32{0}, []int32{2}, apply("ADD", []int32{0, 1}, []int32{2})), nil)
	require.Check(t, len(m.States) == 0 && len(m.Main.Inputs) == 1, "%d states and %d inputs, want 0 and 1", len(m.States), len(m.Main.Inputs))
}

// TestGrowingLoop: a WHILE whose value grows in each iteration has an open shape, which the reference finds during
// execution.
func TestGrowingLoop(t *testing.T) {
	n, x := i32(nil), f32(dims(1))
	loop := apply("WHILE", []int32{0, 1}, []int32{2, 3})
	loop.Kind, loop.Options = "WhileOptions", fields{"condition": 1, "body": 2}
	join := apply("CONCATENATION", []int32{1, 1}, []int32{4})
	join.Kind, join.Options = "ConcatenationOptions", fields{"axis": 0}
	file := networkOf(
		subgraph([]arg{n, x, n, x}, []int32{0, 1}, []int32{3}, loop),
		subgraph([]arg{n, x, k(i32(nil, 3)), bools(nil)}, []int32{0, 1}, []int32{3}, apply("LESS", []int32{0, 2}, []int32{3})),
		subgraph([]arg{n, x, k(i32(nil, 1)), n, x}, []int32{0, 1}, []int32{3, 4}, apply("ADD", []int32{0, 2}, []int32{3}), join),
	)
	m := open(t, file, nil)
	out := execute(t, m, [][]byte{i32(nil, 0).bytes(), f32(nil, 5).bytes()})
	if got := floatsOf(out[0].Data); !slices.Equal(got, []float32{5, 5, 5, 5, 5, 5, 5, 5}) {
		t.Errorf("%v, want eight times 5", got)
	}
}

// TestRecursion: a subgraph that calls itself is an error.
func TestRecursion(t *testing.T) {
	x := f32(dims(1))
	loop := apply("WHILE", []int32{0}, []int32{1})
	loop.Kind, loop.Options = "WhileOptions", fields{"condition": 0, "body": 0}
	require.ErrorContains(t, require.Err(Import(networkOf(subgraph([]arg{x, x}, []int32{0}, []int32{1}, loop)), nil)), "subgraphs")
}

// TestIntegerLSTM unrolls an int8 sequence into steps of QUANTIZED_LSTM.
func TestIntegerLSTM(t *testing.T) {
	w := k(q8(0.01, 0, dims(1, 1), 100))
	zero := k(q8(0.01, 0, dims(1, 1), 0))
	bias := k(i32(dims(1), 0))
	h, s := stateOf(typeInt8, 1.0/128, dims(1, 1)), stateOf(typeInt16, 1.0/32768*16, dims(1, 1))
	gate := q16(1.0/4096, dims(1))
	c := opCase{op: "UNIDIRECTIONAL_SEQUENCE_LSTM", kind: "UnidirectionalSequenceLSTMOptions", options: fields{"activation": 4},
		in: []arg{q8(1.0/64, 0, dims(1, 2, 1), 64, 64), w, w, w, w, zero, zero, zero, zero, without, without, without, bias, bias, bias, bias,
			without, without, h, s},
		out:   []arg{within(1, q8(1.0/128, 0, dims(1, 2, 1), 47, 70))},
		inner: []arg{gate, gate, gate, gate, q8(1.0/128, 0, dims(1))}}
	c.run(t)
	m := open(t, c.file(), nil)
	steps := 0
	for _, o := range m.Main.Operations {
		if o.Type == nn.OpQuantizedLstm {
			steps++
		}
	}
	require.Check(t, steps == 2 && len(m.States) == 2, "%d steps and %d states, want 2 and 2", steps, len(m.States))
}
