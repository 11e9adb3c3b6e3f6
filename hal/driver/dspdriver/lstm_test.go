package dspdriver

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestRandomLstms runs QUANTIZED_16BIT_LSTM and QUANTIZED_LSTM.
func TestRandomLstms(t *testing.T) {
	d := device(t)
	for _, c := range slices.Concat(drivertest.Lstms16(24), drivertest.Lstms8(48)) {
		t.Run(c.Name, func(t *testing.T) { drivertest.Exact(t, d, c.Model, c.Inputs, c.Functional) })
	}
}
