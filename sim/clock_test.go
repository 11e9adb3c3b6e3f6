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
