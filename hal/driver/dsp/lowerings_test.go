package dsp_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
)

// TestLoweringsInCache: a program that kernels of a user were compiled into is taken from
// a cache by a device with the same kernels, and refused by one without.
func TestLoweringsInCache(t *testing.T) {
	dir := t.TempDir()
	open := func(name string) []hal.CacheHandle {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return []hal.CacheHandle{{f}}
	}
	c := hal.Cache{Model: open("model"), Data: open("data")}
	own, _ := newDSP(neg{})
	if _, err := own.PrepareModel(negModel(10), hal.PrepareOptions{Cache: c}); err != nil {
		t.Fatal(err)
	}
	if _, err := own.PrepareModelFromCache(nil, c); err != nil {
		t.Errorf("the same kernels: %v", err)
	}
	plain, _ := newDSP()
	if _, err := plain.PrepareModelFromCache(nil, c); hal.StatusOf(err) != hal.GeneralFailure {
		t.Errorf("without the kernels: %v", err)
	}
}
