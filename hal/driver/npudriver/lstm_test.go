package npudriver

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower/family"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/plan"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestRandomLstms runs QUANTIZED_16BIT_LSTM and QUANTIZED_LSTM on one machine after the other.
func TestRandomLstms(t *testing.T) {
	list := machines(t)
	for i, c := range drivertest.Lstms() {
		t.Run(c.Name, func(t *testing.T) { drivertest.Exact(t, list[i%len(list)], c.Model, c.Inputs, c.Functional) })
	}
}

// TestCostOfCells holds the estimates of cells, which are chains of some hundred kernels, against the simulator.
func TestCostOfCells(t *testing.T) {
	const worst = 0.2
	for _, machine := range []string{"pixel4", "ethos-u55-128", "ethos-u65-512"} {
		d := newDevice(t, machine, Config{OnChipBytes: 1 << 20})
		for _, c := range slices.Concat(drivertest.Lstms16(6), drivertest.Lstms8(10)) {
			if !slices.ContainsFunc(c.Inputs, func(data []byte) bool { return data == nil }) {
				drivertest.Estimates(t, d, c.Model, planned(t, d, c.Model), worst, worst)
			}
		}
	}
}

// planned are the estimates of the operations of a model where a plan puts its maps and weights, in cycles.
func planned(t *testing.T, d *Device, m *nn.Model) map[int]float64 {
	list := require.V(lower.Graph(family.Table(), &d.cfg.Spec, canonical(t, d, m), nil, nil))(t)
	p := require.V(plan.New(d.target(), list))(t)
	cycles := map[int]float64{}
	for i, n := range p.Estimates {
		cycles[p.Steps.Steps[i].Op] += n
	}
	return cycles
}
