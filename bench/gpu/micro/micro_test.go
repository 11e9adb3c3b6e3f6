package micro_test

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/gpu/micro"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestPixel4: the preset's rates are those that were measured; DRAM is slower (D-1285).
func TestPixel4(t *testing.T) {
	c, err := soc.Load("pixel4")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := micro.Run(c, sim.FastSingleAnswer)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		within := 0.2
		if r.Kernel == "read_dram" {
			within = 0.35
		}
		if !(r.Ratio > 1-within && r.Ratio < 1+within) {
			t.Errorf("%s: %.4g %s, measured %.4g: %.2f", r.What, r.Ours, r.Unit, r.Published, r.Ratio)
		} else {
			t.Logf("%s: %.4g %s, measured %.4g: %.2f", r.What, r.Ours, r.Unit, r.Published, r.Ratio)
		}
		for _, text := range []string{micro.Assembly, micro.OpenCL} {
			if !strings.Contains(text, r.Kernel) {
				t.Errorf("a source has no kernel %s", r.Kernel)
			}
		}
	}
}
