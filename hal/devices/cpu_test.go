package devices_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// executed is what the part of a result's latency took that is the engine's, in us.
func executed(t *testing.T, s *hal.Stats) float64 {
	t.Helper()
	for _, p := range s.Parts {
		if p.Name == soc.PartExecution {
			return float64(p.TimeFs) / 1e9
		}
	}
	t.Fatal("no execution among the parts")
	return 0
}

// oneMemoryClock leaves votes for the DRAM's clock aside.
func oneMemoryClock(c *soc.Config) { c.DRAM.Clock = nil }

// TestCPUAlone: the CPU's bytes on the memory of the machine, with no other engine at work,
// change none of its kernels' costs by more than 1 %.
func TestCPUAlone(t *testing.T) {
	dense := oneOperation{op: nn.OpFullyConnected, args: []any{[]uint32{1, 2048}, weights{2048, 2048}, weights{2048}, 0}, out: []uint32{1, 2048}, kind: nn.TensorFloat32}
	for name, model := range map[string]*nn.Model{
		"add": streaming(nn.TensorFloat32, 8<<20), "add of bytes": streaming(nn.TensorQuant8Asymm, 8<<20),
		"convolution": convolution(nn.TensorFloat32), "dense": dense.model(),
	} {
		m := phone(t, oneMemoryClock)
		c := newClient(t, m, "cpu", model, hal.PriorityMedium)
		res, err := hal.Execute(c.prepared, &c.buffers)
		if err != nil {
			t.Fatal(err)
		}
		want := executed(t, &res.Stats)
		_, err = m.Together(func(as *devices.Client) error {
			b := c.buffers
			b.Client = as
			res, err = hal.Execute(c.prepared, &b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got := executed(t, &res.Stats)
		if r := got / want; r < 1 || r > 1.01 {
			t.Errorf("%s: %.2f us on the memory that engines share, %.2f us alone", name, got, want)
		}
		addsUp(t, name, &res.Stats)
	}
}

// reader reads from a memory without a pause until an instant, a window of requests under
// way, and adds up what it reads between two instants.
func reader(k soc.Conditions, from, to, until sim.Time) (read int64) {
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
	const begin, end = 5 * sim.Millisecond, 8 * sim.Millisecond
	// beside is how long the CPU takes, and the bytes of it and of the GPU meanwhile.
	beside := func(cpu bool, from, to sim.Time) (took float64, own, others int64) {
		m := phone(t, oneMemoryClock)
		c := newClient(t, m, "cpu", streaming(nn.TensorFloat32, 16<<20), hal.PriorityMedium)
		_, err := m.Together(func(as *devices.Client) error {
			_, err := m.SoC().Execute(soc.Request{Engine: soc.EngineGPU}, func(k soc.Conditions) (soc.Outcome, error) {
				others = reader(k, from-k.Start, to-k.Start, end-k.Start)
				return soc.Outcome{Time: end - k.Start}, nil
			})
			return err
		}, func(as *devices.Client) error {
			as.WaitUntil(int64(begin))
			if !cpu {
				return nil
			}
			b := c.buffers
			b.Client = as
			res, err := hal.Execute(c.prepared, &b)
			if err == nil {
				took, own = executed(t, &res.Stats), res.Stats.Memory.ReadBytes+res.Stats.Memory.WriteBytes
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return took, own, others
	}
	m := phone(t, oneMemoryClock)
	c := newClient(t, m, "cpu", streaming(nn.TensorFloat32, 16<<20), hal.PriorityMedium)
	res, err := hal.Execute(c.prepared, &c.buffers)
	if err != nil {
		t.Fatal(err)
	}
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
