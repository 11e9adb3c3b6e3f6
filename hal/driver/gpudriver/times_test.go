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

// TestTimes: random models cost what testdata/times.txt says.
func TestTimes(t *testing.T) {
	drivertest.Times(t, newDevice(t), 7, 400, filepath.Join("testdata", "times.txt"), *update)
}

// TestPlans: random networks are planned as testdata/plans.txt says on two GPUs, one with convolutions in the form
// of a phone's library.
func TestPlans(t *testing.T) {
	devices := map[string]hal.Device{}
	for i, name := range []string{"pixel4", "xclipse920"} {
		c, err := soc.Load(name)
		require.NoError(t, err)
		spec, err := gpu.FromSoC(c, sim.FastSingleAnswer)
		require.NoError(t, err)
		rates, err := c.MemoryRates(spec.L2.Line, spec.L2.MSHRs)
		require.NoError(t, err)
		d, err := New(Config{
			Spec: spec, Texels: i == 0, Overlap: true,
			NewMemory: func() (mem.Level, error) { l, _, err := c.NewPath("gpu", 0); return l, err },
			MemoryRates: func() (cost.Machine, error) {
				return cost.Machine{MemoryBytesPerSecond: rates.StreamPerSecond, MemoryNs: rates.Alone.Seconds()*1e9 + spec.MemoryNs}, nil
			},
		})
		require.NoError(t, err)
		devices[name] = d
	}
	drivertest.Plans(t, devices, 9, filepath.Join("testdata", "plans.txt"), *update)
}
