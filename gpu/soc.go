package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// FromSoC is the GPU of a preset at the operating point its governor chooses
// for a preference.
func FromSoC(c *soc.Config, p sim.Preference) (Spec, error) {
	g := c.GPU
	if g == nil {
		return Spec{}, fmt.Errorf("gpu: %s has no GPU", c.SoC.Name)
	}
	opp := g.Clock.At(p)
	s := Spec{
		Name: g.Name, Hz: opp.Hz, V: opp.Volts,
		Clusters: g.Clusters, CUsPerCluster: g.CUsPerCluster, SIMDsPerCU: g.SIMDsPerCU, Lanes: g.Lanes,
		WavesPerSIMD: g.WavesPerSIMD, PartitionSIMDs: g.PartitionSIMDs, PartitionLanes: g.PartitionLanes, VGPRRows: g.VGPRRows, VGPRGranule: g.VGPRGranule,
		MaxWorkgroup: g.MaxWorkgroup, WorkgroupsMax: g.WorkgroupsMax,
		LDSBytes: g.LDSKiB << 10, LDSBanks: g.LDSBanks, LDSPerCluster: g.LDSPerCluster, LDSLatency: g.LDSCycles, LDSRate: g.LDSBytesPerCycle, AddressLanes: g.AddressLanes, BroadcastLanes: g.BroadcastLanes,
		SALULatency: g.SALUCycles, BranchCycles: g.BranchCycles, BarrierCycles: g.BarrierCycles,
		LaunchCycles: g.DispatchCycles, WaveLaunch: g.WaveStartCycles, MaxOutstanding: g.MaxOutstanding,
		Prefetch: g.ICachePrefetch, MemoryNs: g.MemoryNs,
		L0: cacheOf(&g.L0), Scalar: cacheOf(&g.Scalar), ICache: cacheOf(&g.ICache), L2: cacheOf(&g.L2),
	}
	if g.GL1 != nil {
		s.GL1 = cacheOf(g.GL1)
	}
	s.Vector = RDNA2()
	lat := func(v [2]int, classes ...Class) {
		for _, k := range classes {
			s.Vector[k] = Latency{Result: v[0], Issue: v[1]}
		}
	}
	lat(g.VALU.Simple, ClassMove, ClassF32, ClassFMA32)
	lat(g.VALU.Int, ClassInt)
	lat(g.VALU.Dot, ClassDot)
	// A packed instruction computes two halves per lane; machines without packed math need two passes.
	lat([2]int{g.VALU.Simple[0], g.VALU.Simple[1] * 2 / min(g.VALU.F16Rate, 2)}, ClassF16)
	lat(g.VALU.IntMul, ClassIntMul)
	lat(g.VALU.Int64, ClassInt64)
	lat(g.VALU.Special, ClassTrans)
	lat(g.VALU.F64, ClassF64)
	pj := g.Energy.PJ
	s.Energy = EnergySpec{
		Vref: g.Energy.VRef, StaticW: g.Energy.StaticMW / 1000,
		InstrPJ: pj["instruction"], LDSBytePJ: pj["lds_byte"], L0BytePJ: pj["l0_byte"],
		L1BytePJ: pj["gl1_byte"], L2BytePJ: pj["l2_byte"], ScalarBytePJ: pj["scalar_byte"],
	}
	for class, name := range map[Class]string{
		ClassMove: "lane_move", ClassInt: "lane_int", ClassIntMul: "lane_int_mul", ClassInt64: "lane_int64",
		ClassF32: "lane_f32", ClassFMA32: "lane_fma32", ClassF16: "lane_f16", ClassDot: "lane_dot",
		ClassTrans: "lane_special", ClassF64: "lane_f64", ClassVMEM: "lane_vmem", ClassLDS: "lane_lds",
	} {
		s.Energy.LanePJ[class] = pj[name]
	}
	return s, s.Validate()
}

func cacheOf(c *soc.Cache) CacheSpec {
	return CacheSpec{
		Bytes: c.Bytes(), Line: c.LineBytes, Ways: c.Ways, LatencyCycles: c.HitCycles,
		BytesPerCycle: c.BytesPerCycle, MSHRs: c.MSHRs,
	}
}
