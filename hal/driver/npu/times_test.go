package npu

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

var update = flag.Bool("update", false, "write testdata/times_*.txt")

// TestTimes: random models cost what the files in testdata say, on an array and on two of Arm's machines.
func TestTimes(t *testing.T) {
	for i, name := range []string{"pixel4", "ethos-u55-32", "ethos-u65-512"} {
		drivertest.Times(t, newDevice(t, name, Config{OnChipBytes: 1 << 20}), uint64(i+1), 200, filepath.Join("testdata", "times_"+name+".txt"), *update)
	}
}
