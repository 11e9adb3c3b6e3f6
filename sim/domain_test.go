package sim_test

import (
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
)

// clocks are three points of a domain.
func clocks(g sim.Governor) sim.DomainConfig {
	return sim.DomainConfig{
		Name: "test", OPPs: []sim.OPP{{1e8, 0.6}, {2e8, 0.7}, {4e8, 0.8}},
		Ramp: 50 * sim.Microsecond, IdleAfter: sim.Millisecond, IdleExit: 300 * sim.Microsecond, Slumber: 80 * sim.Millisecond,
		Points: [sim.NumPreferences]int{1, 2, 1}, Governor: g,
	}
}

func domain(t *testing.T, g sim.Governor) *sim.Domain {
	t.Helper()
	d := require.V(sim.NewDomain(clocks(g)))(t)
	return d
}

// TestDomainSleep: a domain wakes from sleep after IdleAfter, changes a voted point in
// Ramp, and does neither when it has just worked.
func TestDomainSleep(t *testing.T) {
	d := domain(t, nil)
	d.Prefer(sim.FastSingleAnswer)
	if wake, ramp := d.Wake(0); wake != 300*sim.Microsecond || ramp != 50*sim.Microsecond {
		t.Errorf("cold: %v, %v", wake, ramp)
	}
	d.Sleep(2 * sim.Millisecond)
	if wake, ramp := d.Wake(2*sim.Millisecond + 1); wake != 0 || ramp != 0 {
		t.Errorf("short idle: %v, %v", wake, ramp)
	}
	d.Sleep(3 * sim.Millisecond)
	if wake, _ := d.Wake(4 * sim.Millisecond); wake != 300*sim.Microsecond {
		t.Errorf("long idle: %v", wake)
	}
	d.Prefer(sim.LowPower)
	if o, _ := d.Point(); o.Hz != 2e8 {
		t.Errorf("low power at %d Hz", o.Hz)
	}
	d.Limit(15e7)
	if o, _ := d.Point(); o.Hz != 1e8 {
		t.Errorf("capped at %d Hz", o.Hz)
	}
}

// TestAdrenoTZ: no raise before 5 ms, one point per decision, the highest after 50 ms
// of work, down again when the load is low, the lowest after slumber.
func TestAdrenoTZ(t *testing.T) {
	g := sim.AdrenoTZ{Sample: 5 * sim.Millisecond, MinBusy: sim.Millisecond, Ceiling: 50 * sim.Millisecond, UpShare: 0.9, DownShare: 0.5}
	d := domain(t, g)
	d.Wake(0)
	plan := d.Plan(sim.Second)
	const ramp = 50 * sim.Microsecond
	want := []sim.Change{{OPP: sim.OPP{1e8, 0.6}}, {At: 5*sim.Millisecond + ramp, OPP: sim.OPP{2e8, 0.7}}, {At: 10*sim.Millisecond + ramp, OPP: sim.OPP{4e8, 0.8}}}
	if len(plan) != len(want) {
		t.Fatalf("plan %v, want %v", plan, want)
	}
	for i := range want {
		require.Same(t, want[i], plan[i], "change", i)
	}
	if _, p := d.Point(); p != 0 {
		t.Errorf("a plan moved the domain to point %d", p)
	}
	// Half the load keeps the point, even with a long history.
	half := domain(t, sim.AdrenoTZ{Sample: 5 * sim.Millisecond, MinBusy: sim.Millisecond, Ceiling: 50 * sim.Millisecond, UpShare: 0.9, DownShare: 0.3})
	half.Wake(0)
	for ms := sim.Time(0); ms < 40; ms++ {
		half.Advance(ms*sim.Millisecond+sim.Millisecond/2, true)
		half.Advance((ms+1)*sim.Millisecond, false)
	}
	if _, p := half.Point(); p != 0 {
		t.Errorf("half a load: point %d after 40 ms", p)
	}
	for ms := sim.Time(40); ms < 140; ms++ {
		half.Advance(ms*sim.Millisecond+sim.Millisecond/2, true)
		half.Advance((ms+1)*sim.Millisecond, false)
	}
	if _, p := half.Point(); p != 2 {
		t.Errorf("50 ms of work: point %d", p)
	}
	half.Sleep(140 * sim.Millisecond)
	half.Wake(sim.Second)
	if _, p := half.Point(); p != 0 {
		t.Errorf("after slumber: point %d", p)
	}
}

// TestFirstStep: the first step of a GPU is 5 ms after its work begins, wherever between two decisions that is and
// however long it has been idle; a domain that does not slumber finds no idle time in the load of its first decision at
// work.
func TestFirstStep(t *testing.T) {
	g := sim.AdrenoTZ{Sample: 5 * sim.Millisecond, MinBusy: sim.Millisecond, Ceiling: 50 * sim.Millisecond, UpShare: 0.6, DownShare: 0.5}
	for _, idle := range []sim.Time{0, 80 * sim.Millisecond, 83 * sim.Millisecond, sim.Second - sim.Microsecond} {
		d := domain(t, g)
		d.Sleep(0)
		d.Wake(idle)
		if plan := d.Plan(sim.Second); plan[1].At != 5*sim.Millisecond+d.Config().Ramp {
			t.Errorf("after %v of idle time: first step after %v", idle, plan[1].At)
		}
		var steps []sim.Time
		d.Watch(func(at sim.Time, _ sim.OPP) { steps = append(steps, at) })
		d.Advance(idle+6*sim.Millisecond, true)
		if want := idle + 5*sim.Millisecond + d.Config().Ramp; len(steps) != 1 || steps[0] != want {
			t.Errorf("after %v of idle time: steps at %v, want %v", idle, steps, want)
		}
	}
	g.MinBusy = 0 // decides when idle, too
	c := clocks(g)
	c.Slumber = 0
	for _, idle := range []sim.Time{2 * sim.Millisecond, 12 * sim.Millisecond, 1002 * sim.Millisecond} {
		d := require.V(sim.NewDomain(c))(t)
		d.Wake(idle)
		if plan := d.Plan(sim.Second); plan[1].At != 3*sim.Millisecond+c.Ramp {
			t.Errorf("2 ms behind a decision, %v: first step after %v", idle, plan[1].At)
		}
	}
}

// TestSchedutil: the clock follows 1.25 times the utilization, up at once, down after
// 20 ms; a load of a fifth stays where it is.
func TestSchedutil(t *testing.T) {
	d := domain(t, sim.Schedutil{Up: 500 * sim.Microsecond, Down: 20 * sim.Millisecond})
	d.Advance(350*sim.Millisecond, true)
	if _, p := d.Point(); p != 2 {
		t.Errorf("full load: point %d", p)
	}
	if d.Util() < 0.98 {
		t.Errorf("full load: utilization %v", d.Util())
	}
	d.Advance(351*sim.Millisecond, false)
	if _, p := d.Point(); p != 2 {
		t.Errorf("one idle ms: point %d", p)
	}
	d.Advance(600*sim.Millisecond, false)
	if _, p := d.Point(); p != 0 {
		t.Errorf("250 ms idle: point %d", p)
	}
	for ms := sim.Time(600); ms < 1100; ms++ {
		d.Advance(ms*sim.Millisecond+200*sim.Microsecond, true)
		d.Advance((ms+1)*sim.Millisecond, false)
	}
	// 0.2 of the time at a quarter of the highest clock.
	if u := d.Util(); !(math.Abs(u-0.05) <= 0.005) {
		t.Errorf("utilization %v, want 0.05", u)
	}
	if _, p := d.Point(); p != 0 {
		t.Errorf("a fifth: point %d", p)
	}
}

// TestAdvanceInSteps: where the steps of Advance end does not matter.
func TestAdvanceInSteps(t *testing.T) {
	for _, g := range []sim.Governor{sim.Fixed{}, sim.Schedutil{Up: 500 * sim.Microsecond, Down: 20 * sim.Millisecond},
		sim.AdrenoTZ{Sample: 5 * sim.Millisecond, MinBusy: sim.Millisecond, Ceiling: 50 * sim.Millisecond, UpShare: 0.9, DownShare: 0.5}} {
		a, b := domain(t, g), domain(t, g)
		for i := sim.Time(0); i < 30; i++ {
			busy := i%3 != 0
			to := (i + 1) * 7 * sim.Millisecond
			a.Advance(to, busy)
			for s := i * 7 * sim.Millisecond; s < to; s += 333 * sim.Microsecond {
				b.Advance(min(s, to), busy)
			}
			b.Advance(to, busy)
			_, pa := a.Point()
			_, pb := b.Point()
			if pa != pb || !(math.Abs(a.Util()-b.Util()) <= 1e-9) {
				t.Fatalf("%T at %d ms: point %d and %d, utilization %v and %v", g, to/sim.Millisecond, pa, pb, a.Util(), b.Util())
			}
		}
	}
}

func TestDomainConfigErrors(t *testing.T) {
	for want, breakIt := range map[string]func(*sim.DomainConfig){
		"no operating point":                 func(c *sim.DomainConfig) { c.OPPs = nil },
		"point 0: 999 Hz, want":              func(c *sim.DomainConfig) { c.OPPs[0].Hz = 999 },
		"point 2: 100000000001 Hz, want":     func(c *sim.DomainConfig) { c.OPPs[2].Hz = 1e11 + 1 },
		"point 1: 1000000 Hz is not above":   func(c *sim.DomainConfig) { c.OPPs[0].Hz, c.OPPs[1].Hz = 1e6, 1e6 },
		"point 2: 10 V":                      func(c *sim.DomainConfig) { c.OPPs[2].Volts = 10 },
		"point 0: 0 V":                       func(c *sim.DomainConfig) { c.OPPs[0].Volts = 0 },
		"preference 1 names point 3 of 3":    func(c *sim.DomainConfig) { c.Points[1] = 3 },
		"preference 0 names point -1 of 3":   func(c *sim.DomainConfig) { c.Points[0] = -1 },
		"negative span -1 fs":                func(c *sim.DomainConfig) { c.Ramp = -1 },
		"negative span -2 fs":                func(c *sim.DomainConfig) { c.IdleAfter = -2 },
		"negative span -3 fs":                func(c *sim.DomainConfig) { c.IdleExit = -3 },
		"negative span -4 fs":                func(c *sim.DomainConfig) { c.Slumber = -4 },
		"a governor that decides every 0 fs": func(c *sim.DomainConfig) { c.Governor = sim.AdrenoTZ{} },
		"":                                   func(c *sim.DomainConfig) { c.OPPs[0].Hz, c.OPPs[2].Hz, c.Ramp = 1000, 1e11, 0 },
	} {
		c := clocks(nil)
		c.OPPs = append([]sim.OPP(nil), c.OPPs...)
		breakIt(&c)
		switch _, err := sim.NewDomain(c); {
		case want == "" && err != nil:
			t.Error(err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "sim: clock") != 1 && want[0] != 'n'):
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestHold: a held clock keeps its point whatever load, preference, heat and Reset request, and a released one moves to
// its governor's point.
func TestHold(t *testing.T) {
	d := domain(t, nil)
	d.Prefer(sim.FastSingleAnswer)
	if d.Pin(3e8) {
		t.Error("a point that there is not is held")
	}
	d.Wake(0)
	if o, _ := d.Point(); !d.Pin(1e8) || o.Hz != 4e8 {
		t.Errorf("the lowest point is not held behind %d Hz", o.Hz)
	}
	if o, _ := d.Point(); o.Hz != 1e8 {
		t.Errorf("%d Hz where the lowest point is held", o.Hz)
	}
	if !d.Pin(2e8) {
		t.Fatal("no point of 200 MHz")
	}
	for what, f := range map[string]func(){
		"work":       func() { d.Wake(0); d.Advance(sim.Second, true) },
		"preference": func() { d.Prefer(sim.LowPower); d.Prefer(sim.FastSingleAnswer) },
		"heat":       func() { d.Limit(1e8) },
		"a client":   func() { d.Floor(4e8) },
		"saturation": d.Saturate,
		"reset":      func() { d.Reset(0) },
	} {
		f()
		if o, _ := d.Point(); o.Hz != 2e8 {
			t.Errorf("%s: %d Hz", what, o.Hz)
		}
	}
	if plan := d.Plan(sim.Second); len(plan) != 1 {
		t.Errorf("a held clock changes: %v", plan)
	}
	d.Reset(0)
	d.Pin(0)
	d.Prefer(sim.FastSingleAnswer)
	d.Wake(0)
	if o, _ := d.Point(); o.Hz != 4e8 {
		t.Errorf("%d Hz after the release", o.Hz)
	}
}
