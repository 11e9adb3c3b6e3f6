package platform_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// machine is a preset's machine, changed by edit.
func machine(t *testing.T, preset string, edit func(*soc.Config)) *platform.Machine {
	t.Helper()
	c := require.V(soc.Load(preset))(t)
	if edit != nil {
		edit(c)
	}
	m := require.V(platform.NewMachine(c))(t)
	return m
}

// loop is an execution of a loop that has warmed up.
func loop(t *testing.T, m *platform.Machine, r platform.Request, out platform.Outcome) platform.Execution {
	t.Helper()
	require.NoError(t, m.Repeat(r, out, platform.WarmUp))
	x := require.V(m.Execute(r, func(platform.Conditions) (platform.Outcome, error) { return out, nil }))(t)
	return x
}

// within fails when a time is further from a published one than a share of it.
func within(t *testing.T, what string, got sim.Time, wantUs, share float64) {
	t.Helper()
	if us := got.Microseconds(); !(math.Abs(us-wantUs) <= share*wantUs) {
		t.Errorf("%s: %.0f us, published %.0f", what, us, wantUs)
	} else {
		t.Logf("%s: %.0f us, published %.0f: %+.0f %%", what, us, wantUs, 100*(us/wantUs-1))
	}
}

// documented holds a row of the check values of docs/Time.md.
func documented(t *testing.T, row, want string) {
	t.Helper()
	if have := doctable.Cell(t, "../../docs/Time.md", "| what | published | here | test |", row, 2); have != want {
		t.Errorf("docs/Time.md, %s: %s, want %s", row, have, want)
	}
}

// TestFastRPC compares a call to a Hexagon DSP without NNAPI around it with Qualcomm's table for the SM8150: the
// overhead over the DSP's work, with the idle states of the CPU and with a vote that forbids all but the lightest. No
// constant is from the table itself.
func TestFastRPC(t *testing.T) {
	var without, voted []string
	for _, x := range []struct {
		work           sim.Time
		without, voted float64
	}{{100 * sim.Microsecond, 792, 435}, {1200 * sim.Microsecond, 1163, 431}, {11 * sim.Millisecond, 1700, 449}} {
		native := func(c *soc.Config) {
			c.DSP.Path.Transport, c.DSP.Path.Callback, c.Host.RuntimeUs = "direct", false, 0
		}
		r := platform.Request{Engine: soc.EngineDSP, Preference: sim.FastSingleAnswer, Buffers: 2, In: 32 << 10, Out: 32 << 10}
		e := loop(t, machine(t, "pixel4", native), r, platform.Outcome{Time: x.work})
		within(t, "FastRPC", e.Latency-x.work, x.without, 0.2)
		without = append(without, fmt.Sprintf("%.0f", (e.Latency-x.work).Microseconds()))
		e = loop(t, machine(t, "pixel4", func(c *soc.Config) {
			native(c)
			c.Host.Idle = c.Host.Idle[:1]
		}), r, platform.Outcome{Time: x.work})
		within(t, "FastRPC with a vote", e.Latency-x.work, x.voted, 0.2)
		if us := fmt.Sprintf("%.0f", (e.Latency - x.work).Microseconds()); !slices.Contains(voted, us) {
			voted = append(voted, us)
		}
	}
	documented(t, "FastRPC on SM8150", strings.Join(without, " / "))
	documented(t, "the same with a vote", strings.Join(voted, " / "))
}

// TestInterceptsOfNNAPI compares the chains of executions that compute next to nothing
// with published figures: the intercept of a Pixel 3's quantized networks on its DSP, and a
// 4-element ADD on the NPU of an Exynos 2400, without the vote of a Pixel's NPU for light idle states (D-1740). TestLoopsOnGPU has those of a GPU.
func TestInterceptsOfNNAPI(t *testing.T) {
	for _, x := range []struct {
		engine  soc.Engine
		work    sim.Time
		in, out int64
		want    float64
		row     string
	}{
		{soc.EngineDSP, 5 * sim.Microsecond, 32, 16, 2400, "intercept of a Pixel 3's networks on its DSP"},
		{soc.EngineGPU, 754 * sim.Microsecond, 224 * 224 * 3 * 4, 4000, 1733, "MobileNet v1 0.25 in float16 on a Pixel 4's GPU"}, // of kernels, and in all: qed-usc/mobile-ml-benchmark
		{soc.EngineNPU, 10 * sim.Microsecond, 32, 16, 922, "4-element ADD"},
	} {
		r := platform.Request{Engine: x.engine, Preference: sim.FastSingleAnswer, Buffers: 3, In: x.in, Out: x.out}
		e := loop(t, machine(t, "pixel4", func(c *soc.Config) { c.NPU.Path.CPULatencyUs = 0 }), r, platform.Outcome{Time: x.work})
		within(t, x.engine.String(), e.Latency, x.want, 0.2)
		documented(t, x.row, fmt.Sprintf("%.0f", e.Latency.Microseconds()))
	}
}

// TestPartsAddUp: the parts of an execution are its latency and its energy, on every
// engine of every preset, cold and in a loop.
func TestPartsAddUp(t *testing.T) {
	for _, preset := range soc.Names() {
		c := require.V(soc.Load(preset))(t)
		m := require.V(platform.NewMachine(c))(t)
		for e, there := range []bool{true, c.GPU != nil, c.DSP != nil, c.NPU != nil} {
			r := platform.Request{Engine: soc.Engine(e), Buffers: 2, In: 1 << 20, Out: 1 << 10}
			out := platform.Outcome{Time: sim.Millisecond, EnergyPJ: 1e9, Launches: 2}
			if !there {
				require.Fails(t, require.Err(m.Execute(r, nil)), preset, "an engine that is not there executes")
				continue
			}
			m.Reset()
			for range 3 {
				start := m.Now()
				x := require.V(m.Execute(r, func(k platform.Conditions) (platform.Outcome, error) { return out, nil }))(t)
				var sum sim.Time
				var pj float64
				for _, p := range x.Parts {
					if p.Time <= 0 || !(p.EnergyPJ > 0) {
						t.Errorf("%s: %s: part %+v", preset, r.Engine, p)
					}
					sum += p.Time
					pj += p.EnergyPJ
				}
				if sum != x.Latency || m.Now() != start+sum || pj != x.EnergyPJ {
					t.Errorf("%s: %s: parts of %v and %v pJ, execution of %v and %v", preset, r.Engine, sum, pj, x.Latency, x.EnergyPJ)
				}
			}
		}
	}
}

// TestBurst: a burst has no binder, no callback, and cores that wake up quickly.
func TestBurst(t *testing.T) {
	r := platform.Request{Engine: soc.EngineDSP, Preference: sim.FastSingleAnswer, Buffers: 2, In: 32, Out: 32}
	out := platform.Outcome{Time: 100 * sim.Microsecond}
	plain := loop(t, machine(t, "pixel4", nil), r, out)
	r.Burst = true
	fast := loop(t, machine(t, "pixel4", nil), r, out)
	if fast.Latency >= plain.Latency/2 {
		t.Errorf("%v in a burst, %v without", fast.Latency, plain.Latency)
	}
	for _, p := range fast.Parts {
		if p.Name == platform.PartBinder || p.Name == platform.PartThread || p.Name == platform.PartCPUWake && p.Time > 44*sim.Microsecond {
			t.Errorf("part %+v of a burst", p)
		}
	}
}

// TestPreferenceOfCPU: a preference limits the CPU's clocks while its model runs, and not those of the software before
// and after.
func TestPreferenceOfCPU(t *testing.T) {
	m := machine(t, "pixel4", nil)
	out := platform.Outcome{Time: 5 * sim.Millisecond}
	highest := func(p sim.Preference) (hz int64) {
		r := platform.Request{Engine: soc.EngineCPU, Preference: p}
		require.NoError(t, m.Repeat(r, out, platform.WarmUp))
		require.V(m.Execute(r, func(k platform.Conditions) (platform.Outcome, error) {
			for _, c := range k.Points {
				hz = max(hz, c.OPP.Hz)
			}
			return out, nil
		}))(t)
		return hz
	}
	for _, x := range []struct {
		p  sim.Preference
		hz int64
	}{{sim.LowPower, 1401e6}, {sim.FastSingleAnswer, 2841e6}, {sim.SustainedSpeed, 1401e6}} {
		require.Same(t, x.hz, highest(x.p), "preference", x.p, "Hz")
	}
	// After a network at 1401 MHz the clock of the software of a DSP that is busy all the time still rises.
	r := platform.Request{Engine: soc.EngineDSP, Buffers: 2000, In: 32 << 20, Out: 32 << 20}
	host := slices.Index(m.Clocks(), "host")
	var hz int64
	m.Observe(func(s *platform.Sample) { hz = max(hz, s.Hz[host]) })
	require.NoError(t, m.Repeat(r, platform.Outcome{Time: sim.Microsecond}, 200*sim.Millisecond))
	if hz <= 1401e6 {
		t.Errorf("the host's cores run at %d Hz behind a network with a limit", hz)
	}
}

// TestCold: the first execution pays for waking up; the second does not.
func TestCold(t *testing.T) {
	m := machine(t, "pixel4", nil)
	r := platform.Request{Engine: soc.EngineNPU, Preference: sim.FastSingleAnswer, Buffers: 2, In: 32, Out: 32}
	run := func() map[string]sim.Time {
		x, err := m.Execute(r, func(platform.Conditions) (platform.Outcome, error) {
			return platform.Outcome{Time: sim.Millisecond}, nil
		})
		require.NoError(t, err)
		parts := map[string]sim.Time{}
		for _, p := range x.Parts {
			parts[p.Name] += p.Time
		}
		return parts
	}
	first, second := run(), run()
	if first[platform.PartWake] != 300*sim.Microsecond || first[platform.PartRamp] != 50*sim.Microsecond || second[platform.PartWake] != 0 || second[platform.PartRamp] != 0 {
		t.Errorf("first %v, second %v", first, second)
	}
	m.Sleep(m.Now() + sim.Second)
	if again := run(); again[platform.PartWake] == 0 {
		t.Errorf("after a second: %v", again)
	}
	m.Reset()
	if cold := run(); cold[platform.PartWake] != first[platform.PartWake] || m.Now() == 0 {
		t.Errorf("after Reset: %v, first %v", cold, first)
	}
}

// TestWorkedExample: the table of docs/Time.md equals the machine's result.
func TestWorkedExample(t *testing.T) {
	r := platform.Request{Engine: soc.EngineDSP, Preference: sim.FastSingleAnswer, Buffers: 2, In: 1 << 10, Out: 1 << 10}
	x := loop(t, machine(t, "pixel4", nil), r, platform.Outcome{Time: 100 * sim.Microsecond})
	rows := doctable.Rows(t, "../../docs/Time.md", "| part | us | how |")
	if len(rows) != len(x.Parts) {
		t.Errorf("%d rows, %d parts", len(rows), len(x.Parts))
	}
	for i, p := range x.Parts {
		if us := fmt.Sprintf("%.1f", p.Time.Microseconds()); i >= len(rows) || rows[i][0] != p.Name || rows[i][1] != us {
			t.Errorf("row %d must begin with %s and %s", i, p.Name, us)
		}
	}
}

func BenchmarkRepeat(b *testing.B) {
	c := require.V(soc.Load("pixel4"))(b)
	for range b.N {
		m := require.V(platform.NewMachine(c))(b)
		r := platform.Request{Engine: soc.EngineNPU, Buffers: 2, In: 32, Out: 32}
		require.NoError(b, m.Repeat(r, platform.Outcome{Time: 10 * sim.Microsecond}, platform.WarmUp))
	}
}
