package refcpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// CoreSpec is a group of equal cores at one operating point.
type CoreSpec struct {
	Name    string
	Cores   int
	ClockHz int64
	Volts   float64
	// Peak multiply-accumulates per cycle of one core.
	MACF32, MACF16, MACI8 float64
	// SIMDBytes is what elementwise work loads and stores per cycle from L1.
	SIMDBytes float64
	// PowerUW: a busy core draws PowerUW * f[MHz] * V^2 microwatts.
	PowerUW float64
	L1Bytes int64
	L2Bytes int64
	// L2PerCycle is the bytes per cycle that L2 delivers to a core.
	L2PerCycle float64
}

// KernelClass groups operations by the quality of their kernels.
type KernelClass int

// Kernel classes.
const (
	ClassConv KernelClass = iota
	ClassDepthwise
	ClassDense // FULLY_CONNECTED
	ClassElementwise
	numClasses
)

// Precision is the arithmetic of an operation.
type Precision int

// Precisions.
const (
	PrecisionF32 Precision = iota
	PrecisionF16
	PrecisionI8
	numPrecisions
)

// CPUSpec is the machine that the timing model assumes: an out-of-order CPU
// whose cores prefetch well, so that an operation takes the longest of its
// arithmetic, its cache and its DRAM time.
type CPUSpec struct {
	Name string
	// Cores are the groups in the order threads use them, fastest first.
	Cores   []CoreSpec
	Threads int
	// ParallelEfficiency is the share of the ideal speed-up that several
	// threads reach.
	ParallelEfficiency float64
	L3Bytes            int64
	// DRAMPerSecond is the bytes per second that all threads draw at best.
	DRAMPerSecond float64
	// OperationSeconds is spent between operations: interpreter and thread
	// hand-over.
	OperationSeconds float64
	// Efficiency is achieved / peak multiply-accumulates by class and
	// precision; for ClassElementwise it is the share of SIMDBytes.
	Efficiency [numClasses][numPrecisions]float64
	// Energy beside the cores'.
	StaticWatts             float64
	CacheBytePJ, DRAMBytePJ float64
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

// OperationTiming is the cost of one operation. Reasons add up to Cycles.
type OperationTiming struct {
	Index    int
	Cycles   int64
	Reasons  [NumReasons]int64
	EnergyPJ float64
	MACs     int64
	// CacheBytes and DRAMBytes are moved beyond the first-level cache.
	CacheBytes, DRAMBytes int64
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
	ClockHz    int64
	Cycles     int64
	Reasons    [NumReasons]int64
	EnergyPJ   float64
	DRAMBytes  int64
	Operations []OperationTiming
}

// LatencyFs is the time of the execution in femtoseconds.
func (t *Timing) LatencyFs() int64 {
	const fs = 1_000_000_000_000_000
	whole, rest := t.Cycles/t.ClockHz, t.Cycles%t.ClockHz
	return whole*fs + int64(float64(rest)/float64(t.ClockHz)*fs)
}

// check refuses a spec that cannot compute.
func (s *CPUSpec) check() error {
	if len(s.Cores) == 0 || s.Threads < 1 || !(s.DRAMPerSecond > 0) || !(s.ParallelEfficiency > 0) {
		return errors.New("refcpu: the CPU has no cores, threads, memory bandwidth or parallel efficiency")
	}
	for i := range s.Cores {
		c := &s.Cores[i]
		if c.Cores < 1 || c.ClockHz < 1 || !(c.MACF32 > 0) || !(c.MACF16 > 0) || !(c.MACI8 > 0) ||
			!(c.SIMDBytes > 0) || !(c.L2PerCycle > 0) {
			return fmt.Errorf("refcpu: core group %d (%s) has a rate that is not positive", i, c.Name)
		}
	}
	for c, row := range s.Efficiency {
		for p, e := range row {
			if !(e > 0) {
				return fmt.Errorf("refcpu: efficiency of kernel class %d, precision %d is not positive", c, p)
			}
		}
	}
	return nil
}

// pool of threads: their rates relative to one core of the first group.
type threads struct {
	n          int
	speed      float64 // sum of clocks over the first group's clock
	watts      float64
	l1, l2     int64
	l2PerCycle float64
}

func (s *CPUSpec) threads() threads {
	t := threads{}
	left := s.Threads
	for i := range s.Cores {
		c := &s.Cores[i]
		n := min(left, c.Cores)
		left -= n
		ratio := float64(c.ClockHz) / float64(s.Cores[0].ClockHz)
		t.n += n
		t.speed += float64(float64(n) * ratio)
		t.watts += float64(float64(n) * c.PowerUW * float64(c.ClockHz) * c.Volts * c.Volts * 1e-12)
		t.l1 += int64(n) * c.L1Bytes
		t.l2 += int64(n) * c.L2Bytes
		t.l2PerCycle += float64(float64(n) * c.L2PerCycle * ratio)
	}
	return t
}

// Time predicts the cost of one execution of a model from a cold machine. It
// depends only on the model and the spec. Every shape must be known.
func (s *CPUSpec) Time(m *nn.Model) (*Timing, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	g, err := opspec.Resolve(&m.Main)
	if err != nil {
		return nil, fmt.Errorf("refcpu: %w", err)
	}
	v := opspec.ModelView(g)
	pool := s.threads()
	t := &Timing{ClockHz: s.Cores[0].ClockHz, Operations: make([]OperationTiming, len(g.Operations))}
	for i := range g.Operations {
		o := &t.Operations[i]
		o.Index = i
		if err := s.operation(v, &g.Operations[i], &pool, o); err != nil {
			return nil, fmt.Errorf("refcpu: operation %d: %w", i, err)
		}
		t.Cycles += o.Cycles
		t.EnergyPJ += o.EnergyPJ
		t.DRAMBytes += o.DRAMBytes
		for r, c := range o.Reasons {
			t.Reasons[r] += c
		}
	}
	return t, nil
}

// operation fills the cost of one operation.
func (s *CPUSpec) operation(v opspec.View, op *nn.Operation, pool *threads, o *OperationTiming) error {
	w, err := workOf(v, op)
	if err != nil {
		return err
	}
	o.MACs = w.macs
	lead := &s.Cores[0]
	rate := lead.SIMDBytes * s.Efficiency[ClassElementwise][w.precision]
	amount := w.elementBytes
	if w.class != ClassElementwise {
		peak := [numPrecisions]float64{lead.MACF32, lead.MACF16, lead.MACI8}[w.precision]
		rate = peak * s.Efficiency[w.class][w.precision]
		amount = float64(w.macs)
	}
	ideal := amount / (rate * pool.speed)
	busy := ideal
	if pool.n > 1 {
		busy = ideal / s.ParallelEfficiency
	}
	// Constants come from DRAM once. Activations stay in the caches between
	// operations unless they exceed them.
	resident := s.L3Bytes + pool.l2
	dram := w.constBytes
	for _, n := range w.tensors {
		if n > resident {
			dram += n
		}
	}
	cache := w.constBytes
	for _, n := range w.tensors {
		if n > pool.l1 {
			cache += n
		}
	}
	o.CacheBytes, o.DRAMBytes = cache, dram
	l2Time := float64(cache) / pool.l2PerCycle
	dramTime := float64(dram) / s.DRAMPerSecond * float64(lead.ClockHz)

	issue := int64(math.Ceil(ideal))
	o.Reasons[ReasonIssue] = issue
	o.Reasons[ReasonBarrier] = max(int64(math.Ceil(busy))-issue, 0)
	spent := issue + o.Reasons[ReasonBarrier]
	if l2 := int64(math.Ceil(l2Time)); l2 > spent {
		o.Reasons[ReasonL2] = l2 - spent
		spent = l2
	}
	if d := int64(math.Ceil(dramTime)); d > spent {
		// What DRAM hides is no longer waited for.
		o.Reasons[ReasonDRAM] = d - spent
		spent = d
	}
	o.Reasons[ReasonLaunch] = int64(math.Ceil(s.OperationSeconds * float64(lead.ClockHz)))
	for _, c := range o.Reasons {
		o.Cycles += c
	}
	seconds := float64(spent) / float64(lead.ClockHz)
	all := float64(o.Cycles) / float64(lead.ClockHz)
	o.EnergyPJ = sum(pool.watts*seconds*1e12, pool.watts/float64(pool.n)*(all-seconds)*1e12, s.StaticWatts*all*1e12,
		float64(cache)*s.CacheBytePJ, float64(dram)*s.DRAMBytePJ)
	return nil
}

// sum adds without fusing a multiplication, so that every host agrees.
func sum(terms ...float64) float64 {
	t := 0.
	for _, x := range terms {
		t += float64(x)
	}
	return t
}
