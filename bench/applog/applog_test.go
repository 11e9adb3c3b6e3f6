package applog_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/applog"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
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
	recorder := applog.NewRecorder(&file)
	r.SetDiagnostics(recorder)
	c := require.V(r.NewCompilation(add(t)))(t)
	require.NoError(t, c.Finish())
	e := require.V(nnapi.NewExecution(c))(t)
	require.NoError(t, e.SetInput(0, nil, make([]byte, 8)))
	require.NoError(t, e.SetInput(1, nil, make([]byte, 8)))
	require.NoError(t, e.SetOutput(0, nil, make([]byte, 8)))
	require.NoError(t, e.Compute())
	require.NoError(t, recorder.Err())

	log := require.V(applog.Read(bytes.NewReader(file.Bytes())))(t)
	if len(log.Compilations) != 1 || len(log.Executions) != 1 {
		t.Fatalf("%+v", log)
	}
	x, y := log.Compilations[0], log.Executions[0]
	if x.Number != 1 || x.Result != "NO_ERROR" || x.Types["ADD"] != 1 || len(x.Parts) != 1 || len(x.Model) != 64 {
		t.Errorf("compilation %+v", x)
	}
	if y.Compilation != 1 || y.Mode != "compute" || !(y.LatencyUs > 0) || !(y.EnergyUj > 0) || len(y.Parts) != 1 || y.Parts[0].Device != x.Parts[0].Device {
		t.Errorf("execution %+v", y)
	}
	cut := require.V(applog.Read(bytes.NewReader(file.Bytes()[:file.Len()-5])))(t)
	if len(cut.Compilations) != 1 || len(cut.Executions) != 0 {
		t.Errorf("cut: %+v", cut)
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
