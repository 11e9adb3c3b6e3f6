package npudriver

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

var update = flag.Bool("update", false, "write the files in testdata")

// TestTimes: random models have the costs in the files in testdata, on an array and on two of Arm's machines.
func TestTimes(t *testing.T) {
	for i, name := range []string{"pixel4", "ethos-u55-32", "ethos-u65-512"} {
		drivertest.Times(t, newDevice(t, name, Config{OnChipBytes: 1 << 20}), uint64(i+1), 200, filepath.Join("testdata", "times_"+name+".txt"), *update)
	}
}

// TestPlansOfOperations: random operations are lowered as in testdata/operations.txt.
func TestPlansOfOperations(t *testing.T) {
	drivertest.Operations(t, newDevice(t, "pixel4", Config{OnChipBytes: 1 << 20}), 9, 3000, filepath.Join("testdata", "operations.txt"), *update)
}

// TestPlans: random networks are planned as in testdata/plans.txt on machines with more and less memory on chip, whose
// spilled values are on chip too, or off chip, and whose parameters stay.
func TestPlans(t *testing.T) {
	devices := map[string]hal.Device{}
	for _, name := range []string{"pixel4", "ethos-u55-64", "ethos-u65-512"} {
		for i, onChip := range []int{4 << 10, 24 << 10, 100 << 10} {
			d := newDevice(t, name, Config{OnChipBytes: onChip, KeepsParameters: i == 1})
			devices[fmt.Sprintf("%s with %d KiB", name, onChip>>10)] = d
		}
	}
	drivertest.Plans(t, devices, 15, filepath.Join("testdata", "plans.txt"), *update)
}
