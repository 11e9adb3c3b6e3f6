package gpudriver

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// execute runs a model functionally.
func execute(t *testing.T, m *nn.Model, inputs [][]byte) [][]byte {
	t.Helper()
	p := require.V(newDevice(t).PrepareModel(m, hal.PrepareOptions{}))(t)
	r := &hal.Buffers{Inputs: inputs, Outputs: drivertest.Outputs(m), ExecuteOptions: hal.ExecuteOptions{Functional: true}}
	if _, err := hal.Execute(p, r); err != nil {
		t.Fatal(err)
	}
	return r.Outputs
}

func compareNetwork(t *testing.T, m *nn.Model, inputs [][]byte, relaxed bool) {
	t.Helper()
	m.Relaxed = false
	want := drivertest.Reference(t, m, inputs)
	m.Relaxed = relaxed
	got := execute(t, m, inputs)
	for i, x := range m.Main.Outputs {
		typ := m.Main.Operands[x].Type
		compare(t, relaxed, typ, decode(typ, got[i]), wide(decode(typ, want[i])))
	}
}

// TestNetworks: whole networks stay within the tolerance of one operation, the shallow
// ones also where halves are rounded layer by layer.
func TestNetworks(t *testing.T) {
	for name, shallow := range map[string]bool{
		"mlperf_tiny_ad_float": false, "mlperf_tiny_ic_float": true, "mlperf_tiny_kws_float": true, "mlperf_tiny_vww_float": false,
	} {
		m := zoo.MustBuild(name)
		inputs := [][]byte{tensor.SyntheticInput(&m.Main, 0, 1)}
		t.Run(name, func(t *testing.T) { compareNetwork(t, m, inputs, false) })
		if shallow {
			t.Run(name+"/relaxed", func(t *testing.T) { compareNetwork(t, m, inputs, true) })
		}
	}
}

// TestGivenNetworks: so do published networks with their own weights and inputs.
func TestGivenNetworks(t *testing.T) {
	for _, name := range []string{"mobilenet_v1_1.0_224_float_dq", "mlperf_tiny_ic_resnet8_float", "tflm_hello_world_float"} {
		dir := shared.Path(t, "models", name)
		data := require.File(t, filepath.Join(dir, "model.tflite"))
		m := require.V(tflite.Import(data, nil))(t)
		var inputs [][]byte
		for i := range m.Main.Inputs {
			b := require.File(t, filepath.Join(dir, fmt.Sprintf("case0.in%d.bin", i)))
			inputs = append(inputs, b)
		}
		for _, relaxed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/relaxed=%v", name, relaxed), func(t *testing.T) { compareNetwork(t, m, inputs, relaxed) })
		}
	}
}

// TestSyntheticMobileNet is the network of the default run.
func TestSyntheticMobileNet(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: needs a test without -short")
	}
	m := zoo.MustBuild("mobilenet_v1_1.0_224_float")
	in := newModel(nn.TensorFloat32).random(224*224*3, 1)
	compareNetwork(t, m, [][]byte{encode(nn.TensorFloat32, in)}, false)
}

// TestGemm is the matrix product that speed is measured with.
func TestGemm(t *testing.T) {
	for _, typ := range []string{"f32", "f16"} {
		m := require.V(bench.Gemm(typ, 80))(t)
		compareNetwork(t, m, [][]byte{bench.GemmInput(m)}, false)
	}
}
