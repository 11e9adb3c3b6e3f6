package gpu

import (
	"testing"

	core "github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/cost"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/testvectors/legaltest"
)

// TestAlternatives: where the table has an expansion beside the GPU's own kernel, the faster one runs.
func TestAlternatives(t *testing.T) {
	d, err := New(Config{Spec: core.DefaultSpec(), NewMemory: func() (mem.Level, error) { return flatMemory{}, nil },
		MemoryRates: func() (cost.Machine, error) { return cost.Machine{MemoryBytesPerSecond: 2e10, MemoryNs: 100}, nil }})
	require.NoError(t, err)
	l := &d.middleEnd
	if c := legaltest.Cheaper(t, l, legaltest.Grouped(14, 128, 2)); !c.Taken() {
		t.Error("2 groups on the kernel for many")
	}
	if c := legaltest.Cheaper(t, l, legaltest.Grouped(14, 64, 16)); c.Taken() {
		t.Error("16 groups one after the other")
	}
}

// TestVerdict: a way that weighs less than the chosen one was not lost by its weight.
func TestVerdict(t *testing.T) {
	cuts := []kernel.Cut{{Weight: 2, Chosen: true}, {Weight: 1}, {Weight: 3}}
	for i, want := range []string{"weighs more", "against the rule of the library", "weighs more"} {
		if got := verdict(&cuts[i], cuts); got != want {
			t.Errorf("cut %d: %s, want %s", i, got, want)
		}
	}
}
