package gpudriver_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestLoweringsInCache: kernels of a user are a part of what a cache depends on.
func TestLoweringsInCache(t *testing.T) {
	drivertest.CachesLowerings(t, func() hal.Device { return newGPU(exp{}) }, newGPU(), expModel(10))
}
