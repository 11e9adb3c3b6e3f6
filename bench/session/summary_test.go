package session

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// TestSummary: parts of a latency are summed by what they mean, a part that nobody has named is software, and launches
// are no type of operation.
func TestSummary(t *testing.T) {
	us := func(x float64) *float64 { return &x }
	cost := func(time float64, stalls map[string]int64) *OperationCost {
		return &OperationCost{Cost: Cost{TimeUS: time, Stalls: stalls}}
	}
	r := &Report{Runs: []Run{
		{Device: "cpu", LatencyUS: us(4000), EnergyUJ: us(1000)},
		{
			Device: "npu", LatencyUS: us(2000), EnergyUJ: us(70),
			LatencyParts: map[string]float64{"execution": 1300, "binder": 100, "unheard of": 300, "cpu_wake": 80, "wake": 20, "map": 200, "clean": 1},
			Operations: []Operation{
				{Index: -1, Type: "LAUNCH", OperationCost: cost(700, map[string]int64{"launch": 9})},
				{Index: 0, Type: "CONV_2D", OperationCost: cost(500, map[string]int64{"unit": 9})},
				{Index: 1, Type: "DEPTHWISE_CONV_2D", MACs: 15000, OperationCost: cost(400, map[string]int64{"unit": 2, "issue": 1})},
				{Index: 2, Type: "DEPTHWISE_CONV_2D", OperationCost: cost(200, map[string]int64{"issue": 5})},
			},
		},
		{Device: "dsp", Status: StatusUnsupported},
	}}
	r.SoC = "a machine of one's own"
	r.Roofs = map[string]report.Roof{"": {MACsPerS: 1e9}}
	for i := range r.Runs {
		r.Runs[i].Types = sumTypes(r.Runs[i].Operations)
	}
	trust := r.trust()
	require.Equal(t, []string{
		"The npu is fastest: 2.00 ms, 2.0 times as fast as the cpu, for 7 % of its energy.",
		"Of that time 20 % is software around the engine, 10 % making memory visible, 5 % waking up; 30 % are 2 operations DEPTHWISE_CONV_2D, at 2.5 % of the peak, bound by issue (the engine works).",
		"The best change with the same network and machine: execute through burst objects (--burst), then about 1.82 ms (-9 %, predicted).",
		trust,
	}, r.Summary())
	r.Runs = r.Runs[1:2]
	r.Runs[0].burst = true
	require.Equal(t, "The npu takes 2.00 ms.", r.Summary()[0])
	require.Equal(t, 3, len(r.Summary()))
	require.Equal(t, 0, len((&Report{}).Summary()))
}

// TestSummaryOfDivisions: a way to divide a network has a name of its own in sentences, and is as far to be trusted as the
// engines that it used.
func TestSummaryOfDivisions(t *testing.T) {
	us := func(x float64) *float64 { return &x }
	r := &Report{SoC: "pixel4", Runs: []Run{
		{Device: Auto, LatencyUS: us(1000), EnergyUJ: us(50), Devices: []DevicePart{{Device: "npu"}, {Device: "cpu"}}},
		{Device: nnrt.ByStrategy, LatencyUS: us(1001), EnergyUJ: us(100)},
	}}
	got := r.Summary()
	require.Equal(t, "The plan by prediction (auto) is fastest: 1.00 ms, as fast as Android's division (aosp), for 50 % of its energy.", got[0])
	require.Equal(t, []string{"npu", "cpu"}, engines(r.Runs))
	last := got[len(got)-2:]
	require.Check(t, strings.Contains(last[0], "on the npu (6 networks") && strings.Contains(last[1], "on the npu (host.runtime_us)"), "%s", last)
}
