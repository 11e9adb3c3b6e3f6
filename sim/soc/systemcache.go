package soc

import (
	"fmt"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
)

// SystemCache is the cache between the interconnect and the DRAM, which all engines
// share. The CPU keeps nothing in it: its kernels' costs have none.
type SystemCache struct {
	KiB           int               `toml:"kib" range:"1..65536"`
	LineBytes     int               `toml:"line_bytes" range:"16..4096"`
	Ways          int               `toml:"ways" range:"1..16"`
	MHz           float64           `toml:"mhz" range:"10..6000"`
	Banks         int               `toml:"banks" range:"1..64"` // interleaved as the DRAM's channels
	BytesPerCycle int               `toml:"bytes_per_cycle" range:"1..4096"`
	HitCycles     int               `toml:"hit_cycles" range:"0..10000"` // request to data; a miss is in dram.request_ns
	Energy        SystemCacheEnergy `toml:"energy"`
	// Clock lets the cache have other clocks than MHz.
	Clock *SystemCacheClock `toml:"clock" soc:"optional"`
}

// SystemCacheClock is the clock of a system cache that follows votes: the lowest point at which the bandwidth of its
// banks covers that of the DRAM's channels at the clock that an engine at work votes for (ddr_mhz), the highest for an
// engine without a vote.
type SystemCacheClock struct {
	OPPs []SystemCacheOPP `toml:"opps" len:"2..32"` // rising, the last that of mhz
}

// SystemCacheOPP is an operating point.
type SystemCacheOPP struct {
	MHz float64 `toml:"mhz" range:"10..6000"`
	V   float64 `toml:"v" range:"0.3..2"`
}

// SystemPoint is the point of the cache that carries a vote for the DRAM's clock, 0 for none.
func (c *Config) SystemPoint(ddrMHz float64) int {
	s, d := c.SystemCache, &c.DRAM
	last := len(s.Clock.OPPs) - 1
	if ddrMHz == 0 {
		return last
	}
	need := ddrMHz * d.transfersPerClock() * float64(d.Channels*d.BusBits/8)
	p := 0
	for p < last && s.Clock.OPPs[p].MHz*float64(s.Banks*s.BytesPerCycle) < need {
		p++
	}
	return p
}

// bytePJ is the energy of a byte at a point: by the square of the voltage.
func (s *SystemCache) bytePJ(p int) float64 {
	v := s.Clock.OPPs[p].V / s.Energy.VRef
	return s.Energy.PJ["byte"] * v * v
}

// Clocks are the operating points in the form of the cache's configuration.
func (s *SystemCache) Clocks() []interconnect.SystemClock {
	if s.Clock == nil {
		return []interconnect.SystemClock{{Hz: sim.Hertz(s.MHz), BytePJ: s.Energy.PJ["byte"]}}
	}
	var l []interconnect.SystemClock
	for i, o := range s.Clock.OPPs {
		l = append(l, interconnect.SystemClock{Hz: sim.Hertz(o.MHz), BytePJ: s.bytePJ(i)})
	}
	return l
}

// Allocation is the part of the system cache that an engine may use; an engine without one caches nothing there.
type Allocation struct {
	Ways   int  `toml:"ways" range:"1..16"` // of each set
	Reads  bool `toml:"reads"`              // lines that it read
	Writes bool `toml:"writes"`             // lines that it wrote
}

// SystemCacheEnergy is pJ per event of the system cache, which has its own supply, and static power. The table has
// exactly the names of systemCacheEvents.
type SystemCacheEnergy struct {
	// VRef is the voltage at which PJ holds; with a clock.
	VRef     float64            `toml:"v_ref" range:"0.3..2" soc:"optional"`
	StaticMW float64            `toml:"static_mw" range:"0..100000"`
	PJ       map[string]float64 `toml:"pj"`
}

// systemCache is the configuration of the cache. Its banks are in front of the channels: each has the contiguous bytes
// of one.
func (c *Config) systemCache() interconnect.SystemCacheConfig {
	s := c.SystemCache
	x := interconnect.SystemCacheConfig{
		Name: "system_cache", Hz: sim.Hertz(s.MHz), Bytes: s.KiB << 10, LineBytes: s.LineBytes, Ways: s.Ways,
		Banks: s.Banks, BankBytes: c.DRAM.InterleaveBytes, BytesPerCycle: s.BytesPerCycle, HitCycles: s.HitCycles,
		Masters: make([]interconnect.Allocation, NumEngines),
		Energy:  interconnect.SystemCacheEnergy{BytePJ: s.Energy.PJ["byte"], StaticMW: s.Energy.StaticMW},
	}
	for _, k := range s.Clocks() {
		if k.Hz == x.Hz {
			x.Energy.BytePJ = k.BytePJ
		}
	}
	for e, a := range c.allocations() {
		if a != nil {
			x.Masters[e] = interconnect.Allocation(*a)
		}
	}
	return x
}

// Share is how many bytes an engine may keep in the system-level cache, and the peak rate of the
// cache; 0 without one.
func (c *Config) Share(e Engine) (bytes int64, bytesPerSecond float64) {
	a, s := c.allocations()[e], c.SystemCache
	if a == nil || s == nil {
		return 0, 0
	}
	return int64(s.KiB) << 10 * int64(a.Ways) / int64(s.Ways), s.MHz * 1e6 * float64(s.Banks*s.BytesPerCycle)
}

// allocations returns the engines' shares of the cache.
func (c *Config) allocations() (a [NumEngines]*Allocation) {
	if c.GPU != nil {
		a[EngineGPU] = c.GPU.SystemCache
	}
	if c.DSP != nil {
		a[EngineDSP] = c.DSP.SystemCache
	}
	if c.NPU != nil {
		a[EngineNPU] = c.NPU.SystemCache
	}
	return a
}

func (k *checker) systemCache(c *Config) {
	s := c.SystemCache
	for e, a := range c.allocations() {
		path := Engine(e).String() + ".system_cache"
		switch {
		case a == nil:
		case s == nil:
			k.fail(path, "takes no effect: it needs [system_cache]")
		case a.Ways > s.Ways:
			k.fail(path+".ways", "%d of %d ways", a.Ways, s.Ways)
		case !a.Reads && !a.Writes:
			k.fail(path, "keeps neither reads nor writes: leave it out")
		}
	}
	if s == nil {
		return
	}
	k.energy("system_cache.energy", s.Energy.PJ, systemCacheEvents)
	if len(k.errs) > 0 {
		return
	}
	k.only("system_cache.energy.v_ref", s.Clock != nil, "[system_cache.clock]")
	if s.Clock != nil {
		k.systemCacheClock(s)
	}
	x := c.systemCache()
	if err := x.Validate(); err != nil { // the hardware model knows the rest
		k.fail("system_cache", "%s", oneLine(err.Error()))
	}
}

func (k *checker) systemCacheClock(s *SystemCache) {
	opps := s.Clock.OPPs
	for i := 1; i < len(opps); i++ {
		if opps[i].MHz <= opps[i-1].MHz {
			k.fail(fmt.Sprintf("system_cache.clock.opps[%d]", i), "%v MHz is not above the point before", opps[i].MHz)
			return
		}
	}
	if top := opps[len(opps)-1].MHz; top != s.MHz {
		k.fail("system_cache.clock.opps", "the highest is %v MHz, that of mhz %v", top, s.MHz)
	}
}
