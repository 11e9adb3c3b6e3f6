package dsp

import (
	"testing"

	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/testvectors"
)

// eachCase calls f with every case of the corpus that has a valid model.
func eachCase(t *testing.T, f func(*vectors.Case)) {
	for _, path := range testvectors.Files() {
		file, err := vectors.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range file.Cases {
			if c.Model != nil && !c.ExpectFailure {
				f(c)
			}
		}
	}
}

// TestCorpus runs every case of the corpus whose operations the driver
// declares supported.
func TestCorpus(t *testing.T) {
	s := testvectors.Run(t, device(t), nil)
	t.Logf("%d passed, %d failed, %d unsupported", s.Passed, s.Failed, s.Unsupported)
	if s.Passed < 2500 {
		t.Errorf("only %d cases ran", s.Passed)
	}
}
