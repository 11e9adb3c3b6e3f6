package devices

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestBegan: where the engine has looked, changes of the clock count at those instants alone.
func TestBegan(t *testing.T) {
	slow, fast := sim.OPP{Hz: 1}, sim.OPP{Hz: 2}
	change := func(at sim.Time) []sim.Change { return []sim.Change{{OPP: slow}, {At: at, OPP: fast}} }
	x := &remembered{points: change(50), pointReads: []sim.Time{0, 40, 60}}
	x.result.Stats.LatencyFs = 100
	for _, c := range []struct {
		points []sim.Change
		want   bool
	}{
		{change(50), true},
		{change(41), true}, // between the same looks
		{change(60), true},
		{change(40), false}, // the look at 40 finds the new point
		{change(61), false},
		{[]sim.Change{{OPP: slow}}, false},
		{append(change(55), sim.Change{At: 70, OPP: slow}), true}, // behind the last look
		{[]sim.Change{{OPP: fast}}, false},
	} {
		require.Same(t, c.want, x.began(c.points), c.points)
	}
	x.pointReads = nil
	require.Check(t, !x.began(change(49)) && x.began(change(50)), "an engine that does not look depends on every instant")
}

// TestSamples: an execution is reused once a second one has confirmed it, compared again after more
// and more uses, and dropped when costs have changed.
func TestSamples(t *testing.T) {
	m, c := &Machine{}, &base.Call{Program: 1}
	ran := func(latency int64) *remembered {
		x := &remembered{}
		x.result.Stats = hal.Stats{LatencyFs: latency, EnergyPJ: float64(latency), Counters: []hal.Counter{{Name: "reads", Value: 10 * latency}, {Name: "rare", Value: latency / 100}}}
		return x
	}
	like := func() *representative {
		if list := m.samples[c.Program]; len(list) > 0 {
			return list[0]
		}
		return nil
	}
	history := ""
	// The first comes cold, the last ones at another latency.
	for i := range 40 {
		latency := int64(1000 + i%2)
		if i == 0 || i >= 30 {
			latency = 1500
		}
		s := like()
		if s.reuse() {
			history += "."
			continue
		}
		history += "S"
		m.compared(c, s, ran(latency))
	}
	// Cold, warm, confirmed, 4 taken, compared, 16 taken, compared, of 64 those that are left.
	require.Same(t, "SSS....S................S...............", history)
	got := m.CollectSampling()
	if want := (Sampling{Measured: 3, Latency: 1.0 / 1001, Energy: 1.0 / 1001, Counter: 10.0 / 10010, CounterName: "reads"}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	s := like()
	s.uses = s.gap
	m.compared(c, s, ran(1500))
	require.Check(t, !s.reuse() && m.CollectSampling().Latency >= 0.3, "a sample that has moved away is still taken, or the difference is not told")
}

// TestPartSampling: comparisons of an engine are reported as relative differences of the sums; an engine that has simulated
// everything reports nothing.
func TestPartSampling(t *testing.T) {
	require.Check(t, partSampling(&sim.Sampled{}) == nil, "an account of nothing")
	got := partSampling(&sim.Sampled{
		Instructions: 100, Simulated: 25, Compared: 3,
		Predicted: sim.Extrapolated{Cycles: 990, EnergyPJ: 5, Counters: []sim.Counter{{Name: "l0_bytes", Value: 2000}, {Name: "rare", Value: 1}}},
		Actual:    sim.Extrapolated{Cycles: 1000, EnergyPJ: 4, Counters: []sim.Counter{{Name: "l0_bytes", Value: 1900}, {Name: "rare", Value: 3}}},
	})
	require.Same(t, (PartSampling{100, 25, 3, 0.01, 0.2, 0.05, "l0_bytes"}), *got)
	m := &Machine{parts: sim.Sampled{Instructions: 1}}
	require.Check(t, m.CollectSampling().Parts != nil, "the account is not taken")
	require.Check(t, m.CollectSampling().Parts == nil, "the account is taken twice")
}

// TestSampledIsForgotten: a machine that does not sample reuses no costs of a sampled execution.
func TestSampledIsForgotten(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	m := require.V(NewMachine(c, hal.FastSingleAnswer))(t)
	h, call := &engineHost{m: m}, &base.Call{Program: 1}
	m.memo[call.Program] = []*remembered{{sampled: true}}
	for _, sampled := range []bool{true, false} {
		m.Sampled = sampled
		x := h.recall(call, platform.Conditions{}, memoryState{}, func(*remembered) bool { return true })
		require.Check(t, (x != nil) == sampled, "sampling %v: taken %v", sampled, x != nil)
	}
}
