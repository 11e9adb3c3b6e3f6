package testvectors

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu"
)

// network is a real network of the shared data with its first recorded case.
type network struct {
	dir    string
	model  *nn.Model
	inputs [][]byte
	layers []struct {
		Op     string    `json:"op"`
		Sha256 string    `json:"sha256"`
		First8 []float64 `json:"first8"`
	}
}

func loadNetwork(tb testing.TB, name string) *network {
	tb.Helper()
	n := &network{dir: shared.Path(tb, "models", name)}
	b, err := os.ReadFile(filepath.Join(n.dir, "model.tflite"))
	require.NoError(tb, err)
	if n.model, err = tflite.Import(b, nil); err != nil {
		tb.Fatal(err)
	}
	require.NoError(tb, validate.Model(n.model))
	for i := range n.model.Main.Inputs {
		in := require.File(tb, filepath.Join(n.dir, fmt.Sprintf("case0.in%d.bin", i)))
		n.inputs = append(n.inputs, in)
	}
	if b, err = os.ReadFile(filepath.Join(n.dir, "case0.layers.json")); err == nil {
		require.NoError(tb, json.Unmarshal(b, &n.layers))
	}
	return n
}

// outputs allocates buffers for the outputs.
func (n *network) outputs() [][]byte {
	out := make([][]byte, len(n.model.Main.Outputs))
	for i, x := range n.model.Main.Outputs {
		out[i] = make([]byte, n.model.Main.Operands[x].Bytes())
	}
	return out
}

// TestReferenceLayersUint8 demands the recorded hash of every layer of uint8
// networks up to the final SOFTMAX or LOGISTIC, which may differ by one step.
func TestReferenceLayersUint8(t *testing.T) {
	for _, name := range []string{"mobilenet_v1_0.25_128_quant", "mobilenet_v1_1.0_224_quant", "mobilenet_v2_1.0_224_quant",
		"ssd_mobilenet_v1_quant_nopost"} {
		t.Run(name, func(t *testing.T) {
			n := loadNetwork(t, name)
			p := require.V(refcpu.Compile(n.model))(t)
			if len(n.layers) != len(n.model.Main.Operations) {
				t.Fatalf("%d recorded layers, %d operations", len(n.layers), len(n.model.Main.Operations))
			}
			exact, bad := 0, 0
			out := n.outputs()
			err := p.Run(n.inputs, out, refcpu.Options{Observe: func(i int, o [][]byte) {
				sum := sha256.Sum256(o[0])
				if hex.EncodeToString(sum[:16]) == n.layers[i].Sha256 {
					exact++
					return
				}
				op := n.model.Main.Operations[i].Type
				if op == nn.OpSoftmax || op == nn.OpLogistic {
					t.Logf("operation %d: %s differs from the recorded layer", i, op)
					return
				}
				if bad++; bad <= 3 {
					t.Errorf("operation %d: %s differs from the recorded layer: first bytes %v, recorded %v", i, op, o[0][:8], n.layers[i].First8)
				}
			}})
			require.NoError(t, err)
			t.Logf("%d of %d layers identical", exact, len(n.layers))
			n.compare(t, out, 1)
		})
	}
}

// TestReferenceInt8 compares int8 networks with the recorded outputs. The
// recording rounds once where NNAPI rounds twice, in every CONV_2D and
// FULLY_CONNECTED, so the outputs are close; with that one rule changed every
// layer is identical. Only the layers of tf2_mobilenet_v2_1.0_224_ptq, which were
// recorded with other kernels, differ from the third CONV_2D on, by steps.
func TestReferenceInt8(t *testing.T) {
	for name, tol := range map[string]struct{ twice, once float64 }{
		"mlperf_tiny_ad_int8": {2, 0}, "mlperf_tiny_ic_resnet8_int8": {1, 0}, "mlperf_tiny_kws_int8": {1, 0}, "mlperf_tiny_vww_int8": {1, 0},
		"tflm_person_detect_int8": {1, 0}, "tf2_mobilenet_v2_1.0_224_ptq": {9, 2},
	} {
		t.Run(name, func(t *testing.T) {
			n := loadNetwork(t, name)
			recorded := map[string]bool{}
			for _, l := range n.layers {
				recorded[l.Sha256] = true
			}
			run := func(cfg refcpu.Config) (exact int, out [][]byte) {
				p := require.V(refcpu.CompileConfig(n.model, cfg))(t)
				out = n.outputs()
				err := p.Run(n.inputs, out, refcpu.Options{Observe: func(i int, o [][]byte) {
					sum := sha256.Sum256(o[0])
					if recorded[hex.EncodeToString(sum[:16])] {
						exact++
					}
				}})
				require.NoError(t, err)
				return exact, out
			}
			exact, out := run(refcpu.Config{})
			t.Logf("two roundings: %d of %d layers identical", exact, len(n.layers))
			n.compare(t, out, tol.twice)
			exact, out = run(refcpu.Config{RoundOnce: true})
			t.Logf("one rounding: %d of %d layers identical", exact, len(n.layers))
			n.compare(t, out, tol.once)
			if tol.once == 0 {
				require.Check(t, exact == len(n.layers), "one rounding: %d of %d layers identical", exact, len(n.layers))
			}
		})
	}
}

// TestReferenceFloat compares float networks with the recorded outputs.
func TestReferenceFloat(t *testing.T) {
	for _, name := range []string{"mobilenet_v1_1.0_224_float_dq", "mlperf_tiny_ic_resnet8_float", "mlperf_tiny_ad_float", "tflm_hello_world_float"} {
		t.Run(name, func(t *testing.T) {
			n := loadNetwork(t, name)
			p := require.V(refcpu.Compile(n.model))(t)
			out := n.outputs()
			require.NoError(t, p.Run(n.inputs, out, refcpu.Options{}))
			n.compare(t, out, 3e-5)
		})
	}
}

// compare checks outputs against the recorded ones: tol is in steps for
// quantized outputs, relative to the output's range for float.
func (n *network) compare(t *testing.T, out [][]byte, tol float64) {
	t.Helper()
	for i, x := range n.model.Main.Outputs {
		want := require.File(t, filepath.Join(n.dir, fmt.Sprintf("case0.out%d.bin", i)))
		o := &n.model.Main.Operands[x]
		if len(want) != len(out[i]) {
			t.Fatalf("output %d: %d bytes, recorded %d", i, len(out[i]), len(want))
		}
		size, worst, top := o.Type.ElementBytes(), 0., 0.
		for k := 0; k < len(want); k += size {
			e, a := opspec.Element(o.Type, want[k:]), opspec.Element(o.Type, out[i][k:])
			worst, top = math.Max(worst, math.Abs(a-e)), math.Max(top, math.Abs(e))
		}
		limit := tol
		if o.Type == nn.TensorFloat32 {
			limit *= top
		}
		t.Logf("output %d: largest difference %v", i, worst)
		require.Check(t, worst <= limit, "output %d: largest difference %v, %v permitted", i, worst, limit)
	}
}

func BenchmarkReference(b *testing.B) {
	for _, name := range []string{"mobilenet_v1_1.0_224_quant", "mobilenet_v1_1.0_224_float_dq"} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", name, threads), func(b *testing.B) {
				n := loadNetwork(b, name)
				p := require.V(refcpu.Compile(n.model))(b)
				out := n.outputs()
				for b.Loop() {
					require.NoError(b, p.Run(n.inputs, out, refcpu.Options{Threads: threads}))
				}
			})
		}
	}
}
