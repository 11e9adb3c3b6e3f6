package main

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
)

// boundRow is a row of costs: its bound and its cycles by reason.
type boundRow struct {
	BoundBy string           `json:"bound_by"`
	Stalls  map[string]int64 `json:"stall_cycles"`
}

// TestBoundByIsAStall: the bound of an operation is its largest stall, both with names of sim.Reason, on all engines
// and of a program of the NPU by itself.
func TestBoundByIsAStall(t *testing.T) {
	const network = "mobilenet_v1_0.25_128_quant"
	var reasons []string
	for r := range sim.NumReasons {
		reasons = append(reasons, r.String())
	}
	check := func(name string, rows []boundRow) {
		require.Check(t, len(rows) != 0, "%s: no rows", name)
		for i, o := range rows {
			for s, n := range o.Stalls {
				require.Check(t, slices.Contains(reasons, s), "%s: row %d has stalls %q", name, i, s)
				require.Check(t, n <= o.Stalls[o.BoundBy], "%s: row %d is bound by %q, its stalls are %v", name, i, o.BoundBy, o.Stalls)
			}
		}
	}
	var ran struct {
		Runs []struct {
			Device     string
			Operations []boundRow
		}
	}
	commandJSON(t, &ran, "run", network, "--device", "cpu,gpu,dsp,npu")
	for _, r := range ran.Runs {
		check(r.Device, r.Operations)
	}
	var program struct{ Operations []boundRow }
	commandJSON(t, &program, "npu", "exec", "testdata/mixed_vela.tflite")
	check("npu exec", program.Operations)
}
