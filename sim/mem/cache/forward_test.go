package cache_test

import (
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

// at notes the last access of a level.
type at struct {
	mem.Level
	t    sim.Time
	addr uint64
	n    int
}

func (a *at) Access(t sim.Time, addr uint64, n int, k mem.Kind) (sim.Time, sim.Reason) {
	a.t, a.addr, a.n = t, addr, n
	return a.Level.Access(t, addr, n, k)
}

// TestCopy: a copy holds the lines of the original, clean and dirty, and behaves as the original restarted.
func TestCopy(t *testing.T) {
	for _, replacement := range []cache.Replacement{cache.LRU, cache.TreePLRU} {
		r := rand.New(rand.NewPCG(7, uint64(replacement)))
		var c [2]*cache.Cache
		for i := range c {
			c[i] = memtest.NewCache(t, &memtest.Flat{Latency: 100}, func(c *cache.Config) { c.Bytes, c.Ways, c.Replacement = 1<<13, 4, replacement })
		}
		for range 500 {
			c[0].Access(0, r.Uint64N(1<<15), 1, mem.Kind(r.IntN(2)))
		}
		c[1].Copy(c[0])
		c[0].Quiesce()
		for cycle := range sim.Time(2000) {
			addr, n, kind := r.Uint64N(1<<15), 1+r.IntN(64), mem.Kind(r.IntN(2))
			if c[0].Fingerprint() != c[1].Fingerprint() || cycle%5 == 0 && c[0].Drop(addr, n) != c[1].Drop(addr, n) {
				t.Fatalf("%v: the lines differ before access %d", replacement, cycle)
			}
			done, from := c[0].Access(cycle*1000, addr, n, kind)
			if d, f := c[1].Access(cycle*1000, addr, n, kind); d != done || f != from {
				t.Fatalf("%v: access %d ends at %v for %v, want %v for %v", replacement, cycle, d, f, done, from)
			}
		}
		if c[0].Events() != c[1].Events() {
			t.Errorf("%v: events %v, want %v", replacement, c[1].Events(), c[0].Events())
		}
	}
}

// TestForward: lines moved past a cache reach the level behind and count as fills and write-backs, but the cache does not
// have them; a line installed is there without an event, and dirty.
func TestForward(t *testing.T) {
	behind := &memtest.Flat{}
	last := &at{Level: behind}
	c, err := cache.New(cache.Config{Name: "l2", Hz: 1e9, Bytes: 4096, LineBytes: 64, Ways: 4, HitCycles: 1, BytesPerCycle: 64, Banks: 1, MSHRs: 4, Write: cache.WriteBack}, last)
	require.NoError(t, err)
	for i, kind := range []mem.Kind{mem.Read, mem.Write} {
		c.Forward(sim.Time(1000+i), uint64(5+i), kind)
		if last.t != sim.Time(1000+i) || last.addr != uint64(5+i)*64 || last.n != 64 {
			t.Errorf("line %d goes on at %v as %d bytes of %#x", 5+i, last.t, last.n, last.addr)
		}
	}
	c.Add(cache.Events{cache.ReadLookup: 3})
	if e := c.Events(); e != (cache.Events{cache.ReadLookup: 3, cache.Fill: 1, cache.LineWriteBack: 1}) || behind.Reads != 1 || behind.Writes != 1 {
		t.Errorf("%v, %+v", e, *behind)
	}
	c.Install(9)
	if e := c.Events(); e[cache.Fill] != 1 || behind.Reads+behind.Writes != 2 {
		t.Errorf("an installed line moves: %v, %+v", e, *behind)
	}
	c.Access(0, 9*64, 64, mem.Read)
	c.Access(0, 5*64, 64, mem.Read)
	if n := c.Count(cache.ReadMiss); n != 1 {
		t.Errorf("%d misses, want that of line 5", n)
	}
	c.Clean(0)
	if behind.Writes != 2 {
		t.Errorf("%d writes, want that of line 9 as well", behind.Writes)
	}
}
