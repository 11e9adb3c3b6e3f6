package interconnect

import (
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/internal/lru"
	"github.com/nnsoc/nnsoc/sim/mem/internal/model"
)

// SystemCacheConfig describes the last cache in front of a DRAM, which all masters of
// a bus share.
type SystemCacheConfig struct {
	Name          string
	Hz            int64 // unless overridden by Start
	Bytes         int
	LineBytes     int // power of two
	Ways          int // at most 16; Bytes/LineBytes/Ways sets, a power of two
	Banks         int // power of two; each serves one access at a time
	BankBytes     int // consecutive bytes of a bank, a power of two, at least a line
	BytesPerCycle int // of each bank
	HitCycles     int // request to data
	// Masters are the allocations by number of the master; other masters cache nothing.
	Masters []Allocation
	Energy  SystemCacheEnergy
}

// Allocation is which lines of a master stay in a system cache. It hits any line
// in the cache, whichever master has left it.
type Allocation struct {
	Ways          int // of each set, at most
	Reads, Writes bool
}

// SystemCacheEnergy is the energy of a system cache: picojoules per byte that its arrays read or write, tags included,
// and static power.
type SystemCacheEnergy struct {
	BytePJ   float64
	StaticMW float64
}

// Validate reports every value that is out of range.
func (c *SystemCacheConfig) Validate() error {
	k := model.Checks{What: "system cache " + c.Name}
	k.Hz(c.Hz)
	k.In("Bytes", int64(c.Bytes), 64, model.MaxCacheBytes)
	k.Pow2("LineBytes", c.LineBytes, 16, 1<<12)
	k.In("Ways", int64(c.Ways), 1, lru.MaxWays)
	k.Pow2("Banks", c.Banks, 1, 64)
	k.Pow2("BankBytes", c.BankBytes, max(c.LineBytes, 1), 1<<16)
	k.In("BytesPerCycle", int64(c.BytesPerCycle), 1, 1<<12)
	k.In("HitCycles", int64(c.HitCycles), 0, 1e6)
	k.In("masters", int64(len(c.Masters)), 0, dram.MaxMasters)
	for _, a := range c.Masters {
		k.In("Ways of a master", int64(a.Ways), 0, int64(c.Ways))
	}
	if k.OK() {
		if c.Bytes%(c.LineBytes*c.Ways) != 0 {
			k.Fail("Bytes = %d is not a multiple of LineBytes * Ways", c.Bytes)
		} else if sets := c.Bytes / (c.LineBytes * c.Ways); sets&(sets-1) != 0 {
			k.Fail("%d sets, want a power of two", sets)
		}
	}
	return k.Err()
}
