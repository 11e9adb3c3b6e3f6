package dsp

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

var update = flag.Bool("update", false, "write testdata/times.txt")

// TestTimes: random models cost what testdata/times.txt says.
func TestTimes(t *testing.T) {
	drivertest.Times(t, device(t), 7, 300, filepath.Join("testdata", "times.txt"), *update)
}
