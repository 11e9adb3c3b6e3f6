package devices_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// executed is the engine's part of a result's latency, in us.
func executed(t *testing.T, s *hal.Stats) float64 {
	t.Helper()
	for _, p := range s.Parts {
		if p.Name == platform.PartExecution {
			return float64(p.TimeFs) / 1e9
		}
	}
	t.Fatal("no execution among the parts")
	return 0
}

// oneMemoryClock leaves votes for the clocks of DRAM and system-level cache aside.
func oneMemoryClock(c *soc.Config) { c.DRAM.Clock, c.SystemCache.Clock = nil, nil }

// TestCPUAlone: the CPU's bytes on the memory of the machine, with no other engine at work,
// change none of its kernels' costs by more than 1 %.
func TestCPUAlone(t *testing.T) {
	dense := oneOperation{op: nn.OpFullyConnected, args: []any{[]uint32{1, 2048}, weights{2048, 2048}, weights{2048}, 0}, out: []uint32{1, 2048}, kind: nn.TensorFloat32}
	for name, model := range map[string]*nn.Model{
		"add": streaming(nn.TensorFloat32, 4<<20), "add of bytes": streaming(nn.TensorQuant8Asymm, 4<<20),
		"convolution": convolution(nn.TensorFloat32), "dense": dense.model(),
	} {
		m := phone(t, oneMemoryClock)
		c := newClient(t, m, "cpu", model, hal.PriorityMedium)
		var res *hal.Result
		err := m.Warm(func() (err error) { res, err = hal.Execute(c.prepared, &c.buffers); return err })
		require.NoError(t, err)
		want := executed(t, &res.Stats)
		_, err = m.RunConcurrent(func(as *devices.Client) error {
			b := c.buffers
			b.Client = as
			return as.Warm(func() error { res, err = hal.Execute(c.prepared, &b); return err })
		})
		require.NoError(t, err)
		got := executed(t, &res.Stats)
		if r := got / want; r < 1 || r > 1.01 {
			t.Errorf("%s: %.2f us on the memory that engines share, %.2f us alone", name, got, want)
		}
		addsUp(t, name, &res.Stats)
	}
}

// reader reads from a memory without a pause until an instant, a window of requests under
// way, and adds up what it reads between two instants.
func reader(k platform.Conditions, from, to, until sim.Time) (read int64) {
	const bytes, inFlight = 256, 64
	var window [inFlight]sim.Time
	for i := 0; ; i++ {
		now := window[i%inFlight]
		if now >= until {
			return read
		}
		window[i%inFlight], _ = k.Memory.Access(now, uint64(i)*bytes, bytes, mem.Read)
		if now >= from && now < to {
			read += bytes
		}
	}
}

// TestCPUSharesBandwidth: the kernels of the CPU and a GPU that streams take bandwidth from each
// other. Both have together what the GPU has alone.
func TestCPUSharesBandwidth(t *testing.T) {
	require.AllTests(t)
	const begin, end = 5 * sim.Millisecond, 8 * sim.Millisecond
	// beside is how long the CPU takes, and the bytes of it and of the GPU meanwhile.
	beside := func(cpu bool, from, to sim.Time) (took float64, own, others int64) {
		m := phone(t, oneMemoryClock)
		c := newClient(t, m, "cpu", streaming(nn.TensorFloat32, 16<<20), hal.PriorityMedium)
		_, err := m.RunConcurrent(func(as *devices.Client) error {
			_, err := m.SoC().Execute(platform.Request{Engine: soc.EngineGPU}, func(k platform.Conditions) (platform.Outcome, error) {
				others = reader(k, from-k.Start, to-k.Start, end-k.Start)
				return platform.Outcome{Time: end - k.Start}, nil
			})
			return err
		}, func(as *devices.Client) error {
			as.WaitUntil(int64(begin))
			if !cpu {
				return nil
			}
			b := c.buffers
			b.Client = as
			var res *hal.Result
			err := as.Warm(func() (err error) { res, err = hal.Execute(c.prepared, &b); return err })
			if err == nil {
				took, own = executed(t, &res.Stats), res.Stats.Memory.ReadBytes+res.Stats.Memory.WriteBytes
			}
			return err
		})
		require.NoError(t, err)
		return took, own, others
	}
	m := phone(t, oneMemoryClock)
	c := newClient(t, m, "cpu", streaming(nn.TensorFloat32, 16<<20), hal.PriorityMedium)
	var res *hal.Result
	require.NoError(t, m.Warm(func() (err error) { res, err = hal.Execute(c.prepared, &c.buffers); return err }))
	alone := executed(t, &res.Stats)
	start := begin + sim.Time(res.Stats.LatencyFs) - sim.Time(alone*1e9) // the runtime comes first
	took, _, _ := beside(true, 0, 0)
	span := sim.Time(took * 1e9)
	_, own, others := beside(true, start, start+span)
	_, _, gpu := beside(false, start, start+span)
	t.Logf("CPU alone %.0f us, beside the GPU %.0f us; GPU %d bytes alone, %d beside the CPU's %d", alone, took, gpu, others, own)
	if took < 1.3*alone || float64(others) > 0.8*float64(gpu) {
		t.Errorf("CPU %.0f us alone, %.0f us beside the GPU, which reads %d bytes instead of %d", alone, took, others, gpu)
	}
	if r := float64(own+others) / float64(gpu); r < 0.8 || r > 1.05 {
		t.Errorf("CPU and GPU move %.2f of the bytes that the GPU reads alone", r)
	}
}

// TestCPURamp: a CPU that has been idle begins at its lowest clocks, after its sleeping cores
// have woken up, and gets faster while it computes, as its governor says: what it computes in
// that time at the clocks of the machine's samples is what it computes at its highest ones
// when it is warm. The tensors are those of a functional execution, and a second machine gives
// the same result.
func TestCPURamp(t *testing.T) {
	require.AllTests(t)
	o := oneOperation{op: nn.OpConv2D, args: []any{[]uint32{1, 128, 128, 576}, weights{512, 1, 1, 576}, weights{512}, nn.PaddingSame, 1, 1, 0}, out: []uint32{1, 128, 128, 512}, kind: nn.TensorFloat32}
	model := o.model()
	m := phone(t, oneMemoryClock, func(c *soc.Config) { // the memory is as fast at all points
		for i := range c.CPU.Clusters[0].Clock.OPPs {
			c.CPU.Clusters[0].Clock.OPPs[i].DDRMHz = 0
		}
	})
	c := newClient(t, m, "cpu", model, hal.PriorityMedium)
	run := func(f func(func() error) error) (took float64, s hal.Stats) {
		err := f(func() error {
			res, err := hal.Execute(c.prepared, &c.buffers)
			if err == nil {
				took, s = executed(t, &res.Stats), res.Stats
			}
			return err
		})
		require.NoError(t, err)
		return took, s
	}
	warm, _ := run(m.Warm)
	timed := bytes.Clone(c.buffers.Outputs[0])
	again := func() (samples []platform.Sample, took float64, s hal.Stats) {
		m.Reset()
		stop := m.SoC().Observe(func(s *platform.Sample) {
			x := *s
			x.Hz = slices.Clone(s.Hz)
			samples = append(samples, x)
		})
		defer stop()
		took, s = run(func(f func() error) error { return f() })
		return samples, took, s
	}
	samples, cold, stats := again()
	clocks := m.SoC().Clocks()
	prime, gold := slices.Index(clocks, "cpu"), slices.Index(clocks, "host")
	top := [2]float64{2841, 2419}
	end := samples[len(samples)-1].To
	start := end - sim.Time(cold*1e9)
	steps, did := map[[2]int64]bool{}, 0.0
	last := [2]int64{825e6, 825e6}
	for _, s := range samples {
		if span := min(s.To, end) - max(s.From, start); span > 0 {
			// Threads have equal parts: the slowest core sets the pace.
			did += float64(span) / 1e9 * float64(min(last[0], last[1])) / 1e6 / min(top[0], top[1])
			steps[last] = true
		}
		last = [2]int64{s.Hz[prime], s.Hz[gold]}
	}
	t.Logf("warm %.0f us, cold %.0f us in %d steps of the clocks, up to %d and %d MHz", warm, cold, len(steps), last[0]/1e6, last[1]/1e6)
	if r := did / warm; !(r > 0.98 && r < 1.02) {
		t.Errorf("the clocks of %.0f us stand for %.0f us at the highest, it is %.0f", cold, did, warm)
	}
	require.Check(t, cold > 1.5*warm && len(steps) >= 4, "cold %.0f us, warm %.0f us, %d steps", cold, warm, len(steps))
	addsUp(t, "cold", &stats)
	if i := slices.IndexFunc(stats.Parts, func(p hal.Part) bool { return p.Name == platform.PartWake }); i < 0 || stats.Parts[i].TimeFs != 1461e9 {
		t.Errorf("parts %+v, want a wake-up of 1461 us", stats.Parts)
	}
	if _, _, second := again(); !cmp.Equal(stats, second) {
		t.Errorf("a machine that has been reset: %s", cmp.Diff(stats, second))
	}
	c.buffers.Functional = true
	if _, err := hal.Execute(c.prepared, &c.buffers); err != nil || !bytes.Equal(timed, c.buffers.Outputs[0]) {
		t.Errorf("a functional execution gives other tensors, %v", err)
	}
}
