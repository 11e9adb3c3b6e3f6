package resize

import (
	"flag"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGoldens(t *testing.T) {
	m := hvxtest.New(t).Machine()
	hvxtest.Golden(t, *update, m, Blend{})
}
