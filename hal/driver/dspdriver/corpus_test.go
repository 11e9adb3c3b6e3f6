package dspdriver

import (
	"testing"

	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/testvectors"
)

// eachCase calls f with every case of the corpus that has a valid model.
func eachCase(t *testing.T, f func(*vectors.Case)) {
	for file := range testvectors.Corpus() {
		for _, c := range file.Cases {
			if c.Model != nil && !c.ExpectFailure {
				f(c)
			}
		}
	}
}

// TestCorpus runs the cases of the corpus as they are specified whose operations the
// driver declares supported. TestOperationsDoc of the command runs all of them.
func TestCorpus(t *testing.T) {
	s := testvectors.Run(t, device(t), testvectors.AsSpecified)
	t.Logf("%d passed, %d failed, %d unsupported", s.Passed, s.Failed, s.Unsupported)
	if s.Passed < 600 {
		t.Errorf("only %d cases ran", s.Passed)
	}
}
