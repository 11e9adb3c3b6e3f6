package dsp

import (
	"math/rand"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
)

// TestStallRounds: for data that is ready n cycles after the latency that a pipeline hides a thread waits for n cycles,
// though both are rounded down to femtoseconds, and for one more where it is later than that.
func TestStallRounds(t *testing.T) {
	for _, hz := range []int64{500e6, 1190e6, 787654321, 999999937} {
		var m memory
		m.clock.init(hz)
		for k := range int64(100) {
			for hide := range int64(9) {
				for n := range int64(9) {
					for late, want := range map[sim.Time]int64{0: n, 4: n + 1} {
						if got := m.stall(k, m.clock.at(k)+m.clock.at(hide+n)+late, m.clock.at(hide)); got != want {
							t.Fatalf("%d Hz, cycle %d: %d cycles and %d fs behind %d take %d", hz, k, n, late, hide, got)
						}
					}
				}
			}
		}
	}
}

// TestTicker compares with the division on walks with small and large steps.
func TestTicker(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	for _, hz := range []int64{500e6, 800e6, 1190e6, 1e9, 787654321} {
		var c ticker
		c.init(hz)
		k := int64(0)
		for range 20000 {
			if got, want := c.at(k), (sim.Clock{Hz: hz}).At(k); got != want {
				t.Fatalf("%d Hz: cycle %d at %d, want %d", hz, k, got, want)
			}
			end := c.at(k) + sim.Time(r.Int63n(int64(10*sim.Nanosecond)<<r.Intn(8))-1000)
			if got, want := c.until(k, end), max(0, c.Cycle(end)-k); got != want {
				t.Fatalf("%d Hz: %d cycles from %d to %d, want %d", hz, got, k, end, want)
			}
			switch r.Intn(20) {
			case 0:
				k += int64(r.Intn(5000))
			case 1:
				k = max(0, k-int64(r.Intn(300)))
			default:
				k += int64(r.Intn(12))
			}
		}
	}
}
