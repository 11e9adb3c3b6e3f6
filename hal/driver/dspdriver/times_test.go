package dspdriver

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

var update = flag.Bool("update", false, "write the files in testdata")

// TestTimes: random models have the costs in testdata/times.txt.
func TestTimes(t *testing.T) {
	drivertest.Times(t, device(t), 7, 300, filepath.Join("testdata", "times.txt"), *update)
}

// TestPlansOfOperations: random operations are lowered as in testdata/operations.txt.
func TestPlansOfOperations(t *testing.T) {
	drivertest.Operations(t, device(t), 9, 3000, filepath.Join("testdata", "operations.txt"), *update)
}

// TestPlans: random networks are planned as in testdata/plans.txt on machines with more and fewer threads, with VTCM
// and DMA and without, one of them with so small an L2 that steps run in bands.
func TestPlans(t *testing.T) {
	devices, cfg := map[string]hal.Device{}, device(t).cfg
	devices["pixel4"] = device(t)
	for _, x := range []struct {
		threads int
		vtcm    uint32
		l2      int
		dma     *dsp.DMASpec
	}{{1, 0, 32 << 10, nil}, {3, 48 << 10, cfg.Spec.L2.Bytes, nil}, {2, 256 << 10, cfg.Spec.L2.Bytes, &dsp.DMASpec{BurstBytes: 128, Outstanding: 4, StartCycles: 100, IssueCycles: 1, Queue: 4}}} {
		s := cfg.Spec
		s.Threads, s.Contexts, s.VTCMBytes, s.L2.Bytes, s.DMA = x.threads, x.threads, x.vtcm, x.l2, x.dma
		d := require.V(New(Config{Spec: s, NewMemory: cfg.NewMemory}))(t)
		devices[fmt.Sprintf("%d threads, VTCM of %d KiB", x.threads, x.vtcm>>10)] = d
	}
	drivertest.Plans(t, devices, 15, filepath.Join("testdata", "plans.txt"), *update)
}
