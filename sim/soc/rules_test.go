package soc

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/thermal"
)

func preset(t *testing.T, name string) *Config {
	t.Helper()
	c, err := Load(name)
	require.NoError(t, err)
	return c
}

// TestSpan: a curve holds its first time up to its first size, is linear between points and beyond the last two, and not
// below 0.
func TestSpan(t *testing.T) {
	curve := [][2]float64{{4, 10}, {8, 20}, {16, 28}}
	for _, c := range []struct {
		curve [][2]float64
		kib   float64
		want  float64 // us
	}{
		{curve, 0, 0}, {curve, 1, 10}, {curve, 4, 10}, {curve, 6, 15}, {curve, 8, 20}, {curve, 10, 22}, {curve, 16, 28}, {curve, 24, 36},
		{curve[:1], 2, 10}, {curve[:1], 64, 10}, {nil, 64, 0}, {[][2]float64{{4, 10}, {8, 6}}, 10, 4}, {[][2]float64{{4, 10}, {8, 6}}, 20, 0},
	} {
		if got := span(c.curve, int64(c.kib*1024)); got != us(c.want) {
			t.Errorf("%v KiB on %v: %v us, want %v", c.kib, c.curve, got.Microseconds(), c.want)
		}
	}
}

// TestCacheSets: the sets of a cache are a power of two, one included.
func TestCacheSets(t *testing.T) {
	for _, c := range []struct {
		kib        float64
		ways, line int
		want       string
	}{
		{4, 64, 64, ""}, {8, 64, 64, ""}, {12, 64, 64, "x.kib: 3 sets, want a power of two"}, {0, 64, 64, "x.kib: 0 sets, want a power of two"},
		{12, 3, 64, ""}, {4, 64, 48, "x.line_bytes: 48 is not a power of two"}, {5, 64, 64, "x.kib: 5120 bytes are not a multiple of 64 ways of 64-byte lines"},
	} {
		k := checker{file: "f"}
		k.cache("x", &Cache{KiB: c.kib, Ways: c.ways, LineBytes: c.line})
		got := ""
		if err := k.err(); err != nil {
			_, got, _ = strings.Cut(err.Error(), ": x.")
			got = "x." + got
		}
		if got != c.want {
			t.Errorf("%v KiB of %d ways: %q, want %q", c.kib, c.ways, got, c.want)
		}
	}
}

// TestBandwidthGovernorErrors: zones rise and lie below the highest vote, decisions take a sample at least.
func TestBandwidthGovernorErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*Governor)
		want   string
	}{
		{func(*Governor) {}, ""},
		{func(g *Governor) { g.MaxMBps = 5931 }, "5931 takes no effect: it is not below max_mbps"},
		{func(g *Governor) { g.MaxMBps = 5931.5 }, ""},
		{func(g *Governor) { g.MBpsZones = []float64{1720, 1700} }, "[1720 1700] do not rise"},
		{func(g *Governor) { g.DecisionUs = g.SampleUs }, ""},
		{func(g *Governor) { g.DecisionUs = g.SampleUs - 1 }, "is less than sample_us"},
		{func(g *Governor) { g.Kind = governorAdrenoTZ; g.UpShare, g.DownShare = .5, .5 }, "down_share: 0.5 is not below up_share"},
	} {
		g := *preset(t, "pixel4").DRAM.Clock.Governor
		c.change(&g)
		k := checker{file: "f", pos: map[string]position{}}
		for _, x := range governorKeys {
			for _, key := range x.keys {
				if x.kind == g.Kind {
					k.pos["x."+key] = position{}
				}
			}
		}
		k.governor("x", &g, governorBandwidth, governorAdrenoTZ)
		got := ""
		if err := k.err(); err != nil {
			got = err.Error()
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestGoverned: the GPU of a Pixel 4 follows its load; the clocks of its DSP and NPU are votes of drivers. The CPU, whose
// clusters follow theirs, has no clock that is one.
func TestGoverned(t *testing.T) {
	c := preset(t, "pixel4")
	for e, want := range map[Engine]bool{EngineCPU: false, EngineGPU: true, EngineDSP: false, EngineNPU: false, NumEngines: false} {
		if got := c.Governed(e); got != want {
			t.Errorf("%s: %v", e, got)
		}
	}
	if c.CPU.Clusters[0].Clock.Governor == nil {
		t.Error("the CPU of a Pixel 4 has no governor")
	}
	c.GPU = nil
	if c.Governed(EngineGPU) {
		t.Error("an absent GPU is governed")
	}
}

// TestThermalRules: the rules of a file as its network has them; the GPU's of a Pixel 4 that compares it with the CPU.
func TestThermalRules(t *testing.T) {
	x := preset(t, "pixel4").Thermal
	const cpu, gpu, skin = 0, 1, 5
	for i, want := range map[int]thermal.Rule{
		0: {Sensor: skin, Minus: thermal.None, Gate: thermal.None, Every: 2 * sim.Second,
			Steps: []thermal.Step{{Reach: 40, Clear: 39, Hz: 2131e6}, {Reach: 42, Clear: 41, Hz: 1804e6}, {Reach: 44, Clear: 43, Hz: 1401e6}}},
		3: {Sensor: gpu, Minus: cpu, Gate: skin, GateCelsius: 41, Every: sim.Second, Steps: []thermal.Step{{Reach: 8, Clear: 2, Hz: 427e6}}},
	} {
		if diff := cmp.Diff(&want, x.rule(&x.Rules[i])); diff != "" {
			t.Errorf("rule %d (-want +got):\n%s", i, diff)
		}
	}
	status := x.status()
	if status.Sensor != skin || status.Minus != thermal.None || status.Gate != thermal.None || status.Every != sim.Second || len(status.Steps) != 6 {
		t.Errorf("status: %+v", status)
	}
	for i, reach := range []float64{40, 44, 46, 48, 52, 56} {
		if s := status.Steps[i]; s.Reach != reach || math.Abs(s.Clear-(reach-1.9)) > 1e-9 || s.Hz != 0 {
			t.Errorf("status %d: %+v", i, s)
		}
	}
}

// TestMemoryRates: rates are those of other random lines and streams, to what 1024 of them differ by.
func TestMemoryRates(t *testing.T) {
	c := preset(t, "pixel4")
	const line, n = 64, 4096
	r := rand.New(rand.NewPCG(5, 6))
	var d *dram.DRAM
	var port mem.Level
	var now, last sim.Time
	var flight []sim.Time
	start := func(inFlight int) {
		s, bus, err := c.NewFabric()
		require.NoError(t, err)
		d, port, now, last, flight = s, bus.Port("cpu"), 0, 0, make([]sim.Time, inFlight)
	}
	access := func(number uint64, k mem.Kind) {
		now = max(now, flight[0])
		done, _ := port.Access(now, number*line, line, k)
		flight, last = append(flight[1:], done), max(last, done)
	}
	near := func(what string, inFlight int, got, want, share float64) {
		if math.Abs(got-want) > share*want {
			t.Errorf("%s with %d in flight: %v, want %v", what, inFlight, got, want)
		}
	}
	for _, inFlight := range []int{1, 16, 64} {
		rates, err := c.MemoryRates(line, inFlight)
		require.NoError(t, err)
		start(inFlight)
		for i := range uint64(n) {
			access(r.Uint64N(1<<20), mem.Read)
			access(2<<20+i, mem.Write)
		}
		near("random lines", inFlight, rates.Random.Seconds(), max(last, d.Flush(last)).Seconds()/n, .02)
		start(inFlight)
		for i := uint64(0); i < n; i += 16 { // a chunk of 1 KiB of each
			for k := range uint64(48) {
				access(k/16*(1<<20+128)+i+k%16, []mem.Kind{mem.Read, mem.Read, mem.Write}[k/16])
			}
		}
		near("streams", inFlight, rates.StreamPerSecond, 3*n*line/max(last, d.Flush(last)).Seconds(), .02)
		start(1)
		sum := sim.Time(0)
		for i := range sim.Time(n) {
			at := i * sim.Microsecond
			done, _ := port.Access(at, r.Uint64N(1<<20)*line, line, mem.Read)
			sum += done - at
		}
		near("alone", inFlight, rates.Alone.Seconds(), sum.Seconds()/n, .02)
	}
}

// TestObserveDRAMEnds: who observes the DRAM sees every byte in spans of 50 us until it ends that; the last to end it
// ends the count.
func TestObserveDRAMEnds(t *testing.T) {
	m, err := NewMachine(preset(t, "pixel4"))
	require.NoError(t, err)
	const bytes = 4 << 20
	execute := func() {
		t.Helper()
		_, err := m.Execute(Request{Engine: EngineNPU, Buffers: 1}, func(k Conditions) (Outcome, error) {
			last := sim.Time(0)
			for at := uint64(0); at < bytes; at += 64 << 10 {
				last, _ = k.Memory.Access(last, at, 64<<10, mem.Read)
			}
			return Outcome{Time: last}, nil
		})
		require.NoError(t, err)
	}
	var seen, both int64
	end := m.ObserveDRAM(func(x *DRAMUse) {
		if seen += x.Bytes; x.To-x.From != 50*sim.Microsecond || x.Engine != EngineNPU || x.Bytes <= 0 {
			t.Errorf("%+v", *x)
		}
	})
	execute()
	if seen != bytes {
		t.Errorf("%d bytes seen of %d", seen, bytes)
	}
	endBoth := m.ObserveDRAM(func(x *DRAMUse) { both += x.Bytes })
	end()
	m.memory.Cache.Reset()
	execute()
	if seen != bytes || both != bytes {
		t.Errorf("%d and %d bytes seen of %d", seen, both, bytes)
	}
	endBoth()
	m.memory.DRAM.Read(0, 1<<30, 64)
	m.memory.DRAM.Measured(sim.Never, func(from, to sim.Time, _ *dram.Moved) { t.Fatalf("%v to %v is measured", from, to) })
}

// TestPreemption: a program gives its engine away only to one of higher priority that has come, and counts its own time from
// where its run began, without the time that others have had. The other begins when the state is saved. The parts have it in
// order, and points of the clock that follow count on the program's own time.
func TestPreemption(t *testing.T) {
	for e, points := range map[Engine]bool{EngineNPU: false, EngineGPU: true} {
		c := preset(t, "pixel4")
		c.NPU.Path.Preempt = &Preempt{SaveUs: 100, RestoreUs: 300}
		c.GPU.Path.Preempt = c.NPU.Path.Preempt
		m, err := NewMachine(c)
		require.NoError(t, err)
		const ms, save, restore = sim.Millisecond, 100 * sim.Microsecond, 300 * sim.Microsecond
		const first, high = 2 * ms, 3 * ms // when the second run begins; what the others take
		var began [4]sim.Time
		var own Execution
		client := func(i, priority int, after sim.Time, run func(k Conditions) sim.Time) func() error {
			return func() error {
				m.Sleep(after)
				x, err := m.Execute(Request{Engine: e, Preference: sim.FastSingleAnswer, Buffers: 1, Priority: priority}, func(k Conditions) (Outcome, error) {
					began[i] = m.Now() + k.Start
					return Outcome{Time: run(k)}, nil
				})
				if i == 0 {
					own = x
				}
				return err
			}
		}
		short := func(Conditions) sim.Time { return high }
		_, err = m.Together(
			client(0, 1, 0, func(k Conditions) sim.Time {
				k.Begin(first)
				for _, x := range []struct {
					at    sim.Time // of the second run
					yield bool
				}{{0, false}, {7 * ms, false}, {12 * ms, true}, {14 * ms, false}, {18 * ms, true}, {40 * ms, false}} {
					if got := k.Turn.Over(x.at); got != x.yield {
						t.Errorf("%s: over at %v: %v", e, x.at, got)
					}
					if !x.yield {
						continue
					}
					plan := k.Turn.Yield(x.at)
					if more := points && x.at == 12*ms; more != (len(plan) > 1) || plan[0].At != 0 {
						t.Errorf("%s: points %v", e, plan)
					}
					for _, p := range plan[1:] {
						if p.At <= x.at || p.At > x.at+10*ms {
							t.Errorf("%s: a point at %v, the engine is back at %v", e, p.At, x.at)
						}
					}
				}
				return 50 * ms
			}),
			client(1, 1, ms, short), // waits for the end
			client(2, 2, 12*ms, short),
			client(3, 3, 22*ms, short), // 12 + 3 ms + what the engine was away is 18.5
		)
		require.NoError(t, err)
		var parts []Part
		for _, p := range own.Parts {
			switch n := len(parts); {
			case n > 0 && parts[n-1].Name == p.Name:
				parts[n-1].Time += p.Time
			case p.Name == PartExecution || n > 0 && p.Time > 0:
				parts = append(parts, Part{Name: p.Name, Time: p.Time})
			}
		}
		for i, want := range []Part{
			{Name: PartExecution, Time: 14 * ms}, {Name: PartSwitch, Time: save}, {Name: PartPreempted, Time: high}, {Name: PartSwitch, Time: restore},
			{Name: PartExecution, Time: 6 * ms}, {Name: PartSwitch, Time: save}, {Name: PartPreempted, Time: high}, {Name: PartSwitch, Time: restore},
			{Name: PartExecution, Time: 30 * ms},
		} {
			if i >= len(parts) || parts[i].Name != want.Name || parts[i].Time != want.Time {
				t.Errorf("%s: parts %v, number %d is to be %v", e, parts, i, want)
				break
			}
		}
		const away = save + high + restore
		for i, want := range []sim.Time{0, 50*ms + 2*away, 14*ms + save, 20*ms + away + save} {
			if got := began[i] - began[0]; got != want {
				t.Errorf("%s: client %d begins at %v, want %v", e, i, got, want)
			}
		}
	}
}
