package dspdriver

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestListingFromCache: a program that comes from a cache is listed as the one that was saved.
func TestListingFromCache(t *testing.T) {
	m, _ := smallNetwork()
	drivertest.ListsFromCache(t, device(t), m)
}

// TestSavedSizes: a cache may request 2 GiB of memory, not more.
func TestSavedSizes(t *testing.T) {
	d := device(t)
	m, _ := smallNetwork()
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
	x := compile.Programs(p)[0][0].(*executable)
	for _, size := range []int{1<<31 + 1, 1 << 31} { // what is refused leaves the graph as it is
		x.arena = size
		var w cache.Writer
		x.Save(&w)
		if _, err := d.middleEnd.Load(x.Graph, cache.NewReader(w.Parts())); (err == nil) != (size == 1<<31) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
