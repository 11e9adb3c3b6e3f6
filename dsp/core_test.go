package dsp

import "testing"

// testSpec is the pixel4 preset's DSP.
func testSpec(t testing.TB) Spec { return presetSpec(t, "pixel4") }

func testCore(t testing.TB) *Core {
	t.Helper()
	c, err := New(testSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
