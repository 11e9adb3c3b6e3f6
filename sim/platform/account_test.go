package platform_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// gpuLoop is a request and its outcome on the GPU: 2.5 W for 10 ms.
func gpuLoop() (platform.Request, platform.Outcome) {
	return platform.Request{Engine: soc.EngineGPU, Preference: sim.FastSingleAnswer, Buffers: 2, In: 1 << 10, Out: 1 << 10},
		platform.Outcome{Time: 10 * sim.Millisecond, EnergyPJ: 25e9, DRAMBytes: 20 << 20}
}

// again executes a request whose outcome is known for a time.
func again(t testing.TB, m *platform.Machine, r platform.Request, out platform.Outcome, until sim.Time) (last platform.Execution) {
	t.Helper()
	for m.Now() < until {
		x := require.V(m.Execute(r, func(platform.Conditions) (platform.Outcome, error) { return out, nil }))(t)
		last = x
	}
	return last
}

// TestSamplesAddUp: samples follow one another without a gap, and their power is the energy of the executions and of
// the waits between them, and no more.
func TestSamplesAddUp(t *testing.T) {
	m := machine(t, "pixel4", func(c *soc.Config) { c.Thermal.LeakagePerK = 0 })
	var at sim.Time
	var joules [soc.NumRails]float64
	bytes := 0.0
	m.Observe(func(s *platform.Sample) {
		if s.From != at || s.To <= s.From || len(s.Celsius) != len(m.Sensors()) || len(s.Hz) != len(m.Clocks()) {
			t.Fatalf("sample %+v after %d", s, at)
		}
		at = s.To
		for i, w := range s.Watts {
			joules[i] += w * (s.To - s.From).Seconds()
		}
		bytes += s.DRAMBytes
	})
	r, out := gpuLoop()
	parts, n := 0.0, 0.0
	for range 20 {
		x := again(t, m, r, out, m.Now()+1)
		parts += x.EnergyPJ * 1e-12
		n++
	}
	m.Sleep(m.Now() + 3*sim.Second)
	if at != m.Now() {
		t.Errorf("samples end at %d, now is %d", at, m.Now())
	}
	if want := n * float64(out.DRAMBytes); !(math.Abs(bytes-want) < 1) {
		t.Errorf("%v bytes of memory, want %v", bytes, want)
	}
	// Between executions: the GPU awake for 300 us at most, the memory at 54 mW, a core at
	// 80 mW, the rest at 53 mW.
	sum := 0.0
	for _, j := range joules {
		sum += j
	}
	if least, most := parts, parts+n*300e-6*1+at.Seconds()*(0.054+0.080+0.053)+0.1; !(sum >= least && sum <= most) {
		t.Errorf("%v J, want %v of the executions to %v", sum, least, most)
	}
	if joules[soc.RailDSP] != 0 || !(joules[soc.RailGPU] > 15*joules[soc.RailDRAM]/10) {
		t.Errorf("rails %v", joules)
	}
}

// TestWarming: the body of a phone warms up as a single node would, the die is ahead of
// it, and both are cold again after Reset.
func TestWarming(t *testing.T) {
	m := machine(t, "pixel4", func(c *soc.Config) { c.Thermal.Rules = nil })
	sensors := m.Sensors()
	gpu, skin := slices.Index(sensors, "gpu"), slices.Index(sensors, "skin")
	var start, now []float64
	var joules [soc.NumRails]float64
	seconds := 0.0
	m.Observe(func(s *platform.Sample) {
		if start == nil {
			start = slices.Clone(s.Celsius)
		}
		now = s.Celsius
		for r, w := range s.Watts {
			joules[r] += w * (s.To - s.From).Seconds()
		}
		seconds += (s.To - s.From).Seconds()
	})
	r, out := gpuLoop()
	again(t, m, r, out, 300*sim.Second)
	heat := 0.0
	for _, j := range joules {
		heat += j
	}
	watts := heat / seconds
	// All heat leaves through the skin. What is not spent there warms the package first, which is
	// 5 K/W above the skin, and the GPU's die, 6 K/W above the package; then all rise together.
	const skinKW, packageKW, dieKW = 12, 5, 6
	config := require.V(soc.Load("pixel4"))(t)
	nodes, all := map[string]float64{}, 0.0 // J/K
	for _, n := range config.Thermal.Nodes {
		nodes[n.Name] = n.JPerK
		all += n.JPerK
	}
	delay := packageKW*(all-nodes["skin"])*(1-joules[soc.RailRest]/heat) + dieKW*nodes["gpu"]*joules[soc.RailGPU]/heat
	idle := (start[skin] - 25) / skinKW // watts before
	want := start[skin] + skinKW*(watts-idle)*(1-math.Exp(-(seconds-delay)/(skinKW*all)))
	if !(math.Abs(now[skin]-want) < 0.2) {
		t.Errorf("skin at %.2f C after %.0f s of %.2f W, want about %.2f", now[skin], seconds, watts, want)
	}
	if rise := now[gpu] - now[skin]; !(rise > 15 && rise < 11*watts) {
		t.Errorf("GPU %.1f C above the skin", rise)
	}
	if !(start[skin] > 25 && start[skin] < 30) {
		t.Errorf("skin at %.1f C at first", start[skin])
	}
	m.Reset()
	again(t, m, r, out, 1)
	if now[skin] > start[skin]+0.1 {
		t.Errorf("skin at %.1f C after Reset, %.1f at first", now[skin], start[skin])
	}
}

// TestThrottling: in a hot place the rules lower the GPU's clock step by step, lift the
// limits when it is cool again, and a phone that is too hot switches itself off.
func TestThrottling(t *testing.T) {
	m := machine(t, "pixel4", func(c *soc.Config) { c.Thermal.AmbientC = 40 })
	clock, skin := slices.Index(m.Clocks(), "gpu"), slices.Index(m.Sensors(), "skin")
	var seen []string
	m.Observe(func(s *platform.Sample) {
		x := fmt.Sprintf("%d MHz %s", s.Hz[clock]/1e6, s.Status)
		if !slices.Contains(seen, x) && (len(seen) == 0 || seen[len(seen)-1] != x) {
			seen = append(seen, x)
		}
		if c := s.Celsius[skin]; s.Hz[clock] > 427e6 && c > 46.5 || s.Hz[clock] > 257e6 && c > 48.5 {
			t.Fatalf("%s at %.1f C", x, c)
		}
	})
	r, out := gpuLoop()
	again(t, m, r, out, 300*sim.Second)
	text := strings.Join(seen, ", ")
	for _, want := range []string{"585 MHz light", "427 MHz light", "345 MHz", "257 MHz critical"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	hot := machine(t, "pixel4", func(c *soc.Config) { c.Thermal.AmbientC = 58 })
	hot.Sleep(2 * sim.Second)
	if _, err := hot.Execute(r, func(platform.Conditions) (platform.Outcome, error) { return out, nil }); !errors.Is(err, platform.ErrShutdown) {
		t.Errorf("at 58 C: %v", err)
	}
}

// TestLeakage: a warm engine draws more than a cold one, by its static power.
func TestLeakage(t *testing.T) {
	r, out := gpuLoop()
	m := machine(t, "pixel4", nil)
	cold := again(t, m, r, out, 1)
	warm := again(t, m, r, out, 60*sim.Second)
	// The GPU has 1 W of static power, and is 20 to 40 K warmer after a minute.
	more := (warm.EnergyPJ - cold.EnergyPJ) / (1e12 * out.Time.Seconds())
	if !(more > 0.05 && more < 0.25) {
		t.Errorf("%.3f W more when warm", more)
	}
}

// TestAccountOfAGroup: concurrent clients use the same energy as one after the other, and samples stay in order.
func TestAccountOfAGroup(t *testing.T) {
	r, out := gpuLoop()
	d := platform.Request{Engine: soc.EngineDSP, Preference: sim.FastSingleAnswer, Buffers: 2, In: 1 << 10, Out: 1 << 10}
	m := machine(t, "pixel4", func(c *soc.Config) { c.Thermal.LeakagePerK = 0 })
	var at sim.Time
	joules, busy := 0.0, 0.0
	m.Observe(func(s *platform.Sample) {
		if s.From != at {
			t.Fatalf("sample from %d after %d", s.From, at)
		}
		at = s.To
		joules += s.Watts[soc.RailGPU] * (s.To - s.From).Seconds()
		busy += s.DRAMBytes
	})
	loop := func(r platform.Request, n int) func() error {
		return func() error {
			for range n {
				if _, err := m.Execute(r, func(platform.Conditions) (platform.Outcome, error) { return out, nil }); err != nil {
					return err
				}
			}
			return nil
		}
	}
	require.V(m.RunConcurrent(loop(r, 5), loop(d, 9)))(t)
	m.Sleep(m.Now() + sim.Second)
	if want := 14 * float64(out.DRAMBytes); !(math.Abs(busy-want) < 1) {
		t.Errorf("%v bytes, want %v", busy, want)
	}
	if !(joules > 5*0.023 && joules < 5*0.0255) {
		t.Errorf("GPU %v J, want less than 5 x 25 mJ by its memory's part and more by its pauses", joules)
	}
}

// railsOf adds up the energy of the rails while a machine works.
func railsOf(m *platform.Machine) *[soc.NumRails]float64 {
	var pj [soc.NumRails]float64
	m.Observe(func(s *platform.Sample) {
		for r, w := range s.Watts {
			pj[r] += w * float64(s.To-s.From) / 1e3
		}
	})
	return &pj
}

// TestEnergyOfRails: back to back, executions are charged with all that the rails have supplied, rail by rail:
// including an engine that waits for the host, the memory's background and the rest of the phone. Their parts and rails
// add up to that, as does Spent.
func TestEnergyOfRails(t *testing.T) {
	for _, e := range []soc.Engine{soc.EngineCPU, soc.EngineGPU, soc.EngineDSP, soc.EngineNPU} {
		m := machine(t, "pixel4", nil)
		r := platform.Request{Engine: e, Buffers: 2, In: 1 << 10, Out: 1 << 10}
		out := platform.Outcome{Time: 100 * sim.Microsecond, EnergyPJ: 5e7, DRAMBytes: 1 << 16}
		again(t, m, r, out, 1)
		rails, before := railsOf(m), m.Spent()
		var sum [soc.NumRails]float64
		for range 20 {
			x := again(t, m, r, out, m.Now()+1)
			all, parts := 0.0, 0.0
			for rail, pj := range x.Rails {
				sum[rail] += pj
				all += pj
			}
			for _, p := range x.Parts {
				parts += p.EnergyPJ
			}
			if !near(all, x.EnergyPJ) || !near(parts, x.EnergyPJ) {
				t.Errorf("%s: %v pJ, parts of %v, rails of %v", e, x.EnergyPJ, parts, all)
			}
		}
		for rail, pj := range rails {
			if spent := m.Spent()[rail] - before[rail]; !near(sum[rail], pj) || !near(spent, pj) {
				t.Errorf("%s: %s supplied %v pJ, executions have spent %v, Spent says %v", e, soc.Rail(rail), pj, sum[rail], spent)
			}
		}
		if e != soc.EngineCPU && !(sum[e] > 1.2*20*(out.EnergyPJ-6.5e6)) {
			t.Errorf("%s: %v pJ of its rail, it draws nothing while the host works", e, sum[e])
		}
	}
}

// TestEnergyBesideOthers: of concurrent executions, their own energies and the divided ones add up to that of the
// rails; while a client is alone at the end, all is its own.
func TestEnergyBesideOthers(t *testing.T) {
	m := machine(t, "pixel4", nil)
	rails := railsOf(m)
	var own [3]float64
	var shared [3]*platform.Account
	var run []func() error
	for i, e := range []soc.Engine{soc.EngineDSP, soc.EngineNPU, soc.EngineGPU} {
		run = append(run, func() error {
			shared[i] = m.Account()
			r := platform.Request{Engine: e, Buffers: 2, In: 1 << 10, Out: 1 << 10}
			out := platform.Outcome{Time: sim.Time(i+1) * sim.Millisecond, EnergyPJ: 5e8}
			for range 2 * (i + 1) {
				x, err := m.Execute(r, func(platform.Conditions) (platform.Outcome, error) { return out, nil })
				if err != nil {
					return err
				}
				own[i] += x.EnergyPJ
			}
			return nil
		})
	}
	require.V(m.RunConcurrent(run...))(t)
	want, got := 0.0, 0.0
	for _, pj := range rails {
		want += pj
	}
	for i := range own {
		all := 0.0
		for _, pj := range shared[i].PJ {
			all += pj
		}
		if !(all > 0.02*own[i]) {
			t.Errorf("client %d has a share of %v pJ beside its own %v", i, all, own[i])
		}
		got += own[i] + all
	}
	if !near(got, want) {
		t.Errorf("clients have %v pJ, the rails supplied %v", got, want)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }
