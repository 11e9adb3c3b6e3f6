// Package drivertest has the parts common to the tests of the drivers of simulated engines. It imports none of them, so
// that tests inside their packages can use it.
package drivertest

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// cacheFiles are the files of an empty cache.
func cacheFiles(t *testing.T) hal.Cache {
	t.Helper()
	dir := t.TempDir()
	open := func(name string) []hal.CacheHandle {
		f := require.V(os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600))(t)
		t.Cleanup(func() { f.Close() })
		return []hal.CacheHandle{{f}}
	}
	return hal.Cache{Model: open("model"), Data: open("data")}
}

// CachesLowerings checks that a program into which lowerings of a user were compiled is loaded from a cache by a device
// with the same lowerings, own, and refused by one without, plain.
func CachesLowerings(t *testing.T, own func() hal.Device, plain hal.Device, m *nn.Model) {
	t.Helper()
	c := cacheFiles(t)
	require.V(own().PrepareModel(m, hal.PrepareOptions{Cache: c}))(t)
	require.Report(t, require.Err(own().PrepareModelFromCache(nil, c)), "the same kernels")
	if _, err := plain.PrepareModelFromCache(nil, c); hal.StatusOf(err) != hal.GeneralFailure {
		t.Errorf("without the kernels: %v", err)
	}
}

// ListsFromCache checks that a program loaded from a cache has the listing of the saved one.
func ListsFromCache(t *testing.T, d hal.Device, m *nn.Model) {
	t.Helper()
	c := cacheFiles(t)
	listing := func(p hal.PreparedModel, err error) string {
		require.NoError(t, err)
		var b strings.Builder
		require.NoError(t, p.WriteListing(&b))
		return b.String()
	}
	saved := listing(d.PrepareModel(m, hal.PrepareOptions{Cache: c}))
	if loaded := listing(d.PrepareModelFromCache(nil, c)); loaded != saved {
		t.Errorf("%s: listing of the program\n%.1500s\nfrom the cache\n%.1500s", d.Version(), saved, loaded)
	}
}

// Estimates compares the estimated cycles of a network on a device, by operations, with an execution: those of all are
// off by less than a share worstNetwork, half of the operations by less than worstMedian.
func Estimates(t *testing.T, d hal.Device, m *nn.Model, estimates map[int]float64, worstNetwork, worstMedian float64) {
	t.Helper()
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
	b := &hal.Buffers{}
	for _, x := range m.Main.Inputs {
		b.Inputs = append(b.Inputs, make([]byte, m.Main.Operands[x].Bytes()))
	}
	for _, x := range m.Main.Outputs {
		b.Outputs = append(b.Outputs, make([]byte, m.Main.Operands[x].Bytes()))
	}
	res := require.V(hal.Execute(p, b))(t)
	var estimated, simulated float64
	var errors []float64 // of operations
	for _, o := range res.Stats.Operations {
		if o.Index < 0 || o.Cycles == 0 {
			continue
		}
		estimated += estimates[o.Index]
		simulated += float64(o.Cycles)
		errors = append(errors, math.Abs(estimates[o.Index]/float64(o.Cycles)-1))
		if testing.Verbose() {
			t.Logf("  %2d %-20s %8d simulated %8.0f estimated", o.Index, m.Main.Operations[o.Index].Type, o.Cycles, estimates[o.Index])
		}
	}
	slices.Sort(errors)
	whole, median := estimated/simulated, errors[len(errors)/2]
	t.Logf("%s on %s: estimate / simulated %.2f; of %d operations: median error %.0f %%, worst %.0f %%",
		m.Name, d.Version(), whole, len(errors), 100*median, 100*errors[len(errors)-1])
	if !(math.Abs(whole-1) < worstNetwork) || !(median < worstMedian) {
		t.Errorf("%s on %s: estimates are off: network %.2f, median of operations %.2f", m.Name, d.Version(), whole, median)
	}
}
