package platform_test

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// windows streams on an engine for a time and returns the GB/s of each of its windows.
func windows(m *platform.Machine, e soc.Engine, p sim.Preference, window sim.Time, n int, into *[]float64) func() error {
	return func() error {
		_, err := m.Execute(platform.Request{Engine: e, Preference: p, Buffers: 1}, func(k platform.Conditions) (platform.Outcome, error) {
			const line, inFlight = 256, 64
			var flight [inFlight]sim.Time
			var now sim.Time
			bytes := make([]float64, n)
			for i := 0; now < sim.Time(n)*window; i++ {
				now = max(now, flight[i%inFlight])
				flight[i%inFlight], _ = k.Memory.Access(now, uint64(e)<<32+uint64(i)*line, line, mem.Read)
				bytes[min(int(now/window), n-1)] += line
			}
			for _, b := range bytes {
				*into = append(*into, b/window.Seconds()/1e9)
			}
			last := now + 1
			return platform.Outcome{Time: last, Traffic: m.Traffic(last)}, nil
		})
		return err
	}
}

// withoutCache makes streams depend on the DRAM alone.
func withoutCache(c *soc.Config) {
	c.SystemCache, c.GPU.SystemCache, c.DSP.SystemCache, c.NPU.SystemCache = nil, nil, nil, nil
}

// TestVoteChangesDuringExecution: a GPU that begins at its lowest point has the bandwidth of
// 451 MHz until its governor raises it to 427 MHz, with a vote for 768 MHz, and so on, within
// one execution.
func TestVoteChangesDuringExecution(t *testing.T) {
	m := machine(t, "pixel4", func(c *soc.Config) { withoutCache(c); c.DRAM.Clock.Governor = nil })
	var got []float64
	require.NoError(t, windows(m, soc.EngineGPU, sim.FastSingleAnswer, sim.Millisecond, 40, &got)())
	var levels []float64 // of the windows in which nothing changes
	for i := 1; i < len(got); i++ {
		if r := got[i] / got[i-1]; r > 0.999 && r < 1.001 && (len(levels) == 0 || got[i] > levels[len(levels)-1]*1.01) {
			levels = append(levels, got[i])
		}
	}
	t.Logf("%.2f GB/s", levels)
	if len(levels) != 4 { // 451, 768, 1555 and 2092 MHz
		t.Fatalf("%.2f GB/s in windows of 1 ms", got)
	}
	for i, mhz := range []float64{451, 768, 1555, 2092} {
		if share := levels[i] / (mhz * 2 * 8 / 1e3); share < 0.8 || share > 1 {
			t.Errorf("at %v MHz %.2f GB/s, %.0f %% of the bus", mhz, levels[i], 100*share)
		}
	}
}

// TestVotesOfOthers: a DSP at its lowest clock, which votes for 768 MHz, has more of the
// memory while a GPU beside it votes for more but moves nothing.
func TestVotesOfOthers(t *testing.T) {
	m := machine(t, "pixel4", func(c *soc.Config) {
		withoutCache(c)
		c.DRAM.Clock.Governor = nil
		c.GPU.Clock.Governor = nil
	})
	m.Sleep(30 * sim.Millisecond) // the memory counts from the group's start
	var got []float64
	_, err := m.RunConcurrent(windows(m, soc.EngineDSP, sim.LowPower, sim.Millisecond, 20, &got), func() error {
		m.Sleep(m.Now() + 8*sim.Millisecond)
		_, err := m.Execute(platform.Request{Engine: soc.EngineGPU, Preference: sim.FastSingleAnswer}, func(platform.Conditions) (platform.Outcome, error) {
			return platform.Outcome{Time: 5 * sim.Millisecond}, nil
		})
		return err
	})
	require.NoError(t, err)
	before, during, after := got[2], slices.Max(got), got[len(got)-1]
	if during < 2.4*before || after > 1.01*before {
		t.Errorf("%.1f GB/s before, %.1f during and %.1f after: %.1f", before, during, after, got)
	}
}

// TestMeasuredTraffic: bw_hwmon raises the clock of a stream from a low vote with the sample that shows it, to its
// highest vote of 1804 MHz and no further, and lowers it in idle time. An execution of the same kind fits the traffic
// of one that began in the same state.
func TestMeasuredTraffic(t *testing.T) {
	m := machine(t, "pixel4", withoutCache)
	request := platform.Request{Engine: soc.EngineDSP, Preference: sim.LowPower, Buffers: 1}
	clock := slices.Index(m.Clocks(), "ddr")
	var hz int64
	m.Observe(func(s *platform.Sample) { hz = s.Hz[clock] })
	run := func() (got []float64) {
		require.NoError(t, windows(m, soc.EngineDSP, sim.LowPower, sim.Millisecond, 12, &got)())
		return got
	}
	first := run()
	t.Logf("%.1f GB/s", first)
	if first[0] > 12.3 || first[0] < 9 || first[len(first)-1] < 2.2*first[0] {
		t.Errorf("bandwidth of %.1f GB/s", first)
	}
	if hz != 1804e6 {
		t.Errorf("DRAM at %d Hz behind the stream, want 1804 MHz", hz)
	}
	if again := run(); again[0] < 2.2*first[0] {
		t.Errorf("the second stream begins with %.1f GB/s", again[0])
	}
	var x *platform.Traffic
	for range 2 {
		m.Sleep(m.Now() + 2*sim.Second)
		require.V(m.Execute(request, func(k platform.Conditions) (platform.Outcome, error) {
			if x != nil && !m.Fits(x) {
				t.Error("an execution behind a pause does not fit another")
			}
			now := stream(k.Memory, 0, 1<<20, 64)
			x = m.Traffic(now)
			return platform.Outcome{Time: now, Traffic: x}, nil
		}))(t)
	}
	run()
	require.V(m.Execute(request, func(platform.Conditions) (platform.Outcome, error) {
		if m.Fits(x) {
			t.Error("an execution at the lowest vote fits one behind a stream")
		}
		return platform.Outcome{Time: sim.Millisecond, Traffic: x}, nil
	}))(t)
}

// TestTrafficFitsVotes: the traffic of an execution fits one in which engines request the same clocks at the same
// instants, and not one that begins at the same clock but requests more sooner.
func TestTrafficFitsVotes(t *testing.T) {
	m := machine(t, "pixel4", func(c *soc.Config) { withoutCache(c); c.DRAM.Clock.Governor = nil })
	var first *platform.Traffic
	execute := func(length sim.Time) (fits bool, hz int64) {
		_, err := m.Execute(platform.Request{Engine: soc.EngineGPU, Preference: sim.FastSingleAnswer, Buffers: 1}, func(k platform.Conditions) (platform.Outcome, error) {
			fits, hz = first != nil && m.Fits(first), k.Points[0].OPP.Hz
			stream(k.Memory, 0, 1<<16, 64)
			x := m.Traffic(length)
			if first == nil {
				first = x
			}
			return platform.Outcome{Time: length, Traffic: x}, nil
		})
		require.NoError(t, err)
		return fits, hz
	}
	const long = 30 * sim.Millisecond
	pause := func() { m.Sleep(m.Now() + 2*sim.Second) }
	pause()
	_, low := execute(long)
	pause()
	if fits, hz := execute(long); !fits || hz != low {
		t.Errorf("behind the same pause: fits %v, %d Hz, %d before", fits, hz, low)
	}
	pause()
	execute(sim.Millisecond)
	if fits, hz := execute(long); fits || hz != low {
		t.Errorf("a millisecond later: fits %v, %d Hz, %d before", fits, hz, low)
	}
}

// spell is a time with one clock.
type spell struct {
	hz   int64
	took sim.Time
}

// held are the clocks of a name that the machine had one after the other.
func held(m *platform.Machine, name string, run func()) (list []spell) {
	clock := slices.Index(m.Clocks(), name)
	defer m.Observe(func(s *platform.Sample) {
		if n := len(list); n == 0 || list[n-1].hz != s.SpanHz[clock] {
			list = append(list, spell{hz: s.SpanHz[clock]})
		}
		list[len(list)-1].took += s.To - s.From
	})()
	run()
	return list
}

// TestVotesOfOneEngine: an engine alone votes for its clocks from its start until it sleeps, the CPU with those of its
// points as well, and the memory of an idle phone is at its lowest point.
func TestVotesOfOneEngine(t *testing.T) {
	const us, ms = sim.Microsecond, sim.Millisecond
	for _, c := range []struct {
		clock  string
		engine soc.Engine
		took   sim.Time
		want   []spell // the first and the last extend as long as they last until and from then
	}{
		{"ddr", soc.EngineDSP, 3 * ms, []spell{{hz: 200e6}, {2133e6, 13 * ms}, {hz: 200e6}}},
		{"system cache", soc.EngineDSP, 3 * ms, []spell{{hz: 150e6}, {1000e6, 13 * ms}, {hz: 150e6}}},
		{"ddr", soc.EngineCPU, 3 * ms, []spell{{hz: 200e6}, {547e6, 7488 * us}, {hz: 200e6}}},
		{"ddr", soc.EngineGPU, 3 * ms, []spell{{hz: 200e6}, {451e6, 3300 * us}, {hz: 200e6}}}, // 2 ms short of the first step
	} {
		m := machine(t, "pixel4", nil)
		got := held(m, c.clock, func() {
			r := platform.Request{Engine: c.engine, Preference: sim.FastSingleAnswer, Buffers: 1}
			require.V(m.Execute(r, func(platform.Conditions) (platform.Outcome, error) {
				return platform.Outcome{Time: c.took, Traffic: m.Traffic(c.took)}, nil
			}))(t)
			m.Sleep(m.Now() + 50*ms)
			m.Sleep(m.Now() + 50*ms)
		})
		same := slices.EqualFunc(got, c.want, func(a, b spell) bool { return a.hz == b.hz && (b.took == 0 || a.took == b.took) })
		if !same {
			t.Errorf("%s, %v at work: %v, want %v", c.clock, c.engine, got, c.want)
		}
	}
	// Work of the CPU that is long enough for the first step of its governor, then traffic for which bw_hwmon raises
	// the clock beyond the vote, until it lowers it again.
	m := machine(t, "pixel4", nil)
	cpu := func(took sim.Time, bytes int64) {
		r := platform.Request{Engine: soc.EngineCPU, Preference: sim.FastSingleAnswer}
		require.V(m.Execute(r, func(platform.Conditions) (platform.Outcome, error) {
			return platform.Outcome{Time: took, DRAMBytes: bytes}, nil
		}))(t)
	}
	got := held(m, "ddr", func() { cpu(90*ms, 0); m.Sleep(sim.Second); cpu(30*ms, 300e6); m.Sleep(3 * sim.Second) })
	hz := func(s []spell) (l []int64) {
		for _, x := range s {
			l = append(l, x.hz)
		}
		return l
	}(got)
	if want := []int64{200e6, 547e6, 768e6, 200e6, 547e6, 1804e6}; len(hz) < 8 || !slices.Equal(hz[:6], want) || hz[len(hz)-1] != 200e6 || !slices.IsSortedFunc(hz[5:], func(a, b int64) int { return int(b - a) }) {
		t.Errorf("%v, want %d Hz and down again", got, want)
	}
}

// hits reads lines of the system-level cache one at a time, a few again and again, and returns
// the latency in ns of one in each of its windows.
func hits(m *platform.Machine, e soc.Engine, p sim.Preference, window sim.Time, n int, into *[]float64, energy *[]float64) func() error {
	return func() error {
		_, err := m.Execute(platform.Request{Engine: e, Preference: p, Buffers: 1}, func(k platform.Conditions) (platform.Outcome, error) {
			now, before, count := sim.Time(0), 0.0, 0.0
			for i := uint64(0); i < 64; i++ {
				now, _ = k.Memory.Access(now, i*64, 64, mem.Read)
			}
			for w := 1; w <= n; w++ {
				var took sim.Time
				for now < sim.Time(w)*window {
					done, _ := k.Memory.Access(now, uint64(w%64)*64, 64, mem.Read)
					took, now, count = done-now, done+sim.Microsecond, count+1
				}
				pj := m.MemoryUse(e).PJ
				*into, *energy = append(*into, took.Microseconds()*1e3), append(*energy, (pj-before)/count)
				before, count = pj, 0
			}
			return platform.Outcome{Time: now, Traffic: m.Traffic(now)}, nil
		})
		return err
	}
}

// TestSystemCacheClock: the system-level cache follows the votes of a GPU whose clock rises from its lowest point, and
// which does not sleep in a loop: a hit costs 24 cycles, 20 of them latency, and the energy of a byte is that of the
// point's voltage.
func TestSystemCacheClock(t *testing.T) {
	m := machine(t, "pixel4", nil)
	clock := slices.Index(m.Clocks(), "system cache")
	var clocks []int64
	m.Observe(func(s *platform.Sample) {
		if hz := s.Hz[clock]; len(clocks) == 0 || clocks[len(clocks)-1] != hz {
			clocks = append(clocks, hz)
		}
	})
	var ns, pj []float64
	require.NoError(t, hits(m, soc.EngineGPU, sim.FastSingleAnswer, sim.Millisecond, 40, &ns, &pj)())
	if want := []int64{150e6, 300e6, 466e6, 600e6}; !slices.Equal(clocks, want) {
		t.Errorf("clocks %d, want %d", clocks, want)
	}
	volts := map[float64]float64{150: 0.6, 300: 0.6, 466: 0.64, 600: 0.68}
	at := []int{2, 12, 17, 39} // windows of 257 and 345, 427, 499 and 585 MHz
	for i, mhz := range []float64{150, 300, 466, 600} {
		took := ns[at[i]] - ns[39]
		if want := 24 * (1e3/mhz - 1e3/600); !(took > want-1 && took < want+1) {
			t.Errorf("at %v MHz a hit takes %.1f ns more than at 600, want %.1f: %.1f", mhz, took, want, ns)
		}
		if want := 64 * 1.75 * volts[mhz] * volts[mhz] / 0.64; !(pj[at[i]] > 0.999*want && pj[at[i]] < 1.001*want) {
			t.Errorf("at %v MHz a hit takes %.2f pJ, want %.2f", mhz, pj[at[i]], want)
		}
	}
}

// TestSystemCacheVotesOfOthers: a DSP at its lowest clock finds the cache faster while a GPU
// beside it votes for more, and until that sleeps.
func TestSystemCacheVotesOfOthers(t *testing.T) {
	m := machine(t, "pixel4", func(c *soc.Config) { c.GPU.Clock.Governor = nil; c.DRAM.Clock.Governor = nil })
	var ns, pj []float64
	_, err := m.RunConcurrent(hits(m, soc.EngineDSP, sim.LowPower, sim.Millisecond, 20, &ns, &pj), func() error {
		m.Sleep(m.Now() + 8*sim.Millisecond)
		_, err := m.Execute(platform.Request{Engine: soc.EngineGPU, Preference: sim.FastSingleAnswer}, func(platform.Conditions) (platform.Outcome, error) {
			return platform.Outcome{Time: 5 * sim.Millisecond}, nil
		})
		return err
	})
	require.NoError(t, err)
	want := 24 * (1e3/300 - 1e3/600.)
	if before, after := ns[2]-ns[10], ns[19]-ns[10]; !(before > want-1 && before < want+1 && after == before) {
		t.Errorf("a hit takes %.1f ns more before and %.1f after, want %.1f: %.1f", before, after, want, ns)
	}
}

// TestObserveSystemCache: the observed use of the cache adds up to the execution's, in consecutive spans; observing
// changes nothing.
func TestObserveSystemCache(t *testing.T) {
	run := func(observe bool) (seen []platform.SystemCacheUse, use soc.MemoryUse, ns []float64) {
		m := machine(t, "pixel4", nil)
		if observe {
			defer m.ObserveSystemCache(func(u *platform.SystemCacheUse) { seen = append(seen, *u) })()
		}
		var pj []float64
		require.NoError(t, hits(m, soc.EngineGPU, sim.FastSingleAnswer, sim.Millisecond, 8, &ns, &pj)())
		return seen, m.MemoryUse(soc.EngineGPU), ns
	}
	seen, use, ns := run(true)
	var all platform.SystemCacheUse
	for i, u := range seen {
		all.Bytes, all.Lookups, all.Hits = all.Bytes+u.Bytes, all.Lookups+u.Lookups, all.Hits+u.Hits
		if u.Engine != soc.EngineGPU || u.To <= u.From || i > 0 && u.From < seen[i-1].To || u.To-u.From > 50*sim.Microsecond {
			t.Fatalf("span %d: %+v behind %+v", i, u, seen[max(0, i-1)])
		}
	}
	if all.Hits != use.ReadHits || all.Lookups != use.ReadHits+use.ReadMisses || all.Bytes != all.Lookups*64 || all.Hits == 0 || all.Hits == all.Lookups {
		t.Errorf("observed %+v, had %+v", all, use)
	}
	if _, alone, same := run(false); alone != use || !slices.Equal(ns, same) {
		t.Errorf("observed %+v, unobserved %+v", use, alone)
	}
}
