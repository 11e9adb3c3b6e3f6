package conv

import (
	"flag"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGoldens(t *testing.T) {
	m := hvxtest.New(t).Machine()
	hvxtest.Golden(t, *update, m, FoldZeroPoint{})
	hvxtest.Golden(t, *update, m, GEMM{Positions: 4, Words: 64, Runs: 1, WordPairs: true, Full: true, OneChunk: true, PerVector: 1, PerAddress: 1})
	hvxtest.Golden(t, *update, m, GEMM{Positions: 4, Words: 64, Runs: 1, Window: true, Aligned: true, Full: true, OneChunk: true, PerVector: 1, PerAddress: 1})
}
