package testvectors

import (
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
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// recordedSteps is the tolerance of quantized outputs relative to the recorded ones, where that is more than one step;
// see the table of differences among the kernels of the recording in the index of the shared models.
var recordedSteps = map[string]float64{
	"mlperf_tiny_ad_int8": 2, "mlperf_tiny_kws_int8": 6, "tf2_mobilenet_v2_1.0_224_ptq": 9,
}

// TestRecordedNetworks opens every network of the shared data and compares each recorded case, also those of later
// invocations with states; ten invocations must pass.
func TestRecordedNetworks(t *testing.T) {
	paths := shared.Glob(t, "models", "*", "model.tflite")
	for _, path := range paths {
		dir := filepath.Dir(path)
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			file := require.File(t, path)
			m := require.V(tflite.Import(file, nil))(t)
			require.NoError(t, validate.Model(m))
			p := require.V(refcpu.Compile(m))(t)
			tol := recordedSteps[name]
			for c := range 2 {
				inputs := recordedInputs(t, dir, m, c)
				states := nnrt.NewStates(m)
				for step := 1; step <= 10; step++ {
					out := invoke(t, p, states, inputs)
					prefix := fmt.Sprintf("case%d.", c)
					if step > 1 {
						prefix += fmt.Sprintf("step%d.", step)
					}
					compareRecorded(t, m, filepath.Join(dir, prefix), out, tol)
					if len(m.States) == 0 {
						break
					}
				}
			}
		})
	}
}

func recordedInputs(t *testing.T, dir string, m *nn.Model, c int) (inputs [][]byte) {
	for i := range nnrt.NonStateInputs(m) {
		in := require.File(t, filepath.Join(dir, fmt.Sprintf("case%d.in%d.bin", c, i)))
		inputs = append(inputs, in)
	}
	return inputs
}

// invoke runs a model once and carries its states on.
func invoke(t *testing.T, p *refcpu.Program, s *nnrt.States, given [][]byte) [][]byte {
	t.Helper()
	all := require.V(s.Inputs(given))(t)
	in := make([]refcpu.Tensor, len(all))
	for i := range in {
		in[i].Data = all[i]
	}
	values := require.V(p.Execute(in, refcpu.Options{}))(t)
	out := make([][]byte, len(values))
	for i := range out {
		out[i] = values[i].Data
	}
	s.Update(out)
	return out
}

// compareRecorded compares the outputs for which there are recordings: floats
// within 3e-5 of the largest recorded value, quantized ones within steps.
func compareRecorded(t *testing.T, m *nn.Model, prefix string, out [][]byte, steps float64) {
	t.Helper()
	for k, i := range nnrt.Results(m) {
		o := &m.Main.Operands[m.Main.Outputs[i]]
		for x := 0; x < len(out[i]); x += o.Type.ElementBytes() {
			if v := opspec.Element(o.Type, out[i][x:]); math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%s: output %d: element %d is %v", prefix, k, x/o.Type.ElementBytes(), v)
			}
		}
		want, err := os.ReadFile(prefix + fmt.Sprintf("out%d.bin", k))
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		if len(want) != len(out[i]) {
			t.Fatalf("%s: output %d has %d bytes, recorded %d", prefix, k, len(out[i]), len(want))
		}
		worst, top, limit := 0., 0., max(steps, 1)
		for x := 0; x < len(want); x += o.Type.ElementBytes() {
			e, a := opspec.Element(o.Type, want[x:]), opspec.Element(o.Type, out[i][x:])
			worst, top = math.Max(worst, math.Abs(a-e)), math.Max(top, math.Abs(e))
		}
		if o.Type == nn.TensorFloat32 {
			limit = 3e-5 * top
		}
		t.Logf("%s: output %d: largest difference %v of %v", filepath.Base(prefix), k, worst, top)
		require.Check(t, worst <= limit, "%s: output %d: largest difference %v, %v permitted", prefix, k, worst, limit)
	}
}
