package sim_test

import (
	"math/big"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
	"pgregory.net/rapid"
)

func drawClock(t *rapid.T) sim.Clock {
	return sim.Clock{
		Origin: sim.Time(rapid.Int64Range(0, int64(sim.Second)).Draw(t, "origin")),
		Hz:     rapid.Int64Range(1, 100e9).Draw(t, "hz"),
	}
}

// TestClockExact checks both directions against exact rational arithmetic, up
// to and over the ends of the ranges.
func TestClockExact(t *testing.T) {
	second := big.NewInt(int64(sim.Second))
	never := big.NewInt(int64(sim.Never))
	rapid.Check(t, func(t *rapid.T) {
		c := drawClock(t)
		k := rapid.Int64Range(0, 1<<rapid.IntRange(0, 62).Draw(t, "kbits")).Draw(t, "k")
		hz, o := big.NewInt(c.Hz), big.NewInt(int64(c.Origin))
		want := new(big.Int).Mul(big.NewInt(k), second)
		want.Quo(want, hz).Add(want, o)
		if want.Cmp(never) > 0 {
			want.Set(never)
		}
		if got := c.At(k); got != sim.Time(want.Int64()) {
			t.Fatalf("%+v.At(%d) = %d, want %s", c, k, got, want)
		}

		at := sim.Time(rapid.Int64Range(0, int64(sim.Never)).Draw(t, "t"))
		wantK := big.NewInt(0)
		if at > c.Origin {
			wantK.Mul(big.NewInt(int64(at-c.Origin)), hz)
			wantK.Add(wantK, new(big.Int).Sub(second, big.NewInt(1))).Quo(wantK, second)
		}
		if !wantK.IsInt64() {
			wantK.SetInt64(1<<63 - 1)
		}
		if got := c.Cycle(at); got != wantK.Int64() {
			t.Fatalf("%+v.Cycle(%d) = %d, want %s", c, at, got, wantK)
		}
	})
}

// TestClockMonotone: cycles begin in order, the cycle at the begin of k is k,
// and k cycles in two steps end where k cycles in one do.
func TestClockMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawClock(t)
		k := rapid.Int64Range(0, 1<<40).Draw(t, "k")
		a, b := c.At(k), c.At(k+1)
		if b == sim.Never {
			return
		}
		if b <= a {
			t.Fatalf("cycle %d begins at %d, the next at %d", k, a, b)
		}
		if got := c.Cycle(a); got != k {
			t.Fatalf("Cycle(At(%d)) = %d", k, got)
		}
		if got := c.Cycle(a + 1); got != k+1 {
			t.Fatalf("Cycle(At(%d)+1) = %d", k, got)
		}
	})
}

func drawDomain(t *rapid.T) *sim.Domain {
	c := sim.DomainConfig{
		Name: "test",
		Ramp: sim.Time(rapid.Int64Range(0, int64(sim.Millisecond)).Draw(t, "ramp")), IdleAfter: sim.Millisecond, IdleExit: 300 * sim.Microsecond,
	}
	f := int64(0)
	for range rapid.IntRange(1, 8).Draw(t, "points") {
		f += rapid.Int64Range(1e6, 1e9).Draw(t, "step")
		c.OPPs = append(c.OPPs, sim.OPP{Hz: f, Volts: 0.6})
	}
	for p := range c.Governor {
		c.Governor[p] = rapid.IntRange(0, len(c.OPPs)-1).Draw(t, "governor")
	}
	d, err := sim.NewDomain(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDomainChanges: over any sequence of changes cycle numbers and times
// never go back, and no cycle lies in a ramp.
func TestDomainChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDomain(t)
		now, cycle := sim.Time(0), int64(0)
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			now += sim.Time(rapid.Int64Range(0, int64(sim.Millisecond)).Draw(t, "wait"))
			before := d.Cycle(now)
			ready := d.Select(now, sim.Preference(rapid.IntRange(0, 2).Draw(t, "preference")))
			if ready < now {
				t.Fatalf("ready at %d, asked at %d", ready, now)
			}
			k := d.Cycle(ready)
			if k < before || k < cycle {
				t.Fatalf("cycle %d after %d", k, before)
			}
			if at := d.At(k); at < ready {
				t.Fatalf("cycle %d begins at %d, before the clock runs at %d", k, at, ready)
			}
			if got := d.Cycle(d.At(k + 1000)); got != k+1000 {
				t.Fatalf("cycle %d is numbered %d", k+1000, got)
			}
			now, cycle = ready, k
		}
	})
}

func TestDomainIdle(t *testing.T) {
	d, err := sim.NewDomain(sim.DomainConfig{
		Name: "cpu", OPPs: []sim.OPP{{Hz: 1e9, Volts: 0.7}, {Hz: 2e9, Volts: 0.9}},
		Ramp: 100 * sim.Microsecond, IdleAfter: sim.Millisecond, IdleExit: 300 * sim.Microsecond,
		Governor: [sim.NumPreferences]int{0, 1, 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Wake(0), 300*sim.Microsecond; got != want {
		t.Errorf("first wake at %d, want %d", got, want)
	}
	if got, want := d.Select(sim.Millisecond, sim.FastSingleAnswer), sim.Millisecond+100*sim.Microsecond; got != want {
		t.Errorf("ramped at %d, want %d", got, want)
	}
	if d.OPP().Hz != 2e9 {
		t.Errorf("runs at %+v", d.OPP())
	}
	d.Sleep(2 * sim.Millisecond)
	if got, want := d.Wake(2*sim.Millisecond+1), 2*sim.Millisecond+1; got != want {
		t.Errorf("short idle: awake at %d, want %d", got, want)
	}
	d.Sleep(3 * sim.Millisecond)
	if got, want := d.Wake(4*sim.Millisecond), 4*sim.Millisecond+300*sim.Microsecond; got != want {
		t.Errorf("long idle: awake at %d, want %d", got, want)
	}
}

func TestDomainConfigErrors(t *testing.T) {
	good := sim.DomainConfig{Name: "x", OPPs: []sim.OPP{{1e9, 1}, {2e9, 1}}}
	if _, err := sim.NewDomain(good); err != nil {
		t.Fatal(err)
	}
	for name, breakIt := range map[string]func(*sim.DomainConfig){
		"no points":  func(c *sim.DomainConfig) { c.OPPs = nil },
		"zero clock": func(c *sim.DomainConfig) { c.OPPs = []sim.OPP{{0, 1}} },
		"falling":    func(c *sim.DomainConfig) { c.OPPs = []sim.OPP{{2e9, 1}, {1e9, 1}} },
		"no voltage": func(c *sim.DomainConfig) { c.OPPs = []sim.OPP{{1e9, 0}} },
		"governor":   func(c *sim.DomainConfig) { c.Governor[1] = 2 },
		"ramp":       func(c *sim.DomainConfig) { c.Ramp = -1 },
	} {
		c := good
		breakIt(&c)
		if _, err := sim.NewDomain(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
