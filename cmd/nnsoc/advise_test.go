package main

import (
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestAdviceReplays: each change of a machine that advise names is one that --set takes, and nnsoc run with it has the
// latency that advise simulated.
func TestAdviceReplays(t *testing.T) {
	const network = "mlperf_tiny_kws_quant"
	for _, device := range []string{"cpu", "gpu", "dsp", "npu"} {
		var advice struct {
			Changes []struct {
				Set       []string `json:"set"`
				LatencyUS float64  `json:"latency_us"`
			} `json:"changes"`
		}
		commandJSON(t, &advice, "advise", network, "--device", device, "--top", "1000", "--choices", "0", "--workers", "1")
		replayed := 0
		for _, x := range advice.Changes {
			if len(x.Set) == 0 {
				continue
			}
			var run struct {
				Runs []struct {
					Device    string  `json:"device"`
					LatencyUS float64 `json:"latency_us"`
				} `json:"runs"`
			}
			args := []string{"run", network, "--device", device}
			for _, s := range x.Set {
				args = append(args, "--set", s)
			}
			commandJSON(t, &run, args...)
			require.Check(t, len(run.Runs) == 1 && math.Abs(run.Runs[0].LatencyUS/x.LatencyUS-1) < 1e-9, "%s: run has %+v, advise %v us", strings.Join(args, " "), run.Runs, x.LatencyUS)
			replayed++
		}
		require.Check(t, replayed >= 1, "%s: %d changes of the machine", device, replayed)
	}
}
