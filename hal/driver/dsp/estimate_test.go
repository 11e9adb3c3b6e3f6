package dsp

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
)

// TestEstimates compares the packets that jobs of convolutions are estimated to take
// (package cost) with those that a run issues, operation by operation. The estimate is of the
// longest thread, so it is compared with an even share of the packets.
func TestEstimates(t *testing.T) {
	var ratios []float64
	for _, name := range []string{"mobilenet_v1_0.25_224_quant", "mobilenet_v2_1.0_224_quant"} {
		m := zoo.MustBuild(name)
		p, err := device(t).PrepareModel(m, hal.PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		estimate, all := map[int]int{}, map[int]bool{}
		for _, j := range planned(t, base.Programs(p)[0][0].(*executable)).Jobs {
			if j.Packets == 0 && j.Name != "fetch" {
				all[j.Step.Op] = true // some job of the operation is not estimated
			}
			estimate[j.Step.Op] += j.Packets * len(j.Args)
		}
		in := make([]byte, m.Main.Operands[m.Main.Inputs[0]].Bytes())
		res, err := p.Execute((&hal.Buffers{Inputs: [][]byte{in}, Outputs: outputs(m)}).Request(), hal.ExecuteOptions{Detail: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range res.Stats.Operations {
			for _, c := range o.Counters {
				if e := estimate[o.Index]; c.Name == "packets" && e > 0 && !all[o.Index] {
					ratios = append(ratios, float64(e)/float64(c.Value))
				}
			}
		}
	}
	if len(ratios) < 20 {
		t.Fatalf("only %d operations are estimated", len(ratios))
	}
	slices.Sort(ratios)
	median, least, most := ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1]
	t.Logf("%d operations: estimate / simulated packets %.2f to %.2f, median %.2f", len(ratios), least, most, median)
	if !(median > 0.8 && median < 1.25) || !(least > 0.4) || !(most < 2) {
		t.Errorf("estimate / simulated packets %.2f to %.2f, median %.2f", least, most, median)
	}
}
