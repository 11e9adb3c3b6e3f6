package mem_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

const cycle = sim.Nanosecond // of the caches and buses here: 1 GHz

// flat is a memory of constant latency and no limit of bandwidth.
type flat struct {
	latency       sim.Time
	reads, writes int
	bytes         int
}

func (f *flat) Access(t sim.Time, _ uint64, n int, k mem.Kind) (sim.Time, sim.Reason) {
	f.bytes += n
	if k == mem.Write {
		f.writes++
	} else {
		f.reads++
	}
	return t + f.latency, sim.StallDRAM
}

func (f *flat) Reset() { *f = flat{latency: f.latency} }

func counter(t *testing.T, l interface{ Counters() []sim.Counter }, suffix string) int64 {
	t.Helper()
	for _, c := range l.Counters() {
		if c.Name == suffix || strings.HasSuffix(c.Name, "_"+suffix) {
			return c.Value
		}
	}
	t.Fatalf("no counter %s", suffix)
	return 0
}

func TestCacheHitAndMiss(t *testing.T) {
	f := &flat{latency: 100 * cycle}
	c := newCache(t, f, func(c *mem.CacheConfig) { c.FillCycles = 2 })
	type answer struct {
		done sim.Time
		from sim.Reason
	}
	got := func(at sim.Time, addr uint64, n int, k mem.Kind) answer {
		d, r := c.Access(at, addr, n, k)
		return answer{d - at, r}
	}
	for i, s := range []struct{ got, want answer }{
		{got(0, 0, 64, mem.Read), answer{114 * cycle, sim.StallDRAM}},                      // miss: 12 + 100 + 2
		{got(50*cycle, 64, 64, mem.Read), answer{64 * cycle, sim.StallDRAM}},               // in flight
		{got(200*cycle, 32, 64, mem.Read), answer{12 * cycle, sim.StallL2}},                // hit
		{got(300*cycle, 64, 128, mem.Read), answer{(1 + 12 + 102) * cycle, sim.StallDRAM}}, // hit and miss, one bank
		{got(500*cycle, 1<<14, 64, mem.Write), answer{12 * cycle, sim.StallL2}},            // write miss does not wait
		{got(501*cycle, 1<<14, 64, mem.Read), answer{(11 + 102) * cycle, sim.StallDRAM}},   // but its data does
		{got(700*cycle, 1<<15, 128, mem.Write), answer{12 * cycle, sim.StallL2}},           // whole line
		{got(701*cycle, 1<<15, 128, mem.Read), answer{12 * cycle, sim.StallL2}},
	} {
		if s.got != s.want {
			t.Errorf("step %d: %+v, want %+v", i, s.got, s.want)
		}
	}
	if f.reads != 3 || f.writes != 0 {
		t.Errorf("%d reads and %d writes reached memory, want 3 and 0", f.reads, f.writes)
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

// drop takes a line out and answers whether it was there.
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

// TestCacheLRU compares misses and write-backs with a model, access by access.
func TestCacheLRU(t *testing.T) {
	f := &flat{latency: 10 * cycle}
	c := newCache(t, f, func(c *mem.CacheConfig) { c.Bytes, c.Ways = 1<<14, 4 })
	m := &model{sets: make([][]uint64, 32), dirty: map[uint64]bool{}, ways: 4}
	r := rand.New(rand.NewPCG(5, 6))
	var misses, backs int64
	for i := range sim.Time(50_000) {
		line := r.Uint64N(300) + r.Uint64N(2)<<12
		if r.IntN(20) == 0 {
			line := line - min(line, r.Uint64N(700))
			want, n := false, 1+r.IntN(400)*r.IntN(400)
			for l := line; l <= (line*128+uint64(n)-1)/128; l++ {
				want = m.drop(l) || want
			}
			if got := c.Drop(line*128, n); got != want {
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
		if got := counter(t, c, "read_miss") + counter(t, c, "write_miss"); got != misses {
			t.Fatalf("access %d: %d misses, model %d", i, got, misses)
		}
	}
	if got := counter(t, c, "write_back"); got != backs || backs == 0 {
		t.Errorf("%d write-backs, model %d", got, backs)
	}
	if got := int64(f.writes); got != backs {
		t.Errorf("memory saw %d writes, want %d", got, backs)
	}
	left := int64(0)
	for _, d := range m.dirty {
		if d {
			left++
		}
	}
	c.Clean(sim.Second)
	if got := int64(f.writes) - backs; got != left {
		t.Errorf("clean wrote %d lines, model has %d dirty", got, left)
	}
}

// TestCachePLRU: the tree never evicts the line used last, keeps a working set
// of the set's size, and evicts the pseudo-oldest of a full round.
func TestCachePLRU(t *testing.T) {
	f := &flat{latency: 10 * cycle}
	c := newCache(t, f, func(c *mem.CacheConfig) { c.Bytes, c.Ways, c.Replacement = 8*128, 8, mem.TreePLRU }) // one set
	now := sim.Time(0)
	touch := func(line uint64) bool {
		now += sim.Microsecond
		before := f.reads
		c.Access(now, line*128, 64, mem.Read)
		return f.reads == before
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
	f := &flat{latency: 100 * cycle}
	c := newCache(t, f, func(c *mem.CacheConfig) { c.Write = mem.WriteThrough })
	c.Access(0, 0, 64, mem.Write)
	if f.writes != 1 || f.reads != 0 {
		t.Errorf("write miss: %d writes, %d reads", f.writes, f.reads)
	}
	c.Access(sim.Microsecond, 0, 64, mem.Read)
	c.Access(2*sim.Microsecond, 0, 64, mem.Write)
	if done, _ := c.Access(3*sim.Microsecond, 0, 64, mem.Read); done != 3*sim.Microsecond+12*cycle {
		t.Errorf("line lost by a write: done at %d", done)
	}
	if f.writes != 2 || f.reads != 1 {
		t.Errorf("%d writes, %d reads, want 2 and 1", f.writes, f.reads)
	}
}

func TestCacheReadOnlyDropsWrittenLine(t *testing.T) {
	f := &flat{latency: 100 * cycle}
	c := newCache(t, f, func(c *mem.CacheConfig) { c.Write = mem.ReadOnly })
	c.Access(0, 0, 64, mem.Read)
	c.Access(sim.Microsecond, 0, 4, mem.Write)
	c.Access(2*sim.Microsecond, 0, 64, mem.Read)
	if f.reads != 2 || f.writes != 1 {
		t.Errorf("%d reads, %d writes, want 2 and 1", f.reads, f.writes)
	}
}

// TestCacheMissBandwidth: with m MSHRs and memory of latency L, misses stream
// at m lines per L (Little's law), until the bank's one line per cycle.
func TestCacheMissBandwidth(t *testing.T) {
	for _, m := range []int{1, 4, 16, 64} {
		f := &flat{latency: 100 * cycle}
		c := newCache(t, f, func(c *mem.CacheConfig) { c.MSHRs = m })
		const n = 4096
		var last sim.Time
		for i := range uint64(n) {
			done, _ := c.Access(0, i*128, 128, mem.Read)
			last = max(last, done)
		}
		want := float64(n) * float64(f.latency) / float64(m)
		if math.Abs(float64(last)-want) > 0.03*want+float64(112*cycle) {
			t.Errorf("%d MSHRs: %d lines in %d fs, want %.0f", m, n, last, want)
		}
		if full := counter(t, c, "mshr_full"); full == 0 {
			t.Errorf("%d MSHRs never full", m)
		}
	}
}

// slowWrites accepts a write after a while and answers reads at once.
type slowWrites struct{ flat }

func (s *slowWrites) Access(t sim.Time, a uint64, n int, k mem.Kind) (sim.Time, sim.Reason) {
	done, from := s.flat.Access(t, a, n, k)
	if k == mem.Write {
		done += 100 * cycle
	}
	return done, from
}

// TestCacheWriteBackHoldsMSHR: a miss that evicts a dirty line keeps its MSHR
// until the victim is accepted, so dirty evictions are paced by the next level.
func TestCacheWriteBackHoldsMSHR(t *testing.T) {
	c := newCache(t, &slowWrites{flat{latency: 10 * cycle}}, func(c *mem.CacheConfig) { c.MSHRs, c.Bytes = 2, 1<<14 })
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
	want := sim.Time(n/2) * 110 * cycle
	if got := last - at; got < want*98/100 || got > want*102/100 {
		t.Errorf("%d dirty evictions take %d fs, want %d", n, got, want)
	}
}

// TestCacheBanks: hits to different banks go in parallel, to one bank in turn.
func TestCacheBanks(t *testing.T) {
	c := newCache(t, &flat{}, func(c *mem.CacheConfig) { c.Banks, c.BytesPerCycle = 4, 32 })
	for l := range uint64(8) {
		c.Access(0, l*128, 128, mem.Read)
	}
	const at = sim.Millisecond
	for i, want := range []sim.Time{12, 12, 12, 12, 13, 13} {
		done, _ := c.Access(at, uint64(i)*128, 32, mem.Read)
		if done-at != want*cycle {
			t.Errorf("hit %d takes %d fs, want %d cycles", i, done-at, want)
		}
	}
	// A whole line is four beats of a bank.
	if done, _ := c.Access(2*at, 0, 128, mem.Read); done-2*at != 15*cycle {
		t.Errorf("128 bytes take %d fs, want 15 cycles", done-2*at)
	}
}

// TestCachePrefetch: a stream finds its lines; the prefetcher never makes a
// core wait and never fetches a line twice.
func TestCachePrefetch(t *testing.T) {
	run := func(degree int) (sim.Time, *flat, *mem.Cache) {
		f := &flat{latency: 100 * cycle}
		c := newCache(t, f, func(c *mem.CacheConfig) {
			if degree > 0 {
				c.Prefetch, c.PrefetchDegree = mem.PrefetchNextLine, degree
			}
		})
		now := sim.Time(0)
		for i := range uint64(1000) {
			now, _ = c.Access(now+10*cycle, i*128, 128, mem.Read)
		}
		return now, f, c
	}
	none, f0, _ := run(0)
	deep, f8, c := run(8)
	if f0.reads != 1000 || f8.reads < 1000 || f8.reads > 1008 {
		t.Errorf("%d and %d reads of 1000 lines", f0.reads, f8.reads)
	}
	// Eight lines ahead at 22 cycles each cover the 100 of memory.
	if want := sim.Time(1000 * 22 * cycle); deep > want+200*cycle {
		t.Errorf("prefetched stream takes %d fs, want about %d; without %d", deep, want, none)
	}
	if want := sim.Time(1000 * 122 * cycle); none != want {
		t.Errorf("plain stream takes %d fs, want %d", none, want)
	}
	if counter(t, c, "prefetch") < 990 {
		t.Errorf("%d prefetches", counter(t, c, "prefetch"))
	}
}

func TestCacheRetime(t *testing.T) {
	c := newCache(t, &flat{}, nil)
	c.Access(0, 0, 64, mem.Read)
	c.Retime(500_000_000)
	if done, _ := c.Access(sim.Microsecond, 0, 64, mem.Read); done-sim.Microsecond != 24*cycle {
		t.Errorf("hit at half the clock takes %d fs", done-sim.Microsecond)
	}
	c.Invalidate()
	if done, from := c.Access(2*sim.Microsecond, 0, 64, mem.Read); from != sim.StallDRAM {
		t.Errorf("hit after Invalidate: %d %s", done, from)
	}
}

func TestCacheConfigErrors(t *testing.T) {
	for name, breakIt := range map[string]func(*mem.CacheConfig){
		"Hz":               func(c *mem.CacheConfig) { c.Hz = 0 },
		"LineBytes":        func(c *mem.CacheConfig) { c.LineBytes = 48 },
		"Ways":             func(c *mem.CacheConfig) { c.Ways = 0 },
		"sets":             func(c *mem.CacheConfig) { c.Bytes = 3 << 16 },
		"multiple":         func(c *mem.CacheConfig) { c.Bytes = 1<<18 + 64 },
		"MSHRs":            func(c *mem.CacheConfig) { c.MSHRs = 0 },
		"Banks":            func(c *mem.CacheConfig) { c.Banks = 3 },
		"Bytes =":          func(c *mem.CacheConfig) { c.Bytes = 1 << 40 },
		"unknown policy":   func(c *mem.CacheConfig) { c.Write = 7 },
		"power of two of ": func(c *mem.CacheConfig) { c.Ways, c.Bytes, c.Replacement = 6, 6<<15, mem.TreePLRU },
	} {
		c := l2Config()
		breakIt(&c)
		_, err := mem.NewCache(c, &flat{})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func BenchmarkCacheHit(b *testing.B) {
	for _, p := range []struct {
		name string
		p    mem.Replacement
	}{{"LRU", mem.LRU}, {"PLRU", mem.TreePLRU}} {
		b.Run(p.name, func(b *testing.B) {
			c := newCache(b, &flat{}, func(c *mem.CacheConfig) { c.Replacement = p.p })
			var l mem.Level = c
			for a := uint64(0); a < 1<<16; a += 128 {
				l.Access(0, a, 128, mem.Read)
			}
			b.ReportAllocs()
			b.ResetTimer()
			now := sim.Time(0)
			for i := range b.N {
				now += cycle
				l.Access(now, uint64(i)*128&0xffff, 128, mem.Read)
			}
		})
	}
}

func BenchmarkCacheMiss(b *testing.B) {
	c := newCache(b, newDRAM(b, nil), nil)
	b.ReportAllocs()
	now := sim.Time(0)
	for i := range b.N {
		now += cycle
		c.Access(now, uint64(i)*128, 128, mem.Read)
	}
}
