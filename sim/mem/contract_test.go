package mem_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// lpddr4x is one channel set of the SoC's DRAM, without refresh unless a test
// turns it on.
func lpddr4x() mem.DRAMConfig {
	ns := func(v float64) sim.Time { return sim.Time(v * 1e6) }
	return mem.DRAMConfig{
		Name: "lpddr4x", Channels: 4, Banks: 8, RowBytes: 2048, BusBits: 16, BurstLength: 16,
		TransfersPerSec: 4_266_000_000, InterleaveBytes: 256,
		ReadLatency: ns(16.875), WriteLatency: ns(8.4375), TRCD: ns(18), TRPpb: ns(18), TRPab: ns(21),
		TRAS: ns(42), TRC: ns(60), TRRD: ns(10), TFAW: ns(40), TWR: ns(18), TWTR: ns(10), TRTP: ns(7.5), TRTW: ns(1.875),
		TRFCab: ns(280), TRFCpb: ns(140), TREFI: ns(3900),
		RequestLatency: ns(20), ResponseLatency: ns(10),
	}
}

// clocks is the time of spans of a DRAM, each rounded up to whole clocks.
func clocks(c mem.DRAMConfig, spans ...sim.Time) sim.Time {
	clock := sim.Clock{Hz: c.ClockHz()}
	n := int64(0)
	for _, s := range spans {
		n += clock.Cycle(max(s-sim.Picosecond, 1))
	}
	return clock.At(n)
}

func newDRAM(t testing.TB, change func(*mem.DRAMConfig)) *mem.DRAM {
	t.Helper()
	c := lpddr4x()
	if change != nil {
		change(&c)
	}
	d, err := mem.NewDRAM(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func l2Config() mem.CacheConfig {
	return mem.CacheConfig{
		Name: "l2", Hz: 1_000_000_000, Bytes: 1 << 18, LineBytes: 128, Ways: 8, HitCycles: 12,
		BytesPerCycle: 128, Banks: 1, MSHRs: 16, Reason: sim.StallL2,
	}
}

func newCache(t testing.TB, next mem.Level, change func(*mem.CacheConfig)) *mem.Cache {
	t.Helper()
	c := l2Config()
	if change != nil {
		change(&c)
	}
	l, err := mem.NewCache(c, next)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func systemCacheConfig() mem.SystemCacheConfig {
	all := mem.Allocation{Ways: 12, Reads: true, Writes: true}
	return mem.SystemCacheConfig{
		Name: "slc", Hz: 1_000_000_000, Bytes: 3 << 20, LineBytes: 64, Ways: 12, Banks: 4, BankBytes: 256,
		BytesPerCycle: 16, HitCycles: 20, Masters: []mem.Allocation{all, all}, Energy: mem.SystemCacheEnergy{BytePJ: 1, StaticMW: 10},
	}
}

func newSystemCache(t testing.TB, next mem.Level, change func(*mem.SystemCacheConfig)) *mem.SystemCache {
	t.Helper()
	c := systemCacheConfig()
	if change != nil {
		change(&c)
	}
	l, err := mem.NewSystemCache(c, next)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func newScratchpad(t testing.TB) *mem.Scratchpad {
	t.Helper()
	s, err := mem.NewScratchpad(mem.ScratchpadConfig{
		Name: "vtcm", Hz: 1_000_000_000, Bytes: 1 << 18, Banks: 32, BankBytes: 4, LatencyCycles: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newBus(t testing.TB, next mem.Level, outstanding int) *mem.Bus {
	t.Helper()
	b, err := mem.NewBus(mem.BusConfig{
		Name: "noc", Hz: 1_000_000_000, BytesPerCycle: 32, LatencyCycles: 15, Outstanding: outstanding,
	}, next)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// subject is one memory under the contract, with what its closed form says.
type subject struct {
	name  string
	level mem.Level
	// latency of an isolated 64-byte read of a cold memory, and how much later it may
	// be done because a DRAM begins at a clock
	latency, clock sim.Time
	// bytes per second it can stream at best, for the data set below
	bandwidth float64
}

// dramLatency of a row miss from idle: a clock, tRCD, RL, the bursts, and the way.
func dramLatency(c mem.DRAMConfig, bytes int) sim.Time {
	bursts := sim.Time((bytes + c.BurstBytes() - 1) / c.BurstBytes())
	return c.RequestLatency + clocks(c, 1, c.TRCD, c.ReadLatency, bursts*c.BurstTime()) + c.ResponseLatency
}

func subjects(t testing.TB) []subject {
	cfg := lpddr4x()
	const ghz = 1_000_000
	ck := clocks(cfg, 1)
	dram := newDRAM(t, nil)
	drams := []subject{
		{"dram", dram, dramLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		{"dram all-bank refresh", newDRAM(t, func(c *mem.DRAMConfig) { c.Refresh = mem.RefreshAllBanks }), dramLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		{"dram per-bank refresh", newDRAM(t, func(c *mem.DRAMConfig) { c.Refresh = mem.RefreshPerBank }), dramLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		{"dram self-refresh", newDRAM(t, func(c *mem.DRAMConfig) {
			c.Refresh, c.SelfRefreshAfter, c.TXSR = mem.RefreshAllBanks, sim.Microsecond, 100*sim.Nanosecond
		}), dramLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		{"dram first come", newDRAM(t, func(c *mem.DRAMConfig) { c.Scheduler = mem.FCFS{} }), dramLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		{"dram closed rows", newDRAM(t, func(c *mem.DRAMConfig) { c.RowPolicy = mem.TimeoutRows{Clocks: 200} }), dramLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		{"dram write queue", newDRAM(t, func(c *mem.DRAMConfig) { c.WriteQueue = 8 }), dramLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
	}
	line := dramLatency(cfg, 128)
	cache := func(name string, change func(*mem.CacheConfig)) subject {
		return subject{name, newCache(t, newDRAM(t, nil), change), 12*ghz + line, ck, 128e9}
	}
	l1 := newCache(t, newCache(t, newDRAM(t, nil), nil), func(c *mem.CacheConfig) {
		c.Name, c.Bytes, c.LineBytes, c.Ways, c.HitCycles, c.BytesPerCycle, c.Reason = "l1", 1<<15, 64, 4, 3, 32, sim.StallL1
	})
	return append(drams,
		subject{"scratchpad", newScratchpad(t), 4 * ghz, 0, 128e9},
		cache("cache LRU", nil),
		cache("cache PLRU", func(c *mem.CacheConfig) { c.Replacement = mem.TreePLRU }),
		cache("cache write-through", func(c *mem.CacheConfig) { c.Write = mem.WriteThrough }),
		cache("cache prefetching", func(c *mem.CacheConfig) { c.Prefetch, c.PrefetchDegree = mem.PrefetchNextLine, 2 }),
		subject{"system cache", newSystemCache(t, newDRAM(t, nil), nil), dramLatency(cfg, 64), ck, 64e9},
		subject{"system cache that keeps nothing", newSystemCache(t, newDRAM(t, nil), func(c *mem.SystemCacheConfig) { c.Masters = nil }), dramLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		subject{"bus in front of a system cache", newBus(t, newSystemCache(t, newDRAM(t, nil), nil), 0).Port("p"), 30*ghz + dramLatency(cfg, 64), ck, 32e9},
		subject{"two caches", l1, (3+1+12)*ghz + line, ck, 32e9}, // 64 bytes: two beats of the L1 bank
		subject{"bus", newBus(t, newDRAM(t, nil), 0).Port("p"), 30*ghz + dramLatency(cfg, 64), ck, 32e9},
		subject{"path", &mem.Path{Next: newDRAM(t, nil), Delay: 60 * ghz}, 60*ghz + dramLatency(cfg, 64), ck, cfg.PeakBytesPerSecond()},
		// Little's law: four reads of 128 bytes per latency of a row hit.
		subject{"bus limited", newBus(t, newDRAM(t, nil), 4).Port("p"), 30*ghz + dramLatency(cfg, 64), ck,
			4 * 128 / (float64(30*ghz+dramLatency(cfg, 128)-cfg.TRCD) / 1e15)},
	)
}

// TestContract is what every Level promises.
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

// contractLatency: an isolated read takes the closed form, to the femtosecond or to
// the clock of the DRAM.
func contractLatency(t *testing.T, s subject) {
	for _, at := range []sim.Time{0, 1, 123_456_789} {
		s.level.Reset()
		done, _ := s.level.Access(at, 1<<20, 64, mem.Read)
		if got := done - at; got < s.latency-2 || got > s.latency+s.clock {
			t.Errorf("read at %d takes %d fs, want %d", at, got, s.latency)
		}
	}
}

// contractCausality: nothing is done before it is asked for, and reasons are
// those of memories.
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

// contractBandwidth: bytes never come faster than the closed form allows, and a
// stream of requests comes at least at half of it.
func contractBandwidth(t *testing.T, s subject) {
	s.level.Reset()
	const total = 1 << 17 // fits the cache of every subject with one
	warm(s.level, total)
	base := settle(s.level)
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

// settle is an instant after everything under way.
func settle(l mem.Level) sim.Time {
	done, _ := l.Access(0, 0, 1, mem.Read)
	return done + sim.Millisecond
}

// contractBackPressure: twice the requests at one instant take about twice the
// time; none is lost or free.
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
	const n = 16384 // 4 MiB: more than any cache here holds
	a, b := burst(n), burst(2*n)
	if ratio := float64(b) / float64(a); ratio < 1.8 || ratio > 2.2 {
		t.Errorf("%d writes take %d fs, %d take %d", 2*n, b, n, a)
	}
}

// answers runs a random pattern and returns every answer.
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

// contractReset: after Reset a memory answers as a new one.
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
	if n := testing.AllocsPerRun(2000, func() {
		a += 4160
		now += sim.Nanosecond
		s.level.Access(now, a, 200, mem.Read)
		s.level.Access(now, a*3, 200, mem.Write)
	}); n != 0 {
		t.Errorf("%v allocations per access", n)
	}
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
