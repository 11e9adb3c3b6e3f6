package kernel_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
)

// TestCycles: the time of a launch is that of the unit for which its waves wait, and at least that
// of a single work-group.
func TestCycles(t *testing.T) {
	m := kernel.Machine{CUs: 2, SIMDs: 4, WaveLanes: 128, WaveSIMDs: 2, Line: 64, L2Rate: 32}
	for _, c := range []struct {
		name string
		tile kernel.Tile
		want float64
	}{
		{"products of 12 waves on 4 SIMDs", kernel.Tile{Waves: 4, Groups: 6, Steps: 10, Products: 100}, 10 * 12 * 100 / 4},
		{"loads of 12 waves", kernel.Tile{Waves: 4, Groups: 6, Steps: 10, Products: 100, Loads: 30, Lines: 1}, 10 * 12 * 30},
		{"lines of both compute units", kernel.Tile{Waves: 4, Groups: 6, Steps: 10, Products: 100, Loads: 30, Lines: 8}, 10 * 12 * 8 * 64 * 2 / 32},
		{"an odd work-group makes a round of its own", kernel.Tile{Waves: 4, Groups: 7, Steps: 10, Loads: 30}, 10 * 16 * 30},
		{"a work-group alone, two waves on a SIMD", kernel.Tile{Waves: 4, Groups: 1, Steps: 10, Products: 100, Loads: 30, Wait: 50}, 10 * (4*30 + 50 + 2*100)},
		{"behind the steps", kernel.Tile{Waves: 4, Groups: 6, Steps: 10, Products: 100, End: 20}, 10*12*100/4 + 20*12/4},
	} {
		if got := m.Cycles(&c.tile); got != c.want {
			t.Errorf("%s: %g cycles, want %g", c.name, got, c.want)
		}
	}
}

// TestCyclesOf: waves that load one after the other wait for each load, many of them for their instructions.
func TestCyclesOf(t *testing.T) {
	m := kernel.Machine{CUs: 2, SIMDs: 4, AddressLanes: 4, NearestRate: 64, L2Rate: 32, L2Latency: 100}
	for _, c := range []struct {
		work kernel.Work
		want float64
	}{
		{kernel.Work{Waves: 1, Instructions: 30, Loads: 2, Chain: 2}, 30 + 2*8 + 200},
		{kernel.Work{Waves: 160, Instructions: 160 * 30, Loads: 160 * 2, Chain: 2}, 80 * 2 * 8},
		{kernel.Work{Waves: 160, Instructions: 160 * 90, Loads: 160 * 2, Chain: 2}, 80 * 90 / 4},
	} {
		if got := m.CyclesOf(c.work); got != c.want {
			t.Errorf("%+v: %g cycles, want %g", c.work, got, c.want)
		}
	}
}

// TestSharing: waves that make one of the hardware have its SIMDs, others all.
func TestSharing(t *testing.T) {
	phone, free := kernel.Machine{SIMDs: 4, WaveLanes: 128, WaveSIMDs: 2}, kernel.Machine{SIMDs: 2, WaveLanes: 32}
	for waves, want := range map[int][2]int{1: {1, 1}, 2: {1, 1}, 3: {2, 2}, 4: {2, 2}, 5: {2, 3}, 8: {2, 4}, 9: {3, 5}} {
		if got := [2]int{phone.Sharing(waves), free.Sharing(waves)}; got != want {
			t.Errorf("%d waves: %v on a SIMD, want %v", waves, got, want)
		}
	}
}

// TestLoad: a load of a wave costs the cycles of its addresses or of its bytes, whichever are more.
func TestLoad(t *testing.T) {
	for _, c := range []struct {
		lanes, rate, bytes int
		want               float64
	}{{4, 64, 8, 8}, {4, 64, 16, 8}, {4, 32, 16, 16}, {64, 64, 16, 8}, {64, 64, 2, 1}, {5, 1024, 4, 7}} {
		m := kernel.Machine{AddressLanes: c.lanes, NearestRate: c.rate}
		if got := m.Load(c.bytes); got != c.want {
			t.Errorf("%+v: %g cycles", c, got)
		}
	}
}
