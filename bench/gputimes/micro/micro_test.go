package micro

import (
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// shared is how much faster buffers are that many groups read at once and L2 cannot hold (D-1976).
var shared = map[string]float64{"buffer of 256 KB": 0.65, "buffer of 1 MB": 0.4}

// TestPixel4: the preset's rates are those that were measured.
func TestPixel4(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	spec := require.V(gpu.FromSoC(c, sim.FastSingleAnswer))(t)
	launch := float64(spec.LaunchCycles) / float64(spec.Hz) * 1e6
	rows := require.V(Run(c, sim.FastSingleAnswer))(t)
	want, ours := forms(&spec), map[string]float64{}
	for _, r := range rows {
		within := 0.2
		if ours[r.What] = r.Ours; want[r.What] > 0 {
			r.Published, r.Ratio, within = want[r.What], r.Ours/want[r.What], 0.03
			delete(want, r.What)
		} else if r.Published == 0 {
			continue
		} else if r.Kernel == "read_range" {
			within = max(0.3, shared[r.What])
		}
		if !(r.Ratio > 1-within && r.Ratio < 1+within) {
			t.Errorf("%s: %.4g %s, measured %.4g: %.2f", r.What, r.Ours, r.Unit, r.Published, r.Ratio)
		} else {
			t.Logf("%s: %.4g %s, measured %.4g: %.2f", r.What, r.Ours, r.Unit, r.Published, r.Ratio)
		}
		for _, text := range []string{assembly + machineAssembly + coreAssembly, openCL + machineCL + coreCL} {
			if !strings.Contains(text, r.Kernel) && !strings.HasPrefix(r.Kernel, "jumps_") { // openCL C has no jumps
				t.Errorf("a source has no kernel %s", r.Kernel)
			}
		}
	}
	for what := range want {
		t.Errorf("no row %q", what)
	}
	// Kernels of one queue follow each other; in two they are launched at once. Fetching code and the last store are shared.
	one, queue, beside := ours["kernel of one lane"], ours["two kernels of one lane, one queue"], ours["two kernels of one lane, two queues"]
	if !(queue-one >= launch && queue <= 2*one && beside >= one && beside-one < 0.1*one) {
		t.Errorf("one kernel takes %.3g us, two %.3g in one queue and %.3g in two; a launch takes %.3g", one, queue, beside, launch)
	}
}

// forms are the results of unmeasured rows by the parameters of the machine.
func forms(s *gpu.Spec) map[string]float64 {
	ghz := float64(s.Hz) / 1e9
	banks := 1 // of L2
	for banks*s.L2.Line < s.L2.BytesPerCycle {
		banks *= 2
	}
	loop := float64(2*s.SALULatency + 1 + s.BranchCycles) // subtract, compare, branch taken
	behind := float64(s.L2.LatencyCycles - s.L0.LatencyCycles)
	fetch := float64(s.ICache.LatencyCycles) + behind
	scalar := float64(s.Scalar.LatencyCycles+1+2*s.SALULatency) + loop/16
	vector := float64(s.L0.LatencyCycles+1) + loop/16
	f32 := s.Vector[gpu.ClassF32]
	chain := (31*float64(f32.Result) + loop) / 32 // the last result arrives during the loop branch
	cus := s.Clusters * s.CUsPerCluster
	lanes := 32 * ghz
	// One group: its waves are on the SIMDs of a compute unit, or by four on the partitions of a cluster.
	waves, together := 32, s.PartitionLanes/32
	partitions := s.CUsPerCluster * s.SIMDsPerCU / s.PartitionSIMDs
	busiest := float64((waves/together+partitions-1)/partitions*together) / float64(s.PartitionSIMDs)
	return map[string]float64{
		"local memory, one bank":                     4 * float64(s.Clusters) * ghz,                                    // a word per cycle of each
		"atomic additions, one address":              lanes * float64(s.L2.BytesPerCycle) / float64(2*banks*s.L2.Line), // a line out of a bank and into it
		"barrier of 256 lanes":                       float64(s.BarrierCycles) + loop/16,
		"straight code of 16 KiB":                    1,
		"straight code of 64 KiB":                    max(1, fetch/float64(s.Prefetch+1)/float64(s.ICache.Line/8)), // one latency for all lines of a miss
		"jumps 32 bytes back, 64 KiB":                float64(s.BranchCycles) + fetch*32/float64(s.ICache.Line),
		"jumps 64 bytes back, 64 KiB":                float64(s.BranchCycles) + fetch,
		"jumps 256 bytes back, 64 KiB":               float64(s.BranchCycles) + fetch,
		"dependent read of one address":              scalar,
		"dependent reads, 64 bytes apart in 8 KiB":   scalar,
		"dependent reads, 64 bytes apart in 64 KiB":  scalar + behind,
		"dependent reads, 32 bytes apart in 64 KiB":  scalar + behind*32/float64(s.Scalar.Line),
		"the same, half of the registers a wave":     float64(cus*s.SIMDsPerCU*(s.VGPRRows/192)) / chain * lanes,
		"the same, half of the local memory a group": float64(s.Clusters*(s.LDSBytes/16384)*8) / chain * lanes,
		"dependent read of a lane, groups of 32":     float64(cus*s.SIMDsPerCU*s.WavesPerSIMD) / vector * ghz,
		"dependent read of a lane, groups of 64":     float64(cus*min(s.SIMDsPerCU*s.WavesPerSIMD, 2*s.WorkgroupsMax)) / vector * ghz,
		"multiply-add, one group, CU mode":           float64(2*s.SIMDsPerCU) * lanes,
		"multiply-add, one group, WGP mode":          2 * float64(waves) / busiest * lanes,
	}
}

// TestBarrierLimit: the limit of work-groups that can have a barrier bounds groups of two waves, none of one.
func TestBarrierLimit(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	c.GPU.WorkgroupsMax = 8
	spec := require.V(gpu.FromSoC(c, sim.FastSingleAnswer))(t)
	core := require.V(gpu.New(spec))(t)
	file := require.V(assemble(coreAssembly))(t)
	want := forms(&spec)
	for i := range benchmarks {
		if b := &benchmarks[i]; b.kernel == "vector_chain" {
			if ours, err := b.run(c, core, &spec, file); err != nil || !(math.Abs(ours/want[b.what]-1) < 0.03) {
				t.Errorf("%s: %.4g %s, want %.4g (%v)", b.what, ours, b.unit, want[b.what], err)
			}
		}
	}
}
