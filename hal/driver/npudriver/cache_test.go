package npudriver

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestListingFromCache: a program that comes from a cache is listed as the one that was saved.
func TestListingFromCache(t *testing.T) {
	m := topK(nn.TensorQuant8Asymm, 2, 5, 3)
	drivertest.ListsFromCache(t, newDevice(t, "pixel4", Config{OnChipBytes: 1 << 20}), m)
}

// TestSavedSizes: a cache may request 2 GiB of memory, not more.
func TestSavedSizes(t *testing.T) {
	d := newDevice(t, "pixel4", Config{OnChipBytes: 1 << 20})
	m := topK(nn.TensorQuant8Asymm, 2, 5, 3)
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
	x := compile.Programs(p)[0][0].(*executable)
	for size, ok := range map[int]bool{1 << 31: true, 1<<31 + 1: false} {
		x.prog.Sizes[1] = size
		var w cache.Writer
		x.Save(&w)
		if _, err := d.middleEnd.Load(x.Graph, cache.NewReader(w.Parts())); (err == nil) != ok {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
