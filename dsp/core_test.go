package dsp

import (
	"testing"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// testSpec is the pixel4 preset's DSP.
func testSpec(t testing.TB) Spec {
	t.Helper()
	c, err := soc.Load("pixel4")
	if err != nil {
		t.Fatal(err)
	}
	s, err := FromSoC(c, sim.FastSingleAnswer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func testCore(t testing.TB) *Core {
	t.Helper()
	c, err := New(testSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
