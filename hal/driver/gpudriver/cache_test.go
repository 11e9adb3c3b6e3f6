package gpudriver

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
	b, _ := convCases[2].build(nn.TensorFloat32)
	drivertest.ListsFromCache(t, newDevice(t), &b.m)
}

// TestSavedSizes: a cache may request 2 GiB of memory, not more.
func TestSavedSizes(t *testing.T) {
	d := newDevice(t)
	b, _ := convCases[2].build(nn.TensorFloat32)
	p := require.V(d.PrepareModel(&b.m, hal.PrepareOptions{}))(t)
	x := compile.Programs(p)[0][0].(*executable)
	for size, ok := range map[int]bool{1 << 31: true, 1<<31 + 1: false} {
		x.program.Arena = size
		var w cache.Writer
		x.Save(&w)
		if _, err := d.middleEnd.Load(x.Graph, cache.NewReader(w.Parts())); (err == nil) != ok {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
