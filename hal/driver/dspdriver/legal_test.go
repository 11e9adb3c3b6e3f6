package dspdriver

import (
	"testing"

	"github.com/nnsoc/nnsoc/testvectors/legaltest"
)

// TestTable: what the table of legalization accepts and refuses is true of the device.
func TestTable(t *testing.T) {
	legaltest.Run(t, device(t), 700, "QUANTIZE/TENSOR_FLOAT16") // supported after a DEQUANTIZE only
}
