package export_test

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/onnx"
	"github.com/nnsoc/nnsoc/importer/onnx/export"
	"github.com/nnsoc/nnsoc/importer/tensor"
	tfliteimport "github.com/nnsoc/nnsoc/importer/tflite"
	tflite "github.com/nnsoc/nnsoc/importer/tflite/export"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/testvectors"
)

// again writes a model and reads it.
func again(t *testing.T, m *nn.Model) *nn.Model {
	t.Helper()
	file := require.V(export.Bytes(m))(t, m.Name)
	r := require.V(onnx.Import(file, nil))(t, m.Name)
	require.NoError(t, validate.Model(r), m.Name)
	return r
}

func results(m *nn.Model, inputs [][]byte) ([][]byte, error) {
	p, err := refcpu.Compile(m)
	if err != nil {
		return nil, err
	}
	var in []refcpu.Tensor
	for i, x := range m.Main.Inputs {
		in = append(in, refcpu.Tensor{Dimensions: m.Main.Operands[x].Dimensions, Data: inputs[i]})
	}
	out, err := p.Execute(in, refcpu.Options{})
	var list [][]byte
	for i := range out {
		list = append(list, out[i].Data)
	}
	return list, err
}

// farthest is the greatest difference of elements: steps of 8-bit values, reals else. NaN is
// infinitely far.
func farthest(t nn.OperandType, a, b []byte) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	most := 0.0
	for i := 0; i < len(a); i++ {
		d := math.Abs(float64(a[i]) - float64(b[i]))
		if t == nn.TensorFloat32 {
			x, y := math.Float32frombits(binary.LittleEndian.Uint32(a[i:])), math.Float32frombits(binary.LittleEndian.Uint32(b[i:]))
			i += 3
			if d = math.Abs(float64(x) - float64(y)); d != d {
				return math.Inf(1)
			}
		} else if t == nn.TensorQuant8AsymmSigned {
			d = math.Abs(float64(int8(a[i])) - float64(int8(b[i])))
		}
		most = max(most, d)
	}
	return most
}

// TestNetworks: networks of the zoo written and read again are the same operations and compute the same bytes, but for
// those that the file computes in reals.
func TestNetworks(t *testing.T) {
	for _, c := range []struct {
		name string
		far  float64
	}{
		{"mlperf_tiny_ad_quant", 0}, {"mlperf_tiny_ad_float", 0}, {"mlperf_tiny_ic_quant", 0}, {"mlperf_tiny_ic_float", 1e-6}, {"mlperf_tiny_kws_quant", 0},
		{"mlperf_tiny_kws_float", 1e-6}, {"mlperf_tiny_vww_quant", 0}, {"mobilenet_v1_0.25_128_quant", 0}, {"mobilenet_v2_0.35_96_float", 1e-6},
		{"mobilenet_v3_small_float", 1e-6}, {"squeezenet_quant", 0}, {"nasnet_mobile_float", 1e-6},
	} {
		m := require.V(zoo.Build(c.name))(t)
		r := again(t, m)
		in := [][]byte{tensor.SyntheticInput(&m.Main, 0, 3)}
		want := require.V(results(m, in))(t)
		got := require.V(results(r, in))(t)
		o := m.Main.Operands[m.Main.Outputs[0]]
		if far := farthest(o.Type, got[0], want[0]); !(far <= c.far) {
			t.Errorf("%s: the file computes something else, %v apart", c.name, far)
		}
		for _, op := range r.Main.Operations {
			if op.Type == nn.OpTranspose || (op.Type == nn.OpQuantize || op.Type == nn.OpDequantize) && o.Type != nn.TensorFloat32 {
				t.Errorf("%s: a %v is left in %d operations of %d", c.name, op.Type, len(r.Main.Operations), len(m.Main.Operations))
				break
			}
		}
	}
}

// TestCorpus writes the cases of the public corpus that the format can express and demands
// the results of the model they were. Where quantized values are computed in reals a step
// may be off.
func TestCorpus(t *testing.T) {
	passed, refused, unread := map[nn.OperationType]int{}, map[string]int{}, map[string]int{}
	cases := 0
	for f := range testvectors.Corpus() {
		for i, c := range f.Cases {
			if c.Model == nil || c.ExpectFailure || c.Multinomial > 0 || i%3 != 0 {
				continue
			}
			if slices.ContainsFunc(c.Inputs, func(v vectors.Value) bool { return len(v.Data) == 0 }) {
				continue // inputs that the call omits
			}
			file, err := export.Bytes(c.Model)
			if err != nil {
				refused[err.Error()[strings.LastIndex(err.Error(), ": ")+2:]]++
				continue
			}
			r, err := onnx.Import(file, nil)
			var u *onnx.Unsupported
			if errors.As(err, &u) {
				unread[u.Operators[0].Name+": "+u.Operators[0].Reason]++
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", c.Name, err)
				continue
			}
			if err := sameResults(c, r); err != nil {
				t.Errorf("%s: %v", c.Name, err)
				continue
			}
			cases++
			for _, op := range c.Model.Main.Operations {
				passed[op.Type]++
			}
		}
	}
	t.Logf("%d cases, %d operations; refused: %v; not read: %v", cases, len(passed), refused, unread)
	require.Check(t, cases >= 300 && len(passed) >= 50, "only %d cases of %d operations", cases, len(passed))
}

func sameResults(c *vectors.Case, r *nn.Model) error {
	var in [][]byte
	for i := range r.Main.Inputs {
		in = append(in, c.Inputs[i].Data)
	}
	got, err := results(r, in)
	if err != nil {
		return err
	}
	return testvectors.Check(c, nil, got)
}

// TestTransposedProduct: both matrices of a BATCH_MATMUL may be transposed.
func TestTransposedProduct(t *testing.T) {
	flag := func(v byte) nn.Operand {
		return nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{v}}
	}
	for _, c := range [][2]byte{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
		a, b := []uint32{1, 2, 3}, []uint32{1, 3, 4}
		if c[0] != 0 {
			a = []uint32{1, 3, 2}
		}
		if c[1] != 0 {
			b = []uint32{1, 4, 3}
		}
		m := &nn.Model{Name: "product", Main: nn.Subgraph{
			Operands: []nn.Operand{
				{Type: nn.TensorFloat32, Dimensions: a, Lifetime: nn.SubgraphInput}, {Type: nn.TensorFloat32, Dimensions: b, Lifetime: nn.SubgraphInput},
				flag(c[0]), flag(c[1]), {Type: nn.TensorFloat32, Dimensions: []uint32{1, 2, 4}, Lifetime: nn.SubgraphOutput},
			},
			Operations: []nn.Operation{{Type: nn.OpBatchMatmul, Inputs: []uint32{0, 1, 2, 3}, Outputs: []uint32{4}}},
			Inputs:     []uint32{0, 1}, Outputs: []uint32{4},
		}}
		in := [][]byte{tensor.SyntheticInput(&m.Main, 0, 3), tensor.SyntheticInput(&m.Main, 1, 4)}
		want := require.V(results(m, in))(t)
		file := require.V(tflite.Bytes(m))(t)
		r := require.V(tfliteimport.Import(file, nil))(t)
		for format, read := range map[string]*nn.Model{"onnx": again(t, m), "tflite": r} {
			got := require.V(results(read, in))(t)
			if far := farthest(nn.TensorFloat32, got[0], want[0]); !(far <= 1e-6) {
				t.Errorf("%s, transposed %v: %v apart", format, c, far)
			}
		}
	}
}
