package interconnect

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/limittest"
)

// TestLimits holds from where to where each number of a bus and of a system-level cache may go.
func TestLimits(t *testing.T) {
	b := BusConfig{Name: "b", Hz: 1e9, BytesPerCycle: 32, LatencyCycles: 16, Outstanding: 3}
	limittest.Check(t, "bus_limits.txt", limittest.Fields(&b, func() bool { return b.Validate() == nil }))
	c := SystemCacheConfig{Name: "c", Hz: 1e9, Bytes: 1 << 20, LineBytes: 64, Ways: 8, Banks: 4, BankBytes: 256, BytesPerCycle: 32,
		HitCycles: 10, Masters: []Allocation{{Ways: 4}}, Energy: SystemCacheEnergy{BytePJ: 1, StaticMW: 2}}
	limittest.Check(t, "systemcache_limits.txt", limittest.Fields(&c, func() bool { return c.Validate() == nil }))
}
