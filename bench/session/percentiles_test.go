package session

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestPercentiles: the nearest rank of 1 to 200 in any order, of one latency, of none, and of more than are kept.
func TestPercentiles(t *testing.T) {
	var l latencies
	require.Equal(t, []float64{0, 0}, l.percentiles(50, 99), "of none")
	l.add(7)
	require.Equal(t, []float64{7, 7, 7}, l.percentiles(50, 90, 99), "of one")
	l = latencies{}
	for i := range 200 {
		l.add(float64(i*77%200 + 1))
	}
	require.Equal(t, []float64{100, 180, 198}, l.percentiles(50, 90, 99), "of 1 to 200")
	l = latencies{}
	const n = 3 * maxLatencies
	for i := range n {
		l.add(float64(i))
	}
	require.Check(t, len(l.us) <= maxLatencies, "%d latencies are kept", len(l.us))
	for i, p := range []float64{50, 90, 99} {
		got := l.percentiles(50, 90, 99)[i]
		require.Check(t, got >= p/100*n-8 && got <= p/100*n+8, "%v %%: %v of %d", p, got, n)
	}
}

// TestInvocationPercentiles: percentiles are filled in with the means.
func TestInvocationPercentiles(t *testing.T) {
	x := NewInvocations()
	for _, us := range []float64{4, 1, 2, 3} {
		x.add(int64(us*1e9), 0)
	}
	x.Finish()
	require.Equal(t, [4]float64{2.5, 2, 4, 4}, [4]float64{x.MeanUS, x.P50US, x.P90US, x.P99US}, "mean and percentiles")
}

// TestSumTypes: rows of a type on a device are one sum; the reason is that of all their cycles.
func TestSumTypes(t *testing.T) {
	row := func(typ, device string, us float64, stalls map[string]int64) Operation {
		return Operation{Type: typ, Device: device, MACs: 10, OperationCost: &OperationCost{Cost: Cost{TimeUS: us, EnergyUJ: 1, Stalls: stalls}, DRAMBytes: 3}}
	}
	sums := sumTypes([]Operation{
		row("A", "npu", 1, map[string]int64{"unit": 5, "dram": 4}), row("B", "npu", 9, nil), row("A", "cpu", 2, map[string]int64{"issue": 1}),
		row("A", "npu", 2, map[string]int64{"dram": 2}), {Type: "A", Device: "npu"},
	})
	for i := range sums {
		sums[i].stalls = nil
	}
	require.Equal(t, []TypeSum{
		{Type: "B", Device: "npu", Count: 1, MACs: 10, TimeUS: 9, EnergyUJ: 1, DRAMBytes: 3},
		{Type: "A", Device: "npu", Count: 2, MACs: 20, TimeUS: 3, EnergyUJ: 2, DRAMBytes: 6, BoundBy: "dram"},
		{Type: "A", Device: "cpu", Count: 1, MACs: 10, TimeUS: 2, EnergyUJ: 1, DRAMBytes: 3, BoundBy: "issue"},
	}, sums)
}
