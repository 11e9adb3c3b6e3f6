package cost

import (
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// TestEnginesByClock: what an operation came to is known for each pair of clocks that its engine
// and the DRAM had all through an execution; where one changed it counts for the mean of all alone.
func TestEnginesByClock(t *testing.T) {
	var r LoopRecord
	execution := func(memory [2]int64, hz ...int64) { // of two operations
		x := &nnrt.Result{Devices: []nnrt.DeviceCost{{Device: "gpu", Memory: hal.MemoryStats{LowestHz: memory[0], HighestHz: memory[1], ReadBytes: 30, WriteBytes: 20}}}, Parts: []nnrt.PartCost{{Device: "gpu", Operations: []int{0, 1}}}, Operations: make([]nnrt.OperationCost, 2)}
		for i := range x.Operations {
			cycles := int64(1e6 * (i + 1))
			x.Operations[i] = nnrt.OperationCost{Index: i, Device: "gpu", Cycles: cycles, TimeFs: int64(float64(cycles) / float64(hz[i]) * 1e15), EnergyPJ: 1, DRAMBytes: 50}
		}
		x.Overheads = []nnrt.OperationCost{{Index: hal.LaunchIndex, Device: "gpu", TimeFs: 7}, {Index: hal.TransferIndex, Device: "gpu"}}
		r.add(x)
	}
	slow, rising, fast := [2]int64{1e9, 1e9}, [2]int64{1e9, 2e9}, [2]int64{2e9, 2e9}
	execution(slow, 200e6, 200e6)
	execution(slow, 200e6, 200e6)
	execution(slow, 200e6, 400e6)
	execution(rising, 400e6, 400e6)
	execution(fast, 400e6, 400e6)
	x := deviceLoads{operations: []int{0, 1}}
	for _, want := range []struct {
		at    clocks
		known bool
		fs    [2]float64
	}{
		{clocks{200e6, 1e9}, true, [2]float64{5e12, 10e12}},
		{clocks{200e6, 2e9}, false, [2]float64{}},
		{clocks{400e6, 2e9}, true, [2]float64{2.5e12, 5e12}},
		{clocks{300e6, 1e9}, false, [2]float64{}},
		{clocks{}, true, [2]float64{(3*5e12 + 2*2.5e12) / 5, (2*10e12 + 3*5e12) / 5}},
	} {
		p, ok := x.point(&r, "gpu", want.at)
		require.Same(t, want.known, ok, want.at, "known")
		for i := range x.operations {
			o := &p.operations[i]
			require.Check(t, o.TimeFs == want.fs[i], "operation %d at %v: %v fs, want %v", i, want.at, o.TimeFs, want.fs[i])
			if ok && o.DRAMBytes != 25 { // half of the requested bytes passed the system-level cache
				t.Errorf("operation %d at %v moves %v bytes", i, want.at, o.DRAMBytes)
			}
		}
	}
}

// TestHeldClock: clocks that a loop has not had are measured once, and only of an engine whose
// clock a governor moves: at the lowest and the highest clock of the DRAM where that of the loop
// is not beyond the requested one. Between two, times follow the DRAM's period, and between the ends of the
// engine's clock its period.
func TestHeldClock(t *testing.T) {
	took := func(k clocks) float64 { return 1e15/float64(k.hz) + 4e15/float64(k.memoryHz) }
	at := func(k clocks) *LoopRecord {
		return &LoopRecord{Executions: 1, Steps: []Step{{Device: "gpu", Operations: []int{0}}},
			Engines: []Engines{{{Hz: float64(k.hz), MemoryHz: k.memoryHz, Executions: 1, TimeFs: took(k), Cycles: 1}}}}
	}
	p := &partition.Problem{Devices: []partition.Device{{Name: "gpu"}}, Graph: &partition.Graph{Operations: make([]partition.Operation, 1)}}
	for _, governed := range []bool{false, true} {
		var asked []clocks
		loop := clocks{100, 1000}
		l := &loads{problem: p, devices: []deviceLoads{{operations: []int{0}, loop: at(loop), points: map[clocks]*pointLoads{}, measured: map[int64][]*pointLoads{}}}}
		if governed {
			l.devices[0].moves, l.devices[0].ends = true, [2]int64{100, 200}
			l.devices[0].pinned = func(k clocks) (*LoopRecord, error) { asked = append(asked, k); return at(k), nil }
			l.devices[0].memory = func(hz int64) (lowest, highest int64) { return hz, 20 * hz }
		}
		for range 2 {
			for _, k := range []clocks{loop, {100, 1500}, {100, 1700}, {100, 2000}, {200, 3000}, {200, 200}, {150, 1500}} {
				x := require.V(l.at(0, k))(t)
				want := took(loop)
				if governed {
					want = took(k)
				}
				if got := x.operations[0].TimeFs; !(math.Abs(got-want) <= 1e-9*want) {
					t.Errorf("governed %v: %v fs at %v, want %v", governed, got, k, want)
				}
			}
		}
		want := []clocks{{100, 2000}, {200, 200}, {200, 4000}}
		if !governed {
			want = nil
		}
		require.Check(t, slices.Equal(asked, want), "governed %v: %v measured, want %v", governed, asked, want)
	}
}

// TestWorkedOutClock: if no clock can be held, the cycles of an operation scale with the engine's clock, except waits for the
// DRAM, which scale with the DRAM's.
func TestWorkedOutClock(t *testing.T) {
	p := &partition.Problem{Devices: []partition.Device{{Name: "gpu"}}, Graph: &partition.Graph{Operations: make([]partition.Operation, 1)}}
	loop := &LoopRecord{Executions: 1, Steps: []Step{{Device: "gpu", Operations: []int{0}}},
		Engines: []Engines{{{Hz: 100, MemoryHz: 1000, Executions: 2, TimeFs: 2 * 4e15, Cycles: 2 * 400, DRAMCycles: 2 * 100}}}}
	l := &loads{problem: p, devices: []deviceLoads{{moves: true, operations: []int{0}, loop: loop, points: map[clocks]*pointLoads{}}}}
	for k, want := range map[clocks]float64{{100, 1000}: 4e15, {50, 1000}: 7e15, {100, 500}: 5e15, {200, 2000}: 2e15} {
		x := require.V(l.at(0, k))(t)
		if got := x.operations[0].TimeFs; !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("%v fs at %v, want %v", got, k, want)
		}
	}
}
