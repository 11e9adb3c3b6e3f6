package cache

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/internal/lru"
	"github.com/nnsoc/nnsoc/sim/mem/internal/model"
)

// Replacement chooses the victim of a set.
type Replacement uint8

// Replacement policies.
const (
	LRU      Replacement = iota
	TreePLRU             // one bit per node of a binary tree over the ways
)

// WritePolicy is the handling of writes.
type WritePolicy uint8

// Write policies.
const (
	WriteBack    WritePolicy = iota // and allocate; a write of a whole line does not fetch it
	WriteThrough                    // and do not allocate; a present line is kept
	ReadOnly                        // writes bypass and drop the line (instruction, scalar caches)
)

// PrefetchKind selects the lines that a cache fetches unrequested.
type PrefetchKind uint8

// Prefetchers.
const (
	PrefetchNone     PrefetchKind = iota
	PrefetchNextLine              // a miss, or the first hit on a prefetched line, fetches the next PrefetchDegree lines
)

// Config describes one set-associative cache.
type Config struct {
	Name          string
	Hz            int64
	Bytes         int
	LineBytes     int  // power of two
	Ways          int  // Bytes/LineBytes/Ways sets, a power of two
	HashSets      bool // higher bits of a line's number are added to its set: strides of a power of two use all sets
	Replacement   Replacement
	Write         WritePolicy
	HitCycles     int        // load to data
	BytesPerCycle int        // of each bank
	Banks         int        // power of two, interleaved by line; each serves one access at a time
	Rate          int        // bytes per cycle of all banks together, at most; 0: BytesPerCycle of each
	MSHRs         int        // lines in flight: fills and the write-backs they force; a miss beyond waits; 0: no limit
	FillCycles    int        // from the data of the next level to the waiting core
	Reason        sim.Reason // charged for a hit

	Prefetch       PrefetchKind
	PrefetchDegree int
}

// Validate reports every value that is out of range.
func (c *Config) Validate() error {
	k := model.Checks{What: "cache " + c.Name}
	k.Hz(c.Hz)
	k.In("Bytes", int64(c.Bytes), 64, model.MaxCacheBytes)
	k.Pow2("LineBytes", c.LineBytes, 16, 1<<12)
	k.In("Ways", int64(c.Ways), 1, lru.MaxWays)
	k.In("HitCycles", int64(c.HitCycles), 0, 1e6)
	k.In("FillCycles", int64(c.FillCycles), 0, 1e6)
	k.In("BytesPerCycle", int64(c.BytesPerCycle), 1, 1<<12)
	k.Pow2("Banks", c.Banks, 1, 64)
	k.In("Rate", int64(c.Rate), 0, 1<<16)
	k.In("MSHRs", int64(c.MSHRs), 0, 1024)
	k.In("Reason", int64(c.Reason), 0, int64(sim.NumReasons)-1)
	k.In("PrefetchDegree", int64(c.PrefetchDegree), 0, 64)
	if c.Replacement > TreePLRU || c.Write > ReadOnly || c.Prefetch > PrefetchNextLine {
		k.Fail("unknown policy")
	}
	if k.OK() {
		if c.Bytes%(c.LineBytes*c.Ways) != 0 {
			k.Fail("Bytes = %d is not a multiple of LineBytes * Ways", c.Bytes)
		} else if sets := c.Bytes / (c.LineBytes * c.Ways); sets&(sets-1) != 0 {
			k.Fail("%d sets, want a power of two", sets)
		}
		if c.Replacement == TreePLRU && c.Ways&(c.Ways-1) != 0 {
			k.Fail("tree PLRU needs a power of two of ways, have %d", c.Ways)
		}
	}
	return k.Err()
}
