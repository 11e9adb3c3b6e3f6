package gpu

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

var update = flag.Bool("update", false, "write the files in testdata")

// TestTimes: random models cost what testdata/times.txt says.
func TestTimes(t *testing.T) {
	drivertest.Times(t, newDevice(t), 7, 400, filepath.Join("testdata", "times.txt"), *update)
}
