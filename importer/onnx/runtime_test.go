package onnx_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/importer/onnx"
	"github.com/nnsoc/nnsoc/importer/onnx/export"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
)

// script runs a model in ONNX Runtime: arguments are the model, a file of the one input and
// one for output 0, both of raw elements.
const script = `
const ort = require('onnxruntime-node'), fs = require('fs');
(async () => {
  const [model, input, output, type, dims] = process.argv.slice(1);
  const session = await ort.InferenceSession.create(model, {graphOptimizationLevel: 'disabled'});
  const raw = fs.readFileSync(input), of = {float32: Float32Array, uint8: Uint8Array, int8: Int8Array};
  const data = new of[type](raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length));
  const feeds = {};
  feeds[session.inputNames[0]] = new ort.Tensor(type, data, JSON.parse(dims));
  const out = (await session.run(feeds))[session.outputNames[0]];
  fs.writeFileSync(output, Buffer.from(out.data.buffer, out.data.byteOffset, out.data.byteLength));
  console.log(JSON.stringify(out.dims));
})().catch(e => { console.error(String(e)); process.exit(1); });
`

// builder makes files of nodes with noise for weights.
type builder struct {
	graph  onnxfile.Graph
	random *rand.Rand
}

func newBuilder(dims ...int64) *builder {
	b := &builder{random: rand.New(rand.NewPCG(5, 6))}
	b.graph.Inputs = []*onnxfile.Value{declared("x", onnxfile.Float, dims...)}
	return b
}

func declared(name string, t onnxfile.DataType, dims ...int64) *onnxfile.Value {
	v := &onnxfile.Value{Name: name, Type: t, Dims: []onnxfile.Dim{}}
	for _, d := range dims {
		v.Dims = append(v.Dims, onnxfile.Dim{Size: d})
	}
	return v
}

// noise adds weights of a shape, of the magnitude that keeps sums of so many near one.
func (b *builder) noise(fanIn float64, dims ...int64) string {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(b.random.NormFloat64() / math.Sqrt(fanIn))
	}
	return b.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: dims, Floats: list})
}

func (b *builder) constant(t *onnxfile.Tensor) string {
	t.Name = fmt.Sprintf("w%d", len(b.graph.Initializers))
	b.graph.Initializers = append(b.graph.Initializers, t)
	return t.Name
}

func (b *builder) scalar(v float32) string {
	return b.constant(&onnxfile.Tensor{Type: onnxfile.Float, Floats: []float32{v}})
}

func (b *builder) byte(t onnxfile.DataType, v byte) string {
	return b.constant(&onnxfile.Tensor{Type: t, Raw: []byte{v}})
}

func (b *builder) ints(list ...int64) string {
	return b.constant(&onnxfile.Tensor{Type: onnxfile.Int64, Dims: []int64{int64(len(list))}, Int64s: list})
}

// attribute is one of the type of a value.
func attribute(name string, v any) *onnxfile.Attribute {
	a := &onnxfile.Attribute{Name: name}
	switch v := v.(type) {
	case int:
		a.Type, a.Int = onnxfile.AttributeInt, int64(v)
	case float64:
		a.Type, a.Float = onnxfile.AttributeFloat, float32(v)
	case string:
		a.Type, a.String = onnxfile.AttributeString, v
	case []int64:
		a.Type, a.Ints = onnxfile.AttributeInts, v
	}
	return a
}

// add appends a node and returns its output.
func (b *builder) add(op string, in []string, attributes ...*onnxfile.Attribute) string {
	n := &onnxfile.Node{Op: op, Inputs: in, Attributes: attributes, Outputs: []string{fmt.Sprintf("t%d", len(b.graph.Nodes))}}
	if len(op) > 3 && (op == "QLinearAdd" || op == "QLinearGlobalAveragePool") {
		n.Domain = "com.microsoft"
	}
	b.graph.Nodes = append(b.graph.Nodes, n)
	return n.Outputs[0]
}

func (b *builder) file(output string, t onnxfile.DataType) []byte {
	b.graph.Name = "built"
	b.graph.Outputs = []*onnxfile.Value{{Name: output, Type: t}}
	return onnxfile.Append(nil, &onnxfile.Model{
		IRVersion: 8, Opsets: []onnxfile.Opset{{Version: 17}, {Domain: "com.microsoft", Version: 1}}, Graph: &b.graph,
	})
}

// recurrentNet is a bidirectional LSTM and a GRU after it.
func recurrentNet() []byte {
	b := newBuilder(6, 2, 8)
	y := b.add("LSTM", []string{"x", b.noise(8, 2, 16, 8), b.noise(4, 2, 16, 4), b.noise(4, 2, 32)}, attribute("hidden_size", 4), attribute("direction", "bidirectional"))
	y = b.add("Transpose", []string{y}, attribute("perm", []int64{0, 2, 1, 3}))
	y = b.add("Reshape", []string{y, b.ints(6, 2, 8)})
	y = b.add("GRU", []string{y, b.noise(8, 1, 15, 8), b.noise(5, 1, 15, 5), b.noise(5, 1, 30)}, attribute("hidden_size", 5), attribute("linear_before_reset", 1))
	return b.file(y, onnxfile.Float)
}

// attentionNet is a block of a transformer: normalization, attention, two layers with GELU.
func attentionNet() []byte {
	b := newBuilder(1, 10, 16)
	norm := b.add("LayerNormalization", []string{"x", b.noise(1, 16), b.noise(1, 16)})
	heads := func(perm ...int64) string {
		y := b.add("Add", []string{b.add("MatMul", []string{norm, b.noise(16, 16, 16)}), b.noise(1, 16)})
		return b.add("Transpose", []string{b.add("Reshape", []string{y, b.ints(0, 0, 4, 4)})}, attribute("perm", perm))
	}
	q, k, v := heads(0, 2, 1, 3), heads(0, 2, 3, 1), heads(0, 2, 1, 3)
	scores := b.add("Softmax", []string{b.add("Div", []string{b.add("MatMul", []string{q, k}), b.scalar(2)})}, attribute("axis", -1))
	y := b.add("Transpose", []string{b.add("MatMul", []string{scores, v})}, attribute("perm", []int64{0, 2, 1, 3}))
	y = b.add("Add", []string{b.add("MatMul", []string{b.add("Reshape", []string{y, b.ints(1, 10, 16)}), b.noise(16, 16, 16)}), "x"})
	h := b.add("MatMul", []string{y, b.noise(16, 16, 32)})
	gelu := b.add("Mul", []string{h, b.add("Add", []string{b.add("Erf", []string{b.add("Div", []string{h, b.scalar(math.Sqrt2)})}), b.scalar(1)})})
	gelu = b.add("Mul", []string{gelu, b.scalar(0.5)})
	return b.file(b.add("Add", []string{b.add("MatMul", []string{gelu, b.noise(32, 32, 16)}), y}), onnxfile.Float)
}

// decoderNet makes images larger: transposed convolution, resizing of all modes, shuffling.
func decoderNet() []byte {
	b := newBuilder(1, 8, 7, 9)
	y := b.add("ConvTranspose", []string{"x", b.noise(32, 8, 4, 3, 3), b.noise(1, 8)}, attribute("strides", []int64{2, 2}), attribute("pads", []int64{1, 1, 1, 1}),
		attribute("output_padding", []int64{1, 1}), attribute("group", 2))
	y = b.add("InstanceNormalization", []string{y, b.noise(1, 8), b.noise(1, 8)})
	y = b.add("PRelu", []string{y, b.noise(4, 8, 1, 1)})
	y = b.add("Resize", []string{y, "", "", b.ints(1, 8, 20, 23)}, attribute("mode", "cubic"))
	y = b.add("AveragePool", []string{y}, attribute("kernel_shape", []int64{3, 3}), attribute("pads", []int64{1, 1, 1, 1}), attribute("count_include_pad", 1))
	y = b.add("Resize", []string{y, "", "", b.ints(1, 8, 30, 23)}, attribute("mode", "linear"), attribute("coordinate_transformation_mode", "align_corners"))
	y = b.add("DepthToSpace", []string{y}, attribute("blocksize", 2), attribute("mode", "CRD"))
	y = b.add("Pad", []string{y, b.ints(0, 0, 2, 3, 0, 0, 1, 0)}, attribute("mode", "reflect"))
	y = b.add("Conv", []string{y, b.noise(18, 4, 2, 3, 3)}, attribute("auto_pad", "SAME_LOWER"))
	return b.file(b.add("HardSwish", []string{y}), onnxfile.Float)
}

// qlinearNet is in QLinear style: convolution, sum, mean and product of matrices.
func qlinearNet() []byte {
	b := newBuilder(1, 4, 8, 8)
	s, z := b.scalar(0.05), b.byte(onnxfile.Uint8, 120)
	bytes := func(dims ...int64) string {
		n := int64(1)
		for _, d := range dims {
			n *= d
		}
		t := &onnxfile.Tensor{Type: onnxfile.Int8, Dims: dims}
		for range n {
			t.Raw = append(t.Raw, byte(b.random.IntN(255)-127))
		}
		return b.constant(t)
	}
	scales := b.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{4}, Floats: []float32{0.002, 0.003, 0.0015, 0.0025}})
	zeros := b.constant(&onnxfile.Tensor{Type: onnxfile.Int8, Dims: []int64{4}, Raw: make([]byte, 4)})
	bias := b.constant(&onnxfile.Tensor{Type: onnxfile.Int32, Dims: []int64{4}, Int32s: []int32{900, -500, 0, 77}})
	x := b.add("QuantizeLinear", []string{"x", s, z})
	y := b.add("QLinearConv", []string{x, s, z, bytes(4, 4, 3, 3), scales, zeros, s, z, bias}, attribute("pads", []int64{1, 1, 1, 1}))
	y = b.add("QLinearAdd", []string{x, s, z, y, s, z, b.scalar(0.08), z})
	y = b.add("QLinearGlobalAveragePool", []string{y, b.graph.Initializers[len(b.graph.Initializers)-1].Name, z, s, z})
	y = b.add("Reshape", []string{y, b.ints(1, 4)})
	y = b.add("QLinearMatMul", []string{y, s, z, bytes(4, 6), b.scalar(0.004), b.byte(onnxfile.Int8, 3), s, z})
	return b.file(y, onnxfile.Uint8)
}

// TestOracleRuntime compares networks of the zoo and built ones with ONNX Runtime (npm's
// onnxruntime-node, found by NODE_PATH): reals within 1e-4 of the largest, quantized results
// within two steps on average, since kernels there round in reals.
func TestOracleRuntime(t *testing.T) {
	oracle.Need(t, "node")
	needRuntime(t)
	files := map[string][]byte{"recurrent": recurrentNet(), "attention": attentionNet(), "decoder": decoderNet(), "qlinear": qlinearNet()}
	for _, name := range []string{
		"mobilenet_v1_0.25_128_quant", "mobilenet_v2_0.35_96_float", "mobilenet_v2_0.35_96_quant", "mobilenet_v3_small_float", "squeezenet_quant",
		"mlperf_tiny_ic_quant", "mlperf_tiny_kws_quant", "mlperf_tiny_ad_float",
	} {
		file := require.V(export.Bytes(zoo.MustBuild(name)))(t)
		files[name] = file
	}
	for name, file := range files {
		t.Run(name, func(t *testing.T) { compareRuntime(t, file) })
	}
}

// needRuntime skips a test where ONNX Runtime is neither found by NODE_PATH nor where `make oracle` puts it.
func needRuntime(t *testing.T) {
	t.Helper()
	fetched := require.V(filepath.Abs("../../out/onnx/node_modules"))(t)
	t.Setenv("NODE_PATH", os.Getenv("NODE_PATH")+string(os.PathListSeparator)+fetched)
	if err := exec.Command("node", "-e", "require('onnxruntime-node')").Run(); err != nil {
		t.Skip("skipped: needs onnxruntime-node (npm install onnxruntime-node, NODE_PATH=.../node_modules)")
	}
}

func compareRuntime(t *testing.T, file []byte) {
	m := require.V(onnx.Import(file, nil))(t)
	o := m.Main.Operands[m.Main.Inputs[0]]
	in := tensor.SyntheticInput(&m.Main, 0, 9)
	p := require.V(refcpu.Compile(m))(t)
	ours := require.V(p.Execute([]refcpu.Tensor{{Dimensions: o.Dimensions, Data: in}}, refcpu.Options{}))(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, b := range map[string][]byte{"m.onnx": file, "in": in} {
		require.NoError(t, os.WriteFile(at(name), b, 0o644))
	}
	types := map[nn.OperandType]string{nn.TensorFloat32: "float32", nn.TensorQuant8Asymm: "uint8", nn.TensorQuant8AsymmSigned: "int8"}
	dims, _ := json.Marshal(o.Dimensions)
	if out, err := exec.Command("node", "-e", script, "--", at("m.onnx"), at("in"), at("out"), types[o.Type], string(dims)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	theirs := require.File(t, at("out"))
	result := m.Main.Operands[m.Main.Outputs[0]].Type
	far, average, scale := onnx.Farthest(result, ours[0].Data, theirs)
	t.Logf("%v, %d bytes: %.3g apart, %.3g on average, the largest is %.3g", result, len(theirs), far, average, scale)
	bound := 1e-4 * scale
	if result != nn.TensorFloat32 { // a step in one layer of many grows in a SOFTMAX of noise
		far, bound = average, 2
	}
	require.Check(t, far <= bound, "%v apart, at most %v", far, bound)
}
