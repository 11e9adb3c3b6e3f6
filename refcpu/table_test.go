package refcpu

import (
	"testing"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// TestEveryOperationHasAKernel: the reference, by which every device is judged, runs all operations that have a row.
func TestEveryOperationHasAKernel(t *testing.T) {
	for _, op := range nn.Operations() {
		if opspec.Lookup(op) != nil && !Supported(op) {
			t.Errorf("%s has a row in nn/opspec and no kernel: add it to the table of its family in refcpu", op)
		}
	}
}
