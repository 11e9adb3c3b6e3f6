package gpudriver

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower/family"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors"
)

// TestCorpus runs the cases of the corpus as they are specified: what the device
// declares supported must pass, and every operation of the driver must be among it.
// TestOperationsDoc of the command runs all cases, and make test-all times them.
func TestCorpus(t *testing.T) {
	run := testvectors.Run
	if testing.Short() {
		run = testvectors.RunFunctional
	}
	s := run(t, newDevice(t), testvectors.AsSpecified)
	t.Logf("%d passed, %d failed, %d unsupported", s.Passed, s.Failed, s.Unsupported)
	for _, op := range family.Table().Supported() {
		n := s.ByOperation[op]
		t.Logf("%s: %d", op, n)
		if n == 0 && op != nn.OpRequantize && op != nn.OpLogicalNot && op != nn.OpBatchMatmul { // which the corpus does not have
			t.Errorf("%s: no case passed", op)
		}
	}
}
