package cost

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	nnrt "github.com/nnsoc/nnsoc/runtime"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// TestEnginesByClock: what an operation came to is known for each clock that its engine had all
// through an execution; where the clock changed it counts for the mean of all alone.
func TestEnginesByClock(t *testing.T) {
	var r LoopRecord
	execution := func(hz ...int64) { // of two operations
		x := &nnrt.Result{Parts: []nnrt.PartCost{{Device: "gpu", Operations: []int{0, 1}}}, Operations: make([]nnrt.OperationCost, 2)}
		for i := range x.Operations {
			cycles := int64(1e6 * (i + 1))
			x.Operations[i] = nnrt.OperationCost{Index: i, Device: "gpu", Cycles: cycles, TimeFs: int64(float64(cycles) / float64(hz[i]) * 1e15), EnergyPJ: 1}
		}
		x.Overheads = []nnrt.OperationCost{{Index: hal.LaunchIndex, Device: "gpu", TimeFs: 7}, {Index: hal.TransferIndex, Device: "gpu"}}
		r.add(x)
	}
	execution(200e6, 200e6)
	execution(200e6, 200e6)
	execution(200e6, 400e6)
	execution(400e6, 400e6)
	x := deviceLoads{operations: []int{0, 1}}
	for _, want := range []struct {
		hz    int64
		known bool
		fs    [2]float64
	}{
		{200e6, true, [2]float64{5e12, 10e12}},
		{400e6, true, [2]float64{2.5e12, 5e12}},
		{300e6, false, [2]float64{}},
		{0, true, [2]float64{(3*5e12 + 2.5e12) / 4, (2*10e12 + 2*5e12) / 4}},
	} {
		p, ok := x.point(&r, "gpu", want.hz)
		if ok != want.known {
			t.Errorf("%d Hz: known %v", want.hz, ok)
			continue
		}
		for i := range want.fs {
			if got := p.operations[i].TimeFs; got != want.fs[i] {
				t.Errorf("operation %d at %d Hz: %v fs, want %v", i, want.hz, got, want.fs[i])
			}
		}
	}
}

// TestHeldClock: a clock that a loop has not had is measured once, and only of an engine whose
// clock a governor moves.
func TestHeldClock(t *testing.T) {
	at := func(hz float64) *LoopRecord {
		return &LoopRecord{Executions: 1, Steps: []Step{{Device: "gpu", Operations: []int{0}}},
			Engines: []Engines{{{Hz: hz, Executions: 1, TimeFs: 1e15 / hz, Cycles: 1}}}}
	}
	p := &partition.Problem{Devices: []partition.Device{{Name: "gpu"}}, Graph: &partition.Graph{Operations: make([]partition.Operation, 1)}}
	for _, governed := range []bool{false, true} {
		asked := 0
		l := &loads{problem: p, devices: []deviceLoads{{operations: []int{0}, loop: at(100), points: map[int64]*pointLoads{}}}}
		if governed {
			l.devices[0].held = func(hz int64) (*LoopRecord, error) { asked++; return at(float64(hz)), nil }
		}
		for range 2 {
			for _, hz := range []int64{100, 200} {
				x, err := l.at(0, hz)
				if err != nil {
					t.Fatal(err)
				}
				want := 1e13
				if governed {
					want = 1e15 / float64(hz)
				}
				if got := x.operations[0].TimeFs; got != want {
					t.Errorf("governed %v: %v fs at %d Hz, want %v", governed, got, hz, want)
				}
			}
		}
		if want := map[bool]int{true: 1}[governed]; asked != want {
			t.Errorf("governed %v: %d clocks measured, want %d", governed, asked, want)
		}
	}
}
