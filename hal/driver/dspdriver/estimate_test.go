package dspdriver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/plan"
	"github.com/nnsoc/nnsoc/importer/vectors"
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
	if list := base.Programs(p); len(list) == 1 && len(list[0]) == 1 {
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

// accuracy is how the estimates of the steps of a family compare with their simulated cycles.
type accuracy struct {
	estimated, simulated int64
	ratios               []float64
}

// bounds are those of families other than TestEstimates states.
var bounds = map[string]float64{
	"MultiplyFlat": 2.5, // a vector or two of a state: most of their time is misses that wait for each other
	"NMS":          5,   // how many boxes are left depends on data
	"Join":         12,  // of the thousands of parts of a transposed convolution: nothing prefetches their few bytes each
}

// TestEstimates compares the estimated cycles of jobs with simulated ones, by families of steps,
// over networks and over the corpus.
func TestEstimates(t *testing.T) {
	const (
		worstNetwork = 1.25 // estimated / simulated cycles of a network, or its inverse
		worstMedian  = 2.0  // of the steps of a family
		worstFamily  = 2.5  // of their sum
	)
	families := map[string]*accuracy{}
	add := func(x *executable) (estimated, simulated int64) {
		took, err := x.jobCycles()
		if err != nil {
			return 0, 0 // an invalid input: zeros
		}
		steps := map[any]*accuracy{}
		program := planned(t, x)
		for i, j := range program.Jobs {
			a := steps[j.Step]
			if a == nil {
				a = &accuracy{}
				steps[j.Step] = a
			}
			a.estimated += int64(j.Cost.Cycles)
			a.simulated += took[i]
		}
		for _, s := range program.Steps {
			a := steps[s]
			if a == nil {
				continue
			}
			name := strings.TrimPrefix(fmt.Sprintf("%T", s.Work), "launch.")
			f := families[name]
			if f == nil {
				f = &accuracy{}
				families[name] = f
			}
			f.estimated, f.simulated = f.estimated+a.estimated, f.simulated+a.simulated
			f.ratios = append(f.ratios, float64(a.estimated)/float64(a.simulated))
			estimated, simulated = estimated+a.estimated, simulated+a.simulated
		}
		return estimated, simulated
	}
	off := func(ratio, most float64) bool { return !(ratio < most && ratio > 1/most) }
	for _, name := range []string{"mobilenet_v1_1.0_224_quant", "mobilenet_v2_1.0_224_quant"} {
		_, x := fixed(t, zoo.MustBuild(name))
		estimated, simulated := add(x)
		whole := float64(estimated) / float64(simulated)
		if t.Logf("%s: estimated / simulated cycles %.2f", name, whole); off(whole, worstNetwork) {
			t.Errorf("%s: estimated / simulated cycles %.2f", name, whole)
		}
	}
	seen := map[string]int{}
	eachCase(t, func(c *vectors.Case) {
		var types strings.Builder
		for i := range c.Model.Main.Operations {
			fmt.Fprintln(&types, c.Model.Main.Operations[i].Type)
		}
		if seen[types.String()]++; seen[types.String()] <= 2 {
			if _, x := fixed(t, c.Model); x != nil {
				add(x)
			}
		}
	})
	for _, name := range slices.Sorted(maps.Keys(families)) {
		f := families[name]
		slices.Sort(f.ratios)
		sum, median := float64(f.estimated)/float64(f.simulated), f.ratios[len(f.ratios)/2]
		t.Logf("%-14s %4d steps: estimated / simulated cycles %.2f to %.2f, median %.2f, all %.2f", name, len(f.ratios), f.ratios[0], f.ratios[len(f.ratios)-1], median, sum)
		if most := max(bounds[name], worstFamily); off(sum, most) || off(median, max(bounds[name], worstMedian)) {
			t.Errorf("%s: estimated / simulated cycles: median %.2f, all %.2f", name, median, sum)
		}
	}
	if len(families) < 25 {
		t.Errorf("only %d families of steps", len(families))
	}
}
