package compat_test

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// crashing is a driver that panics in some calls.
func crashing(t *testing.T, calls map[sample.Call]sample.Fault) hal.Device {
	t.Helper()
	d := require.V(sample.NewSynthetic("crashing", cpudriver.New(cpudriver.Config{}), calls))(t)
	return d
}

// TestDriverPanics: a background call of a driver of any version fails when it panics,
// and nothing else does.
func TestDriverPanics(t *testing.T) {
	m := mixed()
	m.Main.Operations, m.Main.Operands = m.Main.Operations[:1], m.Main.Operands[:2]
	m.Main.Operands[1].Lifetime, m.Main.Outputs = nn.SubgraphOutput, []uint32{1} // RELU alone
	o := hal.PrepareOptions{Preference: hal.FastSingleAnswer}
	for v := compat.V1_0; v < compat.V1_3; v++ {
		d := compat.Adapt(v, crashing(t, map[sample.Call]sample.Fault{sample.CallPrepareModel: {Panic: true}}))
		if _, err := d.PrepareModel(m, o); err == nil || !strings.Contains(err.Error(), "failed") {
			t.Errorf("HAL %v: preparing: %v", v, err)
		}
	}
	status := make(chan hal.Status, 1)
	var model *compat.PreparedModel
	compat.NewDevice(bomb{cpudriver.New(cpudriver.Config{})}).PrepareModel(m, func(s hal.Status, p *compat.PreparedModel) {
		model = p
		status <- s
	})
	if s := <-status; s != hal.StatusNone {
		t.Fatalf("preparing: %v", s)
	}
	r := (&hal.Buffers{Inputs: [][]byte{make([]byte, 8)}, Outputs: [][]byte{make([]byte, 8)}}).Request()
	launched := model.Execute(r, func(s hal.Status, _ []hal.OutputShape, _ hal.Timing) { status <- s })
	if s := <-status; s != hal.GeneralFailure || launched != hal.StatusNone {
		t.Errorf("executing: %v, launched with %v", s, launched)
	}
}

// bomb is a driver whose executions panic in the background.
type bomb struct{ hal.Device }

func (d bomb) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	return bombModel{p}, err
}

type bombModel struct{ hal.PreparedModel }

func (bombModel) CreateReusableExecution(*hal.Request, hal.ExecuteOptions) (hal.Execution, error) {
	return bombExecution{}, nil
}

type bombExecution struct{ hal.Execution }

func (bombExecution) Compute() (*hal.Result, error) { panic("no execution") }
