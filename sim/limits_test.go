package sim

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/limittest"
)

// TestLimits holds from where to where each number of a clock domain may go.
func TestLimits(t *testing.T) {
	c := DomainConfig{Name: "c", OPPs: []OPP{{Hz: 3e8, Volts: 0.6}, {Hz: 6e8, Volts: 0.8}}, Ramp: 1, IdleAfter: 1, IdleExit: 1, Slumber: 1}
	limittest.Check(t, "domain_limits.txt", limittest.Fields(&c, func() bool { return c.Validate() == nil }))
}
