package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// CacheSpec is the shape of one cache.
type CacheSpec struct {
	Bytes         int // 0: absent
	Line          int // bytes
	Ways          int
	LatencyCycles int // of a hit, from issue to data in the register
	BytesPerCycle int // bandwidth to the level above
	MSHRs         int // lines in flight
}

// EnergySpec is energy per event in pJ at Vref.
type EnergySpec struct {
	Vref         float64
	StaticW      float64 // leakage and clock tree of the whole core while a run lasts
	InstrPJ      float64 // fetch, decode, schedule and operand routing of one wave instruction
	LanePJ       [NumClasses]float64
	LDSBytePJ    float64
	L0BytePJ     float64
	L1BytePJ     float64
	L2BytePJ     float64
	ScalarBytePJ float64
}

// Latency is the cost of one class of vector instructions, in cycles.
type Latency struct {
	Result int // issue to the first cycle a dependent instruction may issue
	Issue  int // for which one wave32 occupies the unit
}

// Spec is the machine: everything that is not the instruction set.
type Spec struct {
	Name string
	Hz   int64
	V    float64 // core voltage at Hz

	Clusters      int // WGPs (RDNA) or SPs (Adreno)
	CUsPerCluster int
	SIMDsPerCU    int
	Lanes         int // lanes one SIMD executes per cycle, 32 or 64
	WavesPerSIMD  int
	// PartitionSIMDs share a scheduler in the hardware, and PartitionLanes are the lanes of its wave: waves of a
	// work-group with so many lanes together stay in one partition while they fit. 0 SIMDs: the compute unit is one
	// partition.
	PartitionSIMDs, PartitionLanes int
	VGPRRows                       int  // vector register file of one SIMD in rows of 32 lanes x 4 bytes
	VGPRGranule                    int  // allocation unit in registers of a wave32 (half of it in wave64)
	MaxWorkgroup                   int  // lanes in one work-group
	WorkgroupsMax                  int  // resident work-groups per CU (barrier resources)
	LDSBytes                       int  // of one LDS
	LDSBanks                       int  // 4 bytes each per cycle
	LDSPerCluster                  bool // one LDS for the cluster rather than one per CU
	LDSLatency                     int
	LDSRate                        int // bytes per cycle of one LDS, at most the bandwidth of its banks
	SALULatency                    int
	BranchCycles                   int // from a taken branch to the next issue of that wave
	BarrierCycles                  int // from the last arrival to the next issue
	LaunchCycles                   int // fixed cost of starting a dispatch
	WaveLaunch                     int // cycles between two wave starts on one CU
	MaxOutstanding                 int // of one wait counter
	Prefetch                       int // instruction lines fetched ahead of a miss
	AddressLanes                   int // lanes of a vector load or store that a compute unit accepts per cycle
	BroadcastLanes                 int // the same of quads of lanes with one address
	Vector                         [NumClasses]Latency

	L0     CacheSpec // vector data, per CU
	Scalar CacheSpec // constants, per cluster
	ICache CacheSpec // instructions, per cluster
	GL1    CacheSpec // shared by all clusters
	L2     CacheSpec

	// MemoryNs is the latency that the path from L2 to DRAM adds to a read.
	MemoryNs float64

	Energy EnergySpec
}

// Class is the energy and timing class of an instruction.
type Class = state.Class

// The classes, by which Spec.Vector and EnergySpec.LanePJ are indexed.
const (
	ClassMove   = state.ClassMove   // v_mov, logic, shift, select, permute
	ClassInt    = state.ClassInt    // 32-bit integer add, min, max, compare
	ClassIntMul = state.ClassIntMul // 32-bit multiply, 64-bit multiply-add: quarter rate
	ClassInt64  = state.ClassInt64  // 64-bit shift and compare: half rate
	ClassF32    = state.ClassF32    // add, mul, min, max, convert
	ClassFMA32  = state.ClassFMA32  // fused multiply-add
	ClassF16    = state.ClassF16    // packed half
	ClassDot    = state.ClassDot    // dot products of bytes or halves
	ClassTrans  = state.ClassTrans  // exp log rcp rsq sqrt sin cos: own unit
	ClassF64    = state.ClassF64
	ClassSALU   = state.ClassSALU
	ClassSMEM   = state.ClassSMEM
	ClassVMEM   = state.ClassVMEM
	ClassLDS    = state.ClassLDS
	ClassBranch = state.ClassBranch // branches, waits, messages
	NumClasses  = state.NumClasses
)

// RDNA2 is the instruction timing of an RDNA2 SIMD32: result latency and issue
// cost per class as Mesa's and LLVM's gfx10.3 scheduling models have them.
func RDNA2() [NumClasses]Latency {
	alu := Latency{Result: 5, Issue: 1}
	return [NumClasses]Latency{
		ClassMove: alu, ClassInt: alu, ClassF32: alu, ClassFMA32: alu, ClassF16: alu, ClassDot: alu,
		ClassIntMul: {Result: 8, Issue: 4},
		ClassInt64:  {Result: 6, Issue: 2},
		ClassTrans:  {Result: 10, Issue: 4}, // issues in 1, its own unit is busy 4
		ClassF64:    {Result: 22, Issue: 16},
		ClassSALU:   {Result: 2, Issue: 1},
		ClassSMEM:   {Result: 0, Issue: 1},
		ClassVMEM:   {Result: 0, Issue: 1},
		ClassLDS:    {Result: 0, Issue: 1},
		ClassBranch: {Result: 1, Issue: 1},
	}
}

// DefaultSpec is an Adreno-640-shaped machine at 585 MHz: 2 SPs of 3 compute
// units with 128 fp32 lanes each. Each of the two 64-lane partitions is two
// SIMD32 here, so that wave32 and wave64 code both fill it.
func DefaultSpec() Spec {
	return Spec{
		Name: "adreno640-rdna2", Hz: 585_000_000, V: 0.8,
		Clusters: 2, CUsPerCluster: 3, SIMDsPerCU: 4, Lanes: 32,
		WavesPerSIMD: 8, VGPRRows: 384, VGPRGranule: 8,
		MaxWorkgroup: 1024, WorkgroupsMax: 16,
		LDSBytes: 32 << 10, LDSBanks: 32, LDSPerCluster: true, LDSLatency: 22, LDSRate: 128, AddressLanes: 64, BroadcastLanes: 64,
		SALULatency: 2, BranchCycles: 4, BarrierCycles: 4,
		LaunchCycles: 600, WaveLaunch: 4, MaxOutstanding: 63, Prefetch: 4,
		Vector: RDNA2(),
		L0:     CacheSpec{Bytes: 1 << 10, Line: 64, Ways: 4, LatencyCycles: 30, BytesPerCycle: 64, MSHRs: 64},
		Scalar: CacheSpec{Bytes: 16 << 10, Line: 64, Ways: 4, LatencyCycles: 30, BytesPerCycle: 32, MSHRs: 16},
		ICache: CacheSpec{Bytes: 32 << 10, Line: 64, Ways: 4, LatencyCycles: 8, BytesPerCycle: 64, MSHRs: 8},
		L2:     CacheSpec{Bytes: 128 << 10, Line: 64, Ways: 8, LatencyCycles: 47, BytesPerCycle: 128, MSHRs: 128},

		MemoryNs: 60,
		Energy:   DefaultEnergy(),
	}
}

// DefaultEnergy is a 7 nm table: arithmetic from published per-operation
// figures (fp32 mul 1.31 + add 0.38, fp16 0.34 + 0.16, int8 0.07, int32 add
// 0.03 and mul 1.48 pJ; SRAM 7.5..14 pJ per 64 bit), LPDDR4X 5 pJ/bit. Instr
// and static power are assumed (D-47).
func DefaultEnergy() EnergySpec {
	e := EnergySpec{
		Vref: 0.8, StaticW: 0.15,
		InstrPJ:   60,
		LDSBytePJ: 1.06, L0BytePJ: 0.94, L1BytePJ: 1.4, L2BytePJ: 1.75, ScalarBytePJ: 1.06,
	}
	// Each lane adds reading its operands and writing its result in the
	// register file: 16 bytes at about 0.1 pJ.
	const rf = 1.6
	e.LanePJ = [NumClasses]float64{
		ClassMove: rf + 0.02, ClassInt: rf + 0.03, ClassIntMul: rf + 1.48, ClassInt64: rf + 0.06,
		ClassF32: rf + 0.8, ClassFMA32: rf + 1.69, ClassF16: rf + 1.0, ClassDot: rf + 0.4,
		ClassTrans: rf + 4, ClassF64: rf + 8,
		ClassVMEM: rf, ClassLDS: rf,
	}
	return e
}

// Validate reports the first field that no machine can have.
func (s *Spec) Validate() error {
	pos := []struct {
		name string
		v    int
	}{
		{"clusters", s.Clusters}, {"cus per cluster", s.CUsPerCluster}, {"simds per cu", s.SIMDsPerCU},
		{"waves per simd", s.WavesPerSIMD}, {"vgpr rows", s.VGPRRows}, {"vgpr granule", s.VGPRGranule},
		{"max workgroup", s.MaxWorkgroup}, {"workgroups max", s.WorkgroupsMax}, {"lds banks", s.LDSBanks},
		{"max outstanding", s.MaxOutstanding}, {"lds rate", s.LDSRate}, {"address lanes", s.AddressLanes}, {"broadcast lanes", s.BroadcastLanes},
	}
	for _, p := range pos {
		if p.v <= 0 || p.v > 1<<20 {
			return fmt.Errorf("gpu: spec %s: %s is %d", s.Name, p.name, p.v)
		}
	}
	if n := int64(s.Clusters) * int64(s.CUsPerCluster) * int64(s.SIMDsPerCU); n > 1<<simdBits {
		return fmt.Errorf("gpu: spec %s: clusters times cus per cluster times simds per cu is %d, at most %d", s.Name, n, 1<<simdBits)
	}
	if s.Hz <= 0 {
		return fmt.Errorf("gpu: spec %s: clock is %d Hz", s.Name, s.Hz)
	}
	if s.Lanes != 32 && s.Lanes != 64 {
		return fmt.Errorf("gpu: spec %s: %d lanes per SIMD, want 32 or 64", s.Name, s.Lanes)
	}
	if s.LDSBanks > 64 || s.LDSBanks&(s.LDSBanks-1) != 0 {
		return fmt.Errorf("gpu: spec %s: %d LDS banks, want a power of two up to 64", s.Name, s.LDSBanks)
	}
	if s.BroadcastLanes < s.AddressLanes {
		return fmt.Errorf("gpu: spec %s: %d lanes of one address per cycle, %d of different ones", s.Name, s.BroadcastLanes, s.AddressLanes)
	}
	if s.WavesPerSIMD > maxWaves || s.MaxOutstanding > 63 {
		return fmt.Errorf("gpu: spec %s: at most 32 waves per SIMD and 63 outstanding operations", s.Name)
	}
	if s.MemoryNs < 0 || s.MemoryNs > 1e6 {
		return fmt.Errorf("gpu: spec %s: memory path of %g ns", s.Name, s.MemoryNs)
	}
	for _, v := range []int{s.LDSBytes, s.LDSLatency, s.SALULatency, s.BranchCycles, s.BarrierCycles, s.LaunchCycles, s.WaveLaunch, s.Prefetch} {
		if v < 0 || v > 1<<24 {
			return fmt.Errorf("gpu: spec %s: a size or latency of %d", s.Name, v)
		}
	}
	if n := s.PartitionSIMDs; n < 0 || n > 0 && s.SIMDsPerCU%n != 0 || (n > 0) != (s.PartitionLanes > 0) || s.PartitionLanes < 0 || s.PartitionLanes > 1<<20 {
		return fmt.Errorf("gpu: spec %s: partitions of %d of %d SIMDs, waves of %d lanes", s.Name, n, s.SIMDsPerCU, s.PartitionLanes)
	}
	for i := ClassMove; i < NumClasses; i++ {
		if v := s.Vector[i]; v.Issue < 1 || v.Issue > 1<<24 || v.Result < 0 || v.Result > 1<<24 {
			return fmt.Errorf("gpu: spec %s: class %d has issue %d, result %d", s.Name, i, s.Vector[i].Issue, s.Vector[i].Result)
		}
	}
	for _, c := range []struct {
		name string
		c    *CacheSpec
	}{{"l0", &s.L0}, {"scalar", &s.Scalar}, {"icache", &s.ICache}, {"gl1", &s.GL1}, {"l2", &s.L2}} {
		if err := c.c.validate(); err != nil {
			return fmt.Errorf("gpu: spec %s: %s: %w", s.Name, c.name, err)
		}
	}
	return nil
}

func (c *CacheSpec) validate() error {
	if c.Bytes == 0 {
		return nil
	}
	if c.Bytes < 0 || c.Bytes > 1<<28 || c.Line < 16 || c.Line > 4096 || c.Line&(c.Line-1) != 0 ||
		c.Ways <= 0 || c.BytesPerCycle <= 0 || c.MSHRs <= 0 || c.LatencyCycles < 0 {
		return fmt.Errorf("%d bytes, line %d, %d ways, %d bytes per cycle, %d in flight, latency %d",
			c.Bytes, c.Line, c.Ways, c.BytesPerCycle, c.MSHRs, c.LatencyCycles)
	}
	if sets := c.Bytes / c.Line / c.Ways; sets == 0 || sets&(sets-1) != 0 {
		return fmt.Errorf("%d sets, want a power of two", c.Bytes/c.Line/c.Ways)
	}
	return nil
}

// shiftOf is how many bits of an address lie within v bytes, a power of two.
func shiftOf(v int) uint {
	n := uint(0)
	for 1<<n < v {
		n++
	}
	return n
}
