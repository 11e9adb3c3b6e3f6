package interconnect_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

// events are the events of a master in a system cache.
func events(c *interconnect.SystemCache, master int) [6]int64 {
	var e [6]int64
	for i := range e {
		e[i] = c.Count(master, i)
	}
	return e
}

// TestSystemCacheServes: a line filled by one master is there for another after the hit latency, at the rate of the
// banks, and a write to it goes to DRAM only when it is evicted.
func TestSystemCacheServes(t *testing.T) {
	d := memtest.NewDRAM(t, nil)
	c := memtest.NewSystemCache(t, d, nil)
	bus := memtest.NewBus(t, c, 0)
	a, b := bus.Port("a"), bus.Port("b")
	memtest.Read(a, 0, 4096, 64)
	const later = 10 * sim.Microsecond
	done, from := b.Access(later, 4096, 64, mem.Read)
	// The way there and back, the hit, and four beats of the bank.
	if want := sim.Time(2*15+20+4) * sim.Nanosecond; done-later != want || from != sim.StallSystemCache {
		t.Errorf("a hit takes %v and is charged to %s, want %v", done-later, from, want)
	}
	memtest.Write(b, 2*later, 4096, 64)
	if d.Counters()[dram.WriteBurst].Value != 0 {
		t.Error("a write that hits reaches DRAM")
	}
	want := [6]int64{interconnect.SystemReadHit: 1, interconnect.SystemWriteHit: 1}
	require.Equal(t, want, events(c, b.Master()))
	// Twelve more lines of the set push it out; it is written for who had read it first.
	for i := range uint64(12) {
		memtest.Read(b, 3*later+sim.Time(i)*later, 4096+(i+1)<<18, 64)
	}
	if got := events(c, a.Master()); got != [6]int64{interconnect.SystemReadMiss: 1, interconnect.SystemFill: 1, interconnect.SystemWriteBack: 1} {
		t.Errorf("events of the first master: %v", got)
	}
	if pj, mw := c.Energy(); pj <= 0 || mw != 10 {
		t.Errorf("energy %v pJ, %v mW", pj, mw)
	}
	if own := c.OwnPJ(0) + c.OwnPJ(1); own != 64*(1+1+1+12+1) {
		t.Errorf("%v pJ for 16 lines read or written", own)
	}
}

// TestSystemCacheAllocation: a master occupies what its allocation allows: nothing, one kind of access, or some ways of
// a set, which others do not evict.
func TestSystemCacheAllocation(t *testing.T) {
	for _, x := range []struct {
		name         string
		allocation   interconnect.Allocation
		reads, left  int // of 12 lines of one set, those that hit again, and those of the other master
		writesHit    bool
		partialFetch bool
	}{
		{"all", interconnect.Allocation{Ways: 12, Reads: true, Writes: true}, 12, 0, true, true},
		{"none", interconnect.Allocation{}, 0, 12, false, false},
		{"reads", interconnect.Allocation{Ways: 12, Reads: true}, 12, 0, false, false},
		{"writes", interconnect.Allocation{Ways: 12, Writes: true}, 0, 12, true, true},
		{"ways", interconnect.Allocation{Ways: 4, Reads: true, Writes: true}, 4, 8, true, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			d := memtest.NewDRAM(t, nil)
			c := memtest.NewSystemCache(t, d, func(c *interconnect.SystemCacheConfig) { c.Masters[1] = x.allocation })
			bus := memtest.NewBus(t, c, 0)
			other, one := bus.Port("other"), bus.Port("one")
			now := sim.Time(0)
			pass := func(p *interconnect.Port, first, lines int) (hits int) {
				before := c.Count(p.Master(), interconnect.SystemReadHit)
				for i := range lines {
					now += sim.Microsecond
					memtest.Read(p, now, uint64(first+i)<<18, 64)
				}
				return int(c.Count(p.Master(), interconnect.SystemReadHit) - before)
			}
			pass(other, 0, 12)
			pass(one, 100, 12)
			require.Same(t, x.reads, pass(one, 112-max(x.reads, 1), max(x.reads, 1)), "lines hit again")
			require.Same(t, x.left, pass(other, 12-max(x.left, 1), max(x.left, 1)), "lines of the other master are left")
			now += sim.Microsecond
			memtest.Write(one, now, 64, 64)
			if got := hit(c, other, now+sim.Microsecond, 64); (got == 1) != x.writesHit {
				t.Errorf("a line that was written hits %d times", got)
			}
			fills := c.Count(one.Master(), interconnect.SystemFill)
			memtest.Write(one, now+2*sim.Microsecond, 128, 16) // a part of a line
			if got := c.Count(one.Master(), interconnect.SystemFill) - fills; (got == 1) != x.partialFetch {
				t.Errorf("a part of a line fetches %d lines", got)
			}
			require.Same(t, 2, c.Count(one.Master(), interconnect.SystemWriteMiss), "of two writes miss")
		})
	}
}

// hit reads a line and returns how often it hit.
func hit(c *interconnect.SystemCache, p *interconnect.Port, at sim.Time, addr uint64) int {
	before := c.Count(p.Master(), interconnect.SystemReadHit)
	memtest.Read(p, at, addr, 64)
	return int(c.Count(p.Master(), interconnect.SystemReadHit) - before)
}

// TestSystemCacheIsLRU compares hits and write-backs of two masters, one of which has fewer ways, with lists of lines,
// for accesses to consecutive and single lines.
func TestSystemCacheIsLRU(t *testing.T) {
	const sets, line = 16, 64
	masters := [2]int{5, 7}
	for _, ways := range []int{1, 2, 3, 4, 6, 12, 16} {
		limits := [2]int{ways, (ways + 1) / 2}
		c := memtest.NewSystemCache(t, memtest.NewDRAM(t, nil), func(c *interconnect.SystemCacheConfig) {
			c.Bytes, c.Ways = ways*sets*line, ways
			c.Masters = make([]interconnect.Allocation, 8)
			for i, m := range masters {
				c.Masters[m] = interconnect.Allocation{Ways: limits[i], Reads: true, Writes: true}
			}
		})
		bus := memtest.NewBus(t, c, 0)
		var ports [8]*interconnect.Port
		for i := range ports {
			ports[i] = bus.Port(fmt.Sprint(i))
		}
		type entry struct {
			line  uint64
			owner int
			dirty bool
		}
		var model [sets][]entry // most recently used first
		var hits, backs [2]int64
		r := rand.New(rand.NewPCG(5, uint64(ways)))
		access := func(ln uint64, k mem.Kind, master int) {
			set := &model[ln%sets]
			x := entry{ln, master, k == mem.Write}
			at := slices.IndexFunc(*set, func(e entry) bool { return e.line == ln })
			if at >= 0 {
				hits[master]++
				x.owner, x.dirty = (*set)[at].owner, x.dirty || (*set)[at].dirty
			} else {
				own := 0
				for j, e := range *set {
					if e.owner == master {
						own++
						at = j
					}
				}
				if own < limits[master] { // any
					at = len(*set) - 1
					if len(*set) < ways {
						at = -1
					}
				}
				if at >= 0 && (*set)[at].dirty {
					backs[(*set)[at].owner]++
				}
			}
			if at >= 0 {
				*set = slices.Delete(*set, at, at+1)
			}
			*set = slices.Insert(*set, 0, x)
		}
		for i := range 20_000 {
			// Every other line of a set differs in high bits of its number alone.
			ln, k, master := r.Uint64N(uint64(ways+2)*sets), mem.Kind(r.IntN(2)), r.IntN(2)
			ln = ln%(sets*uint64(ways+3)/2) | ln/(sets*uint64(ways+3)/2)<<32
			// At first whole groups of lines, which are kept together, then halves, then any.
			n := uint64(4)
			switch i / 5000 {
			case 0:
				ln &^= 3
			case 1:
				n = 2 << r.IntN(2)
				ln &^= 1
			case 2:
				n = 1 + r.Uint64N(8)
			default:
				n = 1
			}
			for j := range n {
				access(ln+j, k, master)
			}
			ports[masters[master]].Access(sim.Time(i)*sim.Microsecond, ln*line, int(n)*line, k)
		}
		for m := range masters {
			e := events(c, masters[m])
			if got := e[interconnect.SystemReadHit] + e[interconnect.SystemWriteHit]; got != hits[m] {
				t.Errorf("%d ways, master %d: %d hits, the model has %d", ways, m, got, hits[m])
			}
			if got := e[interconnect.SystemWriteBack]; got != backs[m] {
				t.Errorf("%d ways, master %d: %d write-backs, the model has %d", ways, m, got, backs[m])
			}
		}
	}
}

// TestFingerprint: equal states have equal fingerprints however they were reached; a line, its order, its owner and its
// dirtiness distinguish states, and time does not.
func TestFingerprint(t *testing.T) {
	c := memtest.NewSystemCache(t, memtest.NewDRAM(t, nil), nil)
	bus := memtest.NewBus(t, c, 0)
	a, b := bus.Port("a"), bus.Port("b")
	seen := map[uint64]string{c.Fingerprint(): "empty"}
	state := func(name string, f func()) {
		bus.Reset()
		f()
		if other, ok := seen[c.Fingerprint()]; ok {
			t.Errorf("%s looks like %s", name, other)
		}
		seen[c.Fingerprint()] = name
	}
	state("two lines", func() { memtest.Read(a, 0, 0, 64); memtest.Read(a, 9, 1<<18, 64) })
	two := c.Fingerprint()
	state("the other order", func() { memtest.Read(a, 0, 1<<18, 64); memtest.Read(a, 9, 0, 64) })
	state("another owner", func() { memtest.Read(b, 0, 0, 64); memtest.Read(a, 9, 1<<18, 64) })
	state("dirty", func() { memtest.Read(a, 0, 0, 64); memtest.Write(a, 9, 1<<18, 64) })
	bus.Reset()
	memtest.Read(a, 0, 0, 64)
	memtest.Read(a, 500, 1<<18, 64)
	c.Quiesce()
	if c.Fingerprint() != two {
		t.Error("one state, two fingerprints")
	}
	if hit(c, a, 0, 0) != 1 {
		t.Error("Quiesce loses lines")
	}
}

// TestLines: a cache whose earlier contents are restored behaves as it would have then.
func TestLines(t *testing.T) {
	c := memtest.NewSystemCache(t, memtest.NewDRAM(t, nil), nil)
	bus := memtest.NewBus(t, c, 0)
	a, b := bus.Port("a"), bus.Port("b")
	r := rand.New(rand.NewPCG(1, 2))
	some := func(n int) (l []uint64) {
		for range n {
			l = append(l, r.Uint64N(1<<20)&^63)
		}
		return l
	}
	run := func(list []uint64) (counts [2][6]int64) {
		c.Quiesce()
		for i, addr := range list {
			port, k := a, mem.Read
			if i%3 == 0 {
				port = b
			}
			if i%5 == 0 {
				k = mem.Write
			}
			port.Access(sim.Time(i)*sim.Microsecond, addr, 64, k)
		}
		return [2][6]int64{events(c, 0), events(c, 1)}
	}
	run(some(2000))
	lines, print := c.Lines(), c.Fingerprint()
	next := some(500)
	want := run(next)
	run(some(300))
	if c.Fingerprint() == print {
		t.Fatal("800 accesses change nothing")
	}
	for range 2 { // saved lines stay as they were
		c.Put(lines)
		if c.Fingerprint() != print {
			t.Error("another fingerprint")
		}
		if got := run(next); got != want {
			t.Errorf("accesses have come to %v, at first to %v", got, want)
		}
	}
}

// TestSystemCacheComing: a line in flight is there for every master when its fill has arrived, then at once.
func TestSystemCacheComing(t *testing.T) {
	c := memtest.NewSystemCache(t, memtest.NewDRAM(t, nil), nil)
	ready, _ := c.Access(0, 4096, 64, mem.Read)
	at := 4 * sim.Nanosecond // when the bank is free
	for at < ready+100*sim.Nanosecond {
		done, from := c.Access(at, 4096, 64, mem.Read)
		switch hit := at + 24*sim.Nanosecond; { // 20 of the hit, four beats of the bank
		case hit > ready && (done != hit || from != sim.StallSystemCache):
			t.Errorf("after %v a line that came at %v takes until %v and is charged to %s", at, ready, done, from)
		case hit <= ready && (done != ready || from != sim.StallDRAM):
			t.Errorf("after %v a line that comes at %v is there at %v and charged to %s", at, ready, done, from)
		}
		at += 4 * sim.Nanosecond
	}
}

// TestSystemCacheFarLines: lines whose numbers differ above set and sign are different ones, however many there are.
func TestSystemCacheFarLines(t *testing.T) {
	const far = 11 // of twelve ways
	for _, apart := range []int{31, 32, 36} {
		c := memtest.NewSystemCache(t, memtest.NewDRAM(t, nil), nil)
		for i := range sim.Time(2 * far) {
			c.Access(i*sim.Microsecond, 4096+uint64(i%far)<<apart, 64, mem.Read)
		}
		if got := events(c, 0); got[interconnect.SystemReadHit] != far || got[interconnect.SystemReadMiss] != far {
			t.Errorf("%#x apart: events %v, want %d misses and as many hits", 1<<apart, got, far)
		}
	}
}

// TestSystemCacheConfig: values out of range are reported.
func TestSystemCacheConfig(t *testing.T) {
	for name, change := range map[string]func(*interconnect.SystemCacheConfig){
		"line":  func(c *interconnect.SystemCacheConfig) { c.LineBytes = 48 },
		"sets":  func(c *interconnect.SystemCacheConfig) { c.Bytes = 3<<20 + 64*12 },
		"bank":  func(c *interconnect.SystemCacheConfig) { c.BankBytes = 32 },
		"ways":  func(c *interconnect.SystemCacheConfig) { c.Masters[1].Ways = 13 },
		"set":   func(c *interconnect.SystemCacheConfig) { c.Bytes, c.Ways = 4<<20, 32 },
		"clock": func(c *interconnect.SystemCacheConfig) { c.Hz = 0 },
	} {
		c := memtest.SystemCache()
		change(&c)
		require.Fails(t, require.Err(interconnect.NewSystemCache(c, memtest.NewDRAM(t, nil))), name)
	}
}

func BenchmarkSystemCacheStream(b *testing.B) {
	p := memtest.NewBus(b, memtest.NewSystemCache(b, memtest.NewDRAM(b, nil), nil), 0).Port("p")
	now := sim.Time(0)
	for i := range b.N {
		now += 2 * sim.Nanosecond
		p.Access(now, uint64(i)*64, 64, mem.Read)
	}
}

// BenchmarkSystemCacheThrash reads and writes more than the cache holds.
func BenchmarkSystemCacheThrash(b *testing.B) {
	p := memtest.NewBus(b, memtest.NewSystemCache(b, memtest.NewDRAM(b, func(c *dram.Config) { c.WriteIdle, c.XORBanks = 8, true }), nil), 0).Port("p")
	now := sim.Time(0)
	for i := range b.N {
		now += 20 * sim.Nanosecond
		p.Access(now, uint64(i)*128%(5<<20), 128, mem.Read)
		p.Access(now, 1<<26+uint64(i)*128%(7<<19), 128, mem.Write)
	}
}

// TestSystemCacheWritesBack: once all its lines are dirty, a stream of writes passes the cache as fast as the DRAM
// itself, whatever the sizes of its writes, and a bank that waits for space holds reads up as well.
func TestSystemCacheWritesBack(t *testing.T) {
	rate := func(l mem.Level, bytes int) float64 {
		var flight [32]sim.Time
		var now, start sim.Time
		const all, warm = 12 << 20, 6 << 20
		for at := uint64(0); at < all; at += uint64(bytes) {
			f := &flight[at/uint64(bytes)%32]
			now = max(now, *f)
			*f = memtest.Write(l, now, at, bytes)
			if at == warm {
				start = now
			}
		}
		return (all - warm) / (now - start).Seconds() / 1e9
	}
	for _, bytes := range []int{64, 256, 4096} {
		want := rate(memtest.NewDRAM(t, nil), bytes)
		got := rate(memtest.NewSystemCache(t, memtest.NewDRAM(t, nil), nil), bytes)
		if got > 1.01*want || got < 0.97*want {
			t.Errorf("writes of %d bytes: %.2f GB/s, without a cache %.2f", bytes, got, want)
		}
	}
	// Lines that are read push out dirty ones.
	c := memtest.NewSystemCache(t, memtest.NewDRAM(t, nil), nil)
	rate(c, 256)
	dirty := c.Count(0, interconnect.SystemWriteBack)
	var flight [64]sim.Time
	var now sim.Time
	const begin, size, reads = sim.Millisecond, 256, 4096
	now = begin
	for i := range uint64(reads) {
		f := &flight[i%64]
		now = max(now, *f)
		*f = memtest.Read(c, now, 1<<30+i*size, size)
	}
	back := c.Count(0, interconnect.SystemWriteBack) - dirty
	gbps := float64(reads*size+back*64) / (now - begin).Seconds() / 1e9
	if back != reads*size/64 || gbps > 34.1*(1-280./3900) {
		t.Errorf("%d lines written back, %.2f GB/s both ways", back, gbps)
	}
}

// TestSystemCacheBlockedWrite: a write whose line evicts a dirty one waits with its bank until the DRAM has space for
// that, and the bank serves again the moment that the write is done.
func TestSystemCacheBlockedWrite(t *testing.T) {
	d := memtest.NewDRAM(t, nil)
	c := memtest.NewSystemCache(t, d, nil)
	const line, lines, beats, hit = 64, 1 << 16, 4 * sim.Nanosecond, 20 * sim.Nanosecond
	for i := range uint64(lines) {
		memtest.Write(c, sim.Time(i)*sim.Microsecond, i*line, line)
	}
	now := sim.Time(lines) * sim.Microsecond
	blocked := 0
	for i := uint64(lines); i < 2*lines; i += 1024 {
		at := i * line
		memtest.Write(d, now, 1<<30+at, 1024*line) // fills the queues of writes
		took := memtest.Write(c, now, at, line) - now
		if took < beats {
			t.Fatalf("a write takes %v", took)
		} else if took > beats {
			blocked++
		}
		now += took
		if done := memtest.Read(c, now, at, line); done-now != hit+beats {
			t.Fatalf("a read behind a write that took %v takes %v", took, done-now)
		}
		now += beats
	}
	if blocked < 60 {
		t.Errorf("%d writes of 64 wait for the DRAM", blocked)
	}
}
