package mem_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

// subject is one memory under the contract, with its closed forms.
type subject struct {
	name  string
	level mem.Level
	// latency of an isolated 64-byte read of a cold memory, and how much later it may
	// be done because a DRAM begins at a clock
	latency, clock sim.Time
	// bytes per second it can stream at best, for the data set below
	bandwidth float64
}

func subjects(t testing.TB) []subject {
	cfg := memtest.LPDDR4X()
	const ghz = 1_000_000
	ck := memtest.Clocks(cfg, 1)
	drams := []subject{
		{"dram", memtest.NewDRAM(t, nil), memtest.DRAMLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		{"dram all-bank refresh", memtest.NewDRAM(t, func(c *dram.Config) { c.Refresh = dram.RefreshAllBanks }), memtest.DRAMLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		{"dram per-bank refresh", memtest.NewDRAM(t, func(c *dram.Config) { c.Refresh = dram.RefreshPerBank }), memtest.DRAMLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		{"dram self-refresh", memtest.NewDRAM(t, func(c *dram.Config) {
			c.Refresh, c.SelfRefreshAfter, c.TXSR = dram.RefreshAllBanks, sim.Microsecond, 100*sim.Nanosecond
		}), memtest.DRAMLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		{"dram first come", memtest.NewDRAM(t, func(c *dram.Config) { c.Scheduler = dram.FCFS{} }), memtest.DRAMLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		{"dram closed rows", memtest.NewDRAM(t, func(c *dram.Config) { c.RowPolicy = dram.TimeoutRows{Clocks: 200} }), memtest.DRAMLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		{"dram write queue", memtest.NewDRAM(t, func(c *dram.Config) { c.WriteQueue = 8 }), memtest.DRAMLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
	}
	line := memtest.DRAMLatency(cfg, 128)
	cached := func(name string, change func(*cache.Config)) subject {
		return subject{name, memtest.NewCache(t, memtest.NewDRAM(t, nil), change), 12*ghz + line, ck, 128e9}
	}
	l1 := memtest.NewCache(t, memtest.NewCache(t, memtest.NewDRAM(t, nil), nil), func(c *cache.Config) {
		c.Name, c.Bytes, c.LineBytes, c.Ways, c.HitCycles, c.BytesPerCycle, c.Reason = "l1", 1<<15, 64, 4, 3, 32, sim.StallL1
	})
	return append(drams,
		subject{"scratchpad", memtest.NewScratchpad(t), 4 * ghz, 0, 128e9},
		cached("cache LRU", nil),
		cached("cache PLRU", func(c *cache.Config) { c.Replacement = cache.TreePLRU }),
		cached("cache write-through", func(c *cache.Config) { c.Write = cache.WriteThrough }),
		cached("cache prefetching", func(c *cache.Config) { c.Prefetch, c.PrefetchDegree = cache.PrefetchNextLine, 2 }),
		subject{"system cache", memtest.NewSystemCache(t, memtest.NewDRAM(t, nil), nil), memtest.DRAMLatency(cfg, 64), ck, 64e9},
		subject{"system cache that keeps nothing", memtest.NewSystemCache(t, memtest.NewDRAM(t, nil), func(c *interconnect.SystemCacheConfig) { c.Masters = nil }), memtest.DRAMLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		subject{"bus in front of a system cache", memtest.NewBus(t, memtest.NewSystemCache(t, memtest.NewDRAM(t, nil), nil), 0).Port("p"), 30*ghz + memtest.DRAMLatency(cfg, 64), ck, 32e9},
		subject{"two caches", l1, (3+1+12)*ghz + line, ck, 32e9}, // 64 bytes: two beats of the L1 bank
		subject{"bus", memtest.NewBus(t, memtest.NewDRAM(t, nil), 0).Port("p"), 30*ghz + memtest.DRAMLatency(cfg, 64), ck, 32e9},
		subject{"path", &mem.Path{Next: memtest.NewDRAM(t, nil), Delay: 60 * ghz}, 60*ghz + memtest.DRAMLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		// Little's law: four reads of 128 bytes per latency of a row hit.
		subject{"bus limited", memtest.NewBus(t, memtest.NewDRAM(t, nil), 4).Port("p"), 30*ghz + memtest.DRAMLatency(cfg, 64), ck,
			4 * 128 / (float64(30*ghz+memtest.DRAMLatency(cfg, 128)-cfg.TRCD) / 1e15)},
	)
}

// TestContract is the contract of every Level.
func TestContract(t *testing.T) {
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Run("latency", func(t *testing.T) { contractLatency(t, s) })
			t.Run("causality", func(t *testing.T) { contractCausality(t, s) })
			t.Run("bandwidth", func(t *testing.T) { contractBandwidth(t, s) })
			t.Run("back-pressure", func(t *testing.T) { contractBackPressure(t, s) })
			t.Run("reset", func(t *testing.T) { contractReset(t, s) })
			t.Run("allocations", func(t *testing.T) { contractAllocations(t, s) })
			t.Run("counters", func(t *testing.T) { contractCounters(t, s) })
		})
	}
}

// contractLatency: the latency of an isolated read equals the closed form, to the femtosecond or to the clock of the
// DRAM.
func contractLatency(t *testing.T, s subject) {
	for _, at := range []sim.Time{0, 1, 123_456_789} {
		s.level.Reset()
		done, _ := s.level.Access(at, 1<<20, 64, mem.Read)
		if got := done - at; got < s.latency-2 || got > s.latency+s.clock {
			t.Errorf("read at %d takes %d fs, want %d", at, got, s.latency)
		}
	}
}

// contractCausality: no access is done before it is requested, and reasons are those of memories.
func contractCausality(t *testing.T, s subject) {
	s.level.Reset()
	r := rand.New(rand.NewPCG(1, 2))
	now := sim.Time(0)
	for range 20_000 {
		now += sim.Time(r.IntN(20_000_000))
		k := mem.Kind(r.IntN(3))
		n := 1 + r.IntN(300)
		done, from := s.level.Access(now, r.Uint64N(1<<21), n, k)
		if done < now {
			t.Fatalf("%d bytes asked at %d are done at %d", n, now, done)
		}
		switch from {
		case sim.StallL1, sim.StallL2, sim.StallSystemCache, sim.StallDRAM, sim.StallScratchpad:
		default:
			t.Fatalf("reason %s", from)
		}
	}
}

// contractBandwidth: bytes never arrive faster than the closed form allows, and a stream of requests reaches at least
// half of it.
func contractBandwidth(t *testing.T, s subject) {
	s.level.Reset()
	const total = 1 << 17 // fits the cache of every subject with one
	warm(s.level, total)
	base := quiet(s.level)
	var last sim.Time
	for a := 0; a < total; a += 128 {
		done, _ := s.level.Access(base, uint64(a), 128, mem.Read)
		last = max(last, done)
	}
	least := sim.Time(float64(total) / s.bandwidth * 1e15)
	if d := last - base; d < least-sim.Time(s.latency) && d < least*99/100 {
		t.Errorf("%d bytes in %d fs: faster than the closed form, %d", total, d, least)
	}
	if d := last - base; d > 3*least+s.latency {
		t.Errorf("%d bytes in %d fs: closed form %d and latency %d", total, d, least, s.latency)
	}
}

// warm reads the data set once, slowly.
func warm(l mem.Level, total int) {
	now := sim.Time(0)
	for a := 0; a < total; a += 64 {
		now, _ = l.Access(now, uint64(a), 64, mem.Read)
	}
}

// quiet is an instant after everything under way.
func quiet(l mem.Level) sim.Time {
	done, _ := l.Access(0, 0, 1, mem.Read)
	return done + sim.Millisecond
}

// contractBackPressure: twice the requests at one instant need about twice the time; none is lost or free.
func contractBackPressure(t *testing.T, s subject) {
	burst := func(n int) sim.Time {
		s.level.Reset()
		var last sim.Time
		for i := range n {
			done, _ := s.level.Access(0, uint64(i)*256, 256, mem.Write)
			if done < last-sim.Microsecond {
				t.Fatalf("write %d is accepted at %d, the one before at %d", i, done, last)
			}
			last = max(last, done)
		}
		return last
	}
	const n = 65536 // 16 MiB: several times the capacity of any cache here
	a, b := burst(n), burst(2*n)
	if ratio := float64(b) / float64(a); ratio < 1.8 || ratio > 2.2 {
		t.Errorf("%d writes take %d fs, %d take %d", 2*n, b, n, a)
	}
}

// answers runs a random pattern and returns the results of all accesses.
func answers(l mem.Level) string {
	r := rand.New(rand.NewPCG(3, 4))
	now := sim.Time(0)
	var out []byte
	for range 3000 {
		now += sim.Time(r.IntN(30_000_000))
		done, from := l.Access(now, r.Uint64N(1<<20), 1+r.IntN(256), mem.Kind(r.IntN(3)))
		out = fmt.Appendf(out, "%d %s\n", done, from)
	}
	return string(out)
}

// contractReset: after Reset a memory behaves as a new one.
func contractReset(t *testing.T, s subject) {
	s.level.Reset()
	first := answers(s.level)
	s.level.Reset()
	if again := answers(s.level); again != first {
		t.Error("answers differ after Reset")
	}
}

func contractAllocations(t *testing.T, s subject) {
	s.level.Reset()
	var a uint64
	var now sim.Time
	require.Same(t, 0, testing.AllocsPerRun(2000, func() {
		a += 4160
		now += sim.Nanosecond
		s.level.Access(now, a, 200, mem.Read)
		s.level.Access(now, a*3, 200, mem.Write)
	}), "allocations per access")
}

func contractCounters(t *testing.T, s subject) {
	if p, ok := s.level.(*mem.Path); ok {
		s.level = p.Next
	}
	c, ok := s.level.(interface{ Counters() []sim.Counter })
	if !ok {
		t.Fatal("no counters")
	}
	s.level.Reset()
	for _, n := range c.Counters() {
		if n.Value != 0 {
			t.Errorf("%s = %d after Reset", n.Name, n.Value)
		}
	}
	s.level.Access(0, 0, 64, mem.Read)
	var sum int64
	seen := map[string]bool{}
	for _, n := range c.Counters() {
		sum += n.Value
		if seen[n.Name] || n.Name == "" {
			t.Errorf("counter name %q", n.Name)
		}
		seen[n.Name] = true
	}
	if sum == 0 {
		t.Error("a read is not counted")
	}
}
