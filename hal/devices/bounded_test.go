package devices_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
)

// TestMostRuns: a program runs no more often than Machine.Most, whatever clocks it finds; its costs then are near those of
// a machine without the bound, the rows of its report add up, and results are the same.
func TestMostRuns(t *testing.T) {
	const most, turns = 3, 30
	var us, pj [2]float64
	var outputs [2][]byte
	for i, bound := range []int{0, most} {
		m := phone(t)
		m.Most = bound
		c := newClient(t, m, "gpu", convolution(nn.TensorFloat32), hal.PriorityMedium)
		d := newClient(t, m, "gpu", fullyConnected(nn.TensorFloat32, 512), hal.PriorityMedium)
		execute := func() error {
			if err := c.execute(); err != nil {
				return err
			}
			m.SoC().Sleep(m.SoC().Now() + 2*sim.Millisecond) // so that the governor has something to do
			return d.execute()
		}
		require.NoError(t, m.Warm(execute))
		for range turns {
			require.NoError(t, execute())
			res := require.V(hal.Execute(c.prepared, &c.buffers))(t)
			us[i] += float64(res.Stats.LatencyFs) / 1e9 / turns
			pj[i] += res.Stats.EnergyPJ / turns
			var sum int64
			for k := range res.Stats.Operations {
				sum += res.Stats.Operations[k].TimeFs
			}
			if sum != res.Stats.LatencyFs {
				t.Fatalf("rows of %d fs, in all %d", sum, res.Stats.LatencyFs)
			}
		}
		outputs[i] = c.buffers.Outputs[0]
		if n, b := m.Simulated(), m.CollectBounded(); bound > 0 && (n > 2*most || b.Simulated != n || b.Executions <= n) {
			t.Errorf("%d executions ran, %+v", n, b)
		} else if bound == 0 && n <= 2*most {
			t.Errorf("without a bound %d executions ran: clocks and caches repeat", n)
		}
	}
	if off := us[1]/us[0] - 1; !(math.Abs(off) < 0.03) {
		t.Errorf("%.1f us, %.1f without a bound", us[1], us[0])
	}
	if off := pj[1]/pj[0] - 1; !(math.Abs(off) < 0.05) {
		t.Errorf("%.0f pJ, %.0f without a bound", pj[1], pj[0])
	}
	require.Check(t, bytes.Equal(outputs[0], outputs[1]), "other results")
}

// TestAlike: of programs that differ in the values of their weights alone Approximate runs one, but on an engine whose weights
// are compressed all.
func TestAlike(t *testing.T) {
	for device, want := range map[string]int{"gpu": 1, "dsp": 1, "npu": 3} {
		models := alikeModels(device)
		count := func(models []*nn.Model) int {
			m := phone(t)
			var clients []*client
			for _, x := range models {
				clients = append(clients, newClient(t, m, device, x, hal.PriorityMedium))
			}
			require.NoError(t, m.Approximate(func() error {
				for _, c := range clients {
					if err := c.execute(); err != nil {
						return err
					}
				}
				return nil
			}))
			return m.Simulated()
		}
		if one, all := count(models[:1]), count(models); all != want*one {
			t.Errorf("%s: %d executions of three programs ran, %d of one", device, all, one)
		}
	}
}

// alikeModels are three that differ in the values of their weights alone.
func alikeModels(device string) []*nn.Model {
	kind := nn.TensorQuant8Asymm
	if device == "gpu" {
		kind = nn.TensorFloat32
	}
	models := []*nn.Model{convolution(kind), convolution(kind), convolution(kind)}
	for i, m := range models {
		for k := range m.Main.Operands {
			if o := &m.Main.Operands[k]; o.Lifetime == nn.ConstantCopy && len(o.Dimensions) == 4 {
				o.Data = bytes.Clone(o.Data)
				o.Data[i] ^= 3
			}
		}
	}
	return models
}

// TestReuseCache: programs that are alike share the bound, on other machines as well; their costs are near those of separate
// bounds.
func TestReuseCache(t *testing.T) {
	for device, want := range map[string]int{"gpu": 1, "dsp": 1, "npu": 3} {
		known := devices.NewReuseCache()
		loop := func(models []*nn.Model, most int, l *devices.ReuseCache) (simulated int, us float64) {
			m := phone(t)
			m.Most, m.Reuse = most, l
			var clients []*client
			for _, x := range models {
				clients = append(clients, newClient(t, m, device, x, hal.PriorityMedium))
			}
			for range 10 {
				for _, c := range clients {
					require.NoError(t, c.execute())
				}
			}
			return m.Simulated(), m.SoC().Now().Microseconds()
		}
		models := alikeModels(device)
		_, exact := loop(models, 0, nil)
		simulated, bounded := loop(models, 2, known)
		if simulated != 2*want || (known.Reused() > 0) != (want == 1) {
			t.Errorf("%s: %d executions ran, want %d; %d were taken", device, simulated, 2*want, known.Reused())
		}
		if off := bounded/exact - 1; !(math.Abs(off) < 0.03) {
			t.Errorf("%s: %.1f us, %.1f without a bound", device, bounded, exact)
		}
		if again, _ := loop(models[:1], 2, known); (again > 0) != (want > 1) { // those of the NPU are like none
			t.Errorf("%s: %d executions ran on another machine", device, again)
		}
	}
}

// TestMostBeside: clients beside each other cost about what they cost where every execution is simulated, with few
// simulations, and leave the same results. The first costs a fifth less than alone, since the second keeps clocks up.
func TestMostBeside(t *testing.T) {
	const most, turns = 2, 24
	run := func(most int, together bool) (us [2]float64, simulated int, outputs [][]byte) {
		m := phone(t)
		m.Most = most
		list := []*client{newClient(t, m, "gpu", fullyConnected(nn.TensorFloat32, 1024), hal.PriorityMedium), newClient(t, m, "dsp", fullyConnected(nn.TensorQuant8Asymm, 1024), hal.PriorityMedium)}
		var clients []func(*devices.Client) error
		for i, c := range list {
			clients = append(clients, func(me *devices.Client) error {
				for range turns {
					if i == 1 && !together {
						return nil
					}
					if err := c.executeAs(me); err != nil {
						return err
					}
					us[i] += float64(c.latency[len(c.latency)-1]) / 1e9 / turns
					me.WaitUntil(me.NowFs() + int64(100*sim.Microsecond))
				}
				return nil
			})
		}
		require.V(m.RunConcurrent(clients...))(t)
		for _, c := range list {
			outputs = append(outputs, c.buffers.Outputs[0])
		}
		if b := m.CollectBounded(); most > 0 {
			require.Check(t, b.Simulated == m.Simulated() && b.Executions == 2*turns, "%+v, %d simulated", b, m.Simulated())
		}
		return us, m.Simulated(), outputs
	}
	all, n, outputs := run(0, true)
	some, few, same := run(most, true)
	require.Check(t, n == 2*turns && few <= n/3, "%d of %d executions were simulated", few, n)
	for i := range outputs {
		require.Check(t, bytes.Equal(outputs[i], same[i]), "other results")
		require.Check(t, math.Abs(some[i]/all[i]-1) < 0.05, "%.1f us, %.1f where all are simulated", some[i], all[i])
	}
	alone, _, _ := run(0, false)
	require.Check(t, all[0] < 0.9*alone[0], "%.1f us alone, %.1f beside the other", alone[0], all[0])
	t.Logf("%.1f us alone, %.1f beside, %.1f with %d simulations in place of %d; %.1f and %.1f", alone[0], all[0], some[0], few, n, all[1], some[1])
}
