package dspdriver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// fixed is the program of a model whose shapes and parameters are known, nil for another.
func fixed(t *testing.T, m *nn.Model) (hal.PreparedModel, *executable) {
	p, err := device(t).PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		return nil, nil
	}
	if list := compile.Programs(p); len(list) == 1 && len(list[0]) == 1 {
		return p, list[0][0].(*executable)
	}
	return nil, nil
}

// TestSlots compares the issue slots that package cost counts in kernels' loops with those of
// a run, operation by operation: packets, waits for operands and taken branches of all threads.
func TestSlots(t *testing.T) {
	var ratios []float64
	for _, name := range []string{"mobilenet_v1_0.25_224_quant", "mobilenet_v2_1.0_224_quant"} {
		m := zoo.MustBuild(name)
		p, x := fixed(t, m)
		slots := map[int]int{}
		machine, jobs := plan.MachineOf(&x.dev.cfg.Spec), planned(t, x)
		for _, j := range jobs.Jobs {
			for _, args := range j.Args {
				slots[j.Step.Op] += cost.ThreadOf(&machine, j.Kernel.Loops, args, jobs.Word).Slots
			}
		}
		in := make([]byte, m.Main.Operands[m.Main.Inputs[0]].Bytes())
		res := require.V(p.Execute((&hal.Buffers{Inputs: [][]byte{in}, Outputs: drivertest.Outputs(m)}).Request(), hal.ExecuteOptions{Detail: true}))(t)
		for _, o := range res.Stats.Operations {
			took := int64(0)
			for _, s := range o.Threads {
				if s.Reason == "issue" || s.Reason == "operand" || s.Reason == "branch" {
					took += s.Cycles
				}
			}
			if took > 0 {
				ratios = append(ratios, float64(slots[o.Index]*x.dev.cfg.Spec.IssueInterval)/float64(took))
			}
		}
	}
	if len(ratios) < 80 {
		t.Fatalf("only %d operations", len(ratios))
	}
	slices.Sort(ratios)
	median, least, most := ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1]
	t.Logf("%d operations: estimated / simulated slots %.2f to %.2f, median %.2f", len(ratios), least, most, median)
	if !(median > 0.95 && median < 1.05) || !(least > 0.7) || !(most < 1.3) {
		t.Errorf("estimated / simulated slots %.2f to %.2f, median %.2f", least, most, median)
	}
}

// bounds holds the bounds of the families that are not within what TestEstimates states.
var bounds = map[string]float64{
	"NMS":                    6.5, // how many boxes are left depends on data, and one thread issues packets back to back
	"Join":                   5,   // vectors come while the thread runs ahead of them; estimates wait for each
	"Clamp":                  4.5, // the same
	"convolution.FoldBiases": 1.5, // the same
	"Proposals":              3,   // the same
	"ROI":                    1.6, // how many samples a box has depends on data
	"Pool":                   1.5, // one of its two is short, and waits for bytes that come while it runs
	"Softmax":                2.1, // which lines of the table of exponentials are read depends on data: zeros read one
}

// TestEstimates compares the estimated cycles of jobs with simulated ones, by families of steps,
// over networks and over the corpus.
func TestEstimates(t *testing.T) {
	const (
		worstNetwork = 1.05    // estimated / simulated cycles of a network, or its inverse
		worstMedian  = 1 / 0.7 // of the steps of a family
		worstFamily  = 1.6     // of their sum
	)
	families := drivertest.Accuracy{}
	type cycles struct{ estimated, simulated int64 }
	add := func(x *executable) (all cycles) {
		took, err := x.jobCycles()
		if err != nil {
			return cycles{} // an invalid input: zeros
		}
		steps := map[*step.Step]*cycles{}
		program := planned(t, x)
		for i, j := range program.Jobs {
			for _, c := range []*cycles{steps[j.Step], &all} {
				if c == nil {
					c = &cycles{}
					steps[j.Step] = c
				}
				c.estimated, c.simulated = c.estimated+int64(j.Cost.Cycles), c.simulated+took[i]
			}
		}
		for s, c := range steps {
			families.Add(strings.TrimPrefix(fmt.Sprintf("%T", s.Work), "launch."), c.estimated, c.simulated)
		}
		return all
	}
	for _, name := range []string{"mobilenet_v1_1.0_224_quant", "mobilenet_v2_1.0_224_quant"} {
		_, x := fixed(t, zoo.MustBuild(name))
		c := add(x)
		whole := float64(c.estimated) / float64(c.simulated)
		if t.Logf("%s: estimated / simulated cycles %.2f", name, whole); !(whole < worstNetwork && whole > 1/worstNetwork) {
			t.Errorf("%s: estimated / simulated cycles %.2f", name, whole)
		}
	}
	drivertest.EachShape(func(m *nn.Model) {
		if _, x := fixed(t, m); x != nil {
			add(x)
		}
	})
	families.Check(t, worstMedian, worstFamily, bounds)
	if len(families) < 25 {
		t.Errorf("only %d families of steps", len(families))
	}
}
