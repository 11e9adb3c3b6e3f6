package npudriver

import (
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
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

// estimates are those of the operations of a network, in cycles.
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
