package thermal_test

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/thermal"
)

// limits are the clocks that a rule allows after each look at temperatures.
func limits(r thermal.Rule, looks ...[]float64) []int64 {
	l := thermal.NewLimiter(&r)
	var hz []int64
	for _, celsius := range looks {
		l.Update(celsius)
		hz = append(hz, l.Hz())
	}
	return hz
}

// TestRule: a step begins at its temperature and ends at a lower one.
func TestRule(t *testing.T) {
	r := thermal.Rule{Minus: thermal.None, Gate: thermal.None, Every: sim.Second,
		Steps: []thermal.Step{{40, 39, 2131}, {42, 41, 1804}, {44, 43, 1401}}}
	got := limits(r, []float64{39.9}, []float64{40}, []float64{39.5}, []float64{39}, []float64{45}, []float64{43.5}, []float64{41.5}, []float64{20})
	if want := []int64{0, 2131, 2131, 0, 1401, 1401, 1804, 0}; !slices.Equal(got, want) {
		t.Errorf("limits %v, want %v", got, want)
	}
}

// TestRuleOfADifference: a die that is hotter than another one counts while the skin is
// above the gate.
func TestRuleOfADifference(t *testing.T) {
	const gpu, cpu, skin = 0, 1, 2
	r := thermal.Rule{Sensor: gpu, Minus: cpu, Gate: skin, GateCelsius: 41, Every: sim.Second, Steps: []thermal.Step{{8, 6, 427}}}
	got := limits(r, []float64{60, 50, 41}, []float64{60, 50, 41.1}, []float64{57, 50, 40}, []float64{56, 50, 42})
	if want := []int64{0, 427, 427, 0}; !slices.Equal(got, want) {
		t.Errorf("limits %v, want %v", got, want)
	}
}

func TestLooks(t *testing.T) {
	l := thermal.NewLimiter(&thermal.Rule{Every: 2 * sim.Second})
	for _, x := range [][2]sim.Time{{0, 2}, {1, 2}, {2, 4}, {3, 4}} {
		if got := l.Next(x[0] * sim.Second); got != x[1]*sim.Second {
			t.Errorf("after %d s: next look at %d fs, want %d s", x[0], got, x[1])
		}
	}
}
