package dspdriver

import (
	"testing"

	"github.com/nnsoc/nnsoc/testvectors/legaltest"
)

// TestAlternatives: where the table has an expansion beside the DSP's own kernel, the faster one runs.
func TestAlternatives(t *testing.T) {
	l := &device(t).middleEnd
	if c := legaltest.Cheaper(t, l, legaltest.Products(2, 64, 64, 64)); !c.Expands() {
		t.Error("products of large matrices element by element")
	}
	if c := legaltest.Cheaper(t, l, legaltest.Products(16, 1, 8, 2)); c.Expands() {
		t.Error("16 products of a row and two columns as 16 convolutions")
	}
}
