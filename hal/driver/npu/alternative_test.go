package npu

import (
	"testing"

	core "github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/legaltest"
)

// TestAlternatives: where the table has an expansion beside the NPU's own kernel, the faster one runs.
// An array that is weight-stationary has the lanes for zeros.
func TestAlternatives(t *testing.T) {
	c, err := soc.Load("pixel4")
	if err != nil {
		t.Fatal(err)
	}
	s, err := core.FromSoC(c, sim.FastSingleAnswer)
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(Config{Spec: s, OnChipBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	l := d.middleEnd()
	if c := legaltest.Cheaper(t, l, legaltest.Depthwise(28, 64)); !c.Taken() {
		t.Error("64 channels of 28x28 on the depthwise kernel")
	}
	if c := legaltest.Cheaper(t, l, legaltest.Depthwise(7, 128)); c.Taken() {
		t.Error("128 channels of 7x7 as a dense convolution")
	}
}
