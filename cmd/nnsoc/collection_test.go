package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestPostponeCollection: the first collection is at twice the idle bytes, and restores the former percentage.
func TestPostponeCollection(t *testing.T) {
	limit := debug.SetMemoryLimit(math.MaxInt64) // by which collections would be sooner
	defer debug.SetMemoryLimit(limit)
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	idle := postponeCollection()
	if n := debug.SetGCPercent(2 * idleBytes / (4 << 20) * 100); n != 2*idleBytes/(4<<20)*100 {
		t.Fatalf("%d percent", n)
	}
	runtime.GC()
	percent := math.MaxInt
	for range 1000 {
		if percent = debug.SetGCPercent(100); percent == 100 {
			break
		}
		debug.SetGCPercent(percent)
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	require.Same(t, 100, percent, "percent behind a collection")
	runtime.KeepAlive(idle)
	debug.SetGCPercent(-1)
	require.Check(t, postponeCollection() == nil && debug.SetGCPercent(100) == -1, "collections that are off come")
}
