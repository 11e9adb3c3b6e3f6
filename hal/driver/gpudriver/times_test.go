package gpudriver

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/cost"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

var update = flag.Bool("update", false, "write the files in testdata")

// TestTimes: random models have the costs in testdata/times.txt.
func TestTimes(t *testing.T) {
	drivertest.Times(t, newDevice(t), 7, 400, filepath.Join("testdata", "times.txt"), *update)
}

// planning is the GPU of a phone with the rates for estimates, or convolutions in the form of the phone's library.
func planning(t *testing.T, name string, texels bool) hal.Device {
	c := require.V(soc.Load(name))(t)
	spec := require.V(gpu.FromSoC(c, sim.FastSingleAnswer))(t)
	rates := require.V(c.MemoryRates(spec.L2.Line, spec.L2.MSHRs))(t)
	d, err := New(Config{
		Spec: spec, Texels: texels, Overlap: true,
		NewMemory: func() (mem.Level, error) { l, _, err := c.NewPath("gpu", 0); return l, err },
		MemoryRates: func() (cost.Machine, error) {
			return cost.Machine{MemoryBytesPerSecond: rates.StreamPerSecond, MemoryNs: rates.Alone.Seconds()*1e9 + spec.MemoryNs}, nil
		},
	})
	require.NoError(t, err)
	return d
}

// TestPlansOfOperations: random operations are lowered as in testdata/operations.txt.
func TestPlansOfOperations(t *testing.T) {
	drivertest.Operations(t, planning(t, "pixel4", true), 9, 3000, filepath.Join("testdata", "operations.txt"), *update)
}

// TestPlans: random networks are planned as in testdata/plans.txt on two GPUs, one with convolutions in the form
// of a phone's library.
func TestPlans(t *testing.T) {
	devices := map[string]hal.Device{"pixel4": planning(t, "pixel4", true), "xclipse920": planning(t, "xclipse920", false)}
	drivertest.Plans(t, devices, 9, filepath.Join("testdata", "plans.txt"), *update)
}
