package conv

import (
	"flag"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/kerneltest"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGoldens(t *testing.T) {
	m := kerneltest.New(t).Machine()
	kerneltest.Golden(t, *update, m, FoldZeroPoint{})
	kerneltest.Golden(t, *update, m, GEMM{Positions: 4, Words: 64, Runs: 1, WordPairs: true, Full: true, OneChunk: true, PerVector: 1, PerAddress: 1})
}
