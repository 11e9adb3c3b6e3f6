package platform_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestSlowdownIsComputable: an engine that computes for c and streams for s needs c + 2 s beside one that streams all
// the time.
func TestSlowdownIsComputable(t *testing.T) {
	alike := func(c *soc.Config) { // both start at the same instant
		c.GPU.Path, c.GPU.Clock = c.DSP.Path, c.DSP.Clock
		c.SystemCache, c.GPU.SystemCache, c.DSP.SystemCache, c.NPU.SystemCache = nil, nil, nil, nil
	}
	const bytes, inFlight = 1 << 20, 256
	var took [2]sim.Time
	for _, compute := range []sim.Time{20 * sim.Microsecond, 100 * sim.Microsecond} {
		for i := range took {
			m := machine(t, "pixel4", alike)
			worker := func() error {
				_, err := m.Execute(platform.Request{Engine: soc.EngineDSP, Buffers: 1}, func(k platform.Conditions) (platform.Outcome, error) {
					took[i] = compute + stream(k.Memory, 3<<28, bytes, inFlight) // not the bytes of the other, which would be fetched once
					return platform.Outcome{Time: took[i]}, nil
				})
				return err
			}
			var other sim.Time
			clients := []func() error{worker, streamer(t, m, soc.EngineGPU, &other)}
			require.V(m.RunConcurrent(clients[:1+i]...))(t)
		}
		want := compute + 2*(took[0]-compute)
		if r := float64(took[1]) / float64(want); r < 0.9 || r > 1.15 {
			t.Errorf("computing for %v: %v beside a stream, want %v (%v alone)", compute, took[1], want, took[0])
		}
	}
}

// TestSharedAccessAllocates nothing.
func TestSharedAccessAllocates(t *testing.T) {
	m := machine(t, "pixel4", nil)
	_, err := m.RunConcurrent(func() error {
		_, err := m.Execute(platform.Request{Engine: soc.EngineNPU, Buffers: 1}, func(k platform.Conditions) (platform.Outcome, error) {
			var now sim.Time
			n := uint64(0)
			require.Same(t, 0, testing.AllocsPerRun(2000, func() {
				n++
				now, _ = k.Memory.Access(now, n*4096, 256, mem.Kind(n&1))
			}), "allocations per access")
			return platform.Outcome{Time: now}, nil
		})
		return err
	})
	require.NoError(t, err)
}

// TestEnginesBesideEachOtherAllocate nothing per access, switches between clients included.
func TestEnginesBesideEachOtherAllocate(t *testing.T) {
	m := machine(t, "pixel4", nil)
	const start, end = 5 * sim.Millisecond, 6 * sim.Millisecond // all work
	switches, last := 0, soc.NumEngines
	var before, after runtime.MemStats
	client := func(e soc.Engine) func() error {
		return func() error {
			_, err := m.Execute(platform.Request{Engine: e, Buffers: 1}, func(k platform.Conditions) (platform.Outcome, error) {
				var now sim.Time
				for n := uint64(0); now < end-k.Start; n++ {
					if e == soc.EngineDSP && before.Mallocs == 0 && now >= start-k.Start {
						runtime.ReadMemStats(&before)
						switches = 0
					}
					if now, _ = k.Memory.Access(now, n*4096, 256, mem.Kind(n&1)); last != e {
						last = e
						switches++
					}
				}
				if after.Mallocs == 0 {
					runtime.ReadMemStats(&after)
				}
				return platform.Outcome{Time: now}, nil
			})
			return err
		}
	}
	require.V(m.RunConcurrent(client(soc.EngineGPU), client(soc.EngineDSP), client(soc.EngineNPU), client(soc.EngineCPU)))(t)
	if n := after.Mallocs - before.Mallocs; n > uint64(switches/100) || switches < 1000 {
		t.Errorf("%d allocations in %d hand-overs", n, switches)
	}
}

// TestPriorityOrdersTheQueue: requests that wait for one engine are served in the order of their priorities, equal ones
// in that of their arrival, each when the one before has left; the first on the engine keeps it.
func TestPriorityOrdersTheQueue(t *testing.T) {
	m := machine(t, "pixel4", nil)
	const work = 5 * sim.Millisecond
	ranks := []int{0, 1, 0, 2, 1}
	var order []int
	var starts []sim.Time
	var clients []func() error
	for i, rank := range ranks {
		clients = append(clients, func() error {
			m.Sleep(m.Now() + sim.Time(i)*50*sim.Microsecond)
			_, err := m.Execute(platform.Request{Engine: soc.EngineNPU, Buffers: 1, Priority: rank}, func(k platform.Conditions) (platform.Outcome, error) {
				order = append(order, i)
				starts = append(starts, m.Now()+k.Start)
				return platform.Outcome{Time: work}, nil
			})
			return err
		})
	}
	require.V(m.RunConcurrent(clients...))(t)
	require.Same(t, "[0 3 1 4 2]", fmt.Sprint(order), "executed in the order")
	for i := 1; i < len(starts); i++ {
		if d := starts[i] - starts[i-1]; d != work {
			t.Errorf("start %d is %v after the one before, want %v", i, d, work)
		}
	}
}
