package lockorder_test

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/lockorder"
	"github.com/nnsoc/nnsoc/internal/require"
)

// harmless are cycles that no run reaches.
var harmless = map[[2]lockorder.Lock]string{
	{"devices.Machine.mu", "devices.Machine.mu"}: "what Machine.Enter runs has a client, and executions of a client do not enter",
}

// Services, bursts, caches and the runtime acquire their locks in one order.
func TestOrder(t *testing.T) {
	edges, err := lockorder.Edges("../..", "./hal", "./hal/burst", "./hal/cache", "./hal/devices", "./hal/driver/base", "./hal/driver/cpudriver",
		"./hal/service/...", "./runtime/nnrt/...", "./sim/trace")
	require.NoError(t, err)
	require.Check(t, len(edges) >= 10, "%d orders of locks are seen: too few to say anything", len(edges))
	met := 0
	for _, e := range lockorder.Cyclic(edges) {
		if harmless[[2]lockorder.Lock{e.Held, e.Wanted}] != "" {
			met++
			continue
		}
		t.Errorf("a cycle of locks: %s", e)
	}
	require.Check(t, met == len(harmless), "%d cycles are listed as harmless, %d of them are there", len(harmless), met)
}

// Each kind of call is seen, in both directions of a planted cycle.
func TestPlanted(t *testing.T) {
	edges := require.V(lockorder.Edges("testdata/ring", "."))(t)
	var got []string
	for _, e := range lockorder.Cyclic(edges) {
		got = append(got, string(e.Held+" -> "+e.Wanted))
	}
	want := []string{
		"ring.callbacks.mu -> ring.table.mu", "ring.deferred.mu -> ring.table.mu", "ring.once.mu -> ring.table.mu", "ring.table.mu -> ring.callbacks.mu",
		"ring.table.mu -> ring.deferred.mu", "ring.table.mu -> ring.once.mu", "ring.table.mu -> ring.table.mu", "ring.twice.mu -> ring.twice.mu",
	}
	require.Check(t, slices.Equal(got, want), "cycles\n%q, want\n%q", got, want)
}
