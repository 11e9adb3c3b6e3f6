package scenario

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
)

// TestReplace: a network costs what its row says, its parts as much more or less, and time lost is counted beside the simulator's costs.
func TestReplace(t *testing.T) {
	p := &Problem{Devices: []string{"cpu", "npu"}, Costs: [][]Cost{{{LatencyFs: 8e9, EnergyPJ: 5}, {LatencyFs: 4e9, EnergyPJ: 5, LeadFs: 3e9}}},
		Parts: [][]Part{{{Costs: []Cost{{LatencyFs: 6e9}, {LatencyFs: 2e9}}}, {Costs: []Cost{{LatencyFs: 4e9}, {Reason: "too large"}}}}}}
	before := p.Cost(0, 0, 1, 1)
	table := require.V(cost.ReadTable("t", []byte("network,device,type,time_us,energy_uj\nm,npu,network,1,\nm,npu,network,3,9\n")))(t)
	e := &Elsewhere{table: table, networks: []elsewhere{{name: "m"}}}
	require.NoError(t, e.Replace(p))
	require.Same(t, Cost{LatencyFs: 2e9, EnergyPJ: 9e6, LeadFs: 2e9}, p.Costs[0][1], "the mean of two rows")
	require.Same(t, Cost{LatencyFs: 8e9, EnergyPJ: 5}, p.Costs[0][0], "a device without a row")
	require.Same(t, 1e9, float64(p.Cost(0, 0, 1, 1).LatencyFs), "a part")
	require.Same(t, before, p.simulated().Cost(0, 0, 1, 1), "a part by the simulator")
	require.Same(t, int64(4e9), p.simulated().Costs[0][1].LatencyFs, "by the simulator")
	require.Same(t, "npu", e.Coverage(p)[0].Whole[0], "coverage")

	p.Costs[0][1] = Cost{Reason: "too large"}
	require.ErrorContains(t, e.Replace(p), "costs: t: line 2: npu does not run m: too large")
}
