// Package cost estimates the cycles of a launch on a GPU from the work that its kernel
// counts: one estimator for choices, for partitioning and for reports.
package cost

import (
	"math"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
)

// Machine is a GPU and the memory behind it.
type Machine struct {
	Spec *gpu.Spec
	// MemoryBytesPerSecond is the bandwidth that the memory behind L2 sustains.
	MemoryBytesPerSecond float64
	// MemoryNs is the latency of a miss in L2.
	MemoryNs float64
}

// Parts are the cycles of a launch on each unit.
type Parts struct {
	Issue  float64 // vector instructions of the busiest SIMD
	Port   float64 // addresses and lines of vector loads of a compute unit, its lines under way, lines of all from L2
	Memory float64 // distinct bytes to and from memory
	Cold   float64 // misses in L2 of a wave that wait for each other, by all waves of a SIMD
	Chain  float64 // loads of a wave that wait for each other, by all waves of a SIMD
	Fixed  float64 // dispatch, first instruction lines, last stores
}

// chainShare is the share of its chains of loads for which a launch waits: few waves are
// resident, so computing hides little of them. Fitted to the simulator on the operations of TestCost (D-431).
const chainShare = 0.6

// Cycles is the time of a launch.
func (p Parts) Cycles() int64 {
	return int64(max(p.Issue, p.Port) + max(p.Memory, chainShare*p.Cold) + chainShare*p.Chain + p.Fixed)
}

// residency is the waves of a SIMD that hide each other's loads: registers allow the
// kernels of this driver about so many (assumed, D-431).
const residency = 4

// Estimate estimates a launch by itself.
func Estimate(m *Machine, w kernel.Work) Parts { return estimate(m, w, max(w.Waves, 1)) }

// Concurrent estimates the cycles of concurrent launches: their waves fill the machine like those of one launch, all
// lines that they keep resident share L2, each waits for its own loads, and packets are read one after the other.
func Concurrent(m *Machine, list []kernel.Work) int64 {
	s := m.Spec
	simds := float64(s.Clusters * s.CUsPerCluster * s.SIMDsPerCU)
	resident := 0
	for _, w := range list {
		resident += max(w.Waves, 1)
	}
	var all, most Parts
	for _, w := range list {
		p := estimate(m, w, resident)
		waves := float64(max(w.Waves, 1))
		// Others use the SIMDs that a launch leaves idle in its last pass.
		even := waves / simds / math.Ceil(waves/simds)
		all.Issue += p.Issue * even
		all.Port += p.Port * even
		all.Memory += p.Memory
		turns := waves / simds / min(residency, float64(s.WavesPerSIMD))
		turns /= math.Ceil(turns)
		all.Chain += p.Chain * turns
		all.Cold += p.Cold * turns
		most = Parts{max(most.Issue, p.Issue), max(most.Port, p.Port), 0, max(most.Cold, p.Cold), max(most.Chain, p.Chain), max(most.Fixed, p.Fixed)}
	}
	all.Issue, all.Port = max(all.Issue, most.Issue), max(all.Port, most.Port)
	all.Chain, all.Cold = max(most.Chain, all.Chain), max(most.Cold, all.Cold)
	all.Fixed = most.Fixed + float64((len(list)-1)*s.LaunchCycles)
	return all.Cycles()
}

// estimate estimates a launch beside others, with so many waves in all.
func estimate(m *Machine, w kernel.Work, concurrent int) Parts {
	s := m.Spec
	simds := s.Clusters * s.CUsPerCluster * s.SIMDsPerCU
	waves := max(w.Waves, 1)
	perSIMD := math.Ceil(float64(waves) / float64(simds))
	half := math.Ceil(32 / float64(s.Lanes))
	far := m.MemoryNs * float64(s.Hz) / 1e9
	near := float64(s.L0.LatencyCycles + s.L2.LatencyCycles)
	lines := float64(w.ScatteredLines)
	bytes := float64(w.ReadBytes + w.WriteBytes)
	// Of lines that L2 does not hold for all resident waves, the rest is read again.
	resident := float64(min(concurrent, s.WavesPerSIMD*simds) * 32 * s.L2.Line)
	if concurrent == waves { // alone, which has no more than those that are distinct
		resident = min(resident, float64(w.ReadBytes))
	}
	held := max(lines*float64(s.L2.Line)-bytes, 0)
	again := held * max(1-float64(s.L2.Bytes)/resident, 0)
	held, bytes = held-again, bytes+again
	issue := float64(w.Instructions) + float64(w.Dots)*float64(s.Vector[gpu.ClassDot].Issue-1)
	turns := math.Ceil(perSIMD / min(residency, float64(s.WavesPerSIMD)))
	perCU := math.Ceil(float64(waves) / float64(s.Clusters*s.CUsPerCluster))
	p := Parts{
		Issue: perSIMD * issue / float64(waves) * half,
		Port: max(perCU*max(float64(w.Loads)-lines/32, 0)/float64(waves)*math.Ceil(32/float64(s.AddressLanes))+perCU*lines/float64(waves),
			perCU*lines/float64(waves)*near/float64(s.L0.MSHRs), held/float64(s.L2.BytesPerCycle)),
		Memory: bytes / m.MemoryBytesPerSecond * float64(s.Hz),
		Chain:  turns * float64(w.Chain) * near,
		Fixed:  float64(s.LaunchCycles) + 2*far,
	}
	if w.Loads > 0 {
		p.Cold = max(1, turns*min(float64(w.Chain), float64(w.ReadBytes)/float64(s.L2.Line)/float64(waves))) * far
	}
	return p
}
