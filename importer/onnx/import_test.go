package onnx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// Builders of files.

func node(op string, in, out []string, attributes ...*onnxfile.Attribute) *onnxfile.Node {
	return &onnxfile.Node{Op: op, Inputs: in, Outputs: out, Attributes: attributes}
}

func intAttribute(name string, v int64) *onnxfile.Attribute {
	return &onnxfile.Attribute{Name: name, Type: onnxfile.AttributeInt, Int: v}
}

func intsAttribute(name string, v ...int64) *onnxfile.Attribute {
	return &onnxfile.Attribute{Name: name, Type: onnxfile.AttributeInts, Ints: v}
}

func graphAttribute(name string, g *onnxfile.Graph) *onnxfile.Attribute {
	return &onnxfile.Attribute{Name: name, Type: onnxfile.AttributeGraph, Graph: g}
}

func value32(name string, dims ...int64) *onnxfile.Value { return typed(onnxfile.Float, name, dims...) }

func typed(t onnxfile.DataType, name string, dims ...int64) *onnxfile.Value {
	v := &onnxfile.Value{Name: name, Type: t, Dims: []onnxfile.Dim{}}
	for _, d := range dims {
		v.Dims = append(v.Dims, onnxfile.Dim{Size: d})
	}
	return v
}

func floatTensor(name string, dims []int64, list ...float32) *onnxfile.Tensor {
	return &onnxfile.Tensor{Name: name, Type: onnxfile.Float, Dims: dims, Floats: list}
}

func byteTensor(t onnxfile.DataType, name string, dims []int64, list ...byte) *onnxfile.Tensor {
	return &onnxfile.Tensor{Name: name, Type: t, Dims: dims, Raw: list}
}

func model(g *onnxfile.Graph, opset int64) *onnxfile.Model {
	return &onnxfile.Model{IRVersion: 8, Opsets: []onnxfile.Opset{{Version: opset}}, Graph: g}
}

func floats32(list ...float32) (b []byte) {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// written is the model of a file that was written and read.
func written(t *testing.T, f *onnxfile.Model, o *Options) *nn.Model {
	t.Helper()
	m := require.V(Import(onnxfile.Append(nil, f), o))(t)
	require.NoError(t, validate.Model(m))
	return m
}

func run(t *testing.T, m *nn.Model, in ...[]byte) []float64 {
	t.Helper()
	out := require.V(execute(m, in))(t)
	return numbersOf(m.Main.Operands[m.Main.Outputs[0]].Type, out[0])
}

func kinds(m *nn.Model) (list []nn.OperationType) {
	for _, op := range m.Main.Operations {
		list = append(list, op.Type)
	}
	return list
}

// convNet is two convolutions with an activation between: channels 1 -> 2 -> 1.
func convNet() *onnxfile.Model {
	return model(&onnxfile.Graph{
		Nodes: []*onnxfile.Node{
			node("Conv", []string{"x", "w1", "b1"}, []string{"c"}, intsAttribute("pads", 1, 1, 1, 1), intsAttribute("kernel_shape", 3, 3)),
			node("Relu", []string{"c"}, []string{"r"}),
			node("Conv", []string{"r", "w2"}, []string{"y"}),
		},
		Initializers: []*onnxfile.Tensor{
			floatTensor("w1", []int64{2, 1, 3, 3}, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0),
			floatTensor("b1", []int64{2}, 0, 0.5),
			floatTensor("w2", []int64{1, 2, 1, 1}, 10, 1),
		},
		Inputs: []*onnxfile.Value{value32("x", 1, 1, 2, 2)}, Outputs: []*onnxfile.Value{value32("y", 1, 1, 2, 2)},
	}, 13)
}

// TestConvolutions: one order of dimensions all the way, which one channel needs no
// TRANSPOSE for.
func TestConvolutions(t *testing.T) {
	m := written(t, convNet(), nil)
	if slices.Contains(kinds(m), nn.OpTranspose) {
		t.Errorf("operations %v", kinds(m))
	}
	got := run(t, m, floats32(1, -2, 3, 4))
	if want := []float64{10.5, 0.5, 31.5, 40}; !slices.Equal(got, want) { // 10 relu(x) + relu(above + 0.5)
		t.Errorf("%v, want %v", got, want)
	}
}

// qdq is a quantized convolution: input and output in steps of 0.5, weights of a type around a zero point.
func qdq(weights onnxfile.DataType, zero byte, w ...byte) *onnxfile.Model {
	dq := func(x, s, z string) *onnxfile.Node {
		return node("DequantizeLinear", []string{x, s, z}, []string{x + "_real"})
	}
	return model(&onnxfile.Graph{
		Nodes: []*onnxfile.Node{
			dq("x", "s", "zx"), dq("w", "sw", "zw"),
			node("Conv", []string{"x_real", "w_real", "b"}, []string{"c"}),
			node("Relu", []string{"c"}, []string{"r"}),
			node("QuantizeLinear", []string{"r", "s", "zx"}, []string{"y"}),
		},
		Initializers: []*onnxfile.Tensor{
			floatTensor("s", nil, 0.5), byteTensor(onnxfile.Uint8, "zx", nil, 10), floatTensor("sw", nil, 0.25), byteTensor(weights, "zw", nil, zero),
			byteTensor(weights, "w", []int64{1, 2, 1, 1}, w...), floatTensor("b", []int64{1}, 1),
		},
		Inputs: []*onnxfile.Value{typed(onnxfile.Uint8, "x", 1, 2, 1, 2)}, Outputs: []*onnxfile.Value{typed(onnxfile.Uint8, "y", 1, 1, 1, 2)},
	}, 13)
}

// TestQuantized: a DequantizeLinear, Conv, Relu, QuantizeLinear is one quantized CONV_2D,
// with weights of either sign.
func TestQuantized(t *testing.T) {
	for name, f := range map[string]*onnxfile.Model{
		"unsigned": qdq(onnxfile.Uint8, 128, 128+4, 128-8), "signed": qdq(onnxfile.Int8, 0, 4, 0xf8),
	} {
		m := written(t, f, nil)
		quant := 0
		for _, op := range m.Main.Operations {
			if op.Type == nn.OpConv2D && m.Main.Operands[op.Outputs[0]].Type == nn.TensorQuant8Asymm {
				quant++
			}
			require.Check(t, op.Type != nn.OpQuantize && op.Type != nn.OpDequantize && op.Type != nn.OpRelu, "%s: a %v is left", name, op.Type)
		}
		if quant != 1 {
			t.Errorf("%s: operations %v", name, kinds(m))
		}
		// channels [14 30], [12 10]: reals [2 10], [1 0]; 1 + x0 - 2 x1 = [1 11], quantized by 0.5 around 10
		if got := run(t, m, []byte{14, 30, 12, 10}); !slices.Equal(got, []float64{12, 32}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestHalves: a network in float16 computes in float16 all the way.
func TestHalves(t *testing.T) {
	f := convNet()
	for _, v := range append(f.Graph.Inputs, f.Graph.Outputs...) {
		v.Type = onnxfile.Float16
	}
	for _, w := range f.Graph.Initializers {
		for _, v := range w.Floats {
			w.Int32s = append(w.Int32s, int32(lowering.Half(v)))
		}
		w.Type, w.Floats = onnxfile.Float16, nil
	}
	m := written(t, f, nil)
	for _, op := range m.Main.Operations {
		if o := m.Main.Operands[op.Outputs[0]]; o.Type != nn.TensorFloat16 {
			t.Errorf("%v gives %v", op.Type, o.Type)
		}
	}
	var in []byte
	for _, v := range []float32{1, -2, 3, 4} {
		in = binary.LittleEndian.AppendUint16(in, lowering.Half(v))
	}
	if got := run(t, m, in); !slices.Equal(got, []float64{10.5, 0.5, 31.5, 40}) {
		t.Errorf("%v", got)
	}
}

// TestBlocks: weights of 4 bits with a scale for each two elements are reals.
func TestBlocks(t *testing.T) {
	f := model(&onnxfile.Graph{
		Nodes: []*onnxfile.Node{
			node("DequantizeLinear", []string{"w", "s", "z"}, []string{"r"}, intAttribute("axis", 0), intAttribute("block_size", 2)),
			node("MatMul", []string{"x", "r"}, []string{"y"}),
		},
		Initializers: []*onnxfile.Tensor{
			{Name: "w", Type: onnxfile.Int4, Dims: []int64{4, 1}, Int32s: []int32{0x21, 0xf3}},                                     // 1 2 3 -1
			floatTensor("s", []int64{2, 1}, 10, 0.5), {Name: "z", Type: onnxfile.Int4, Dims: []int64{2, 1}, Int32s: []int32{0x10}}, // 0 1
		},
		Inputs: []*onnxfile.Value{value32("x", 1, 4)}, Outputs: []*onnxfile.Value{value32("y", 1, 1)},
	}, 21)
	if got := run(t, written(t, f, nil), floats32(1, 1, 1, 1)); !slices.Equal(got, []float64{30}) { // 10 + 20 + 1 - 1
		t.Errorf("%v", got)
	}
}

func TestExternalData(t *testing.T) {
	f := convNet()
	w := f.Graph.Initializers[2]
	w.Floats, w.Location, w.External = nil, onnxfile.InOtherFile, map[string]string{"location": "weights.bin", "offset": "4", "length": "8"}
	data := onnxfile.Append(nil, f)
	opened, closed := 0, 0
	open := func(name string) (ExternalFile, error) {
		if name != "weights.bin" {
			return nil, errors.New("no such file")
		}
		opened++
		return &weightsFile{bytes.NewReader(floats32(7, 10, 1)), &closed}, nil
	}
	m := require.V(Import(data, &Options{External: open}))(t)
	if got := run(t, m, floats32(1, 2, 3, 4)); got[0] != 10.5 {
		t.Errorf("%v", got)
	}
	require.ErrorContains(t, require.Err(Import(data, nil)), "weights.bin", "without the file")
	w.External["offset"] = "8"
	require.ErrorContains(t, require.Err(Import(onnxfile.Append(nil, f), &Options{External: open})), "reach beyond", "beyond the file")
	require.Check(t, opened == 2 && closed == 2, "%d files opened, %d closed", opened, closed)
}

// weightsFile is a file of external data.
type weightsFile struct {
	*bytes.Reader
	closed *int
}

// Close implements io.Closer.
func (f *weightsFile) Close() error { *f.closed++; return nil }

// TestUnsupported names every operator without NNAPI form, with its attributes, and none that only reads what one makes.
func TestUnsupported(t *testing.T) {
	f := model(&onnxfile.Graph{
		Nodes: []*onnxfile.Node{
			node("Bernoulli", []string{"x"}, []string{"a"}, &onnxfile.Attribute{Name: "seed", Type: onnxfile.AttributeString, String: "LEFT"}),
			node("Relu", []string{"a"}, []string{"b"}),
			node("Det", []string{"b"}, []string{"d"}), // which the host computes
			node("StringConcat", []string{"b", "d"}, []string{"c"}),
			node("Frobnicate", []string{"c"}, []string{"y"}, intAttribute("k", 3)),
		},
		Inputs: []*onnxfile.Value{typed(onnxfile.Int32, "x", 2)}, Outputs: []*onnxfile.Value{typed(onnxfile.Int32, "y", 2)},
	}, 13)
	_, err := Import(onnxfile.Append(nil, f), nil)
	var u *Unsupported
	if !errors.As(err, &u) || len(u.Operators) != 3 {
		t.Fatalf("%v", err)
	}
	for i, want := range []string{`Bernoulli(seed="LEFT")`, "Frobnicate(k=3)", "StringConcat"} {
		require.Check(t, u.Operators[i].Name == want, "operator %d is %s, want %s", i, u.Operators[i].Name, want)
	}
}

// branches is an If that execution decides: x + 1 or x * 2.
func branches() *onnxfile.Model {
	branch := func(op, c string, v float32) *onnxfile.Graph {
		return &onnxfile.Graph{
			Nodes:        []*onnxfile.Node{node(op, []string{"x", c}, []string{"r" + c})},
			Initializers: []*onnxfile.Tensor{floatTensor(c, nil, v)}, Outputs: []*onnxfile.Value{value32("r"+c, 2)},
		}
	}
	return model(&onnxfile.Graph{
		Nodes: []*onnxfile.Node{
			node("If", []string{"c"}, []string{"y"}, graphAttribute("then_branch", branch("Add", "one", 1)), graphAttribute("else_branch", branch("Mul", "two", 2))),
		},
		Inputs: []*onnxfile.Value{typed(onnxfile.Bool, "c"), value32("x", 2)}, Outputs: []*onnxfile.Value{value32("y", 2)},
	}, 13)
}

func TestIf(t *testing.T) {
	m := written(t, branches(), nil)
	if !slices.Equal(kinds(m), []nn.OperationType{nn.OpIf}) || len(m.Referenced) != 2 {
		t.Fatalf("operations %v, %d subgraphs", kinds(m), len(m.Referenced))
	}
	for c, want := range [][]float64{{10, 14}, {6, 8}} {
		require.Equal(t, want, run(t, m, []byte{byte(c)}, floats32(5, 7)), "condition", c)
	}
}

// doubling doubles x while it is below a bound, at most n times; both are inputs.
func doubling() *onnxfile.Model {
	body := &onnxfile.Graph{
		Nodes: []*onnxfile.Node{
			node("Add", []string{"v", "v"}, []string{"next"}),
			node("Less", []string{"next", "bound"}, []string{"on"}),
		},
		Inputs:  []*onnxfile.Value{typed(onnxfile.Int64, "i"), typed(onnxfile.Bool, "going"), value32("v", 1)},
		Outputs: []*onnxfile.Value{typed(onnxfile.Bool, "on", 1), value32("next", 1)},
	}
	return model(&onnxfile.Graph{
		Nodes:        []*onnxfile.Node{node("Loop", []string{"n", "yes", "x"}, []string{"y"}, graphAttribute("body", body))},
		Initializers: []*onnxfile.Tensor{byteTensor(onnxfile.Bool, "yes", nil, 1)},
		Inputs:       []*onnxfile.Value{typed(onnxfile.Int64, "n"), value32("x", 1), value32("bound", 1)}, Outputs: []*onnxfile.Value{value32("y", 1)},
	}, 13)
}

func TestLoop(t *testing.T) {
	m := written(t, doubling(), nil)
	if !slices.Contains(kinds(m), nn.OpWhile) {
		t.Fatalf("operations %v", kinds(m))
	}
	for _, c := range []struct {
		n    uint32
		want float64
	}{{0, 3}, {2, 12}, {100, 48}} {
		if got := run(t, m, binary.LittleEndian.AppendUint32(nil, c.n), floats32(3), floats32(40)); got[0] != c.want {
			t.Errorf("%d turns: %v, want %v", c.n, got, c.want)
		}
	}
}

// TestFunction inlines an operator that the model defines.
func TestFunction(t *testing.T) {
	f := model(&onnxfile.Graph{
		Nodes:  []*onnxfile.Node{{Op: "Twice", Domain: "own", Inputs: []string{"x"}, Outputs: []string{"y"}, Attributes: []*onnxfile.Attribute{{Name: "slope", Type: onnxfile.AttributeFloat, Float: 0.5}}}},
		Inputs: []*onnxfile.Value{value32("x", 2)}, Outputs: []*onnxfile.Value{value32("y", 2)},
	}, 17)
	f.Functions = []*onnxfile.Function{{
		Name: "Twice", Domain: "own", Inputs: []string{"a"}, Outputs: []string{"b"}, Attributes: []string{"slope"}, Opsets: f.Opsets,
		Nodes: []*onnxfile.Node{
			node("LeakyRelu", []string{"a"}, []string{"l"}, &onnxfile.Attribute{Name: "alpha", Type: onnxfile.AttributeFloat, Ref: "slope"}),
			node("Add", []string{"l", "l"}, []string{"b"}),
		},
	}}
	if got := run(t, written(t, f, nil), floats32(3, -4)); !slices.Equal(got, []float64{6, -4}) {
		t.Errorf("%v", got)
	}
}

// TestOpenShape: an open dimension is an error that names the option to set it, and Shapes sets it.
func TestOpenShape(t *testing.T) {
	f := convNet()
	f.Graph.Inputs[0].Dims[2] = onnxfile.Dim{Name: "height"}
	data := onnxfile.Append(nil, f)
	if _, err := Import(data, nil); err == nil || !strings.Contains(err.Error(), `"height"`) || !strings.Contains(err.Error(), "--shape") {
		t.Errorf("%v", err)
	}
	m := require.V(Import(data, &Options{Shapes: map[string][]uint32{"x": {1, 1, 5, 2}}}))(t)
	if d := m.Main.Operands[m.Main.Outputs[0]].Dimensions; !slices.Equal(d, []uint32{1, 1, 5, 2}) {
		t.Errorf("output %v", d)
	}
	require.ErrorContains(t, require.Err(Import(data, &Options{Shapes: map[string][]uint32{"z": {1}}})), `"x"`, "a shape of no input")
}

// TestVersions: operator sets that are not known are errors.
func TestVersions(t *testing.T) {
	f := convNet()
	f.Opsets[0].Version = 29
	require.ErrorContains(t, require.Err(Import(onnxfile.Append(nil, f), nil)), "29")
}

// spectrum is the transform of a signal through a window, and the greatest of its bins with their places.
func spectrum() *onnxfile.Model {
	length := &onnxfile.Tensor{Name: "n", Type: onnxfile.Int64, Int64s: []int64{8}}
	return model(&onnxfile.Graph{
		Nodes: []*onnxfile.Node{
			node("HannWindow", []string{"n"}, []string{"w"}), node("STFT", []string{"x", "step", "w"}, []string{"s"}),
			node("MaxPool", []string{"s"}, []string{"y", "places"}, &onnxfile.Attribute{Name: "kernel_shape", Type: onnxfile.AttributeInts, Ints: []int64{2, 1}}),
			node("TfIdfVectorizer", []string{"words"}, []string{"counts"}, &onnxfile.Attribute{Name: "mode", Type: onnxfile.AttributeString, String: "TF"}, &onnxfile.Attribute{Name: "ngram_counts", Type: onnxfile.AttributeInts, Ints: []int64{0}},
				&onnxfile.Attribute{Name: "ngram_indexes", Type: onnxfile.AttributeInts, Ints: []int64{1, 0}}, &onnxfile.Attribute{Name: "pool_int64s", Type: onnxfile.AttributeInts, Ints: []int64{5, 6}}),
		},
		Initializers: []*onnxfile.Tensor{length, {Name: "step", Type: onnxfile.Int64, Int64s: []int64{4}}},
		Inputs:       []*onnxfile.Value{value32("x", 1, 16, 1), typed(onnxfile.Int32, "words", 3)},
		Outputs:      []*onnxfile.Value{value32("y"), typed(onnxfile.Int64, "places"), value32("counts")},
	}, 17)
}

// absent has an optional input, which is not there, and a sequence for an output.
func absent() *onnxfile.Model {
	tensors := &onnxfile.Value{Type: onnxfile.Float, Dims: []onnxfile.Dim{{Size: 2}}}
	return model(&onnxfile.Graph{
		Nodes:   []*onnxfile.Node{node("OptionalHasElement", []string{"o"}, []string{"there"}), node("SequenceConstruct", []string{"x", "x"}, []string{"s"})},
		Inputs:  []*onnxfile.Value{{Name: "o", Kind: "optional", Of: &onnxfile.Value{Kind: "sequence", Of: tensors}}, value32("x", 2)},
		Outputs: []*onnxfile.Value{{Name: "s", Kind: "sequence", Of: tensors}, typed(onnxfile.Bool, "there")},
	}, 16)
}

// TestSeeds: the seeds of damaged files are files that are read.
func TestSeeds(t *testing.T) {
	for k, b := range seeds() {
		_, err := Import(b, nil)
		require.Check(t, err == nil, "seed %d: %v", k, err)
	}
}

// seeds are small files of every kind of syntax.
func seeds() [][]byte {
	f := convNet()
	f.Functions = []*onnxfile.Function{{Name: "f", Inputs: []string{"a"}, Outputs: []string{"a"}}}
	var list [][]byte
	for _, m := range []*onnxfile.Model{f, qdq(onnxfile.Int8, 0, 1, 2), branches(), doubling(), spectrum(), absent()} {
		list = append(list, onnxfile.Append(nil, m))
	}
	return list
}

// TestHostile damages and cuts files: an error or a model, no panic.
func TestHostile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for k, whole := range seeds() {
		for n := range whole {
			Import(whole[:n:n], nil)
		}
		for range 3000 {
			b := slices.Clone(whole)
			for range 1 + random.IntN(3) {
				b[random.IntN(len(b))] = byte([]int{0, 1, 2, 4, 0x7f, 0x80, 0xff, random.IntN(256)}[random.IntN(8)])
			}
			if _, err := Import(b, nil); err != nil && strings.Contains(err.Error(), lowering.Unforeseen) {
				t.Errorf("file %d: %v", k, err)
			}
		}
	}
}

// FuzzImport: whatever the bytes, no panic, bounded memory, and a model whose constants are
// as long as their shapes.
func FuzzImport(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Import(data, nil)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || strings.Contains(err.Error(), lowering.Unforeseen) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		validate.Model(m)
		for i := range m.Main.Operands {
			o := &m.Main.Operands[i]
			if o.IsConst() && !o.Type.IsScalar() && int64(len(o.Data)) != o.Bytes() {
				t.Fatalf("operand %d: %d bytes for %v%v", i, len(o.Data), o.Type, o.Dimensions)
			}
		}
	})
}
