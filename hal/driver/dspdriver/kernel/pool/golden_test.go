package pool

import (
	"flag"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGoldens(t *testing.T) {
	m := hvxtest.New(t).Machine()
	hvxtest.Golden(t, *update, m, Window{Max: true, RowStep: 1024, ColStep: 128, Rows: 2, Cols: 2})
}
