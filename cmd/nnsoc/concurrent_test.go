package main

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/run"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestConcurrent checks run --concurrent against the necessary effects of contention: a network is not faster beside
// others, its latency parts add up, and the one of low priority starves beside six of high priority that keep its
// engine busy.
func TestConcurrent(t *testing.T) {
	const network = "mobilenet_v1_0.25_128_quant"
	for _, args := range []string{"--device dsp,npu,npu,npu", "--device npu,npu,npu,npu,npu,npu,npu --priority low,high,high,high,high,high,high --burst"} {
		var out strings.Builder
		words := append([]string{"run"}, slices.Repeat([]string{network}, 1+strings.Count(strings.Fields(args)[1], ","))...)
		words = append(words, "--concurrent", "--json", "--quiet", "--invocations", "3")
		words = append(words, strings.Fields(args)...)
		if code := execute(words, &out, io.Discard); code != cli.ExitOK {
			t.Fatalf("%s: exit code %d", args, code)
		}
		var r run.ConcurrentReport
		require.NoError(t, json.Unmarshal([]byte(out.String()), &r))
		for i, e := range r.Networks {
			if starved := i == 0 && e.Priority == "low"; starved != (e.Slowdown == nil) {
				t.Errorf("%s: network %d starved: %v", args, i, !starved)
			}
			require.Check(t, e.Mismatches == 0, "%s: %+v", args, e)
			shares := []run.ShareEntry{e.Alone}
			if e.Slowdown != nil {
				shares = append(shares, e.Together)
				if s := *e.Slowdown; !(s > 0.99 && s < 4) {
					t.Errorf("%s: %v times as slow", args, s)
				}
			}
			for _, s := range shares {
				sum := 0.0
				for _, us := range s.LatencyParts {
					sum += us
				}
				if !(math.Abs(sum-s.LatencyUS) < 1e-6*s.LatencyUS) {
					t.Errorf("%s: parts of %s add up to %v us, the latency is %v", args, e.Device, sum, s.LatencyUS)
				}
				// A small network may find everything in caches.
				if !(s.DRAMGBps >= 0 && s.DRAMGBps < r.PeakGBps && s.MemoryStallShare > 0 && s.MemoryStallShare < 1) {
					t.Errorf("%s: %+v", args, s)
				}
			}
		}
	}
}
