package mem_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// events are what a master has caused in a system cache.
func events(c *mem.SystemCache, master int) [6]int64 {
	var e [6]int64
	for i := range e {
		e[i] = c.Count(master, i)
	}
	return e
}

// TestSystemCacheServes: a line that one master has left is there for another after the
// hit latency, at the rate of the banks, and a write to it goes to DRAM only when it
// leaves.
func TestSystemCacheServes(t *testing.T) {
	d := newDRAM(t, nil)
	c := newSystemCache(t, d, nil)
	bus := newBus(t, c, 0)
	a, b := bus.Port("a"), bus.Port("b")
	read(a, 0, 4096, 64)
	const later = 10 * sim.Microsecond
	done, from := b.Access(later, 4096, 64, mem.Read)
	// The way there and back, the hit, and four beats of the bank.
	if want := sim.Time(2*15+20+4) * sim.Nanosecond; done-later != want || from != sim.StallSystemCache {
		t.Errorf("a hit takes %v and is charged to %s, want %v", done-later, from, want)
	}
	write(b, 2*later, 4096, 64)
	if d.Counters()[mem.DRAMWriteBurst].Value != 0 {
		t.Error("a write that hits reaches DRAM")
	}
	want := [6]int64{mem.SystemReadHit: 1, mem.SystemWriteHit: 1}
	if diff := cmp.Diff(want, events(c, b.Master())); diff != "" {
		t.Error(diff)
	}
	// Twelve more lines of the set push it out; it is written for who had read it first.
	for i := range uint64(12) {
		read(b, 3*later+sim.Time(i)*later, 4096+(i+1)<<18, 64)
	}
	if got := events(c, a.Master()); got != [6]int64{mem.SystemReadMiss: 1, mem.SystemFill: 1, mem.SystemWriteBack: 1} {
		t.Errorf("events of the first master: %v", got)
	}
	if pj, mw := c.Energy(); pj <= 0 || mw != 10 {
		t.Errorf("energy %v pJ, %v mW", pj, mw)
	}
	if own := c.OwnPJ(0) + c.OwnPJ(1); own != 64*(1+1+1+12+1) {
		t.Errorf("%v pJ for 16 lines read or written", own)
	}
}

// TestSystemCacheAllocation: a master leaves what its allocation allows: nothing, one
// kind of access, or some ways of a set, which others do not lose to it.
func TestSystemCacheAllocation(t *testing.T) {
	for _, x := range []struct {
		name         string
		allocation   mem.Allocation
		reads, left  int // of 12 lines of one set read, those that hit again, and those of the other master
		writesHit    bool
		partialFetch bool
	}{
		{"all", mem.Allocation{Ways: 12, Reads: true, Writes: true}, 12, 0, true, true},
		{"none", mem.Allocation{}, 0, 12, false, false},
		{"reads", mem.Allocation{Ways: 12, Reads: true}, 12, 0, false, false},
		{"writes", mem.Allocation{Ways: 12, Writes: true}, 0, 12, true, true},
		{"ways", mem.Allocation{Ways: 4, Reads: true, Writes: true}, 4, 8, true, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			d := newDRAM(t, nil)
			c := newSystemCache(t, d, func(c *mem.SystemCacheConfig) { c.Masters[1] = x.allocation })
			bus := newBus(t, c, 0)
			other, one := bus.Port("other"), bus.Port("one")
			now := sim.Time(0)
			pass := func(p *mem.Port, first, lines int) (hits int) {
				before := c.Count(p.Master(), mem.SystemReadHit)
				for i := range lines {
					now += sim.Microsecond
					read(p, now, uint64(first+i)<<18, 64)
				}
				return int(c.Count(p.Master(), mem.SystemReadHit) - before)
			}
			pass(other, 0, 12)
			pass(one, 100, 12)
			if got := pass(one, 112-max(x.reads, 1), max(x.reads, 1)); got != x.reads {
				t.Errorf("%d lines hit again, want %d", got, x.reads)
			}
			if got := pass(other, 12-max(x.left, 1), max(x.left, 1)); got != x.left {
				t.Errorf("%d lines of the other master are left, want %d", got, x.left)
			}
			now += sim.Microsecond
			write(one, now, 64, 64)
			if got := hit(c, other, now+sim.Microsecond, 64); (got == 1) != x.writesHit {
				t.Errorf("a line that was written hits %d times", got)
			}
			fills := c.Count(one.Master(), mem.SystemFill)
			write(one, now+2*sim.Microsecond, 128, 16) // a part of a line
			if got := c.Count(one.Master(), mem.SystemFill) - fills; (got == 1) != x.partialFetch {
				t.Errorf("a part of a line fetches %d lines", got)
			}
		})
	}
}

// hit reads a line and returns how often it hit.
func hit(c *mem.SystemCache, p *mem.Port, at sim.Time, addr uint64) int {
	before := c.Count(p.Master(), mem.SystemReadHit)
	read(p, at, addr, 64)
	return int(c.Count(p.Master(), mem.SystemReadHit) - before)
}

// TestSystemCacheIsLRU compares hits and write-backs with lists of lines.
func TestSystemCacheIsLRU(t *testing.T) {
	const ways, sets, line = 4, 16, 64
	d := newDRAM(t, nil)
	c := newSystemCache(t, d, func(c *mem.SystemCacheConfig) {
		c.Bytes, c.Ways = ways*sets*line, ways
		c.Masters = []mem.Allocation{{Ways: ways, Reads: true, Writes: true}}
	})
	type entry struct {
		line  uint64
		dirty bool
	}
	var model [sets][]entry
	var hits, backs int64
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 20_000 {
		ln, k := r.Uint64N(6*sets), mem.Kind(r.IntN(2))
		set := &model[ln%sets]
		found := -1
		for j, e := range *set {
			if e.line == ln {
				found = j
			}
		}
		x := entry{ln, k == mem.Write}
		if found >= 0 {
			hits++
			x.dirty = x.dirty || (*set)[found].dirty
			*set = append((*set)[:found:found], (*set)[found+1:]...)
		} else if len(*set) == ways {
			if (*set)[ways-1].dirty {
				backs++
			}
			*set = (*set)[:ways-1]
		}
		*set = append([]entry{x}, *set...)
		c.Access(sim.Time(i)*sim.Microsecond, ln*line, line, k)
	}
	e := events(c, 0)
	if got := e[mem.SystemReadHit] + e[mem.SystemWriteHit]; got != hits {
		t.Errorf("%d hits, the model has %d", got, hits)
	}
	if e[mem.SystemWriteBack] != backs {
		t.Errorf("%d write-backs, the model has %d", e[mem.SystemWriteBack], backs)
	}
}

// TestFingerprint: equal states have equal fingerprints however they came about, a
// line, its order, its owner and its dirt tell states apart, and time does not.
func TestFingerprint(t *testing.T) {
	c := newSystemCache(t, newDRAM(t, nil), nil)
	bus := newBus(t, c, 0)
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
	state("two lines", func() { read(a, 0, 0, 64); read(a, 9, 1<<18, 64) })
	two := c.Fingerprint()
	state("the other order", func() { read(a, 0, 1<<18, 64); read(a, 9, 0, 64) })
	state("another owner", func() { read(b, 0, 0, 64); read(a, 9, 1<<18, 64) })
	state("dirty", func() { read(a, 0, 0, 64); write(a, 9, 1<<18, 64) })
	bus.Reset()
	read(a, 0, 0, 64)
	read(a, 500, 1<<18, 64)
	c.Settle()
	if c.Fingerprint() != two {
		t.Error("one state, two fingerprints")
	}
	if hit(c, a, 0, 0) != 1 {
		t.Error("Settle loses lines")
	}
}

// TestSystemCacheConfig: values out of range are told.
func TestSystemCacheConfig(t *testing.T) {
	for name, change := range map[string]func(*mem.SystemCacheConfig){
		"line":  func(c *mem.SystemCacheConfig) { c.LineBytes = 48 },
		"sets":  func(c *mem.SystemCacheConfig) { c.Bytes = 3<<20 + 64*12 },
		"bank":  func(c *mem.SystemCacheConfig) { c.BankBytes = 32 },
		"ways":  func(c *mem.SystemCacheConfig) { c.Masters[1].Ways = 13 },
		"clock": func(c *mem.SystemCacheConfig) { c.Hz = 0 },
	} {
		c := systemCacheConfig()
		change(&c)
		if _, err := mem.NewSystemCache(c, newDRAM(t, nil)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkSystemCacheStream(b *testing.B) {
	p := newBus(b, newSystemCache(b, newDRAM(b, nil), nil), 0).Port("p")
	now := sim.Time(0)
	for i := range b.N {
		now += 2 * sim.Nanosecond
		p.Access(now, uint64(i)*64, 64, mem.Read)
	}
}
