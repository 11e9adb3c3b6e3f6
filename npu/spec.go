package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// MemorySpec is a memory behind the NPU's ports, timed by bandwidth, burst and latency unless replaced by a mem.Level.
type MemorySpec struct {
	Name          string
	BytesPerCycle float64 // at the NPU's clock
	BurstBytes    int     // shorter runs cost a whole burst
	ReadLatency   int     // cycles
	WriteLatency  int     // cycles until a write is accepted
	Reads, Writes int     // transactions in flight, 0: no limit
	Duplex        bool    // reads and writes have separate channels, as those of AXI; a cap counts both
	OffChip       bool    // waits are charged to DRAM, not to the scratchpad
	ReadPJ        float64 // per byte
	WritePJ       float64 // per byte
}

// UBlock is the unit the MAC array works on: output pixels and channels that
// are computed together, and the input channels summed per cycle.
type UBlock struct {
	H, W, D int
	IFM     int
}

// Output stage classes, the index of Spec.OutputCycles.
const (
	OutBinary32   = iota // elementwise with 32-bit inputs, two operands
	OutUnary32           // the same with one
	OutMul32             // MUL to 32 bits
	OutMul               // MUL, and anything with 40-bit accumulators
	OutAddSimple         // ADD and SUB of operands that are not rescaled
	OutAdd               // ADD and SUB
	OutMaxPool           //
	OutOther             // convolutions and the rest
	NumOutClasses        //
)

// EnergySpec is energy per event in pJ at Spec.V, and static power.
type EnergySpec struct {
	MAC          float64 // one 8-bit multiply-accumulate
	Output       float64 // one element through the output unit
	Elementwise  float64 // one element of an elementwise operation, on top
	ShramByte    float64 // one byte read from or written to SHRAM
	WeightByte   float64 // one byte of encoded weights through the decoder
	Command      float64 // one command
	StaticW      float64
	AccessPerMAC float64 // SHRAM bytes the array reads per MAC
}

// Spec is the machine.
type Spec struct {
	Name    string
	Product ethosu.Product
	Hz      int64
	V       float64

	Cores  int    // 2 on U65-512: odd and even output channels
	UBlock UBlock // of one core
	// UBlockStream is the output depth by which weight streams are ordered: 8,
	// or 4 on U55-32. It equals UBlock.D on Arm's machines.
	UBlockStream int
	// PackTaps makes the array weight-stationary: its rows hold any mix of kernel taps and
	// input channels.
	PackTaps        bool
	WeightsPerCycle int // the decoder's rate, per core
	DepthwiseTaps   int // kernel taps of a channel summed in 4 cycles, without PackTaps
	PipelineDelay   int // cycles between dependent micro-block steps
	PipelineDelay40 int // with 40-bit accumulators

	ShramBytes   int // of one core; the last 2 KiB hold lookup tables
	ShramBank    int // bytes of one bank
	OutputCycles [NumOutClasses]float64
	TableCycles  float64 // per element through a table, tanh or sigmoid
	WeightReads  int     // transactions in flight of a core's weight stream, 0: no limit but the memory's
	DMAChannels  int     // copies outstanding
	Kernels      int     // kernels outstanding

	Memories     []MemorySpec
	RegionMemory [8]int // index into Memories

	LaunchCycles  int // from the doorbell to the first command
	CommandCycles int // per command
	DMASetup      int // cycles to start a copy
	// OperationCycles is from the end of an operation's kernels to the first block of the next one's (Mark).
	OperationCycles int

	Energy EnergySpec
}

// MACsPerCycle is the number of 8-bit multiply-accumulates per cycle of all
// cores.
func (s *Spec) MACsPerCycle() int {
	return s.Cores * s.UBlock.H * s.UBlock.W * s.UBlock.D * s.UBlock.IFM
}

// OnChipRegion is the first base pointer, other than that of constants, to memory on chip; 1 on a machine without.
func (s *Spec) OnChipRegion() int {
	for r := 1; r < len(s.RegionMemory); r++ {
		if !s.Memories[s.RegionMemory[r]].OffChip {
			return r
		}
	}
	return 1
}

// BeatBytes is the width of an AXI port: 64 bits on U55, 128 on U65.
func (s *Spec) BeatBytes() int {
	if s.Product == ethosu.U65 {
		return 16
	}
	return 8
}

// LUTBase is the SHRAM address of lookup table slot 0.
func (s *Spec) LUTBase() int { return s.ShramBytes - state.LUTBytes }

// maxDelay bounds delays and latencies, in cycles.
const maxDelay = 1 << 24

// Validate reports the first value that is out of range.
func (s *Spec) Validate() error {
	bad := func(what string, v any) error { return fmt.Errorf("npu: %s: %s is %v", s.Name, what, v) }
	u := s.UBlock
	switch {
	case s.Product != ethosu.U55 && s.Product != ethosu.U65:
		return bad("product", s.Product)
	case s.Hz < 1e6 || s.Hz > 1e10:
		return bad("clock", s.Hz)
	case s.Cores < 1 || s.Cores > 2 || s.Cores == 2 && s.Product != ethosu.U65:
		return bad("number of cores", s.Cores)
	case u.H < 1 || u.W < 1 || u.D < 1 || u.IFM < 1 || u.H > 64 || u.W > 64 || u.D > 256 || u.IFM > 256:
		return bad("micro-block", u)
	case s.UBlockStream != 4 && s.UBlockStream != 8:
		return bad("micro-block of the weight stream", s.UBlockStream)
	case s.WeightsPerCycle < 1 || s.WeightsPerCycle > 1<<16:
		return bad("weights per cycle", s.WeightsPerCycle)
	case s.DepthwiseTaps < 1 && !s.PackTaps:
		return bad("depthwise taps", s.DepthwiseTaps)
	case s.ShramBytes < 2*state.LUTBytes || s.ShramBytes > 1<<24 || s.ShramBank < 1 || s.ShramBank > s.ShramBytes:
		return bad("SHRAM size", s.ShramBytes)
	case s.WeightReads < 0 || s.WeightReads > 1024:
		return bad("weight reads in flight", s.WeightReads)
	case s.DMAChannels < 1 || s.DMAChannels > 15:
		return bad("DMA channels", s.DMAChannels)
	case s.Kernels < 1 || s.Kernels > 3:
		return bad("kernels", s.Kernels)
	case len(s.Memories) == 0:
		return bad("number of memories", 0)
	}
	for _, d := range []int{s.LaunchCycles, s.CommandCycles, s.OperationCycles, s.DMASetup, s.PipelineDelay, s.PipelineDelay40} {
		if d < 0 || d > maxDelay {
			return bad("a delay", d)
		}
	}
	for i, c := range s.OutputCycles {
		if !(c > 0 && c < 1e3) {
			return bad(fmt.Sprintf("output cycles %d", i), c)
		}
	}
	if !(s.TableCycles > 0 && s.TableCycles < 1e3) {
		return bad("table cycles", s.TableCycles)
	}
	for _, m := range s.Memories {
		if !(m.BytesPerCycle > 0) || m.BytesPerCycle > 1e6 || m.BurstBytes < 1 || m.BurstBytes > 1<<16 || m.ReadLatency < 0 || m.ReadLatency > maxDelay || m.WriteLatency < 0 || m.WriteLatency > maxDelay {
			return bad("memory "+m.Name, m)
		}
	}
	for r, m := range s.RegionMemory {
		if m < 0 || m >= len(s.Memories) {
			return bad(fmt.Sprintf("memory of region %d", r), m)
		}
	}
	return nil
}
