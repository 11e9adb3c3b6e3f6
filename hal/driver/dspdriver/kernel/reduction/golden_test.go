package reduction

import (
	"flag"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGoldens(t *testing.T) {
	m := hvxtest.New(t).Machine()
	hvxtest.Golden(t, *update, m, Slices{F: Fold{Op: hexagon.V6_vmaxub}})
}
