package gpu

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/testvectors"
)

// TestCorpus runs the neutral vectors: what the device declares supported must
// pass, and every operation of the driver must be among it.
func TestCorpus(t *testing.T) {
	var filter func(*vectors.Case) bool
	if testing.Short() { // the same models with constants turned into inputs of an ADD
		filter = func(c *vectors.Case) bool { return !strings.Contains(c.Name, "_all_") }
	}
	s := testvectors.Run(t, newDevice(t), filter)
	t.Logf("%d passed, %d failed, %d unsupported", s.Passed, s.Failed, s.Unsupported)
	for op := range lowerings {
		n := s.ByOperation[op]
		t.Logf("%s: %d", op, n)
		switch op {
		case nn.OpExpandDims, nn.OpAbs, nn.OpPrelu, nn.OpRsqrt, nn.OpRequantize: // not in the corpus in a float type
			continue
		}
		if n == 0 {
			t.Errorf("%s: no case passed", op)
		}
	}
}
