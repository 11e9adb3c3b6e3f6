package gpu

import (
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/zoo"
	core "github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/cost"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/lower"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestCost holds the estimates of launches against the simulator: the time of a network
// and of its operations.
func TestCost(t *testing.T) {
	gemm, err := bench.Gemm("f32", 256)
	if err != nil {
		t.Fatal(err)
	}
	models := []*nn.Model{gemm, zoo.MustBuild("mobilenet_v1_0.25_128_float")}
	const worstNetwork, worstMedian = 0.5, 0.5
	for _, machine := range []string{"pixel4", "xclipse920"} {
		c, err := soc.Load(machine)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := core.FromSoC(c, sim.FastSingleAnswer)
		if err != nil {
			t.Fatal(err)
		}
		rates, err := c.MemoryRates(spec.L2.Line, spec.L2.MSHRs)
		if err != nil {
			t.Fatal(err)
		}
		m := &cost.Machine{Spec: &spec, MemoryBytesPerSecond: rates.StreamPerSecond, MemoryNs: rates.Alone.Seconds()*1e9 + spec.MemoryNs}
		d, err := New(Config{Spec: spec, Texels: c.GPU.Texels, NewMemory: func() (mem.Level, error) { l, _, err := c.NewPath("gpu", 0); return l, err }})
		if err != nil {
			t.Fatal(err)
		}
		for _, model := range models {
			whole, errors := costErrors(t, d, m, model)
			median := errors[len(errors)/2]
			t.Logf("%s on %s: estimate / simulated %.2f; of %d operations: median error %.0f %%, worst %.0f %%",
				model.Name, machine, whole, len(errors), 100*median, 100*errors[len(errors)-1])
			if !(math.Abs(whole-1) < worstNetwork) || !(median < worstMedian) {
				t.Errorf("%s on %s: estimates are off: network %.2f, median of operations %.2f", model.Name, machine, whole, median)
			}
		}
	}
}

// costErrors is the estimate of a network over its simulated cycles, and the errors of
// its operations, rising.
func costErrors(t *testing.T, d *Device, m *cost.Machine, model *nn.Model) (whole float64, errors []float64) {
	g := graph.New(model)
	if err := lower.Table().Passes.Run(g, nil); err != nil {
		t.Fatal(err)
	}
	prog, err := newProgram(g, d.machine())
	if err != nil {
		t.Fatal(err)
	}
	estimates, parts := map[int]float64{}, map[int]cost.Parts{}
	for i := range prog.Launches {
		l := &prog.Launches[i]
		parts[l.Op] = cost.Estimate(m, l.Work)
		estimates[l.Op] += float64(parts[l.Op].Cycles())
	}
	p, err := d.PrepareModel(model, hal.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := &hal.Buffers{}
	for _, x := range model.Main.Inputs {
		b.Inputs = append(b.Inputs, make([]byte, model.Main.Operands[x].Bytes()))
	}
	for _, x := range model.Main.Outputs {
		b.Outputs = append(b.Outputs, make([]byte, model.Main.Operands[x].Bytes()))
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
			t.Logf("  %2d %-20s %8d simulated %8.0f estimated %+v", o.Index, model.Main.Operations[o.Index].Type, o.Cycles, estimates[o.Index], parts[o.Index])
		}
	}
	slices.Sort(errors)
	return sum / simulated, errors
}
