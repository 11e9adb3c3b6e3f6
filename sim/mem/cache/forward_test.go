package cache_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

// TestForward: lines moved past a cache reach the level behind and count as fills and write-backs, but the cache does not
// have them; a line installed is there without an event, and dirty.
func TestForward(t *testing.T) {
	behind := &memtest.Flat{}
	c, err := cache.New(cache.Config{Name: "l2", Hz: 1e9, Bytes: 4096, LineBytes: 64, Ways: 4, HitCycles: 1, BytesPerCycle: 64, Banks: 1, MSHRs: 4, Write: cache.WriteBack}, behind)
	require.NoError(t, err)
	c.Forward(0, 5, mem.Read)
	c.Forward(0, 6, mem.Write)
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
