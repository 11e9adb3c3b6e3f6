package sim

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestSaturate: a saturated domain is at the highest point that its governor may choose, with a load of its share of the
// highest frequency.
func TestSaturate(t *testing.T) {
	for preference, want := range map[Preference]float64{FastSingleAnswer: 1, SustainedSpeed: 0.5, LowPower: 0.25} {
		d, err := NewDomain(DomainConfig{Name: "d", OPPs: []OPP{{Hz: 2e8, Volts: 0.6}, {Hz: 4e8, Volts: 0.7}, {Hz: 8e8, Volts: 0.8}},
			Points: [NumPreferences]int{LowPower: 0, SustainedSpeed: 1, FastSingleAnswer: 2}})
		require.NoError(t, err)
		d.Prefer(preference)
		if d.Saturate(); d.load.Util != want || d.load.Since != Second {
			t.Errorf("preference %d: %+v, want a load of %v", preference, d.load, want)
		}
	}
}
