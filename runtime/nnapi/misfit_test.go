package nnapi_test

import (
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// misfit is a driver with answers of its own, some of which panic.
type misfit struct {
	hal.Device
	name         string
	capabilities hal.Capabilities
	files        int
	panics       string
}

func (d *misfit) Name() string { return d.name }

func (d *misfit) Capabilities() hal.Capabilities {
	if d.panics == "Capabilities" {
		panic("no figures")
	}
	return d.capabilities
}

func (d *misfit) NumberOfCacheFilesNeeded() (model, data int) { return d.files, 0 }

func (d *misfit) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	if d.panics == "SupportedOperations" {
		panic("no operations")
	}
	return d.Device.SupportedOperations(m)
}

// TestMisfits: drivers that answer nonsense when they are registered are left out; one that
// panics later supports nothing.
func TestMisfits(t *testing.T) {
	config := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(config, hal.FastSingleAnswer))(t)
	dsp := list[slices.IndexFunc(list, func(d hal.Device) bool { return d.Name() == "dsp" })]
	figures := func(time, power float32) hal.Capabilities {
		c := dsp.Capabilities()
		c.Operand = nil
		c.Update(nn.TensorQuant8Asymm, hal.PerformanceInfo{ExecTime: time, PowerUsage: power})
		return c
	}
	loops := figures(1, 1)
	loops.While.ExecTime = -1
	late := &misfit{Device: dsp, name: "late", capabilities: figures(1, 1), panics: "SupportedOperations"}
	r, err := nnapi.NewRuntime(list[0],
		&misfit{Device: dsp, name: "zero", capabilities: figures(0, 1)},
		&misfit{Device: dsp, name: "negative", capabilities: figures(1, -1)},
		&misfit{Device: dsp, name: "no number", capabilities: figures(float32(math.NaN()), 1)},
		&misfit{Device: dsp, name: "loops", capabilities: loops},
		&misfit{Device: dsp, name: "files", capabilities: figures(1, 1), files: hal.MaxCacheFiles + 1},
		&misfit{Device: dsp, name: "panics", panics: "Capabilities"},
		late,
		&misfit{Device: dsp, name: "good", capabilities: figures(0.5, 0.5), files: hal.MaxCacheFiles})
	must(err)
	var names []string
	var all []*nnapi.Device
	for i := range r.DeviceCount() {
		d := require.V(r.Device(i))(t)
		all, names = append(all, d), append(names, d.Name())
	}
	if len(names) != 3 || names[0] != "late" || names[1] != "good" || names[2] != nnapi.ReferenceName {
		t.Fatalf("devices %q", names)
	}
	for i, ok := range []bool{false, true} {
		if got, err := r.SupportedOperations(quantizedRelu(), all[i:i+1]); err != nil || len(got) != 1 || got[0] != ok {
			t.Errorf("%s supports %v, error %v", names[i], got, err)
		}
	}
	relu(t, compiled(t, r, quantizedRelu()))
}
