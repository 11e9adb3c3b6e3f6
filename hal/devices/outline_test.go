package devices_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestOutlineTakesClocks: the outline of a GPU takes its work at the clock that it has when the
// work begins, that of a DSP at the clock of the start.
func TestOutlineTakesClocks(t *testing.T) {
	const millisecond = int64(sim.Millisecond)
	for device, want := range map[string][]int64{
		// The governor decides every 5 ms and goes up in the execution: the first point has
		// work for 2 + 2 + 2 ms, and what begins then takes a second.
		"gpu": {257, 345, 427},
		"dsp": {1190},
	} {
		config, err := soc.Load("pixel4")
		if err != nil {
			t.Fatal(err)
		}
		o, err := devices.NewOutliner(config, hal.FastSingleAnswer)
		if err != nil {
			t.Fatal(err)
		}
		var asked []int64
		load := devices.Load{At: func(hz int64) ([]devices.Work, error) {
			asked = append(asked, hz/1e6)
			took := 2 * sim.Millisecond
			if hz > 257e6 {
				took = sim.Millisecond
			}
			return slices.Repeat([]devices.Work{{Time: took, Cycles: int64(took.Seconds() * float64(hz)), EnergyPJ: 1}}, 12), nil
		}}
		m, err := o.New(func(string, *nn.Model) (devices.Load, error) { return load, nil }, false)
		if err != nil {
			t.Fatal(err)
		}
		c := newClient(t, m, device, convolution(nn.TensorQuant8Asymm), hal.PriorityMedium)
		res, err := hal.Execute(c.prepared, &c.buffers)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(asked) != fmt.Sprint(want) {
			t.Errorf("%s: asked for %v MHz, want %v", device, asked, want)
		}
		took := int64(0)
		for _, p := range res.Stats.Parts {
			if p.Name == soc.PartExecution {
				took += p.TimeFs
			}
		}
		full := 12 * millisecond // at any clock but the GPU's lowest
		if device == "gpu" {     // three pieces there: the change comes 50 us behind the decision
			full = (3*2 + 9) * millisecond
		}
		if took != full {
			t.Errorf("%s: %d fs, want %d", device, took, full)
		}
	}
}

// TestHoldRefuses: only a point of an engine with one clock is held.
func TestHoldRefuses(t *testing.T) {
	m := phone(t)
	for device, hz := range map[string]int64{"gpu": 1, "cpu": 825e6, "toaster": 257e6} {
		if err := m.Hold(device, hz); err == nil {
			t.Errorf("%s at %d Hz is held", device, hz)
		}
	}
	if err := m.Hold("gpu", 257e6); err != nil {
		t.Error(err)
	}
}
