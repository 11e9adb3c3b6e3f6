package gpu

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/testvectors"
)

// TestCorpus runs the neutral vectors: what the device declares supported must
// pass, and every operation of the driver must be among it.
func TestCorpus(t *testing.T) {
	s := testvectors.Run(t, newDevice(t), nil)
	t.Logf("%d passed, %d failed, %d unsupported", s.Passed, s.Failed, s.Unsupported)
	for op := range lowerings {
		n := s.ByOperation[op]
		t.Logf("%s: %d", op, n)
		if n == 0 && op != nn.OpExpandDims {
			t.Errorf("%s: no case passed", op)
		}
	}
}
