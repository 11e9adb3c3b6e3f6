package timing

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// CacheSpec is one cache; rates and latencies in cycles of the core.
type CacheSpec struct {
	Bytes         int64
	LineBytes     int
	Ways          int
	HitCycles     float64
	BytesPerCycle float64
	MSHRs         int // lines in flight towards the next level
}

// effectiveBytes is the part of a streamed working set that stays in the cache: a share of 1/(ways+1) is lost to conflicts
// (assumed, D-311).
func (c *CacheSpec) effectiveBytes() float64 {
	return float64(c.Bytes) * float64(c.Ways) / float64(c.Ways+1)
}

// inFlight is the bytes on their way from the next level at any time.
func (c *CacheSpec) inFlight() float64 { return float64(c.MSHRs) * float64(c.LineBytes) }

// CoreSpec is a group of equal cores at one operating point.
type CoreSpec struct {
	Name    string
	Threads int // of an inference, each on a separate core
	ClockHz int64
	Volts   float64
	// Peak multiply-accumulates per cycle of one core.
	MACF32, MACF16, MACI8 float64
	// SIMDBytes is the width of the vector arithmetic of one cycle.
	SIMDBytes float64
	// PowerUW: a busy core draws PowerUW * f[MHz] * V^2 microwatts.
	PowerUW float64
	L1, L2  CacheSpec // of each core; L1 loads and stores L1.BytesPerCycle
	Kernels KernelSpec
}

// KernelSpec is the efficiency of a library's kernels on a core.
type KernelSpec struct {
	// Efficiency is achieved / peak multiply-accumulates by kernel and precision;
	// for KernelNone it is the share of SIMDBytes.
	Efficiency [opspec.NumKernels][numPrecisions]float64
	// GroupedCycles is spent on a multiply-accumulate of a grouped convolution, in loops
	// without vectors.
	GroupedCycles float64
	// PatchBytes are the bytes of patches that are laid out per cycle.
	PatchBytes float64
	// ScalarCycles is spent on an element that is handled by itself.
	ScalarCycles float64
	// OperationCycles is spent between operations: the interpreter.
	OperationCycles float64
}

// Precision is the width of the arithmetic of an operation.
type Precision int

// Precisions.
const (
	PrecisionF32 Precision = iota // and 32-bit integers
	PrecisionF16                  // and 16-bit integers
	PrecisionI8
	numPrecisions
)

func precisionOf(t nn.OperandType) Precision {
	switch t.ElementBytes() {
	case 1:
		return PrecisionI8
	case 2:
		return PrecisionF16
	}
	return PrecisionF32
}

// CPUSpec is the machine that the timing model assumes. Transfers of activations between the caches add to the
// arithmetic, as in the execution-cache-memory model of Treibig and Hager; prefetchers overlap DRAM transfers with
// both.
//
// Threads of TensorFlow Lite share products of matrices and depthwise convolutions; everything else runs on the first
// core: elementwise work, patches, grouped convolutions. Those of ONNX Runtime share nearly all. Threads that wait spin for SpinSeconds, at SpinShare of the
// power of a busy core, and sleep then.
type CPUSpec struct {
	Name    string
	Library Library
	// Cores are the groups; the first one has a thread, which calls the others.
	Cores []CoreSpec
	// ThreadDispatchCycles of the first group are spent on each further thread of an operation
	// that threads share.
	ThreadDispatchCycles float64
	// SpinSeconds is how long a thread without work looks for some, SpinShare the power of its core meanwhile as a
	// share of busy power. After that the thread sleeps: IdleWatts.
	SpinSeconds, SpinShare float64
	IdleWatts              float64   // of a core whose thread sleeps
	L3                     CacheSpec // of all cores, at the first group's clock
	// DRAMPerSecond is the bytes per second that all threads draw at best.
	DRAMPerSecond float64
	// DRAMSeconds is the latency of a line beyond L3, DRAMLineSeconds the time per
	// line when all threads read at random.
	DRAMSeconds, DRAMLineSeconds float64
	// Energy beside the cores'. CacheBytePJ is per byte that crosses into or out
	// of L2 or L3. StaticWatts are of the cluster, DRAMWatts of the DRAM, refresh
	// included.
	StaticWatts, DRAMWatts          float64
	CacheBytePJ                     float64
	DRAMReadBytePJ, DRAMWriteBytePJ float64
}

// Reason is what a cycle of the simulated CPU is charged to.
type Reason int

// Reasons, named as the rest of the project names them.
const (
	ReasonIssue   Reason = iota // arithmetic
	ReasonL2                    // waiting for L2 and L3
	ReasonDRAM                  // waiting for DRAM
	ReasonBarrier               // threads that wait for each other
	ReasonLaunch                // between operations
	NumReasons
)

var reasonNames = [NumReasons]string{"issue", "l2", "dram", "barrier", "launch"}

// String is the name used in reports.
func (r Reason) String() string { return reasonNames[r] }

// OperationTiming is the cost of one operation of the main subgraph, subgraphs
// that it called included as often as they executed. Reasons add up to Cycles.
type OperationTiming struct {
	Index    int
	Cycles   int64
	TimeFs   int64
	Reasons  [NumReasons]int64
	EnergyPJ float64
	MACs     int64
	// Unknown: the shapes are known only to an execution; nothing is counted.
	Unknown bool
	// CacheBytes cross into or out of L2 and L3, DRAMBytes the memory, DRAMWriteBytes of
	// those into it.
	CacheBytes, DRAMBytes, DRAMWriteBytes int64
}

// BoundBy is the largest reason; the earlier one of equals.
func (o *OperationTiming) BoundBy() Reason {
	best := ReasonIssue
	for r, c := range o.Reasons {
		if c > o.Reasons[best] {
			best = Reason(r)
		}
	}
	return best
}

// Timing is the cost of one execution in cycles of the fastest core.
type Timing struct {
	ClockHz    int64 // at its end
	Cycles     int64
	TimeFs     int64 // of those cycles, femtoseconds
	Reasons    [NumReasons]int64
	EnergyPJ   float64
	DRAMBytes  int64
	Operations []OperationTiming
}

// check refuses a spec that cannot compute.
func (s *CPUSpec) check() error {
	if !(s.SpinSeconds >= 0) || !(s.SpinShare >= 0) || !(s.IdleWatts >= 0) {
		return errors.New("timing: a time or a power of waiting threads is negative")
	}
	if len(s.Cores) == 0 || s.Cores[0].Threads < 1 || !(s.DRAMPerSecond > 0) || !(s.DRAMSeconds >= 0) || !(s.DRAMLineSeconds >= 0) || !(s.ThreadDispatchCycles >= 0) {
		return errors.New("timing: the CPU has no cores, threads or memory bandwidth")
	}
	for i := range s.Cores {
		c := &s.Cores[i]
		if c.Threads < 0 || c.ClockHz < 1 || !(c.MACF32 > 0) || !(c.MACF16 > 0) || !(c.MACI8 > 0) || !(c.SIMDBytes > 0) {
			return fmt.Errorf("timing: core group %d (%s) has a rate that is not positive", i, c.Name)
		}
		for k, l := range []*CacheSpec{&c.L1, &c.L2, &s.L3} {
			if l.Bytes < 1 || l.LineBytes < 1 || l.Ways < 1 || l.MSHRs < 1 || !(l.BytesPerCycle > 0) || !(l.HitCycles >= 0) {
				return fmt.Errorf("timing: core group %d (%s): cache level %d has a size or rate that is not positive", i, c.Name, k+1)
			}
		}
		if err := c.Kernels.check(); err != nil {
			return fmt.Errorf("timing: core group %d (%s): %w", i, c.Name, err)
		}
	}
	return nil
}

func (k *KernelSpec) check() error {
	for c, row := range k.Efficiency {
		for p, e := range row {
			if !(e > 0) {
				return fmt.Errorf("efficiency of kernel %d, precision %d is not positive", c, p)
			}
		}
	}
	if !(k.GroupedCycles > 0) || !(k.PatchBytes > 0) || !(k.ScalarCycles >= 0) || !(k.OperationCycles >= 0) {
		return errors.New("grouped convolutions, patches, elements or operations have no cost")
	}
	return nil
}

// Estimate predicts the cost of one execution of a model from a cold machine, from the model alone: operations whose
// shapes are known only to an execution are marked, subgraphs are not counted.
func (s *CPUSpec) Estimate(operations *opspec.Table, m *nn.Model) (*Timing, error) {
	g, err := operations.Resolve(&m.Main)
	if err != nil {
		return nil, fmt.Errorf("timing: %w", err)
	}
	meter, err := s.NewMeter(len(g.Operations))
	if err != nil {
		return nil, err
	}
	v := operations.ModelView(g)
	for i := range g.Operations {
		w, err := v.Work(&g.Operations[i])
		if errors.Is(err, opspec.ErrUnknown) {
			meter.timing.Operations[i].Unknown = true
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("timing: operation %d: %w", i, err)
		}
		meter.Add(i, &w)
	}
	return meter.Timing(), nil
}
