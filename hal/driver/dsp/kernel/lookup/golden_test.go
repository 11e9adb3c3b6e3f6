package lookup

import (
	"flag"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/kerneltest"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGoldens(t *testing.T) {
	m := kerneltest.New(t).Machine()
	kerneltest.Golden(t, *update, m, FindKey{})
}
