package cache_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

func TestCacheHitAndMiss(t *testing.T) {
	f := &memtest.Flat{Latency: 100 * memtest.Cycle}
	c := memtest.NewCache(t, f, func(c *cache.Config) { c.FillCycles = 2 })
	type answer struct {
		done sim.Time
		from sim.Reason
	}
	got := func(at sim.Time, addr uint64, n int, k mem.Kind) answer {
		d, r := c.Access(at, addr, n, k)
		return answer{d - at, r}
	}
	for i, s := range []struct{ got, want answer }{
		{got(0, 0, 64, mem.Read), answer{114 * memtest.Cycle, sim.StallDRAM}},                              // miss: 12 + 100 + 2
		{got(50*memtest.Cycle, 64, 64, mem.Read), answer{64 * memtest.Cycle, sim.StallDRAM}},               // in flight
		{got(200*memtest.Cycle, 32, 64, mem.Read), answer{12 * memtest.Cycle, sim.StallL2}},                // hit
		{got(300*memtest.Cycle, 64, 128, mem.Read), answer{(1 + 12 + 102) * memtest.Cycle, sim.StallDRAM}}, // hit and miss, one bank
		{got(500*memtest.Cycle, 1<<14, 64, mem.Write), answer{12 * memtest.Cycle, sim.StallL2}},            // write miss does not wait
		{got(501*memtest.Cycle, 1<<14, 64, mem.Read), answer{(11 + 102) * memtest.Cycle, sim.StallDRAM}},   // but its data does
		{got(700*memtest.Cycle, 1<<15, 128, mem.Write), answer{12 * memtest.Cycle, sim.StallL2}},           // whole line
		{got(701*memtest.Cycle, 1<<15, 128, mem.Read), answer{12 * memtest.Cycle, sim.StallL2}},
	} {
		if s.got != s.want {
			t.Errorf("step %d: %+v, want %+v", i, s.got, s.want)
		}
	}
	if f.Reads != 3 || f.Writes != 0 {
		t.Errorf("%d reads and %d writes reached memory, want 3 and 0", f.Reads, f.Writes)
	}
}

// model is a cache as sets of line numbers in order of use.
type model struct {
	sets  [][]uint64
	dirty map[uint64]bool
	ways  int
}

func (m *model) access(line uint64, write bool) (hit, wroteBack bool) {
	s := &m.sets[line%uint64(len(m.sets))]
	for i, l := range *s {
		if l == line {
			*s = append(append([]uint64{}, append((*s)[:i:i], (*s)[i+1:]...)...), line)
			m.dirty[line] = m.dirty[line] || write
			return true, false
		}
	}
	if len(*s) == m.ways {
		wroteBack = m.dirty[(*s)[0]]
		delete(m.dirty, (*s)[0])
		*s = (*s)[1:]
	}
	*s = append(*s, line)
	m.dirty[line] = write
	return false, wroteBack
}

// drop removes a line and reports whether it was there.
func (m *model) drop(line uint64) bool {
	s := &m.sets[line%uint64(len(m.sets))]
	i := slices.Index(*s, line)
	if i < 0 {
		return false
	}
	*s = slices.Delete(*s, i, i+1)
	delete(m.dirty, line)
	return true
}

// TestCacheLRU compares misses and write-backs with a model, access by access. Some lines differ
// in high bits of their numbers only.
func TestCacheLRU(t *testing.T) {
	for _, ways := range []int{1, 2, 3, 4, 8, 12, 16} {
		t.Run(fmt.Sprint(ways, " ways"), func(t *testing.T) { testLRU(t, ways) })
	}
}

func testLRU(t *testing.T, ways int) {
	f := &memtest.Flat{Latency: 10 * memtest.Cycle}
	c := memtest.NewCache(t, f, func(c *cache.Config) { c.Bytes, c.Ways = 32*128*ways, ways })
	m := &model{sets: make([][]uint64, 32), dirty: map[uint64]bool{}, ways: ways}
	r := rand.New(rand.NewPCG(5, 6))
	var misses, backs, flushed int64
	for i := range sim.Time(20_000) {
		line := r.Uint64N(uint64(75*ways)) + r.Uint64N(2)<<12 + r.Uint64N(2)<<30
		if r.IntN(20) == 0 {
			line := line - min(line, r.Uint64N(700))
			want, n := false, 1+r.IntN(400)*r.IntN(400)
			at := line*128 + r.Uint64N(128)
			written := int64(0)
			for l := line; l <= (at+uint64(n)-1)/128; l++ {
				if m.dirty[l] {
					written++
				}
				want = m.drop(l) || want
			}
			if before := int64(f.Writes); r.IntN(2) == 0 {
				c.Flush(i*sim.Microsecond, at, n)
				if got := int64(f.Writes) - before; got != written {
					t.Fatalf("access %d: a flush of %d bytes wrote %d lines, model %d", i, n, got, written)
				}
				flushed += written
			} else if got := c.Drop(at, n); got != want {
				t.Fatalf("access %d: dropped %v, model %v", i, got, want)
			}
		}
		k := mem.Kind(r.IntN(2))
		c.Access(i*sim.Microsecond, line*128+r.Uint64N(64), 64, k)
		hit, back := m.access(line, k == mem.Write)
		if !hit {
			misses++
		}
		if back {
			backs++
		}
		if got := memtest.Counter(t, c, "read_miss") + memtest.Counter(t, c, "write_miss"); got != misses {
			t.Fatalf("access %d: %d misses, model %d", i, got, misses)
		}
	}
	if backs += flushed; flushed == 0 {
		t.Error("no flush wrote")
	}
	if got := memtest.Counter(t, c, "write_back"); got != backs || backs == 0 {
		t.Errorf("%d write-backs, model %d", got, backs)
	}
	require.Same(t, backs, int64(f.Writes), "memory saw", "writes")
	left := int64(0)
	for _, d := range m.dirty {
		if d {
			left++
		}
	}
	c.Clean(sim.Second)
	if got := int64(f.Writes) - backs; got != left {
		t.Errorf("clean wrote %d lines, model has %d dirty", got, left)
	}
}

// TestCachePLRU: the tree never evicts the line used last, keeps a working set
// of the set's size, and evicts the pseudo-oldest of a full round.
func TestCachePLRU(t *testing.T) {
	f := &memtest.Flat{Latency: 10 * memtest.Cycle}
	c := memtest.NewCache(t, f, func(c *cache.Config) { c.Bytes, c.Ways, c.Replacement = 8*128, 8, cache.TreePLRU }) // one set
	now := sim.Time(0)
	touch := func(line uint64) bool {
		now += sim.Microsecond
		before := f.Reads
		c.Access(now, line*128, 64, mem.Read)
		return f.Reads == before
	}
	for l := range uint64(8) {
		touch(l)
	}
	for l := range uint64(8) {
		if !touch(l) {
			t.Fatalf("line %d of a full set misses", l)
		}
	}
	// All bits now point away from the path of way 7; the victim is way 0.
	touch(100)
	if touch(0) {
		t.Error("line 0 survived the eviction of the pseudo-oldest")
	}
	r := rand.New(rand.NewPCG(7, 8))
	last := uint64(0)
	for range 10_000 {
		l := r.Uint64N(20)
		touch(l)
		touch(l + 1)
		if !touch(l) {
			t.Fatalf("line %d evicted by the access after it", l)
		}
		last = l
	}
	_ = last
}

func TestCacheWriteThrough(t *testing.T) {
	f := &memtest.Flat{Latency: 100 * memtest.Cycle}
	c := memtest.NewCache(t, f, func(c *cache.Config) { c.Write = cache.WriteThrough })
	c.Access(0, 0, 64, mem.Write)
	if f.Writes != 1 || f.Reads != 0 {
		t.Errorf("write miss: %d writes, %d reads", f.Writes, f.Reads)
	}
	c.Access(sim.Microsecond, 0, 64, mem.Read)
	c.Access(2*sim.Microsecond, 0, 64, mem.Write)
	if done, _ := c.Access(3*sim.Microsecond, 0, 64, mem.Read); done != 3*sim.Microsecond+12*memtest.Cycle {
		t.Errorf("line lost by a write: done at %d", done)
	}
	if f.Writes != 2 || f.Reads != 1 {
		t.Errorf("%d writes, %d reads, want 2 and 1", f.Writes, f.Reads)
	}
}

// TestCacheWriteBack: of lines that were read, those that a later hit writes are written back, and no others.
func TestCacheWriteBack(t *testing.T) {
	f := &memtest.Flat{Latency: 100 * memtest.Cycle}
	c := memtest.NewCache(t, f, func(c *cache.Config) { c.Write, c.BytesPerCycle = cache.WriteBack, 64 })
	for l := range uint64(4) {
		c.Access(0, l*128, 64, mem.Read)
	}
	c.Access(sim.Microsecond, 128, 4, mem.Write)
	c.Access(sim.Microsecond, 256, 128, mem.Write) // more than a bank takes in a cycle
	if c.Clean(2 * sim.Microsecond); f.Reads != 4 || f.Writes != 2 {
		t.Errorf("%d reads, %d writes, want 4 and 2", f.Reads, f.Writes)
	}
}

func TestCacheReadOnlyDropsWrittenLine(t *testing.T) {
	f := &memtest.Flat{Latency: 100 * memtest.Cycle}
	c := memtest.NewCache(t, f, func(c *cache.Config) { c.Write = cache.ReadOnly })
	c.Access(0, 0, 64, mem.Read)
	c.Access(sim.Microsecond, 0, 4, mem.Write)
	c.Access(2*sim.Microsecond, 0, 64, mem.Read)
	if f.Reads != 2 || f.Writes != 1 {
		t.Errorf("%d reads, %d writes, want 2 and 1", f.Reads, f.Writes)
	}
}

// TestCacheMissBandwidth: with m MSHRs and memory of latency L, misses stream
// at m lines per L (Little's law), until the bank's one line per cycle.
func TestCacheMissBandwidth(t *testing.T) {
	for _, m := range []int{1, 4, 16, 64} {
		f := &memtest.Flat{Latency: 100 * memtest.Cycle}
		c := memtest.NewCache(t, f, func(c *cache.Config) { c.MSHRs = m })
		const n = 4096
		var last sim.Time
		for i := range uint64(n) {
			done, _ := c.Access(0, i*128, 128, mem.Read)
			last = max(last, done)
		}
		want := float64(n) * float64(f.Latency) / float64(m)
		if !(math.Abs(float64(last)-want) <= 0.03*want+float64(112*memtest.Cycle)) {
			t.Errorf("%d MSHRs: %d lines in %d fs, want %.0f", m, n, last, want)
		}
		if full := memtest.Counter(t, c, "mshr_full"); full == 0 {
			t.Errorf("%d MSHRs never full", m)
		}
	}
}

// TestCacheUnlimited: without a limit of MSHRs lines stream at the bank's one per cycle, whatever the memory's latency.
func TestCacheUnlimited(t *testing.T) {
	f := &memtest.Flat{Latency: 1e6 * memtest.Cycle}
	c := memtest.NewCache(t, f, func(c *cache.Config) { c.MSHRs = 0 })
	for i := range sim.Time(4096) {
		done, _ := c.Access(0, uint64(i)*128, 128, mem.Read)
		if want := (i+12)*memtest.Cycle + f.Latency; done != want {
			t.Fatalf("line %d done at %d, want %d", i, done, want)
		}
	}
	require.Same(t, 0, memtest.Counter(t, c, "mshr_full"), "misses waited")
}

// slowWrites accepts a write after a delay and serves reads at once.
type slowWrites struct{ memtest.Flat }

func (s *slowWrites) Access(t sim.Time, a uint64, n int, k mem.Kind) (sim.Time, sim.Reason) {
	done, from := s.Flat.Access(t, a, n, k)
	if k == mem.Write {
		done += 100 * memtest.Cycle
	}
	return done, from
}

// TestCacheWriteBackHoldsMSHR: a miss that evicts a dirty line keeps its MSHR
// until the victim is accepted, so dirty evictions are paced by the next level.
func TestCacheWriteBackHoldsMSHR(t *testing.T) {
	c := memtest.NewCache(t, &slowWrites{memtest.Flat{Latency: 10 * memtest.Cycle}}, func(c *cache.Config) { c.MSHRs, c.Bytes = 2, 1<<14 })
	const lines, n = 128, 1024
	for l := range uint64(lines) {
		c.Access(0, l*128, 128, mem.Write)
	}
	const at = sim.Millisecond
	var last sim.Time
	for l := range uint64(n) {
		done, _ := c.Access(at, (lines+l)*128, 128, mem.Write)
		last = max(last, done)
	}
	want := sim.Time(n/2) * 110 * memtest.Cycle
	if got := last - at; got < want*98/100 || got > want*102/100 {
		t.Errorf("%d dirty evictions take %d fs, want %d", n, got, want)
	}
}

// TestCacheBanks: hits to different banks are parallel, those to one bank sequential.
func TestCacheBanks(t *testing.T) {
	c := memtest.NewCache(t, &memtest.Flat{}, func(c *cache.Config) { c.Banks, c.BytesPerCycle = 4, 32 })
	for l := range uint64(8) {
		c.Access(0, l*128, 128, mem.Read)
	}
	const at = sim.Millisecond
	for i, want := range []sim.Time{12, 12, 12, 12, 13, 13} {
		done, _ := c.Access(at, uint64(i)*128, 32, mem.Read)
		if done-at != want*memtest.Cycle {
			t.Errorf("hit %d takes %d fs, want %d cycles", i, done-at, want)
		}
	}
	// A whole line is four beats of a bank.
	if done, _ := c.Access(2*at, 0, 128, mem.Read); done-2*at != 15*memtest.Cycle {
		t.Errorf("128 bytes take %d fs, want 15 cycles", done-2*at)
	}
}

// TestCacheRate: banks whose bandwidth together exceeds Rate are busy as much longer, four of 32 bytes at a rate of 80
// for 1.6 cycles each, and no longer where the rate is not exceeded.
func TestCacheRate(t *testing.T) {
	for _, x := range []struct {
		rate int
		turn sim.Time // a fifth of a cycle
	}{{0, 5}, {1, 640}, {80, 8}, {127, 5}, {128, 5}, {200, 5}} {
		c := memtest.NewCache(t, &memtest.Flat{}, func(c *cache.Config) { c.Banks, c.BytesPerCycle, c.Rate = 4, 32, x.rate })
		for l := range uint64(8) {
			c.Access(0, l*128, 128, mem.Read)
		}
		const at = sim.Millisecond
		for i := range 8 {
			want := 12*memtest.Cycle + sim.Time(i/4)*memtest.Cycle*x.turn/5
			done, _ := c.Access(at, uint64(i)*128, 32, mem.Read)
			if late := done - at - want; late < 0 || late > memtest.Cycle/100 {
				t.Errorf("rate %d: hit %d takes %d fs, want %d", x.rate, i, done-at, want)
			}
		}
	}
}

// TestCachePrefetch: a stream finds its lines; the prefetcher never makes a
// core wait and never fetches a line twice.
func TestCachePrefetch(t *testing.T) {
	run := func(degree int) (sim.Time, *memtest.Flat, *cache.Cache) {
		f := &memtest.Flat{Latency: 100 * memtest.Cycle}
		c := memtest.NewCache(t, f, func(c *cache.Config) {
			if degree > 0 {
				c.Prefetch, c.PrefetchDegree = cache.PrefetchNextLine, degree
			}
		})
		now := sim.Time(0)
		for i := range uint64(1000) {
			now, _ = c.Access(now+10*memtest.Cycle, i*128, 128, mem.Read)
		}
		return now, f, c
	}
	none, f0, _ := run(0)
	deep, f8, c := run(8)
	if f0.Reads != 1000 || f8.Reads < 1000 || f8.Reads > 1008 {
		t.Errorf("%d and %d reads of 1000 lines", f0.Reads, f8.Reads)
	}
	// Eight lines ahead at 22 cycles each cover the 100 of memory.
	if want := sim.Time(1000 * 22 * memtest.Cycle); deep > want+200*memtest.Cycle {
		t.Errorf("prefetched stream takes %d fs, want about %d; without %d", deep, want, none)
	}
	if want := sim.Time(1000 * 122 * memtest.Cycle); none != want {
		t.Errorf("plain stream takes %d fs, want %d", none, want)
	}
	if memtest.Counter(t, c, "prefetch") < 990 {
		t.Errorf("%d prefetches", memtest.Counter(t, c, "prefetch"))
	}
}

func TestCacheRetime(t *testing.T) {
	c := memtest.NewCache(t, &memtest.Flat{}, func(c *cache.Config) { c.FillCycles = 5 })
	for i, cycle := range []sim.Time{memtest.Cycle, 2 * memtest.Cycle, memtest.Cycle} {
		c.Retime(int64(sim.Second / cycle))
		for j, cycles := range []sim.Time{12 + 5, 12} { // a miss, a hit
			at := sim.Time(2*i+j) * sim.Microsecond
			if done, _ := c.Access(at, uint64(i)<<10, 64, mem.Read); done-at != cycles*cycle {
				t.Errorf("clock %d: %d fs, want %d cycles", i, done-at, cycles)
			}
		}
	}
	c.Invalidate()
	if done, from := c.Access(9*sim.Microsecond, 0, 64, mem.Read); from != sim.StallDRAM {
		t.Errorf("hit after Invalidate: %d %s", done, from)
	}
}

func TestCacheConfigErrors(t *testing.T) {
	for name, breakIt := range map[string]func(*cache.Config){
		"Hz":               func(c *cache.Config) { c.Hz = 0 },
		"LineBytes":        func(c *cache.Config) { c.LineBytes = 48 },
		"Ways":             func(c *cache.Config) { c.Ways = 0 },
		"sets":             func(c *cache.Config) { c.Bytes = 3 << 16 },
		"multiple":         func(c *cache.Config) { c.Bytes = 1<<18 + 64 },
		"MSHRs":            func(c *cache.Config) { c.MSHRs = -1 },
		"Ways = 17":        func(c *cache.Config) { c.Ways, c.Bytes = 17, 17<<14 },
		"Banks":            func(c *cache.Config) { c.Banks = 3 },
		"Bytes =":          func(c *cache.Config) { c.Bytes = 1 << 40 },
		"unknown policy":   func(c *cache.Config) { c.Write = 7 },
		"power of two of ": func(c *cache.Config) { c.Ways, c.Bytes, c.Replacement = 6, 6<<15, cache.TreePLRU },
	} {
		c := memtest.L2()
		breakIt(&c)
		require.ErrorContains(t, require.Err(cache.New(c, &memtest.Flat{})), name)
	}
}

func BenchmarkCacheHit(b *testing.B) {
	for _, p := range []struct {
		name string
		p    cache.Replacement
	}{{"LRU", cache.LRU}, {"PLRU", cache.TreePLRU}} {
		b.Run(p.name, func(b *testing.B) {
			c := memtest.NewCache(b, &memtest.Flat{}, func(c *cache.Config) { c.Replacement = p.p })
			var l mem.Level = c
			for a := uint64(0); a < 1<<16; a += 128 {
				l.Access(0, a, 128, mem.Read)
			}
			b.ReportAllocs()
			b.ResetTimer()
			now := sim.Time(0)
			for i := range b.N {
				now += memtest.Cycle
				l.Access(now, uint64(i)*128&0xffff, 128, mem.Read)
			}
		})
	}
}

func BenchmarkCacheMiss(b *testing.B) {
	c := memtest.NewCache(b, memtest.NewDRAM(b, nil), nil)
	b.ReportAllocs()
	now := sim.Time(0)
	for i := range b.N {
		now += memtest.Cycle
		c.Access(now, uint64(i)*128, 128, mem.Read)
	}
}
