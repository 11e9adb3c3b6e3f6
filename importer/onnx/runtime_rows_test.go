package onnx_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
)

// rowsScript runs the networks m0.onnx, m1.onnx, ... of a folder on the reals in inK, of the shapes in a list, and writes
// output 0 to outK; it prints what ONNX Runtime says of each, empty where it runs it.
const rowsScript = `
const ort = require('onnxruntime-node'), fs = require('fs');
(async () => {
  const dir = process.argv[1], shapes = JSON.parse(process.argv[2]), said = [];
  for (let k = 0; k < shapes.length; k++) {
    try {
      const session = await ort.InferenceSession.create(dir + '/m' + k + '.onnx', {graphOptimizationLevel: 'disabled', logSeverityLevel: 4});
      const raw = fs.readFileSync(dir + '/in' + k);
      const x = new ort.Tensor('float32', new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length)), shapes[k]);
      const out = (await session.run({x}))[session.outputNames[0]];
      fs.writeFileSync(dir + '/out' + k, Buffer.from(out.data.buffer, out.data.byteOffset, out.data.byteLength));
      said.push('');
    } catch (e) { said.push(String(e)); }
  }
  console.log(JSON.stringify(said));
})().catch(e => { console.error(String(e)); process.exit(1); });
`

// rowNet is a network of one real input with a real output, in which an operator is held against ONNX Runtime. step is
// the scale of a quantized result, 0 for reals.
type rowNet struct {
	name string
	dims []int64
	step float64
	file []byte
}

// stepped is a type with steps: a scale and a zero point.
type stepped struct {
	of   onnxfile.DataType
	step float32
	zero byte
}

func (b *builder) params(q stepped) (scale, zero string) {
	return b.scalar(q.step), b.byte(q.of, q.zero)
}

// quantized and reals go between reals and steps.
func (b *builder) quantized(x string, q stepped) string {
	s, z := b.params(q)
	return b.add("QuantizeLinear", []string{x, s, z})
}

func (b *builder) reals(x string, q stepped) string {
	s, z := b.params(q)
	return b.add("DequantizeLinear", []string{x, s, z})
}

// microsoft appends a node of ONNX Runtime's domain.
func (b *builder) microsoft(op string, in []string, attributes ...*onnxfile.Attribute) string {
	y := b.add(op, in, attributes...)
	b.graph.Nodes[len(b.graph.Nodes)-1].Domain = "com.microsoft"
	return y
}

// bytes are weights of 8 bits.
func (b *builder) bytes(of onnxfile.DataType, dims ...int64) string {
	t := &onnxfile.Tensor{Type: of, Dims: dims}
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	for range n {
		t.Raw = append(t.Raw, byte(b.random.IntN(255)-127))
	}
	return b.constant(t)
}

// between runs an operator between DequantizeLinear and QuantizeLinear, as quantizers write it.
var between = []struct {
	name string
	dims []int64
	node func(b *builder, x string) string
}{
	{"Relu", []int64{1, 4, 6, 6}, func(b *builder, x string) string { return b.add("Relu", []string{x}) }},
	{"Sigmoid", []int64{1, 4, 6, 6}, func(b *builder, x string) string { return b.add("Sigmoid", []string{x}) }},
	{"Tanh", []int64{1, 4, 6, 6}, func(b *builder, x string) string { return b.add("Tanh", []string{x}) }},
	{"Softmax", []int64{4, 20}, func(b *builder, x string) string { return b.add("Softmax", []string{x}, attribute("axis", -1)) }},
	{"LeakyRelu", []int64{1, 4, 6, 6}, func(b *builder, x string) string {
		return b.add("LeakyRelu", []string{x}, attribute("alpha", 0.2))
	}},
	{"HardSwish", []int64{1, 4, 6, 6}, func(b *builder, x string) string { return b.add("HardSwish", []string{x}) }},
	{"Elu", []int64{1, 4, 6, 6}, func(b *builder, x string) string { return b.add("Elu", []string{x}) }},
	{"AveragePool", []int64{1, 4, 7, 7}, func(b *builder, x string) string {
		return b.add("AveragePool", []string{x}, attribute("kernel_shape", []int64{3, 3}), attribute("strides", []int64{2, 2}))
	}},
	{"AveragePool of padding", []int64{1, 4, 7, 7}, func(b *builder, x string) string {
		return b.add("AveragePool", []string{x}, attribute("kernel_shape", []int64{3, 3}), attribute("pads", []int64{1, 1, 1, 1}), attribute("count_include_pad", 1))
	}},
	{"MaxPool", []int64{1, 4, 7, 7}, func(b *builder, x string) string {
		return b.add("MaxPool", []string{x}, attribute("kernel_shape", []int64{3, 3}), attribute("pads", []int64{1, 1, 1, 1}))
	}},
	{"GlobalAveragePool", []int64{1, 4, 7, 7}, func(b *builder, x string) string { return b.add("GlobalAveragePool", []string{x}) }},
	{"ReduceMean", []int64{1, 4, 7, 7}, func(b *builder, x string) string {
		return b.add("ReduceMean", []string{x}, attribute("axes", []int64{1, 2}))
	}},
	{"ReduceSum", []int64{1, 4, 7, 7}, func(b *builder, x string) string { return b.add("ReduceSum", []string{x, b.ints(3)}) }},
	{"ReduceMax", []int64{1, 4, 7, 7}, func(b *builder, x string) string {
		return b.add("ReduceMax", []string{x}, attribute("axes", []int64{2}))
	}},
	{"Resize linear", []int64{1, 4, 5, 5}, func(b *builder, x string) string {
		sizes := b.ints(1, 4, 9, 8)
		return b.add("Resize", []string{x, "", "", sizes}, attribute("mode", "linear"))
	}},
	{"Resize nearest", []int64{1, 4, 5, 5}, func(b *builder, x string) string {
		sizes := b.ints(1, 4, 10, 10)
		return b.add("Resize", []string{x, "", "", sizes}, attribute("mode", "nearest"))
	}},
	{"Transpose", []int64{1, 4, 5, 6}, func(b *builder, x string) string {
		return b.add("Transpose", []string{x}, attribute("perm", []int64{0, 2, 3, 1}))
	}},
	{"Clip", []int64{1, 4, 5, 6}, func(b *builder, x string) string { return b.add("Clip", []string{x, b.scalar(-0.3), b.scalar(1.1)}) }},
	{"Add", []int64{1, 4, 5, 6}, func(b *builder, x string) string { return b.add("Add", []string{x, b.noise(1, 1, 4, 1, 1)}) }},
	{"Mul", []int64{1, 4, 5, 6}, func(b *builder, x string) string { return b.add("Mul", []string{x, b.noise(1, 1, 4, 1, 1)}) }},
	{"Sub of itself transposed", []int64{1, 1, 6, 6}, func(b *builder, x string) string {
		return b.add("Sub", []string{x, b.add("Transpose", []string{x}, attribute("perm", []int64{0, 1, 3, 2}))})
	}},
	{"Conv", []int64{1, 4, 7, 7}, func(b *builder, x string) string {
		q := stepped{onnxfile.Int8, 0.01, 0}
		return b.add("Conv", []string{x, b.reals(b.bytes(q.of, 6, 4, 3, 3), q)}, attribute("pads", []int64{1, 1, 1, 1}))
	}},
	{"Conv of groups", []int64{1, 4, 7, 7}, func(b *builder, x string) string {
		q := stepped{onnxfile.Int8, 0.01, 0}
		return b.add("Conv", []string{x, b.reals(b.bytes(q.of, 4, 1, 3, 3), q)}, attribute("group", 4), attribute("strides", []int64{2, 2}))
	}},
	{"ConvTranspose", []int64{1, 4, 4, 4}, func(b *builder, x string) string {
		q := stepped{onnxfile.Int8, 0.01, 0}
		return b.add("ConvTranspose", []string{x, b.reals(b.bytes(q.of, 4, 3, 3, 3), q)}, attribute("strides", []int64{2, 2}))
	}},
	{"Gemm", []int64{4, 24}, func(b *builder, x string) string {
		q := stepped{onnxfile.Int8, 0.01, 0}
		return b.add("Gemm", []string{x, b.reals(b.bytes(q.of, 10, 24), q), b.noise(1, 10)}, attribute("transB", 1))
	}},
	{"MatMul", []int64{4, 24}, func(b *builder, x string) string {
		q := stepped{onnxfile.Uint8, 0.01, 120}
		return b.add("MatMul", []string{x, b.reals(b.bytes(q.of, 24, 10), q)})
	}},
	{"LayerNormalization", []int64{4, 24}, func(b *builder, x string) string {
		return b.add("LayerNormalization", []string{x, b.noise(1, 24), b.noise(1, 24)})
	}},
	{"Gelu of a tanh", []int64{4, 24}, func(b *builder, x string) string { return b.microsoft("FastGelu", []string{x}) }},
}

// quantizedRows are QLinear operators of ONNX Runtime, from steps in to steps out.
var quantizedRows = []struct {
	name string
	dims []int64
	node func(b *builder, x, s, z, os, oz string) string
}{
	{"QLinearSigmoid", []int64{1, 4, 6, 6}, func(b *builder, x, s, z, os, oz string) string {
		return b.microsoft("QLinearSigmoid", []string{x, s, z, os, oz})
	}},
	{"QLinearLeakyRelu", []int64{1, 4, 6, 6}, func(b *builder, x, s, z, os, oz string) string {
		return b.microsoft("QLinearLeakyRelu", []string{x, s, z, os, oz}, attribute("alpha", 0.2))
	}},
	{"QLinearGlobalAveragePool", []int64{1, 4, 6, 6}, func(b *builder, x, s, z, os, oz string) string {
		return b.microsoft("QLinearGlobalAveragePool", []string{x, s, z, os, oz})
	}},
	{"QLinearAveragePool", []int64{1, 4, 7, 7}, func(b *builder, x, s, z, os, oz string) string {
		return b.microsoft("QLinearAveragePool", []string{x, s, z, os, oz}, attribute("kernel_shape", []int64{3, 3}), attribute("pads", []int64{1, 1, 1, 1}), attribute("strides", []int64{2, 2}))
	}},
	{"QLinearSoftmax", []int64{4, 20}, func(b *builder, x, s, z, os, oz string) string {
		return b.microsoft("QLinearSoftmax", []string{x, s, z, os, oz}, attribute("axis", -1), attribute("opset", 13))
	}},
	{"QLinearAdd", []int64{1, 4, 6, 6}, func(b *builder, x, s, z, os, oz string) string {
		return b.microsoft("QLinearAdd", []string{x, s, z, b.bytes(onnxTypeOf(b, z), 4, 1, 1), b.scalar(0.03), z, os, oz})
	}},
	{"QLinearMul", []int64{1, 4, 6, 6}, func(b *builder, x, s, z, os, oz string) string {
		return b.microsoft("QLinearMul", []string{x, s, z, b.bytes(onnxTypeOf(b, z), 4, 1, 1), b.scalar(0.03), z, os, oz})
	}},
	{"QLinearConcat", []int64{1, 4, 6, 6}, func(b *builder, x, s, z, os, oz string) string {
		return b.microsoft("QLinearConcat", []string{os, oz, x, s, z, b.bytes(onnxTypeOf(b, z), 1, 2, 6, 6), b.scalar(0.03), z}, attribute("axis", 1))
	}},
	{"QGemm", []int64{4, 24}, func(b *builder, x, s, z, os, oz string) string {
		return b.microsoft("QGemm", []string{x, s, z, b.bytes(onnxfile.Int8, 24, 10), b.scalar(0.004), b.byte(onnxfile.Int8, 0), "", os, oz})
	}},
	{"QLinearMatMul", []int64{4, 24}, func(b *builder, x, s, z, os, oz string) string {
		return b.add("QLinearMatMul", []string{x, s, z, b.bytes(onnxfile.Int8, 24, 10), b.scalar(0.004), b.byte(onnxfile.Int8, 3), os, oz})
	}},
	{"QLinearConv", []int64{1, 4, 7, 7}, func(b *builder, x, s, z, os, oz string) string {
		return b.add("QLinearConv", []string{x, s, z, b.bytes(onnxfile.Int8, 6, 4, 3, 3), b.scalar(0.004), b.byte(onnxfile.Int8, 0), os, oz})
	}},
}

// onnxTypeOf is the type of a constant.
func onnxTypeOf(b *builder, name string) onnxfile.DataType {
	return b.graph.Initializers[slices.IndexFunc(b.graph.Initializers, func(t *onnxfile.Tensor) bool { return t.Name == name })].Type
}

// realRows are operators of ONNX Runtime's domain on reals.
var realRows = []struct {
	name string
	dims []int64
	node func(b *builder) string
}{
	{"FusedMatMul", []int64{2, 3, 4}, func(b *builder) string {
		return b.microsoft("FusedMatMul", []string{"x", b.noise(1, 2, 5, 4)}, attribute("transB", 1), attribute("alpha", 0.3))
	}},
	{"FusedMatMul transposed", []int64{2, 4, 3}, func(b *builder) string {
		return b.microsoft("FusedMatMul", []string{"x", b.noise(1, 2, 4, 5)}, attribute("transA", 1), attribute("alpha", 2.5))
	}},
	{"FusedGemm", []int64{3, 4}, func(b *builder) string {
		return b.microsoft("FusedGemm", []string{"x", b.noise(1, 4, 5), b.noise(1, 5)}, attribute("activation", "LeakyRelu"), attribute("activation_alpha", 0.2), attribute("alpha", 0.5), attribute("beta", 2.0))
	}},
	{"FusedConv", []int64{1, 4, 7, 7}, func(b *builder) string {
		return b.microsoft("FusedConv", []string{"x", b.noise(8, 6, 4, 3, 3), b.noise(1, 6)}, attribute("activation", "Relu"), attribute("pads", []int64{1, 1, 1, 1}))
	}},
	{"BiasGelu", []int64{3, 8}, func(b *builder) string { return b.microsoft("BiasGelu", []string{"x", b.noise(1, 8)}) }},
	{"FastGelu", []int64{3, 8}, func(b *builder) string { return b.microsoft("FastGelu", []string{"x", b.noise(1, 8)}) }},
	{"QuickGelu", []int64{3, 8}, func(b *builder) string {
		return b.microsoft("QuickGelu", []string{"x"}, attribute("alpha", 1.702))
	}},
	{"Gelu", []int64{3, 8}, func(b *builder) string { return b.microsoft("Gelu", []string{"x"}) }},
	{"SkipLayerNormalization", []int64{2, 3, 8}, func(b *builder) string {
		return b.microsoft("SkipLayerNormalization", []string{"x", b.noise(1, 2, 3, 8), b.noise(1, 8), b.noise(1, 8), b.noise(1, 8)}, attribute("epsilon", 1e-5))
	}},
	{"SkipSimplifiedLayerNormalization", []int64{2, 3, 8}, func(b *builder) string {
		return b.microsoft("SkipSimplifiedLayerNormalization", []string{"x", b.noise(1, 2, 3, 8), b.noise(1, 8)}, attribute("epsilon", 1e-5))
	}},
	{"MultiHeadAttention", []int64{1, 3, 8}, func(b *builder) string {
		return b.microsoft("MultiHeadAttention", []string{"x", b.noise(1, 1, 5, 8), b.noise(1, 1, 5, 8)}, attribute("num_heads", 2))
	}},
	{"MultiHeadAttention with a mask", []int64{1, 3, 8}, func(b *builder) string {
		mask := b.constant(&onnxfile.Tensor{Type: onnxfile.Int32, Dims: []int64{1, 5}, Int32s: []int32{1, 1, 1, 0, 0}})
		return b.microsoft("MultiHeadAttention", []string{"x", b.noise(1, 1, 5, 8), b.noise(1, 1, 5, 8), "", mask}, attribute("num_heads", 2))
	}},
	{"MultiHeadAttention with numbers of keys", []int64{2, 3, 8}, func(b *builder) string {
		mask := b.constant(&onnxfile.Tensor{Type: onnxfile.Int32, Dims: []int64{2}, Int32s: []int32{4, 2}})
		return b.microsoft("MultiHeadAttention", []string{"x", b.noise(1, 2, 5, 8), b.noise(1, 2, 5, 8), "", mask}, attribute("num_heads", 2))
	}},
	{"MultiHeadAttention with a bias", []int64{1, 3, 8}, func(b *builder) string {
		return b.microsoft("MultiHeadAttention", []string{"x", b.noise(1, 1, 5, 8), b.noise(1, 1, 5, 8), b.noise(1, 24), "", b.noise(1, 1, 2, 3, 5)}, attribute("num_heads", 2))
	}},
	{"MultiHeadAttention with a past", []int64{1, 3, 8}, func(b *builder) string {
		return b.microsoft("MultiHeadAttention", []string{"x", b.noise(1, 1, 3, 8), b.noise(1, 1, 3, 8), "", "", "", b.noise(1, 1, 2, 4, 4), b.noise(1, 1, 2, 4, 4)}, attribute("num_heads", 2))
	}},
	{"MultiHeadAttention of one direction", []int64{1, 3, 8}, func(b *builder) string {
		return b.microsoft("MultiHeadAttention", []string{"x", b.noise(1, 1, 3, 8), b.noise(1, 1, 3, 8)}, attribute("num_heads", 2), attribute("unidirectional", 1))
	}},
	{"GroupQueryAttention", []int64{2, 3, 32}, grouped(2, 3, 0, 2)},
	{"GroupQueryAttention in one tensor", []int64{1, 4, 64}, func(b *builder) string {
		return b.several(3, "GroupQueryAttention", []string{"x", "", "", "", "", b.int32s(3), b.int32s(4)}, attribute("num_heads", 4), attribute("kv_num_heads", 2))
	}},
	{"GroupQueryAttention with a past", []int64{1, 1, 32}, grouped(1, 1, 5, 1, attribute("scale", 0.2), attribute("softcap", 0.5))},
	{"GroupQueryAttention turned", []int64{1, 2, 32}, grouped(1, 2, 3, 2, attribute("do_rotary", 1))},
	{"GroupQueryAttention turned side by side", []int64{1, 3, 32}, grouped(1, 3, 0, 2, attribute("do_rotary", 1), attribute("rotary_interleaved", 1))},
	{"GroupQueryAttention of a window", []int64{1, 6, 32}, grouped(1, 6, 0, 2, attribute("local_window_size", 2))},
	{"EmbedLayerNormalization", []int64{7, 8}, func(b *builder) string {
		ids := b.constant(&onnxfile.Tensor{Type: onnxfile.Int32, Dims: []int64{2, 3}, Int32s: []int32{1, 6, 0, 3, 3, 2}})
		kinds := b.constant(&onnxfile.Tensor{Type: onnxfile.Int32, Dims: []int64{2, 3}, Int32s: []int32{0, 1, 1, 0, 0, 1}})
		return b.several(2, "EmbedLayerNormalization", []string{ids, kinds, "x", b.noise(1, 5, 8), b.noise(1, 2, 8), b.noise(1, 8), b.noise(1, 8)})
	}},
	{"EmbedLayerNormalization of words alone", []int64{7, 8}, func(b *builder) string {
		ids := b.constant(&onnxfile.Tensor{Type: onnxfile.Int32, Dims: []int64{1, 3}, Int32s: []int32{1, 6, 0}})
		return b.several(2, "EmbedLayerNormalization", []string{ids, "", "x", b.noise(1, 5, 8), "", b.noise(1, 8), b.noise(1, 8)}, attribute("epsilon", 1e-3))
	}},
	{"ConvTranspose of volumes", []int64{1, 2, 3, 4, 3}, func(b *builder) string {
		return b.add("ConvTranspose", []string{"x", b.noise(4, 2, 3, 2, 3, 2), b.noise(1, 3)}, attribute("strides", []int64{2, 1, 2}), attribute("pads", []int64{1, 0, 0, 0, 1, 1}), attribute("output_padding", []int64{1, 0, 1}))
	}},
	{"ConvTranspose of volumes to a shape", []int64{1, 2, 3, 4, 3}, func(b *builder) string {
		return b.add("ConvTranspose", []string{"x", b.noise(4, 2, 3, 2, 3, 2)}, attribute("strides", []int64{2, 2, 2}), attribute("output_shape", []int64{5, 8, 6}))
	}},
	{"ConvTranspose of volumes like the input", []int64{1, 2, 3, 4, 3}, func(b *builder) string {
		return b.add("ConvTranspose", []string{"x", b.noise(4, 2, 3, 3, 3, 3)}, attribute("strides", []int64{2, 2, 2}), attribute("auto_pad", "SAME_UPPER"))
	}},
	{"LpPool of volumes", []int64{1, 2, 5, 4, 4}, func(b *builder) string {
		return b.add("LpPool", []string{"x"}, attribute("kernel_shape", []int64{2, 2, 3}), attribute("strides", []int64{2, 1, 1}), attribute("pads", []int64{1, 0, 1, 0, 1, 1}))
	}},
	{"DynamicQuantizeMatMul", []int64{3, 8}, func(b *builder) string {
		return b.microsoft("DynamicQuantizeMatMul", []string{"x", b.bytes(onnxfile.Int8, 8, 5), b.scalar(0.01), b.byte(onnxfile.Int8, 0)})
	}},
	{"MatMulIntegerToFloat", []int64{3, 8}, func(b *builder) string {
		q := stepped{onnxfile.Uint8, 0.02, 110}
		s, z := b.params(q)
		return b.microsoft("MatMulIntegerToFloat", []string{b.quantized("x", q), b.bytes(onnxfile.Int8, 8, 5), s, b.scalar(0.01), z, b.byte(onnxfile.Int8, 2), b.noise(1, 5)})
	}},
}

// several is microsoft for a node of which ONNX Runtime demands more outputs.
func (b *builder) several(outputs int, op string, in []string, attributes ...*onnxfile.Attribute) string {
	y := b.microsoft(op, in, attributes...)
	n := b.graph.Nodes[len(b.graph.Nodes)-1]
	for k := 1; k < outputs; k++ {
		n.Outputs = append(n.Outputs, fmt.Sprint(y, " ", k))
	}
	return y
}

func (b *builder) int32s(list ...int32) string {
	return b.constant(&onnxfile.Tensor{Type: onnxfile.Int32, Dims: []int64{int64(len(list))}, Int32s: list})
}

// grouped is GroupQueryAttention of 2 heads of 16 elements; all keys count.
func grouped(batches, queries, past, shared int64, attributes ...*onnxfile.Attribute) func(b *builder) string {
	return func(b *builder) string {
		in := []string{"x", b.noise(1, batches, queries, 16*shared), b.noise(1, batches, queries, 16*shared), "", ""}
		if past > 0 {
			in[3], in[4] = b.noise(1, batches, shared, past, 16), b.noise(1, batches, shared, past, 16)
		}
		counts := slices.Repeat([]int32{int32(past + queries - 1)}, int(batches))
		in = append(in, b.int32s(counts...), b.int32s(int32(past+queries)), b.noise(1, 20, 8), b.noise(1, 20, 8))
		return b.several(3, "GroupQueryAttention", in, append(attributes, attribute("num_heads", 2), attribute("kv_num_heads", int(shared)))...)
	}
}

// rowNets are the networks of all rows.
func rowNets() (list []rowNet) {
	for _, q := range [][2]stepped{
		{{onnxfile.Uint8, 0.02, 120}, {onnxfile.Uint8, 0.02, 120}}, {{onnxfile.Uint8, 0.02, 120}, {onnxfile.Uint8, 0.005, 10}}, {{onnxfile.Uint8, 0.02, 0}, {onnxfile.Uint8, 0.15, 128}},
		{{onnxfile.Int8, 0.02, 0}, {onnxfile.Int8, 0.03, 0}}, {{onnxfile.Int8, 0.02, 0xf0}, {onnxfile.Int8, 1.0 / 256, 0x80}},
	} {
		form := fmt.Sprintf(" of %v %v %d to %v %d", q[0].of, q[0].step, q[0].zero, q[1].step, q[1].zero)
		for _, r := range between {
			b := newBuilder(r.dims...)
			y := r.node(b, b.reals(b.quantized("x", q[0]), q[0]))
			list = append(list, rowNet{r.name + form, r.dims, float64(q[1].step), b.file(b.reals(b.quantized(y, q[1]), q[1]), onnxfile.Float)})
		}
		for _, r := range quantizedRows {
			b := newBuilder(r.dims...)
			s, z := b.params(q[0])
			os, oz := b.params(q[1])
			y := r.node(b, b.quantized("x", q[0]), s, z, os, oz)
			list = append(list, rowNet{r.name + form, r.dims, float64(q[1].step), b.file(b.reals(y, q[1]), onnxfile.Float)})
		}
	}
	for _, r := range realRows {
		b := newBuilder(r.dims...)
		list = append(list, rowNet{r.name, r.dims, 0, b.file(r.node(b), onnxfile.Float)})
	}
	return list
}

// TestMultiHeadAttentionRows is why: it holds them against the definition.
const unmasked = "ONNX Runtime 1.20.1 computes them without mask and past: its results are those of the same node without these inputs"

// runtimeDifferences are known differences from ONNX Runtime, by a part of the network's name, with the reason.
var runtimeDifferences = map[string]string{
	"MultiHeadAttention with a mask":           unmasked,
	"MultiHeadAttention with numbers of keys":  unmasked,
	"MultiHeadAttention with a past":           unmasked,
	"GroupQueryAttention of a window":          "ONNX Runtime 1.20.1 counts one key more than local_window_size, later versions and the networks that have windows do not",
	"QLinearAdd of UINT8 0.02 120 to 0.02 120": "sums of 1.5 steps are ties, which NNAPI's ADD rounds away from 0, ONNX to even",
}

// TestOracleRuntimeRows holds operators in quantized forms, and ONNX Runtime's own, against ONNX Runtime: results are at
// most one step apart, 0.1 on average; reals within 1e-4 of the largest.
func TestOracleRuntimeRows(t *testing.T) {
	oracle.Need(t, "node")
	needRuntime(t)
	nets, dir := rowNets(), t.TempDir()
	at := func(what string, k int) string { return filepath.Join(dir, fmt.Sprint(what, k)) }
	var shapes [][]int64
	ours, refusals := make([][]byte, len(nets)), make([]error, len(nets))
	for k, n := range nets {
		shapes = append(shapes, n.dims)
		in := inputOf(n.dims)
		require.NoError(t, os.WriteFile(at("m", k)+".onnx", n.file, 0o600))
		require.NoError(t, os.WriteFile(at("in", k), in, 0o600))
		m, err := onnx.Import(n.file, nil)
		if err != nil {
			refusals[k] = err
			continue
		}
		p := require.V(refcpu.Compile(m))(t)
		o := m.Main.Operands[m.Main.Inputs[0]]
		ours[k] = require.V(p.Execute([]refcpu.Tensor{{Dimensions: o.Dimensions, Data: in}}, refcpu.Options{}))(t)[0].Data
	}
	list, _ := json.Marshal(shapes)
	var said []string
	require.NoError(t, json.Unmarshal(require.V(exec.Command("node", "-e", rowsScript, "--", dir, string(list)).Output())(t), &said))
	require.Equal(t, len(said), len(nets), "networks that ran")
	compared, used := 0, map[string]bool{}
	for k, n := range nets {
		if said[k] != "" {
			t.Logf("%s: ONNX Runtime does not run it: %s", n.name, said[k])
			continue
		}
		compared++
		problem := ""
		if refusals[k] != nil {
			problem = fmt.Sprintf("the importer refuses it: %v", refusals[k])
		} else {
			far, average, scale := onnx.Farthest(nn.TensorFloat32, ours[k], require.File(t, at("out", k)))
			most, mean := 1e-4*scale, math.Inf(1)
			if n.step > 0 {
				most, mean = 1.001*n.step, 0.1*n.step
			}
			if !(far <= most && average <= mean) {
				problem = fmt.Sprintf("%v apart, %v on average, the step is %v, the largest %v", far, average, n.step, scale)
			}
		}
		known := ""
		for part := range runtimeDifferences {
			if strings.Contains(n.name, part) {
				known = part
			}
		}
		if problem != "" && known == "" {
			t.Errorf("%s: %s", n.name, problem)
		}
		used[known] = used[known] || problem != ""
	}
	for part := range runtimeDifferences {
		require.Check(t, used[part], "%s does not differ any more", part)
	}
	t.Logf("%d networks compared, %d that ONNX Runtime does not run", compared, len(nets)-compared)
}

// inputOf are reals of a shape.
func inputOf(dims []int64) []byte {
	g := nn.Subgraph{Inputs: []uint32{0}, Operands: []nn.Operand{{Type: nn.TensorFloat32}}}
	for _, d := range dims {
		g.Operands[0].Dimensions = append(g.Operands[0].Dimensions, uint32(d))
	}
	return tensor.SyntheticInput(&g, 0, 9)
}

// floatsIn are raw elements as reals.
func floatsIn(raw []byte) (x []float64) {
	for i := 0; i < len(raw); i += 4 {
		x = append(x, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[i:]))))
	}
	return x
}

// TestMultiHeadAttentionRows holds MultiHeadAttention with masks and with a past against its definition: shares of the
// keys that count, those of the past first.
func TestMultiHeadAttentionRows(t *testing.T) {
	const heads, size, width = 2, 4, 8
	for _, r := range realRows {
		if !strings.HasPrefix(r.name, "MultiHeadAttention") || strings.HasSuffix(r.name, "bias") || strings.HasSuffix(r.name, "direction") {
			continue
		}
		b := newBuilder(r.dims...)
		y := r.node(b)
		file, raw := b.file(y, onnxfile.Float), inputOf(r.dims)
		m := require.V(onnx.Import(file, nil))(t)
		p := require.V(refcpu.Compile(m))(t)
		got := floatsIn(require.V(p.Execute([]refcpu.Tensor{{Dimensions: m.Main.Operands[m.Main.Inputs[0]].Dimensions, Data: raw}}, refcpu.Options{}))(t)[0].Data)
		in := append(b.graph.Nodes[0].Inputs, make([]string, 8)...)
		constant := func(name string) *onnxfile.Tensor {
			i := slices.IndexFunc(b.graph.Initializers, func(w *onnxfile.Tensor) bool { return w.Name == name })
			if i < 0 || name == "" {
				return &onnxfile.Tensor{Dims: make([]int64, 4)}
			}
			return b.graph.Initializers[i]
		}
		k, v, mask, pastK, pastV := constant(in[1]), constant(in[2]), constant(in[4]), constant(in[6]), constant(in[7])
		x, queries, keys, past := floatsIn(raw), int(r.dims[1]), int(k.Dims[1]), int(pastK.Dims[2])
		at := func(list, before *onnxfile.Tensor, n, h, j, e int) float64 {
			if j < past {
				return float64(before.Floats[((n*heads+h)*past+j)*size+e])
			}
			return float64(list.Floats[(n*keys+j-past)*width+h*size+e])
		}
		counts := func(n, j int) bool {
			switch {
			case mask.Int32s == nil:
				return true
			case len(mask.Dims) == 1:
				return j < int(mask.Int32s[n])
			}
			return mask.Int32s[n*keys+j] != 0
		}
		for n := range int(r.dims[0]) {
			for i := range queries {
				for h := range heads {
					row, sum := (n*queries+i)*width+h*size, 0.0
					shares := make([]float64, past+keys)
					for j := range shares {
						dot := 0.0
						for e := range size {
							dot += x[row+e] * at(k, pastK, n, h, j, e)
						}
						if counts(n, j) {
							shares[j] = math.Exp(dot / math.Sqrt(size))
						}
						sum += shares[j]
					}
					for e := range size {
						want := 0.0
						for j, share := range shares {
							want += share / sum * at(v, pastV, n, h, j, e)
						}
						require.Check(t, math.Abs(got[row+e]-want) < 1e-5, "%s: element %d is %v, want %v", r.name, row+e, got[row+e], want)
					}
				}
			}
		}
	}
}
