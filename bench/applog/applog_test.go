package applog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/applog"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// add is a model of one addition.
func add(t *testing.T) *nnapi.Model {
	m := nnapi.NewModel()
	for _, o := range []nnapi.OperandType{{Type: nn.TensorFloat32, Dimensions: []uint32{2}}, {Type: nn.TensorFloat32, Dimensions: []uint32{2}}, {Type: nn.Int32}, {Type: nn.TensorFloat32, Dimensions: []uint32{2}}} {
		require.NoError(t, m.AddOperand(o))
	}
	require.NoError(t, m.SetOperandValue(2, make([]byte, 4)))
	require.NoError(t, m.AddOperation(nn.OpAdd, []uint32{0, 1, 2}, []uint32{3}))
	require.NoError(t, m.IdentifyInputsAndOutputs([]uint32{0, 1}, []uint32{3}))
	require.NoError(t, m.Finish())
	return m
}

// TestRoundTrip: what an app does is read again, also when the last line is cut off.
func TestRoundTrip(t *testing.T) {
	all := require.V(devices.Open(require.V(soc.Load(soc.Default))(t), hal.FastSingleAnswer))(t)
	r := require.V(nnapi.NewRuntime(all[0], all[1:]...))(t)
	var file bytes.Buffer
	models := t.TempDir()
	recorder := applog.NewRecorder(&file, applog.Options{Process: applog.Process{ID: 7, Program: "app", SoC: "pixel4"}, Check: true, Traced: 1, Models: models})
	r.SetDiagnostics(recorder)
	c := require.V(r.NewCompilation(add(t)))(t)
	require.NoError(t, c.Finish())
	e := require.V(nnapi.NewExecution(c))(t)
	require.NoError(t, e.SetInput(0, nil, make([]byte, 8)))
	require.NoError(t, e.SetInput(1, nil, make([]byte, 8)))
	require.NoError(t, e.SetOutput(0, nil, make([]byte, 8)))
	require.NoError(t, e.SetReusable(true))
	require.NoError(t, e.Compute())
	require.NoError(t, e.Compute())
	require.NoError(t, recorder.Err())

	log := require.V(applog.Read(bytes.NewReader(file.Bytes())))(t)
	if len(log.Processes) != 1 || len(log.Compilations) != 1 || len(log.Executions) != 2 {
		t.Fatalf("%+v", log)
	}
	x, y := log.Compilations[0], log.Executions[0]
	if x.Process != 7 || x.Number != 1 || x.Result != "NO_ERROR" || x.Types["ADD"] != 1 || len(x.Parts) != 1 || len(x.Model) != 64 {
		t.Errorf("compilation %+v", x)
	}
	if y.Compilation != 1 || y.Mode != "compute" || !(y.LatencyUs > 0) || !(y.EnergyUj > 0) || len(y.Parts) != 1 || y.Parts[0].Device != x.Parts[0].Device {
		t.Errorf("execution %+v", y)
	}
	if y.Check == nil || !y.Check.Compared || y.Check.Mismatches != 0 || len(y.Spans) == 0 || len(log.Executions[1].Spans) != 0 {
		t.Errorf("execution %+v: check %+v", y, y.Check)
	}
	saved := require.V(tflite.Import(require.V(os.ReadFile(x.Saved.File))(t), nil))(t)
	if n := len(saved.Main.Operations); filepath.Dir(x.Saved.File) != models || n != 1 {
		t.Errorf("%s: %d operations", x.Saved.File, n)
	}
	s := log.Summarize()
	if len(s) != 1 || s[0].Latency.Count != 2 || s[0].Latency.FirstUs != y.LatencyUs || s[0].Compared != 2 || s[0].Differing != 0 || !(s[0].PartUs[0] > 0) {
		t.Errorf("summary %+v", s[0])
	}
	cut := require.V(applog.Read(bytes.NewReader(file.Bytes()[:file.Len()-5])))(t)
	if len(cut.Compilations) != 1 || len(cut.Executions) != 1 {
		t.Errorf("cut: %+v", cut)
	}
}

// TestDistribution: percentiles are by nearest rank, the first is the first that came.
func TestDistribution(t *testing.T) {
	times := make([]float64, 100)
	for i := range times {
		times[i] = float64(100 - i)
	}
	want := applog.Distribution{Count: 100, FirstUs: 100, MeanUs: 50.5, MinimumUs: 1, P50Us: 50, P90Us: 90, P99Us: 99, MaximumUs: 100}
	if have := applog.Distribute(times); have != want {
		t.Errorf("%+v, want %+v", have, want)
	}
	if have := applog.Distribute(nil); have != (applog.Distribution{}) {
		t.Errorf("of nothing: %+v", have)
	}
}

// TestDifference: a result that is not the reference's is a difference, one that was not computed has a reason.
func TestDifference(t *testing.T) {
	g := nn.Subgraph{
		Operands:   []nn.Operand{{Type: nn.TensorFloat32, Dimensions: []uint32{2}, Lifetime: nn.SubgraphInput}, {Type: nn.TensorFloat32, Dimensions: []uint32{2}, Lifetime: nn.SubgraphOutput}},
		Operations: []nn.Operation{{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}}},
		Inputs:     []uint32{0}, Outputs: []uint32{1},
	}
	var file bytes.Buffer
	r := applog.NewRecorder(&file, applog.Options{Check: true})
	r.Compiled(nnapi.CompilationInfo{SessionInfo: nnapi.SessionInfo{Compilation: 1}})
	for _, outputs := range [][][]byte{{make([]byte, 8)}, {{0, 0, 0, 0, 0, 0, 0x80, 0x3f}}, nil} {
		o := r.Observe(nnapi.SessionInfo{})
		if outputs != nil {
			o.Computed(&nn.Model{Main: g}, [][]byte{make([]byte, 8)}, &nnrt.Result{Outputs: outputs, Dimensions: [][]uint32{{2}}})
		}
		r.Executed(nnapi.ExecutionInfo{SessionInfo: nnapi.SessionInfo{Compilation: 1}, Observation: o})
	}
	s := require.V(applog.Read(&file))(t).Summarize()
	if len(s) != 1 || s[0].Compared != 2 || s[0].Differing != 1 || s[0].Difference == "" || s[0].NotCompared == "" {
		t.Errorf("%+v", s[0])
	}
}

// TestHostile: a file that is no log is an error.
func TestHostile(t *testing.T) {
	for _, text := range []string{"x", `{"compilation":{"number":0}}`, `{"compilation":{"number":-1}}`, `{"compilation":3}`, `[]`} {
		if _, err := applog.Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}
