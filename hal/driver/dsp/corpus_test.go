package dsp

import (
	"testing"

	"github.com/nnsoc/nnsoc/testvectors"
)

// TestCorpus runs every case of the corpus whose operations the driver
// declares supported.
func TestCorpus(t *testing.T) {
	s := testvectors.Run(t, device(t), nil)
	t.Logf("%d passed, %d failed, %d unsupported", s.Passed, s.Failed, s.Unsupported)
	if s.Passed < 2500 {
		t.Errorf("only %d cases ran", s.Passed)
	}
}
