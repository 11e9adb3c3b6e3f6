package npudriver

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower/family"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestCost holds the estimates of kernels against the simulator: the time of a network
// and of its operations.
func TestCost(t *testing.T) {
	const worstNetwork, worstMedian = 0.20, 0.15
	for _, machine := range []string{"pixel4", "ethos-u55-128", "ethos-u65-512"} {
		c := require.V(soc.Load(machine))(t)
		spec := require.V(npu.FromSoC(c, sim.FastSingleAnswer))(t)
		d := require.V(New(Config{Spec: spec, OnChipBytes: 8 << 20, NewLevels: func() ([]mem.Level, error) { return npu.LevelsFromSoC(c) }}))(t)
		names := []string{"mobilenet_v1_1.0_224_quant"}
		if machine == "pixel4" {
			names = append(names, "mobilenet_v2_1.0_224_quant")
		}
		for _, name := range names {
			m := zoo.MustBuild(name)
			drivertest.Estimates(t, d, m, estimates(t, d, m), worstNetwork, worstMedian)
		}
	}
}

// estimates returns the estimated cycles of a network's operations.
func estimates(t *testing.T, d *Device, m *nn.Model) map[int]float64 {
	g := canonical(t, d, m)
	list := require.V(lower.Graph(family.Table(), &d.cfg.Spec, g, nil, nil))(t)
	cycles, run := map[int]float64{}, cost.Operations{Spec: &d.cfg.Spec}
	for i := range list.Steps {
		s := &list.Steps[i]
		cycles[s.Op] += float64(cost.Estimate(&d.cfg.Spec, &s.Kernel).Cycles() + run.Begin(s.Op, &s.Kernel))
	}
	return cycles
}

// TestEstimates compares the estimated cycles of operations with simulated ones, by their types, over networks and over
// the corpus.
func TestEstimates(t *testing.T) {
	const worstMedian, worstSum = 1.2, 1.1
	d, types := newDevice(t, "pixel4", Config{OnChipBytes: 1 << 20}), drivertest.Accuracy{}
	add := func(m *nn.Model) {
		p, err := d.PrepareModel(m, hal.PrepareOptions{})
		if err != nil {
			return
		}
		for _, program := range slices.Concat(compile.Programs(p)...) {
			x := program.(*executable)
			l := require.V(x.Plan())(t)
			took := require.V(l.Cycles())(t)
			estimated, simulated := map[int]int64{}, map[int]int64{}
			for i, s := range l.Steps {
				estimated[s.Operation] += s.Estimated
				simulated[s.Operation] += took[i]
			}
			for op, n := range simulated {
				if op >= 0 && n > 0 {
					types.Add(x.Graph.NameOf(op), estimated[op], n)
				}
			}
		}
	}
	for _, name := range []string{"mobilenet_v1_1.0_224_quant", "mobilenet_v2_1.0_224_quant"} {
		add(zoo.MustBuild(name))
	}
	drivertest.EachShape(add)
	types.Check(t, worstMedian, worstSum, nil)
}
