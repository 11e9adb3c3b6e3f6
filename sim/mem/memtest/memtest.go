// Package memtest has the memories that the tests of sim/mem and of the packages below it share.
package memtest

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
)

// RowSpan and BankSpan are distances in LPDDR4X: a row of a bank is 2 KiB of a channel, so
// 8 KiB of address space; the next bank follows, then the next row.
const (
	RowSpan  = 4 * 2048
	BankSpan = 8 * RowSpan
)

// Bare removes the latency to the controller and back.
func Bare(c *dram.Config) { c.RequestLatency, c.ResponseLatency = 0, 0 }

// Read is when a read is done.
func Read(d mem.Level, t sim.Time, addr uint64, n int) sim.Time {
	done, _ := d.Access(t, addr, n, mem.Read)
	return done
}

// Write is when a write is accepted.
func Write(d mem.Level, t sim.Time, addr uint64, n int) sim.Time {
	done, _ := d.Access(t, addr, n, mem.Write)
	return done
}

// Cycle is one of the caches and buses here: 1 GHz.
const Cycle = sim.Nanosecond

// Flat is a memory of constant latency and no limit of bandwidth.
type Flat struct {
	Latency       sim.Time
	Reads, Writes int
	Bytes         int
}

// Access implements mem.Level.
func (f *Flat) Access(t sim.Time, _ uint64, n int, k mem.Kind) (sim.Time, sim.Reason) {
	f.Bytes += n
	if k == mem.Write {
		f.Writes++
	} else {
		f.Reads++
	}
	return t + f.Latency, sim.StallDRAM
}

// Reset implements mem.Level.
func (f *Flat) Reset() { *f = Flat{Latency: f.Latency} }

// Counter is the counter whose name is, or ends in, a suffix.
func Counter(t *testing.T, l interface{ Counters() []sim.Counter }, suffix string) int64 {
	t.Helper()
	for _, c := range l.Counters() {
		if c.Name == suffix || strings.HasSuffix(c.Name, "_"+suffix) {
			return c.Value
		}
	}
	t.Fatalf("no counter %s", suffix)
	return 0
}

// LPDDR4X is one channel set of the SoC's DRAM, without refresh unless a test enables it.
func LPDDR4X() dram.Config {
	ns := func(v float64) sim.Time { return sim.Time(v * 1e6) }
	return dram.Config{
		Name: "lpddr4x", Channels: 4, Banks: 8, RowBytes: 2048, BusBits: 16, BurstLength: 16,
		TransfersPerSec: 4_266_000_000, InterleaveBytes: 256,
		ReadLatency: ns(16.875), WriteLatency: ns(8.4375), TRCD: ns(18), TRPpb: ns(18), TRPab: ns(21),
		TRAS: ns(42), TRC: ns(60), TRRD: ns(10), TFAW: ns(40), TWR: ns(18), TWTR: ns(10), TRTP: ns(7.5), TRTW: ns(1.875),
		TRFCab: ns(280), TRFCpb: ns(140), TREFI: ns(3900),
		RequestLatency: ns(20), ResponseLatency: ns(10),
	}
}

// Clocks is the time of spans of a DRAM, each rounded up to whole clocks.
func Clocks(c dram.Config, spans ...sim.Time) sim.Time {
	clock := sim.Clock{Hz: c.ClockHz()}
	n := int64(0)
	for _, s := range spans {
		n += clock.Cycle(max(s-sim.Picosecond, 1))
	}
	return clock.At(n)
}

// NewDRAM is LPDDR4X, changed.
func NewDRAM(t testing.TB, change func(*dram.Config)) *dram.DRAM {
	t.Helper()
	c := LPDDR4X()
	if change != nil {
		change(&c)
	}
	d := require.V(dram.New(c))(t)
	return d
}

// L2 is a second-level cache of 256 KiB.
func L2() cache.Config {
	return cache.Config{
		Name: "l2", Hz: 1_000_000_000, Bytes: 1 << 18, LineBytes: 128, Ways: 8, HitCycles: 12,
		BytesPerCycle: 128, Banks: 1, MSHRs: 16, Reason: sim.StallL2,
	}
}

// NewCache is L2, changed.
func NewCache(t testing.TB, next mem.Level, change func(*cache.Config)) *cache.Cache {
	t.Helper()
	c := L2()
	if change != nil {
		change(&c)
	}
	l := require.V(cache.New(c, next))(t)
	return l
}

// SystemCache is one of 3 MiB for two masters.
func SystemCache() interconnect.SystemCacheConfig {
	all := interconnect.Allocation{Ways: 12, Reads: true, Writes: true}
	return interconnect.SystemCacheConfig{
		Name: "slc", Hz: 1_000_000_000, Bytes: 3 << 20, LineBytes: 64, Ways: 12, Banks: 4, BankBytes: 256,
		BytesPerCycle: 16, HitCycles: 20, Masters: []interconnect.Allocation{all, all}, Energy: interconnect.SystemCacheEnergy{BytePJ: 1, StaticMW: 10},
	}
}

// NewSystemCache is SystemCache, changed.
func NewSystemCache(t testing.TB, next mem.Level, change func(*interconnect.SystemCacheConfig)) *interconnect.SystemCache {
	t.Helper()
	c := SystemCache()
	if change != nil {
		change(&c)
	}
	l := require.V(interconnect.NewSystemCache(c, next))(t)
	return l
}

// NewScratchpad is one of 32 banks of 4 bytes.
func NewScratchpad(t testing.TB) *mem.Scratchpad {
	t.Helper()
	s, err := mem.NewScratchpad(mem.ScratchpadConfig{
		Name: "vtcm", Hz: 1_000_000_000, Bytes: 1 << 18, Banks: 32, BankBytes: 4, LatencyCycles: 4,
	})
	require.NoError(t, err)
	return s
}

// NewBus is a bus of 32 GB/s and 15 ns each way.
func NewBus(t testing.TB, next mem.Level, outstanding int) *interconnect.Bus {
	t.Helper()
	b, err := interconnect.NewBus(interconnect.BusConfig{
		Name: "noc", Hz: 1_000_000_000, BytesPerCycle: 32, LatencyCycles: 15, Outstanding: outstanding,
	}, next)
	require.NoError(t, err)
	return b
}

// DRAMLatency returns the latency of a row miss from idle: a clock, tRCD, RL, the bursts, and the path.
func DRAMLatency(c dram.Config, bytes int) sim.Time {
	bursts := sim.Time((bytes + c.BurstBytes() - 1) / c.BurstBytes())
	return c.RequestLatency + Clocks(c, 1, c.TRCD, c.ReadLatency, bursts*c.BurstTime()) + c.ResponseLatency
}
