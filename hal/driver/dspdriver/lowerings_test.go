package dspdriver_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestLoweringsInCache: kernels of a user are a part of what a cache depends on.
func TestLoweringsInCache(t *testing.T) {
	plain, _ := newDSP()
	drivertest.CachesLowerings(t, func() hal.Device { d, _ := newDSP(neg{}); return d }, plain, negModel(10))
}
