package nnrt

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
)

// addsUp checks that the rows of an execution are its whole cost: those of a
// device add up to the device, the devices to the execution.
func addsUp(r *Result) error {
	type sum struct {
		cycles, fs int64
		pj         float64
		stalls     []hal.StallCycles
	}
	rows := map[string]sum{}
	for _, o := range slices.Concat(r.Operations, r.Inner, r.Overheads) {
		var stalls int64
		for _, s := range o.Stalls {
			stalls += s.Cycles
		}
		if stalls != o.Cycles {
			return fmt.Errorf("%s %d on %s: stalls of %d cycles, %d charged", o.Name(), o.Index, o.Device, stalls, o.Cycles)
		}
		x := rows[o.Device]
		rows[o.Device] = sum{x.cycles + o.Cycles, x.fs + o.TimeFs, x.pj + o.EnergyPJ, sumStalls(x.stalls, o.Stalls)}
	}
	var fs int64
	var pj float64
	for _, d := range r.Devices {
		x := rows[d.Device]
		delete(rows, d.Device)
		if x.cycles != d.Cycles || x.fs != d.TimeFs || !near(x.pj, d.EnergyPJ) {
			return fmt.Errorf("%s: rows of %d cycles, %d fs, %g pJ, the device has %d, %d, %g", d.Device, x.cycles, x.fs, x.pj, d.Cycles, d.TimeFs, d.EnergyPJ)
		}
		if diff := cmp.Diff(d.Stalls, x.stalls); diff != "" {
			return fmt.Errorf("%s: stalls of the device (-) and of its rows (+):\n%s", d.Device, diff)
		}
		fs, pj = fs+d.TimeFs, pj+d.EnergyPJ
	}
	switch {
	case len(rows) > 0:
		return fmt.Errorf("rows of devices that ran nothing: %v", rows)
	case fs != r.LatencyFs || !near(pj, r.EnergyPJ):
		return fmt.Errorf("devices of %d fs, %g pJ, the run has %d, %g", fs, pj, r.LatencyFs, r.EnergyPJ)
	case r.LatencyFs == 0:
		return fmt.Errorf("no time")
	}
	return nil
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// TestAddsUp shows addsUp one fault of each kind.
func TestAddsUp(t *testing.T) {
	row := func(cycles, fs int64) OperationCost {
		return OperationCost{Device: "x", Cycles: cycles, TimeFs: fs, EnergyPJ: 1, Stalls: []hal.StallCycles{{Reason: "issue", Cycles: cycles}}}
	}
	result := func() *Result {
		return &Result{
			LatencyFs: 7, EnergyPJ: 2, Operations: []OperationCost{row(3, 6)}, Overheads: []OperationCost{row(1, 1)},
			Devices: []DeviceCost{{Device: "x", Cycles: 4, TimeFs: 7, EnergyPJ: 2, Stalls: []hal.StallCycles{{Reason: "issue", Cycles: 4}}}},
		}
	}
	require.NoError(t, addsUp(result()))
	for fault, plant := range map[string]func(r *Result){
		"stalls of 2 cycles":     func(r *Result) { r.Operations[0].Stalls[0].Cycles-- },
		"rows of 3 cycles":       func(r *Result) { r.Overheads = nil },
		"rows of 4 cycles, 8 fs": func(r *Result) { r.Overheads[0].TimeFs++ },
		"4 cycles, 7 fs, 3 pJ":   func(r *Result) { r.Overheads[0].EnergyPJ++ },
		"stalls of the device":   func(r *Result) { r.Devices[0].Stalls[0].Reason = "dram" },
		"rows of devices":        func(r *Result) { r.Overheads = append(r.Overheads, OperationCost{Device: "y"}) },
		"devices of 7 fs":        func(r *Result) { r.LatencyFs++ },
	} {
		r := result()
		plant(r)
		require.ErrorContains(t, addsUp(r), fault)
	}
}
