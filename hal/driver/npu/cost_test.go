package npu

import (
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/npu/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npu/lower"
	"github.com/nnsoc/nnsoc/nn"
	core "github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestCost holds the estimates of kernels against the simulator: the time of a network
// and of its operations.
func TestCost(t *testing.T) {
	const worstNetwork, worstMedian = 0.20, 0.15
	for _, machine := range []string{"pixel4", "ethos-u55-128", "ethos-u65-512"} {
		c, err := soc.Load(machine)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := core.FromSoC(c, sim.FastSingleAnswer)
		if err != nil {
			t.Fatal(err)
		}
		d, err := New(Config{Spec: spec, OnChipBytes: 8 << 20, NewLevels: func() ([]mem.Level, error) { return core.LevelsFromSoC(c) }})
		if err != nil {
			t.Fatal(err)
		}
		names := []string{"mobilenet_v1_1.0_224_quant"}
		if machine == "pixel4" {
			names = append(names, "mobilenet_v2_1.0_224_quant")
		}
		for _, name := range names {
			m := zoo.MustBuild(name)
			whole, errors := costErrors(t, d, m)
			median := errors[len(errors)/2]
			t.Logf("%s on %s: estimate / simulated %.2f; of %d operations: median error %.0f %%, worst %.0f %%",
				name, machine, whole, len(errors), 100*median, 100*errors[len(errors)-1])
			if !(math.Abs(whole-1) < worstNetwork) || !(median < worstMedian) {
				t.Errorf("%s on %s: estimates are off: network %.2f, median of operations %.2f", name, machine, whole, median)
			}
		}
	}
}

// costErrors is the estimate of a network over its simulated cycles, and the errors of
// its operations, rising.
func costErrors(t *testing.T, d *Device, m *nn.Model) (whole float64, errors []float64) {
	g := graph.New(m)
	g.Leaves = d.middleEnd().Leaves
	if err := lower.Table().Passes.Run(g, nil); err != nil {
		t.Fatal(err)
	}
	list, err := lower.Graph(&d.cfg.Spec, g, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	estimates := map[int]float64{}
	for i := range list.Steps {
		s := &list.Steps[i]
		estimates[s.Op] += float64(cost.Estimate(&d.cfg.Spec, &s.Kernel).Cycles())
	}
	p, err := d.PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := &hal.Buffers{}
	for _, x := range m.Main.Inputs {
		b.Inputs = append(b.Inputs, make([]byte, m.Main.Operands[x].Bytes()))
	}
	for _, x := range m.Main.Outputs {
		b.Outputs = append(b.Outputs, make([]byte, m.Main.Operands[x].Bytes()))
	}
	res, err := hal.Execute(p, b)
	if err != nil {
		t.Fatal(err)
	}
	var sum, simulated float64
	for _, o := range res.Stats.Operations {
		if o.Index < 0 || o.Cycles == 0 {
			continue
		}
		sum += estimates[o.Index]
		simulated += float64(o.Cycles)
		errors = append(errors, math.Abs(estimates[o.Index]/float64(o.Cycles)-1))
		if testing.Verbose() {
			t.Logf("  %2d %-20s %8d simulated %8.0f estimated", o.Index, m.Main.Operations[o.Index].Type, o.Cycles, estimates[o.Index])
		}
	}
	slices.Sort(errors)
	return sum / simulated, errors
}
