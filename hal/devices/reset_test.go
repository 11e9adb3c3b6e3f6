package devices_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestReset: what happens after Reset is, to the byte, what happens on a new machine:
// costs, stalls and use of the memory of executions one after the other, in a loop and
// beside each other, and the heat, whatever has run before and in whatever order.
func TestReset(t *testing.T) {
	// Without a system-level cache a machine remembers what ran on it cold.
	noCache := func(c *soc.Config) { c.SystemCache = nil }
	for all, edit := range map[bool]func(*soc.Config){false: noCache, true: hasty} {
		fresh := phone(t, edit)
		fresh.SimulateAll = all
		want := script(t, fresh, clientsOf(t, fresh))
		used := phone(t, edit)
		used.SimulateAll = all
		list := clientsOf(t, used)
		for k := range list { // programs get other places in the memory
			c := list[len(list)-1-k]
			c.buffers.InBurst = k%2 == 0
			for range 3 {
				require.NoError(t, c.execute())
			}
			c.buffers.InBurst = false
		}
		dirty := script(t, used, list)
		require.Check(t, dirty != want, "SimulateAll %v: what ran before leaves nothing, so the test shows nothing", all)
		for i := range list { // cold, but not as the first program of the machine
			used.Reset()
			for _, k := range []int{3, i} {
				require.NoError(t, list[k].execute())
			}
		}
		used.Reset()
		if got := script(t, used, list); got != want {
			t.Errorf("SimulateAll %v: after Reset, then on a new machine:\n%s", all, firstDifference(got, want))
		}
	}
}

// clientsOf are one client per engine.
func clientsOf(t *testing.T, m *devices.Machine) []*client {
	return []*client{
		newClient(t, m, "dsp", fullyConnected(nn.TensorQuant8Asymm, 512), hal.PriorityMedium),
		newClient(t, m, "npu", convolution(nn.TensorQuant8Asymm), hal.PriorityMedium),
		newClient(t, m, "gpu", streaming(nn.TensorFloat32, 64<<10), hal.PriorityMedium),
		newClient(t, m, "cpu", streaming(nn.TensorFloat32, 16<<10), hal.PriorityMedium),
	}
}

// script goes through a fixed course of executions and returns all that can be seen of it.
func script(t *testing.T, m *devices.Machine, list []*client) string {
	t.Helper()
	var text strings.Builder
	stop := m.SoC().Observe(func(s *platform.Sample) {
		fmt.Fprintln(&text, "heat", s.From, s.To, s.Watts, s.Celsius, s.Hz, s.Status)
	})
	defer stop()
	execute := func(c *client, as hal.Client) error {
		b := c.buffers
		b.Client, b.Detail = as, as == nil && m.SimulateAll
		res, err := hal.Execute(c.prepared, &b)
		if err != nil {
			return err
		}
		s := res.Stats
		fmt.Fprintln(&text, s.LatencyFs, s.EnergyPJ, s.Cycles, s.Stalls, s.Parts, s.Memory, s.Operations)
		return nil
	}
	for range 2 {
		for _, c := range list {
			require.NoError(t, execute(c, nil))
		}
		m.SoC().Sleep(m.SoC().Now() + 2*sim.Millisecond)
	}
	loop, v, err := m.Loop(list[0].execute)
	for range 3 {
		require.NoError(t, err)
		fmt.Fprintln(&text, "loop", v.Start, v.Latency, v.EnergyPJ, v.Parts)
		v, err = loop.Next()
	}
	var run []func(*devices.Client) error
	for _, c := range list {
		run = append(run, func(as *devices.Client) error { return execute(c, as) })
	}
	ends := require.V(m.RunConcurrent(run...))(t)
	fmt.Fprintln(&text, ends)
	return text.String()
}

// firstDifference are the first lines that differ.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + "\n" + b[i]
		}
	}
	return fmt.Sprintf("%d lines, then %d", len(a), len(b))
}
