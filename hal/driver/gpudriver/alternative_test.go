package gpudriver

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/legaltest"
)

// TestAlternatives: where the table has an expansion beside the GPU's own kernel, the faster one runs.
func TestAlternatives(t *testing.T) {
	d, err := New(Config{Spec: gpu.DefaultSpec(), NewMemory: func() (mem.Level, error) { return flatMemory{}, nil },
		MemoryRates: func() (cost.Machine, error) { return cost.Machine{MemoryBytesPerSecond: 2e10, MemoryNs: 100}, nil }})
	require.NoError(t, err)
	l := &d.middleEnd
	if c := legaltest.Cheaper(t, l, legaltest.Grouped(14, 128, 2)); !c.Expands() {
		t.Error("2 groups on the kernel for many")
	}
	if c := legaltest.Cheaper(t, l, legaltest.Grouped(14, 64, 16)); c.Expands() {
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

// TestTiles: the chosen tiles of products of matrices are little slower than the best one, on machines of which one
// waits for the addresses of loads, and on small maps, which few waves compute.
func TestTiles(t *testing.T) {
	for _, machine := range []string{"pixel4", "xclipse920"} {
		c := require.V(soc.Load(machine))(t)
		spec := require.V(gpu.FromSoC(c, sim.FastSingleAnswer))(t)
		d := require.V(New(Config{Spec: spec, NewMemory: func() (mem.Level, error) { l, _, err := c.NewPath("gpu", 0); return l, err }}))(t)
		product, n, worst := 1.0, 0, 1.0
		for _, s := range [][3]int{{4, 256, 256}, {8, 128, 128}, {16, 64, 64}, {5, 128, 256}, {14, 64, 384}, {7, 160, 960}, {14, 384, 64}, {1, 1024, 512}} {
			conv := convCase{n: 1, h: s[0], w: s[0], c: s[1], k: s[2], kh: 1, kw: 1, sh: 1, sw: 1, dh: 1, dw: 1}
			b, _ := conv.build(nn.TensorFloat16)
			cycles := func(name string) (int64, []kernel.Cut) {
				p := require.V(d.PrepareModel(&b.m, hal.PrepareOptions{Candidates: map[int]string{0: name}}))(t)
				x := compile.Programs(p)[0][0].(*executable)
				took := require.V(x.launchCycles())(t)
				return took[0], x.program.Launches[0].Cuts
			}
			chosen, cuts := cycles("")
			best := chosen
			for _, cut := range cuts {
				took, _ := cycles(cut.Name)
				best = min(best, took)
			}
			if len(cuts) < 5 {
				t.Errorf("%s: %v has %d tiles", machine, s, len(cuts))
			}
			ratio := float64(chosen) / float64(best)
			product, n, worst = product*ratio, n+1, max(worst, ratio)
		}
		mean := math.Pow(product, 1/float64(n))
		t.Logf("%s: %.3f of the best in the mean of %d, at worst %.2f", machine, mean, n, worst)
		if mean > 1.15 || worst > 1.6 {
			t.Errorf("%s: chosen tiles take %.2f of the best in the mean, at worst %.2f", machine, mean, worst)
		}
	}
}
