package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/applog"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/importer/tflite/export"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// tflitePackages is a folder with npm's package tfjs-tflite-node 0.0.2, which the Makefile fetches; tfliteLibrary is its TensorFlow Lite 2.9.0.
const (
	tflitePackages = "../../out/tflite"
	tfliteLibrary  = tflitePackages + "/node_modules/tfjs-tflite-node/cc_deps/linux_amd64/libtensorflowlite_c.so"
)

// client is the program testdata/tflite.c with what it needs.
type client struct {
	lib, program, library string
	cpu                   *registry.Registry
}

func newClient(t *testing.T) *client {
	t.Helper()
	c := &client{lib: libraries(t, "gcc")}
	var err error
	if c.library, err = filepath.Abs(tfliteLibrary); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.library); err != nil {
		t.Skip("skipped: needs libtensorflowlite_c.so of npm's tfjs-tflite-node 0.0.2, for Linux on amd64")
	}
	c.program = program(t, c.lib, "testdata/tflite.c", "-ldl")
	config := require.V(soc.Load(soc.Default))(t)
	c.cpu = require.V(registry.New(require.V(devices.Open(config, hal.FastSingleAnswer, devices.Cold()))(t)[0]))(t)
	return c
}

// invoke runs a network of a file with the inputs in dir, and returns its log where NNAPI is its delegate.
func (c *client) invoke(t *testing.T, file, dir, mode string, more ...string) *applog.Log {
	t.Helper()
	log := filepath.Join(dir, mode+".log")
	run(t, c.lib, []string{"NNSOC_APPLOG=" + log, "NNSOC_APPCHECK=1"}, c.program, append([]string{c.library, file, dir, mode}, more...)...)
	return readLog(t, log)
}

// readLog reads a log of a process, whose executions agree with the reference; an empty one where there is no file.
func readLog(t *testing.T, file string) *applog.Log {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		return &applog.Log{} // NNAPI has not been asked
	}
	defer f.Close()
	l := require.V(applog.Read(f))(t)
	for _, e := range l.Executions {
		if e.Check == nil || !e.Check.Compared || e.Check.Mismatches > 0 {
			t.Errorf("%s: an execution of compilation %d: %+v", filepath.Base(file), e.Compilation, e.Check)
		}
	}
	return l
}

// given is the number of operations that NNAPI got, by what ran them.
func given(log *applog.Log) string {
	on := map[string]int{}
	for _, c := range log.Compilations {
		for _, p := range c.Parts {
			on[p.Device] += len(p.Operations)
		}
	}
	var parts []string
	for _, d := range slices.Sorted(maps.Keys(on)) {
		parts = append(parts, fmt.Sprintf("%d on %s", on[d], d))
	}
	return fmt.Sprintf("%d compilations, %d executions, operations: %s", len(log.Compilations), len(log.Executions), strings.Join(parts, ", "))
}

// expected is what the reference computes of a network's inputs; states are zeros.
func (c *client) expected(t *testing.T, m *nn.Model, inputs [][]byte) []compare.Tensor {
	t.Helper()
	for _, x := range m.Main.Inputs[len(inputs):] {
		o := m.Main.Operands[x]
		state := make([]byte, o.Bytes())
		for i := range state {
			if o.Type == nn.TensorQuant8Asymm {
				state[i] = byte(o.ZeroPoint)
			}
		}
		inputs = append(inputs, state)
	}
	compiled := require.V(nnrt.Compile(c.cpu, m, "cpu", nnrt.CompileOptions{}))(t)
	return require.V(compiled.Execute(inputs, nnrt.ExecuteOptions{}))(t).Tensors(m)
}

// compareOutputs compares the outputs in dir with expected ones: quantized ones bit for bit, floats as those of a network.
func compareOutputs(t *testing.T, name, dir string, m *nn.Model, expected []compare.Tensor) {
	t.Helper()
	for k, want := range expected {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("out%d.bin", k)))
		if err != nil {
			continue // a state, which TensorFlow Lite keeps
		}
		compareOutput(t, fmt.Sprintf("%s: output %d", name, k), m, want, data)
	}
}

func compareOutput(t *testing.T, name string, m *nn.Model, want compare.Tensor, data []byte) {
	t.Helper()
	have := want
	have.Data = data
	rule := compare.Network(m)
	if want.Type.IsQuant8() {
		steps := rescaled[strings.TrimSuffix(name, ": output 0")]
		rule = func(nn.OperandType) compare.Criterion {
			return compare.Criterion{Element: compare.Tolerance{Abs: steps}}
		}
	}
	if err := compare.Err(compare.Outputs([]compare.Tensor{want}, []compare.Tensor{have}, rule)); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// refused are networks that TensorFlow Lite 2.9.0 refuses to load, with and without NNAPI.
var refused = map[string]string{"tflm_person_detect_int8": "quantized_dimension must be in range"}

// TestRefusedByTFLite: they are refused without NNAPI, too.
func TestRefusedByTFLite(t *testing.T) {
	c := newClient(t)
	for name, why := range refused {
		file := shared.Path(t, "models", name, "model.tflite")
		text, err := exec.CommandContext(t.Context(), c.program, c.library, file, t.TempDir(), "cpu").CombinedOutput()
		if err == nil || !strings.Contains(string(text), why) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

// forgetful are networks whose states the delegate of TensorFlow Lite 2.9.0 does not carry: it reads no state outputs of
// UNIDIRECTIONAL_SEQUENCE_LSTM, so that each invocation is a first one, on a phone as well.
var forgetful = map[string]bool{"mnist_lstm_float": true}

// rescaled are networks with an operator whose output has another scale than NNAPI's operation can have, and the steps by which
// outputs may differ: the delegate takes NNAPI's scale and requantizes, our importer rounds once.
var rescaled = map[string]float64{"tf2_mobilenet_v2_1.0_224_ptq": 2}

// TestGivenThroughTFLite: published networks, by two interpreters of TensorFlow Lite through NNAPI. Each execution of what NNAPI
// got has the results of the reference, and each network those of the network as nnsoc imports it.
func TestGivenThroughTFLite(t *testing.T) {
	c := newClient(t)
	root := shared.Dir()
	if root == "" {
		t.Skip("skipped: needs published networks")
	}
	files := require.V(filepath.Glob(filepath.Join(root, "models", "*", "model.tflite")))(t)
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		if refused[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var inputs [][]byte
			for k := 0; ; k++ {
				data, err := os.ReadFile(filepath.Join(filepath.Dir(file), fmt.Sprintf("case0.in%d.bin", k)))
				if err != nil {
					break
				}
				inputs = append(inputs, data)
				require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("in%d.bin", k)), data, 0o600))
			}
			recorded := require.V(filepath.Glob(filepath.Join(filepath.Dir(file), "case0.step*.out0.bin")))(t)
			invocations := []string{"1", "2"}
			if len(recorded) > 0 {
				invocations[0] = "3"
			}
			log := c.invoke(t, file, dir, "nnapi", invocations...)
			m := require.V(tflite.Import(require.V(os.ReadFile(file))(t), nil))(t)
			t.Logf("%s: %s", name, given(log))
			if len(log.Executions) == 0 {
				t.Error("NNAPI was not used")
			}
			want := c.expected(t, m, inputs)
			compareOutputs(t, name, dir, m, want)
			for _, file := range recorded { // states carry from one invocation to the next
				step := strings.TrimPrefix(filepath.Base(file), "case0.")
				if !forgetful[name] {
					want[0].Data = require.V(os.ReadFile(file))(t)
				}
				compareOutput(t, name+": "+step, m, want[0], require.V(os.ReadFile(filepath.Join(dir, step)))(t))
			}
		})
	}
}

// zooNetworks names the networks of the zoo that TensorFlow Lite runs: a float and a quantized one of most families.
var zooNetworks = []string{
	"mobilenet_v1_0.25_128_float", "mobilenet_v1_0.25_128_quant", "mobilenet_v2_0.35_96_float", "mobilenet_v2_0.35_96_quant",
	"mobilenet_v3_small_float", "efficientnet_lite0_quant", "mobilenet_edgetpu_0.75_quant", "squeezenet_quant", "inception_v1_quant",
	"mlperf_tiny_kws_quant", "mlperf_tiny_vww_quant", "mlperf_tiny_ic_quant", "mlperf_tiny_ad_float",
}

// TestZooThroughTFLite: networks of the zoo, exported, with noise as inputs.
func TestZooThroughTFLite(t *testing.T) {
	c := newClient(t)
	for _, name := range zooNetworks {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file, m, inputs := zooFile(t, name, dir)
			log := c.invoke(t, file, dir, "nnapi")
			t.Logf("%s: %s", name, given(log))
			if len(log.Executions) == 0 {
				t.Error("NNAPI was not used")
			}
			compareOutputs(t, name, dir, m, c.expected(t, m, inputs))
		})
	}
}

// zooFile writes a network of the zoo and noise as its inputs to a folder.
func zooFile(t *testing.T, name, dir string) (file string, m *nn.Model, inputs [][]byte) {
	t.Helper()
	file = filepath.Join(dir, "model.tflite")
	data := require.V(export.Bytes(require.V(zoo.Build(name))(t)))(t)
	require.NoError(t, os.WriteFile(file, data, 0o600))
	m = require.V(tflite.Import(data, nil))(t)
	inputs = noise(m)
	for k, data := range inputs {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("in%d.bin", k)), data, 0o600))
	}
	return file, m, inputs
}

// noise is inputs of a model: bytes of any value, floats from 0.5 to 1.
func noise(m *nn.Model) (inputs [][]byte) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, x := range m.Main.Inputs {
		o := m.Main.Operands[x]
		data := make([]byte, o.Bytes())
		for i := range data {
			data[i] = byte(r.Uint32())
			if o.Type == nn.TensorFloat32 && i%4 == 3 {
				data[i], data[i-1] = 0x3f, data[i-1]&0x7f
			}
		}
		inputs = append(inputs, data)
	}
	return inputs
}
