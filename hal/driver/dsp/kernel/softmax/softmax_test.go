package softmax

import (
	"flag"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/kerneltest"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGoldens(t *testing.T) {
	kerneltest.Golden(t, *update, kerneltest.New(t).Machine(), Kernel{Depth: 1001})
}
