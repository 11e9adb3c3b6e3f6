package session

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
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
				{Index: 1, Type: "DEPTHWISE_CONV_2D", OperationCost: cost(400, map[string]int64{"unit": 2, "issue": 1})},
				{Index: 2, Type: "DEPTHWISE_CONV_2D", OperationCost: cost(200, map[string]int64{"issue": 5})},
			},
		},
		{Device: "dsp", Status: StatusUnsupported},
	}}
	r.SoC = "ethos-u55-32"
	for i := range r.Runs {
		r.Runs[i].Types = sumTypes(r.Runs[i].Operations)
	}
	trust := r.trust()
	require.Equal(t, []string{
		"The npu is fastest: 2.00 ms, 2.0 times as fast as the cpu, for 7 % of its energy.",
		"Of that time 20 % software around the engine, 10 % making memory visible, 5 % waking up, 30 % operations DEPTHWISE_CONV_2D (2) bound by issue.",
		"What would change it most without another network or machine: execute through burst objects (--burst), about 1.82 ms (-9 %, predicted).",
		trust,
	}, r.Summary())
	r.Runs = r.Runs[1:2]
	r.Runs[0].burst = true
	require.Equal(t, "The npu takes 2.00 ms.", r.Summary()[0])
	require.Equal(t, 3, len(r.Summary()))
	require.Equal(t, 0, len((&Report{}).Summary()))
}
