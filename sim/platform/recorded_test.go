package platform_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

var update = flag.Bool("update", false, "write testdata/recorded.txt")

// TestRecordedMachines: random lives of machines with all kinds of engines, governors and memory cost the times and the
// energy and set the clocks of testdata/recorded.txt: executions by themselves and concurrent, of all preferences and
// priorities, with deadlines, held clocks, sleeps and loops, with and without a window. Single rules have closed forms
// in other tests; this pins their interplay.
func TestRecordedMachines(t *testing.T) {
	var text strings.Builder
	for _, preset := range []string{"pixel4", "coral", "sd888", "xclipse920", "ethos-u65-512"} {
		for seed := range uint64(6) {
			fmt.Fprintf(&text, "%s %d: %s\n", preset, seed, life(t, preset, seed))
		}
	}
	for _, preset := range []string{"pixel4", "coral"} { // with a system-level cache and without
		c := require.V(soc.Load(preset))(t)
		for e := range soc.NumEngines {
			if rate, err := c.StreamRate(e, sim.SustainedSpeed, 2, 1); err == nil {
				fmt.Fprintf(&text, "%s: two streams to the %s and one back: %.0f bytes/s\n", preset, e, rate)
			}
		}
	}
	const file = "testdata/recorded.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
	}
	b := require.File(t, file)
	want := strings.Split(string(b), "\n")
	for i, line := range strings.Split(text.String(), "\n") {
		if i >= len(want) || line != want[i] {
			t.Errorf("line %d:\n%s\nwant\n%s", i+1, line, strings.Join(want[min(i, len(want)):min(i+1, len(want))], ""))
		}
	}
}

// life summarizes the life of a machine: its time, the energy of its rails, its hottest part, and hashes of the times
// and clocks of all executions, of all samples and of the traffic of engines.
func life(t *testing.T, preset string, seed uint64) string {
	m := machine(t, preset, func(c *soc.Config) {
		if seed%2 == 1 && c.NPU != nil {
			c.NPU.Path.Preempt = &soc.Preempt{SaveUs: 40, RestoreUs: 70}
		}
	})
	if seed%3 == 2 {
		m.SetWindow(0)
	}
	var engines []soc.Engine
	for e := range soc.NumEngines {
		if m.Has(e) {
			engines = append(engines, e)
		}
	}
	executions, samples, moved := fnv.New32(), fnv.New32(), fnv.New32()
	hottest := 0.0
	m.Observe(func(s *platform.Sample) {
		fmt.Fprintln(samples, s.From, s.To, s.Hz, s.SpanHz, s.Status, int64(s.DRAMBytes))
		for _, c := range s.Celsius {
			hottest = max(hottest, c)
		}
	})
	m.ObserveDRAM(func(u *platform.DRAMUse) { fmt.Fprintln(moved, *u) })
	m.ObserveSystemCache(func(u *platform.SystemCacheUse) { fmt.Fprintln(moved, *u) })
	r := rand.New(rand.NewPCG(seed, 625))
	execute := func(r *rand.Rand, into io.Writer) error {
		q := platform.Request{
			Engine: engines[r.IntN(len(engines))], Preference: sim.Preference(r.IntN(3)), Burst: r.IntN(2) == 0, Buffers: r.IntN(4),
			In: r.Int64N(1 << 18), Out: r.Int64N(1 << 14), Priority: r.IntN(3), Program: r.IntN(3),
		}
		if r.IntN(4) == 0 {
			q.Longest = sim.Time(1+r.IntN(3)) * sim.Millisecond
		}
		x, err := m.Execute(q, func(k platform.Conditions) (platform.Outcome, error) {
			fmt.Fprintln(into, k.Start, k.Points, k.Woken)
			o := platform.Outcome{Time: sim.Time(r.IntN(4000)) * sim.Microsecond, EnergyPJ: float64(r.IntN(1e9)), Launches: 1 + r.IntN(9), DRAMBytes: r.Int64N(1 << 20)}
			if k.Memory != nil {
				o.Time = max(o.Time, accesses(r, k.Memory))
				m.Moved(q.Engine, o.Time, o.Time+100*sim.Microsecond, o.DRAMBytes)
				o.Time += 100 * sim.Microsecond
			}
			if k.Preemption != nil && k.Preemption.Pending(o.Time) {
				fmt.Fprintln(into, o.Time, k.Preemption.Yield(o.Time))
				o.Time += sim.Millisecond
			}
			return o, nil
		})
		fmt.Fprintln(into, x.Start, x.Latency, x.Parts, x.Aborted)
		return err
	}
	for range 12 {
		var err error
		switch r.IntN(7) {
		case 0:
			m.Sleep(m.Now() + sim.Time(r.IntN(40_000))*sim.Microsecond)
		case 1:
			err = m.Repeat(platform.Request{Engine: engines[r.IntN(len(engines))], Buffers: 1},
				platform.Outcome{Time: sim.Time(1+r.IntN(9)) * sim.Millisecond, EnergyPJ: 1e9 * r.Float64(), DRAMBytes: r.Int64N(1 << 24)}, sim.Time(r.IntN(200))*sim.Millisecond)
		case 2:
			if e := engines[r.IntN(len(engines))]; e != soc.EngineCPU {
				lowest, highest := m.ClocksOf(e)
				err = m.PinClock(e, []int64{0, lowest, highest}[r.IntN(3)])
				fmt.Fprintln(executions, lowest, highest, m.MemoryHz())
			}
		case 3, 4:
			var clients []func() error
			texts := make([]strings.Builder, 3)
			for i := range texts {
				own := rand.New(rand.NewPCG(r.Uint64(), 0))
				clients = append(clients, func() error {
					m.Sleep(m.Now() + sim.Time(own.IntN(3))*sim.Millisecond)
					for range 2 {
						if err := execute(own, &texts[i]); err != nil {
							return err
						}
					}
					return nil
				})
			}
			_, err = m.RunConcurrent(clients...)
			for i := range texts {
				fmt.Fprint(executions, texts[i].String())
			}
		default:
			err = execute(r, executions)
		}
		require.NoError(t, err)
	}
	for _, e := range engines {
		use := m.MemoryUse(e)
		use.PJ = math.Round(use.PJ)
		fmt.Fprintln(moved, use)
	}
	return fmt.Sprintf("%d, %.5g pJ, %.4g C, %08x %08x %08x", m.Now(), m.Spent(), hottest, executions.Sum32(), samples.Sum32(), moved.Sum32())
}

// accesses reads and writes near and far and returns when the last ends.
func accesses(r *rand.Rand, l mem.Level) (last sim.Time) {
	at, now := r.Uint64N(1<<28), sim.Time(0)
	for range r.IntN(1500) {
		switch r.IntN(8) {
		case 0:
			at = r.Uint64N(1 << 28)
		case 1:
			now = last
		default:
			at += 64
			now += sim.Time(r.IntN(12)) * sim.Nanosecond
		}
		end, _ := l.Access(now, at&^63, 64, mem.Kind(r.IntN(2)))
		last = max(last, end)
	}
	return last
}
