package devices_test

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// execution is a device's own time, and its use of the shared memory.
func (c *client) execution(t *testing.T) (us float64, m hal.MemoryStats) {
	t.Helper()
	res := require.V(hal.Execute(c.prepared, &c.buffers))(t)
	for _, p := range res.Stats.Parts {
		if p.Name == platform.PartExecution {
			us += float64(p.TimeFs) / 1e9
		}
	}
	return us, res.Stats.Memory
}

// fullyConnected has more weights than anything else.
func fullyConnected(kind nn.OperandType, units uint32) *nn.Model {
	o := oneOperation{op: nn.OpFullyConnected, args: []any{[]uint32{1, 1024}, weights{units, 1024}, weights{units}, 0}, out: []uint32{1, units}, kind: kind}
	return o.model()
}

// TestCachesStayWarm: a program finds its weights where its last execution has left them:
// in the DSP's L2, unless another program has run or the DSP has slept since, and in the
// system-level cache until the machine is made cold.
func TestCachesStayWarm(t *testing.T) {
	m := phone(t)
	m.SimulateAll = true
	a := newClient(t, m, "dsp", fullyConnected(nn.TensorQuant8Asymm, 512), hal.PriorityMedium)
	b := newClient(t, m, "dsp", fullyConnected(nn.TensorQuant8Asymm, 512), hal.PriorityMedium)
	a.execution(t)
	m.Reset()
	cold, first := a.execution(t)
	if first.ReadBytes < 512<<10 || first.CacheHits > first.CacheMisses/10 {
		t.Errorf("cold: %d bytes read, %d hits, %d misses", first.ReadBytes, first.CacheHits, first.CacheMisses)
	}
	warm, second := a.execution(t)
	if lines := second.CacheHits + second.CacheMisses; warm > 0.9*cold || lines > 1000 {
		t.Errorf("%.1f us cold, %.1f warm, %d lines of the system cache asked for", cold, warm, lines)
	}
	b.execution(t)
	other, third := a.execution(t)
	if third.CacheHits < 512<<10/64 || third.ReadBytes > first.ReadBytes/10 || other < 1.01*warm || other > 0.99*cold {
		t.Errorf("after another program: %.1f us, %d lines hit, %d bytes from DRAM", other, third.CacheHits, third.ReadBytes)
	}
	t.Logf("%.1f us cold, %.1f warm, %.1f behind another program", cold, warm, other)
	a.execution(t)
	m.SoC().Sleep(m.SoC().Now() + 30*sim.Millisecond)
	if slept, u := a.execution(t); slept != other || u != third {
		t.Errorf("after a pause %.1f us, after another program %.1f", slept, other)
	}
	m.Reset()
	if again, _ := a.execution(t); again != cold {
		t.Errorf("%.3f us after Reset, %.3f at first", again, cold)
	}
}

// TestSystemCacheKeepsTensors: a GPU, whose own caches start empty, and an NPU, which has
// none, find weights in the system-level cache, as far as they fit its part.
func TestSystemCacheKeepsTensors(t *testing.T) {
	for _, x := range []struct {
		device string
		kind   nn.OperandType
		units  uint32
		fits   bool
	}{{"gpu", nn.TensorFloat32, 256, true}, {"gpu", nn.TensorFloat32, 1024, false}, {"npu", nn.TensorQuant8Asymm, 1024, true}} {
		m := phone(t)
		m.SimulateAll = true
		c := newClient(t, m, x.device, fullyConnected(x.kind, x.units), hal.PriorityMedium)
		_, first := c.execution(t)
		c.execution(t)
		_, warm := c.execution(t)
		if fits := warm.ReadBytes < first.ReadBytes/10; fits != x.fits || first.ReadBytes < int64(x.units)<<9 {
			t.Errorf("%s, %d units: %d bytes from DRAM, then %d", x.device, x.units, first.ReadBytes, warm.ReadBytes)
		}
		if !(warm.EventsPJ > 0) || x.fits && !(warm.EventsPJ < first.EventsPJ) || !(warm.RefreshPJ > 0) || !(warm.BackgroundPJ > warm.RefreshPJ) {
			t.Errorf("%s: energies %+v, at first %+v", x.device, warm, first)
		}
		require.Check(t, warm.RowHits <= warm.Bursts && warm.Bursts*32 == warm.ReadBytes+warm.WriteBytes, "%s: %+v", x.device, warm)
	}
}

// TestWarmUpOfSeveralParts: after the warm-up of several executions that follow each other
// the first iteration has the time of later ones. A loop of each alone leaves other clocks.
func TestWarmUpOfSeveralParts(t *testing.T) {
	m := phone(t)
	m.Reset()
	var parts []*client
	for _, device := range []string{"cpu", "npu", "cpu", "dsp"} {
		parts = append(parts, newClient(t, m, device, fullyConnected(nn.TensorQuant8Asymm, 16), hal.PriorityMedium))
	}
	turn := func() (us float64) {
		start := m.SoC().Now()
		for _, c := range parts {
			require.V(hal.Execute(c.prepared, &c.buffers))(t)
		}
		return (m.SoC().Now() - start).Microseconds()
	}
	simulated := m.Simulated()
	require.NoError(t, m.Warm(func() error { turn(); return nil }))
	if n := m.Simulated() - simulated; n > 5*len(parts) {
		t.Errorf("%d executions of the warm-up ran on engines", n)
	}
	first, last := turn(), 0.0
	for range 100 {
		last = turn()
	}
	if d := first/last - 1; !(d > -0.01 && d < 0.01) {
		t.Errorf("the first turn after the warm-up takes %.1f us, the last of 100 %.1f", first, last)
	}
}

// TestApproximate: a loop that reuses the costs of its warm-up is near one that is simulated, with two executions on
// the engine; with other inputs, and after Exact, they run again.
func TestApproximate(t *testing.T) {
	for _, device := range []string{"gpu", "dsp"} {
		kind := nn.TensorQuant8Asymm
		if device == "gpu" {
			kind = nn.TensorFloat32
		}
		mean := func(m *devices.Machine, warm func(func() error) error, c *client) float64 {
			require.NoError(t, warm(c.execute))
			// As long as plans are compared for: a governor may go up and down.
			from, n := m.SoC().Now(), 0
			for ; m.SoC().Now() < from+200*sim.Millisecond; n++ {
				require.NoError(t, c.execute())
			}
			return (m.SoC().Now() - from).Microseconds() / float64(n)
		}
		m := phone(t)
		c := newClient(t, m, device, convolution(kind), hal.PriorityMedium)
		quick := mean(m, m.Approximate, c)
		require.Same(t, 2, m.Simulated(), device, "executions ran on the engine")
		other := newClient(t, m, device, convolution(kind), hal.PriorityMedium)
		other.buffers.Inputs[0][5]++
		require.NoError(t, other.execute())
		m.Exact()
		before := m.Simulated()
		m.SimulateAll = true
		require.NoError(t, c.execute())
		if before != 2 || m.Simulated() != 3 {
			t.Errorf("%s: %d and %d executions ran on the engine, want 2 and 3: an equal program is taken for the other", device, before, m.Simulated())
		}
		exact := phone(t)
		full := mean(exact, exact.Warm, newClient(t, exact, device, convolution(kind), hal.PriorityMedium))
		if off := quick/full - 1; off > 0.03 || off < -0.03 {
			t.Errorf("%s: %.1f us by repetition, %.1f simulated: %+.1f %%", device, quick, full, 100*off)
		}
	}
}

// TestFirstExecutionIsRemembered: a loop on a machine that is made cold again begins with the
// execution that an application waits for first, and with the one after it; no engine runs them
// twice, and the times are those without reuse.
func TestFirstExecutionIsRemembered(t *testing.T) {
	for _, x := range []struct {
		device string
		model  *nn.Model
		most   int // executions on the engine
	}{
		{"dsp", convolution(nn.TensorQuant8Asymm), 3}, {"npu", convolution(nn.TensorQuant8Asymm), 2},
		{"gpu", convolution(nn.TensorFloat32), 12}, // whose clock goes up and down
	} {
		run := func(all bool) (string, int) {
			m := phone(t)
			m.SimulateAll = all
			c := newClient(t, m, x.device, x.model, hal.PriorityMedium)
			m.Reset()
			require.NoError(t, c.execute())
			m.Reset()
			require.NoError(t, m.Warm(c.execute))
			for range 5 {
				require.NoError(t, c.execute())
			}
			return fmt.Sprint(c.latency, m.SoC().Spent()), m.Simulated()
		}
		got, n := run(false)
		want, _ := run(true)
		require.Check(t, got == want, "%s: latencies and energies %s, all simulated %s", x.device, got, want)
		require.Check(t, n <= x.most, "%s: %d executions ran on the engine, want at most %d", x.device, n, x.most)
	}
}
