package npu

import (
	"testing"

	"github.com/nnsoc/nnsoc/testvectors/legaltest"
)

// TestAlternatives: where the table has an expansion beside the NPU's own kernel, the faster one runs.
// An array that is weight-stationary has the lanes for zeros.
func TestAlternatives(t *testing.T) {
	d := newDevice(t, "pixel4", Config{OnChipBytes: 1 << 20})
	l := d.middleEnd()
	if c := legaltest.Cheaper(t, l, legaltest.Depthwise(28, 64)); !c.Taken() {
		t.Error("64 channels of 28x28 on the depthwise kernel")
	}
	if c := legaltest.Cheaper(t, l, legaltest.Depthwise(7, 128)); c.Taken() {
		t.Error("128 channels of 7x7 as a dense convolution")
	}
}
