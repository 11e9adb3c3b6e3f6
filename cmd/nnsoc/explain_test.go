package main

import (
	"testing"

	"github.com/nnsoc/nnsoc/bench/glossary"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestEveryWordExplained: each part, stall reason and counter that run prints of any engine has an entry.
func TestEveryWordExplained(t *testing.T) {
	type counted struct {
		Stalls   map[string]int64 `json:"stall_cycles"`
		Counters map[string]int64 `json:"counters"`
	}
	var report struct {
		Runs []struct {
			Device     string
			Parts      map[string]float64 `json:"latency_parts_us"`
			Devices    []counted
			Operations []counted
		}
	}
	commandJSON(t, &report, "run", "mobilenet_v1_0.25_128_quant", "--invocations", "2", "-q")
	explained := func(kind glossary.Kind, word string) {
		for _, w := range glossary.Find(glossary.All(), word) {
			if w.Kind == kind && w.Word == word {
				return
			}
		}
		t.Errorf("%s %q has no entry in bench/glossary/words.go", kind, word)
	}
	counters := 0
	for _, r := range report.Runs {
		for part := range r.Parts {
			explained(glossary.Part, part)
		}
		for _, list := range [][]counted{r.Devices, r.Operations} {
			for _, c := range list {
				for reason := range c.Stalls {
					explained(glossary.Reason, reason)
				}
				for name := range c.Counters {
					counters++
					explained(glossary.Counter, name)
				}
			}
		}
	}
	require.Check(t, len(report.Runs) == 4 && counters > 100, "%d runs, %d counters", len(report.Runs), counters)
}
