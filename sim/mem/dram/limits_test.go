package dram_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/limittest"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

// TestLimits holds from where to where each number of a DRAM may go.
func TestLimits(t *testing.T) {
	for _, r := range []struct {
		name string
		kind dram.RefreshKind
	}{{"allbanks", dram.RefreshAllBanks}, {"perbank", dram.RefreshPerBank}} {
		c := memtest.LPDDR4X()
		c.Refresh = r.kind
		limittest.Check(t, r.name+"_limits.txt", limittest.Fields(&c, func() bool { return c.Validate() == nil }))
	}
}
