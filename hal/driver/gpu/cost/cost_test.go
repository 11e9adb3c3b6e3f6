package cost

import (
	"math"
	"testing"

	core "github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
)

// TestEstimate: each part of a launch is its closed form.
func TestEstimate(t *testing.T) {
	s := core.DefaultSpec()
	simds := s.Clusters * s.CUsPerCluster * s.SIMDsPerCU
	m := &Machine{Spec: &s, MemoryBytesPerSecond: float64(s.Hz) * 8, MemoryNs: 100}
	far := 100 * float64(s.Hz) / 1e9
	fixed := float64(s.LaunchCycles) + 2*far
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
		{"loads wait for the first", kernel.Work{Waves: 1, Loads: 1}, Parts{Port: math.Ceil(32 / float64(s.AddressLanes)), Fixed: fixed + far}},
		// A line per lane: each takes the compute unit a cycle, and a line's time of L2.
		{"lanes far from each other", kernel.Work{Waves: simds, Loads: int64(simds), FarLoads: int64(simds)}, Parts{
			Port:  max(float64(32*s.SIMDsPerCU), float64(32*simds*s.L2.Line)/float64(s.L2.BytesPerCycle)),
			Fixed: fixed + far}},
		// Twice as many lines as L2 holds: half of what is read of lines later comes from memory again.
		{"lines that L2 does not hold", kernel.Work{Waves: many, Loads: int64(2 * many), FarLoads: int64(2 * many), ReadBytes: int64(2 * s.L2.Bytes)}, Parts{
			Port:   max(math.Ceil(float64(many)/float64(s.Clusters*s.CUsPerCluster))*64, float64(s.L2.Bytes)/float64(s.L2.BytesPerCycle)),
			Memory: float64(3*s.L2.Bytes) / 8, Fixed: fixed + far}},
		{"a chain of loads", kernel.Work{Waves: simds, Chain: 3}, Parts{Chain: 3 * float64(s.L0.LatencyCycles+s.L2.LatencyCycles), Fixed: fixed}},
	} {
		if got := Estimate(m, c.work); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
