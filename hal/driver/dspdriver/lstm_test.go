package dspdriver

import (
	"testing"

	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestRandomLstms runs QUANTIZED_16BIT_LSTM and QUANTIZED_LSTM.
func TestRandomLstms(t *testing.T) {
	d := device(t)
	for _, c := range drivertest.Lstms() {
		t.Run(c.Name, func(t *testing.T) { drivertest.Exact(t, d, c.Model, c.Inputs, c.Functional) })
	}
}
