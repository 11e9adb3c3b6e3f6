package dsp

import (
	"math/rand"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
)

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
