package micro_test

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/gpu/micro"
	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestPixel4: the preset's rates are those that were measured; DRAM is slower (D-1285).
func TestPixel4(t *testing.T) {
	c, err := soc.Load("pixel4")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := gpu.FromSoC(c, sim.FastSingleAnswer)
	if err != nil {
		t.Fatal(err)
	}
	launch := float64(spec.LaunchCycles) / float64(spec.Hz) * 1e6
	// What nobody has measured, by the numbers of the machine: a word per cycle of each local memory; for the addition of a
	// wave a line out of a bank of L2 and one into it; the latency of the scalar cache; that of a barrier.
	ghz := float64(spec.Hz) / 1e9
	banks := 1
	for banks*spec.L2.Line < spec.L2.BytesPerCycle {
		banks *= 2
	}
	want := map[string]float64{
		"local memory, one bank": 4 * float64(spec.Clusters) * ghz, "atomic additions, one address": 32 * float64(spec.L2.BytesPerCycle) / float64(2*banks*spec.L2.Line) * ghz,
		"dependent read of one address": float64(spec.Scalar.LatencyCycles), "barrier of 256 lanes": float64(spec.BarrierCycles),
	}
	rows, err := micro.Run(c, sim.FastSingleAnswer)
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]float64{}
	for _, r := range rows {
		if ours[r.What] = r.Ours; want[r.What] > 0 {
			r.Published, r.Ratio = want[r.What], r.Ours/want[r.What]
		} else if r.Published == 0 {
			continue
		}
		within := 0.2
		if r.Kernel == "read_dram" {
			within = 0.35
		}
		if !(r.Ratio > 1-within && r.Ratio < 1+within) {
			t.Errorf("%s: %.4g %s, measured %.4g: %.2f", r.What, r.Ours, r.Unit, r.Published, r.Ratio)
		} else {
			t.Logf("%s: %.4g %s, measured %.4g: %.2f", r.What, r.Ours, r.Unit, r.Published, r.Ratio)
		}
		for _, text := range []string{micro.Assembly + micro.Machine, micro.OpenCL + micro.MachineCL} {
			if !strings.Contains(text, r.Kernel) {
				t.Errorf("a source has no kernel %s", r.Kernel)
			}
		}
	}
	// Kernels of one queue follow each other; in two they are launched at once. Fetching code and the last store are shared.
	one, queue, beside := ours["kernel of one lane"], ours["two kernels of one lane, one queue"], ours["two kernels of one lane, two queues"]
	if !(queue-one >= launch && queue <= 2*one && beside >= one && beside-one < 0.1*one) {
		t.Errorf("one kernel takes %.3g us, two %.3g in one queue and %.3g in two; a launch takes %.3g", one, queue, beside, launch)
	}
}
