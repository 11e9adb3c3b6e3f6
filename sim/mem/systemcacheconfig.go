package mem

// SystemCacheConfig describes the last cache in front of a DRAM, which all masters of
// a bus share.
type SystemCacheConfig struct {
	Name          string
	Hz            int64
	Bytes         int
	LineBytes     int // power of two
	Ways          int // Bytes/LineBytes/Ways sets, a power of two
	Banks         int // power of two; each serves one access at a time
	BankBytes     int // consecutive bytes of a bank, a power of two, at least a line
	BytesPerCycle int // of each bank
	HitCycles     int // request to data
	// Masters says by number what each master may keep; others keep nothing.
	Masters []Allocation
	Energy  SystemCacheEnergy
}

// Allocation is which lines of a master stay in a system cache. Whatever it asks for is
// found there, whoever has left it.
type Allocation struct {
	Ways          int // of each set, at most
	Reads, Writes bool
}

// SystemCacheEnergy is what a system cache draws: picojoules per byte that its arrays
// read or write, tags included, and static power.
type SystemCacheEnergy struct {
	BytePJ   float64
	StaticMW float64
}

// Validate reports every value that is out of range.
func (c *SystemCacheConfig) Validate() error {
	k := checks{what: "system cache " + c.Name}
	k.hz(c.Hz)
	k.in("Bytes", int64(c.Bytes), 64, maxCacheBytes)
	k.pow2("LineBytes", c.LineBytes, 16, 1<<12)
	k.in("Ways", int64(c.Ways), 1, 64)
	k.pow2("Banks", c.Banks, 1, 64)
	k.pow2("BankBytes", c.BankBytes, max(c.LineBytes, 1), 1<<16)
	k.in("BytesPerCycle", int64(c.BytesPerCycle), 1, 1<<12)
	k.in("HitCycles", int64(c.HitCycles), 0, 1e6)
	k.in("masters", int64(len(c.Masters)), 0, maxMasters)
	for _, a := range c.Masters {
		k.in("Ways of a master", int64(a.Ways), 0, int64(c.Ways))
	}
	if len(k.errs) == 0 {
		if c.Bytes%(c.LineBytes*c.Ways) != 0 {
			k.fail("Bytes = %d is not a multiple of LineBytes * Ways", c.Bytes)
		} else if sets := c.Bytes / (c.LineBytes * c.Ways); sets&(sets-1) != 0 {
			k.fail("%d sets, want a power of two", sets)
		}
	}
	return k.err()
}

// maxMasters bounds the masters of a bus that are told apart.
const maxMasters = 16
