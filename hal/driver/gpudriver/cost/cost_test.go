package cost

import (
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
)

// TestEstimate: each part of a launch is its closed form.
func TestEstimate(t *testing.T) {
	s := gpu.DefaultSpec()
	simds := s.Clusters * s.CUsPerCluster * s.SIMDsPerCU
	m := &Machine{Spec: &s, MemoryBytesPerSecond: float64(s.Hz) * 8, MemoryNs: 100}
	far := 100 * float64(s.Hz) / 1e9
	fixed := float64(s.LaunchCycles) + 2*far
	near := float64(s.L0.LatencyCycles + s.L2.LatencyCycles)
	passes := float64((32 + s.Lanes - 1) / s.Lanes)
	many := s.L2.Bytes / s.L2.Line / 16 // waves
	for _, c := range []struct {
		name string
		work kernel.Work
		want Parts
	}{
		{"nothing", kernel.Work{}, Parts{Fixed: fixed}},
		{"a wave for each SIMD", kernel.Work{Waves: simds, Instructions: int64(100 * simds)}, Parts{Issue: 100 * passes, Fixed: fixed}},
		{"a wave more", kernel.Work{Waves: simds + 1, Instructions: int64(100 * (simds + 1))}, Parts{Issue: 200 * passes, Fixed: fixed}},
		{"8 bytes a cycle", kernel.Work{Waves: 1, ReadBytes: 600, WriteBytes: 200}, Parts{Memory: 100, Fixed: fixed}},
		{"loads wait for the first", kernel.Work{Waves: 1, Loads: 1}, Parts{Port: math.Ceil(32 / float64(s.AddressLanes)), Cold: far, Fixed: fixed}},
		// A line per lane: each occupies the compute unit for a cycle, L2 for a line's time, and a miss entry of L0.
		{"lanes far from each other", kernel.Work{Waves: simds, Loads: int64(simds), ScatteredLines: int64(32 * simds)}, Parts{
			Port: max(float64(32*s.SIMDsPerCU)*max(1, near/float64(s.L0.MSHRs)), float64(32*simds*s.L2.Line)/float64(s.L2.BytesPerCycle)),
			Cold: far, Fixed: fixed}},
		// Twice as many lines as L2 holds: half of what is read of lines later comes from memory again.
		{"lines that L2 does not hold", kernel.Work{Waves: many, Loads: int64(2 * many), ScatteredLines: int64(64 * many), ReadBytes: int64(2 * s.L2.Bytes)}, Parts{
			Port:   max(math.Ceil(float64(many)/float64(s.Clusters*s.CUsPerCluster))*64*max(1, near/float64(s.L0.MSHRs)), float64(s.L2.Bytes)/float64(s.L2.BytesPerCycle)),
			Memory: float64(3*s.L2.Bytes) / 8, Cold: far, Fixed: fixed}},
		{"lines that L2 holds, which waves come back to", kernel.Work{Waves: many, Loads: int64(2 * many), ScatteredLines: int64(64 * many), ReadBytes: int64(s.L2.Bytes / 2)}, Parts{
			Port:   max(math.Ceil(float64(many)/float64(s.Clusters*s.CUsPerCluster))*64*max(1, near/float64(s.L0.MSHRs)), 3.5*float64(s.L2.Bytes)/float64(s.L2.BytesPerCycle)),
			Memory: float64(s.L2.Bytes) / 16, Cold: far, Fixed: fixed}},
		{"a chain of loads", kernel.Work{Waves: simds, Chain: 3}, Parts{Chain: 3 * near, Fixed: fixed}},
		// Two of three loads of each wave find a line that nobody has read.
		{"a chain of misses", kernel.Work{Waves: simds, Loads: int64(3 * simds), Chain: 3, ReadBytes: int64(2 * simds * s.L2.Line)}, Parts{
			Port: 3 * float64(s.SIMDsPerCU) * math.Ceil(32/float64(s.AddressLanes)), Memory: float64(2*simds*s.L2.Line) / 8, Cold: 2 * far, Chain: 3 * near, Fixed: fixed}},
	} {
		if got := Estimate(m, c.work); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestBeside: concurrent launches need the sum of their cycles on each unit of the machine, and no less than the
// longest of them, and in addition the packets after the first.
func TestBeside(t *testing.T) {
	s := gpu.DefaultSpec()
	simds := s.Clusters * s.CUsPerCluster * s.SIMDsPerCU
	m := &Machine{Spec: &s, MemoryBytesPerSecond: float64(s.Hz) * 8, MemoryNs: 100}
	far := 100 * float64(s.Hz) / 1e9
	passes := float64((32 + s.Lanes - 1) / s.Lanes)
	near := float64(s.L0.LatencyCycles + s.L2.LatencyCycles)
	address := math.Ceil(32 / float64(s.AddressLanes))
	computing := func(waves, each int) kernel.Work { return kernel.Work{Waves: waves, Instructions: int64(waves * each)} }
	lines := func(waves int) kernel.Work {
		return kernel.Work{Waves: waves, Loads: int64(waves), ScatteredLines: int64(32 * waves), ReadBytes: int64(waves)}
	}
	many := s.L2.Bytes / s.L2.Line / 32 // waves whose lines fill L2
	again := float64(s.L2.Bytes-many) / 2
	for _, c := range []struct {
		name string
		list []kernel.Work
		want float64 // beside dispatch
	}{
		{"two waves on two SIMDs", []kernel.Work{computing(1, 100), computing(1, 70)}, 100 * passes},
		{"launches of a wave, two for each SIMD", slices.Repeat([]kernel.Work{computing(1, 100)}, 2*simds), 200 * passes},
		{"launches that fill all SIMDs", []kernel.Work{computing(simds, 100), computing(2*simds, 30)}, 160 * passes},
		// The second pass of the first is a quarter full: the other uses the rest.
		{"a launch in what another leaves", []kernel.Work{computing(simds+simds/4, 100), computing(simds, 10)}, 200 * passes},
		{"memory", []kernel.Work{{ReadBytes: 800}, {WriteBytes: 1600}}, 300},
		{"a chain beside a shorter one", []kernel.Work{{Waves: simds, Chain: 5}, {Waves: simds, Chain: 2}}, chainShare * 5 * near},
		{"more chains than waves hide", slices.Repeat([]kernel.Work{{Waves: simds, Chain: 5}}, 2*residency), chainShare * 2 * 5 * near},
		{"loads of launches that fill all SIMDs", []kernel.Work{{Waves: simds, Loads: int64(10 * simds)}, {Waves: simds, Loads: int64(30 * simds)}}, 40*float64(s.SIMDsPerCU)*address + chainShare*far},
		// L2 holds the lines of one of them, so each reads half of what it comes back to again: the rest of the time of L2
		// is of waves that fill the SIMDs so far.
		{"lines that L2 does not hold for both", []kernel.Work{lines(many), lines(many)}, 2*again/float64(s.L2.BytesPerCycle)*
			float64(many)/(float64(simds)*math.Ceil(float64(many)/float64(simds))) + 2*(float64(many)+again)/8},
	} {
		want := int64(c.want + float64(s.LaunchCycles) + 2*far + float64((len(c.list)-1)*s.LaunchCycles))
		if got := Concurrent(m, c.list); got != want {
			t.Errorf("%s: %d cycles, want %d", c.name, got, want)
		}
	}
	for _, w := range []kernel.Work{{}, computing(simds+1, 50), lines(3 * many), {Waves: 5*simds + 1, Chain: 3, Loads: 30, Dots: 7, ReadBytes: 999}} {
		if got, want := Concurrent(m, []kernel.Work{w}), Estimate(m, w).Cycles(); got != want {
			t.Errorf("%+v alone: %d cycles, want %d", w, got, want)
		}
	}
}
