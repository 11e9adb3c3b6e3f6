package devices_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// hasty is a small phone in a hot place: it warms up in a second, and its rules look 50
// times as often.
func hasty(c *soc.Config) {
	t := c.Thermal
	t.AmbientC = 43
	for i := range t.Nodes {
		t.Nodes[i].JPerK /= 500
	}
	for i := range t.Rules {
		t.Rules[i].SampleMs /= 50
	}
	t.Skin.SampleMs /= 50
}

// TestLoop: a loop that repeats what it has seen goes the same way, to the bit, as one
// that simulates every execution while the phone warms up and its clocks fall.
func TestLoop(t *testing.T) {
	for _, x := range []struct {
		device string
		model  *nn.Model
		until  sim.Time
		pause  sim.Time
	}{
		{"dsp", convolution(nn.TensorQuant8Asymm), sim.Second, 0},
		{"npu", convolution(nn.TensorQuant8Asymm), sim.Second, 3 * sim.Millisecond},
		{"gpu", streaming(nn.TensorFloat32, 8<<10), 200 * sim.Millisecond, 0},
	} {
		var way [2]string
		var runs, points [2]int
		for i := range way {
			m := phone(t, hasty, func(c *soc.Config) { c.DSP.Energy.StaticMW, c.NPU.Energy.StaticMW = 1000, 1000 })
			m.SimulateAll = i == 1
			seen := map[string]bool{}
			m.SoC().Observe(func(s *platform.Sample) {
				way[i] += fmt.Sprintln(s.To, s.Watts, s.Celsius, s.Hz, s.Status)
				seen[fmt.Sprint(s.Hz[1:])] = true
			})
			c := newClient(t, m, x.device, x.model, hal.PriorityMedium)
			var loop *devices.Loop
			var v devices.Invocation
			var err error
			for m.SoC().Now() < x.until {
				if loop == nil {
					loop, v, err = m.Loop(c.execute)
				} else {
					v, err = loop.Next()
				}
				require.NoError(t, err)
				way[i] += fmt.Sprintln(v)
				m.SoC().Sleep(m.SoC().Now() + x.pause)
			}
			runs[i], points[i] = m.Simulated(), len(seen)
		}
		require.Same(t, way[1], way[0], x.device, "a loop that repeats goes another way")
		if !(runs[0] < 16 && runs[1] > 8*runs[0] && (points[0] > 1 || x.device == "gpu")) { // the GPU works too little to leave its lowest clock
			t.Errorf("%s: %d and %d executions simulated, %d sets of clocks", x.device, runs[0], runs[1], points[0])
		}
	}
}

// TestLoopOfAHotPhone: a loop ends when the phone switches itself off.
func TestLoopOfAHotPhone(t *testing.T) {
	m := phone(t, hasty, func(c *soc.Config) { c.Thermal.RestMW = 2000 })
	c := newClient(t, m, "npu", convolution(nn.TensorQuant8Asymm), hal.PriorityMedium)
	loop, _, err := m.Loop(c.execute)
	for err == nil && m.SoC().Now() < 100*sim.Second {
		_, err = loop.Next()
		m.SoC().Sleep(m.SoC().Now() + sim.Second)
	}
	if !errors.Is(err, platform.ErrShutdown) || !errors.Is(m.SoC().Alive(), platform.ErrShutdown) {
		t.Errorf("%v, then %v", err, m.SoC().Alive())
	}
}

// TestCPUIsThrottled: the CPU computes at the points that heat leaves its clusters.
func TestCPUIsThrottled(t *testing.T) {
	m := phone(t, func(c *soc.Config) { c.Thermal.AmbientC = 44 })
	c := newClient(t, m, "cpu", convolution(nn.TensorQuant8Asymm), hal.PriorityMedium)
	for range 2 {
		require.NoError(t, m.Warm(c.execute))
		m.SoC().Sleep(m.SoC().Now() + 3*sim.Second) // the rule looks every two seconds
	}
	if cool, hot := c.latency[0], c.latency[1]; !(float64(hot) > 1.1*float64(cool)) {
		t.Errorf("%d fs before the rules have looked, %d after", cool, hot)
	}
}

// TestLoopSteady: a program that finds the clock of the memory in a few states but the caches
// never as before, since that clock changes while it runs, is not simulated for ever, and a loop
// of it has about the mean latency of one that simulates every execution.
func TestLoopSteady(t *testing.T) {
	const turns = 60
	var mean [2]float64
	var runs [2]int
	for i := range mean {
		m := phone(t, func(c *soc.Config) { c.DSP.Clock.FastMHz = 800 })
		m.SimulateAll = i == 1
		c := newClient(t, m, "dsp", streaming(nn.TensorQuant8Asymm, 1536<<10), hal.PriorityMedium)
		require.NoError(t, m.Warm(c.execute))
		before := m.Simulated()
		loop, v, err := m.Loop(c.execute)
		sum := v.Latency
		for range turns - 1 {
			require.NoError(t, err)
			v, err = loop.Next()
			sum += v.Latency
		}
		mean[i], runs[i] = sum.Microseconds()/turns, m.Simulated()-before
	}
	t.Logf("%.2f us with %d of %d executions simulated, %.2f with all", mean[0], runs[0], turns, mean[1])
	require.Check(t, runs[0] <= turns/2 && runs[1] == turns, "%d and %d of %d executions were simulated", runs[0], runs[1], turns)
	if r := mean[0] / mean[1]; !(r > 0.99 && r < 1.01) {
		t.Errorf("%.2f us per turn, %.2f when all are simulated", mean[0], mean[1])
	}
}
