package hal

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Span is an interval in which one unit of a device worked.
type Span struct {
	Track          string // the unit, unique within its device: "thread 0", "dma"
	Name           string // the work: a kernel, a job, a copy
	Operation      int    // OperationStats.Index that the interval is charged to
	StartFs, EndFs int64  // simulated femtoseconds since the request
}

// Tracer receives the spans of an execution; it may be nil in ExecuteOptions.
type Tracer interface {
	Span(s Span)
}

// StallCycles is the share of a run charged to one reason.
type StallCycles struct {
	Reason string
	Cycles int64
}

// Indexes of the rows of Stats.Operations that belong to no operation.
const (
	// LaunchIndex is the cost of an execution outside the device: all Parts but
	// "execution".
	LaunchIndex = -1
	// TransferIndex is the cost of moving inputs and outputs between client
	// memory and the device's own layouts.
	TransferIndex = -2
)

// OperationStats are the costs charged to one operation of the model, or to
// one of the indexes below 0.
type OperationStats struct {
	Index    int // into the main subgraph's operations
	Cycles   int64
	TimeFs   int64 // simulated femtoseconds
	EnergyPJ float64
	MACs     int64         // multiply-accumulates of the operation as defined, without padding waste
	Stalls   []StallCycles // fixed order; they add up to Cycles exactly
	BoundBy  string        // what limits it: the Reason of most cycles in Stalls, "issue" without stalls
	// DRAMBytes are the bytes moved to and from DRAM.
	DRAMBytes int64
	// Of an execution with Detail, from devices that have it: the cycles of all
	// hardware threads by reason, with "idle" where one had no work.
	Threads []StallCycles
	// Counters are events of the operation, from devices that count them; more with Detail.
	Counters []Counter
}

// Stats are the costs of one execution. With a machine around the device EnergyPJ is all that
// the phone has spent from the beginning of the execution to its end, what waits included. Cycles are of the device's own clock;
// the stalls, with "issue" among them, add up to Cycles exactly. So do the
// cycles of Operations, and their times add up to LatencyFs.
type Stats struct {
	Cycles       int64
	LatencyFs    int64 // simulated time from submission to completion
	ClockHz      int64
	EnergyPJ     float64
	Instructions int64
	Stalls       []StallCycles // fixed order; reasons with 0 cycles left out
	Operations   []OperationStats
	Counters     []Counter // device-specific event counts, fixed order
	// Parts are what the execution went through on its way from the client to the
	// device and back, in order; a name may come several times. Their times add up to
	// LatencyFs, their energies to EnergyPJ. Empty when no machine is around the device.
	Parts []Part
	// Components are EnergyPJ by component of the phone; empty when no machine is around the
	// device.
	Components []ComponentEnergy
	// Memory is what the execution has had of the memory that the engines of a machine
	// share; zero without a machine and for the CPU.
	Memory MemoryStats
	// Launches are the programs that the driver started one after the other; 0 is 1.
	Launches int
}

// MaxLatencyFs and MaxLaunches bound the costs of an execution that a driver may report: 1,000 s, far from the end of the
// 9,223 s that femtoseconds count in 64 bits.
const (
	MaxLatencyFs = 1_000_000_000_000_000_000
	MaxLaunches  = 1_000_000
)

// Check returns an error when costs of a model of so many operations are invalid or do not add up as Stats defines.
func (s *Stats) Check(operations int) error {
	like := func(what string, pj float64) error {
		if !(math.Abs(pj-s.EnergyPJ) <= 1e-6*s.EnergyPJ) {
			return fmt.Errorf("energy of %s: %v of %v pJ", what, pj, s.EnergyPJ)
		}
		return nil
	}
	switch m := &s.Memory; {
	case s.LatencyFs < 0 || s.LatencyFs > MaxLatencyFs:
		return fmt.Errorf("a latency of %d fs, want 0 to %d", s.LatencyFs, int64(MaxLatencyFs))
	case s.Launches < 0 || s.Launches > MaxLaunches:
		return fmt.Errorf("%d launches, want 0 to %d", s.Launches, MaxLaunches)
	case !(s.EnergyPJ >= 0) || math.IsInf(s.EnergyPJ, 1):
		return fmt.Errorf("an energy of %v pJ", s.EnergyPJ)
	case min(s.ClockHz, s.Instructions, m.ReadBytes, m.WriteBytes, m.Bursts, m.CacheHits) < 0:
		return fmt.Errorf("a count below 0: clock %d Hz, %d instructions, memory %+v", s.ClockHz, s.Instructions, *m)
	}
	var cycles, fs, moved int64
	pj := 0.0
	for i := range s.Operations {
		o := &s.Operations[i]
		switch {
		case o.Index < TransferIndex || o.Index >= operations:
			return fmt.Errorf("costs of operation %d of %d", o.Index, operations)
		case min(o.TimeFs, o.MACs, o.DRAMBytes) < 0 || !(o.EnergyPJ >= 0):
			return fmt.Errorf("operation %d: a cost below 0: %d fs, %v pJ, %d multiply-accumulates, %d bytes of DRAM", o.Index, o.TimeFs, o.EnergyPJ, o.MACs, o.DRAMBytes)
		case o.TimeFs > s.LatencyFs-fs || o.Cycles > s.Cycles-cycles || o.DRAMBytes > math.MaxInt64-moved:
			return fmt.Errorf("operations up to %d exceed the %d fs and %d cycles of the execution, or move 2^63 bytes", o.Index, s.LatencyFs, s.Cycles)
		}
		if err := addUp(o.Stalls, o.Cycles); err != nil {
			return fmt.Errorf("operation %d: %w", o.Index, err)
		}
		most := 0
		for k, x := range o.Stalls {
			if x.Cycles > o.Stalls[most].Cycles || x.Cycles == o.Stalls[most].Cycles && x.Reason == o.BoundBy {
				most = k
			}
		}
		if len(o.Stalls) > 0 && o.Stalls[most].Reason != o.BoundBy {
			return fmt.Errorf("operation %d with stalls %v is bound by %q", o.Index, o.Stalls, o.BoundBy)
		}
		cycles, fs, pj, moved = cycles+o.Cycles, fs+o.TimeFs, pj+o.EnergyPJ, moved+o.DRAMBytes
	}
	if cycles != s.Cycles || fs != s.LatencyFs {
		return fmt.Errorf("the sum over operations is %d of %d cycles and %d of %d fs", cycles, s.Cycles, fs, s.LatencyFs)
	}
	if err := errors.Join(addUp(s.Stalls, s.Cycles), like("operations", pj)); err != nil {
		return err
	}
	if len(s.Parts) > 0 {
		fs, pj = 0, 0
		for _, p := range s.Parts {
			if p.TimeFs < 0 || p.TimeFs > s.LatencyFs-fs {
				return fmt.Errorf("part %s: %d fs after %d of %d fs", p.Name, p.TimeFs, fs, s.LatencyFs)
			}
			fs, pj = fs+p.TimeFs, pj+p.EnergyPJ
		}
		if fs != s.LatencyFs {
			return fmt.Errorf("the sum over parts is %d of %d fs", fs, s.LatencyFs)
		}
		if err := like("parts", pj); err != nil {
			return err
		}
	}
	if len(s.Components) > 0 {
		pj = 0
		for _, c := range s.Components {
			pj += c.EnergyPJ
		}
		return like("components", pj)
	}
	return nil
}

// addUp is an error when stalls do not add up to cycles.
func addUp(stalls []StallCycles, cycles int64) error {
	left := cycles
	for _, x := range stalls {
		if x.Cycles < 0 || x.Cycles > left {
			return fmt.Errorf("stalls %v of %d cycles", stalls, cycles)
		}
		left -= x.Cycles
	}
	if left != 0 {
		return fmt.Errorf("the sum over stalls is %d of %d cycles", cycles-left, cycles)
	}
	return nil
}

// MemoryStats is the use of a shared memory. Energies are in EnergyPJ of the Stats.
type MemoryStats struct {
	ReadBytes, WriteBytes int64 // from and to DRAM
	Bursts, RowHits       int64 // DRAM bursts, and those that found their row open
	ReadBursts            int64
	WaitFs                int64 // of all read bursts, from their arrival at the controller to the column command

	// Lines of the system-level cache: looked up with and without success, and written to
	// DRAM that the device had written.
	CacheHits, CacheMisses, CacheWriteBacks int64

	EventsPJ     float64 // of DRAM commands and of the cache's arrays
	RefreshPJ    float64 // of the DRAM, in the time of the execution
	BackgroundPJ float64 // of DRAM and cache, without refresh, in that time

	// LowestHz and HighestHz are the clocks that the DRAM has had; 0 where they are not known.
	LowestHz, HighestHz int64
}

// Add adds another use.
func (m *MemoryStats) Add(o *MemoryStats) {
	m.ReadBytes += o.ReadBytes
	m.WriteBytes += o.WriteBytes
	m.Bursts += o.Bursts
	m.RowHits += o.RowHits
	m.ReadBursts += o.ReadBursts
	m.WaitFs += o.WaitFs
	m.CacheHits += o.CacheHits
	m.CacheMisses += o.CacheMisses
	m.CacheWriteBacks += o.CacheWriteBacks
	m.EventsPJ += o.EventsPJ
	m.RefreshPJ += o.RefreshPJ
	m.BackgroundPJ += o.BackgroundPJ
	if o.LowestHz > 0 && (m.LowestHz == 0 || o.LowestHz < m.LowestHz) {
		m.LowestHz = o.LowestHz
	}
	m.HighestHz = max(m.HighestHz, o.HighestHz)
}

// Part is one link of the chain that an execution is.
type Part struct {
	Name     string // "runtime", "binder", "execution" ...
	TimeFs   int64
	EnergyPJ float64
}

// ComponentEnergy is the energy of a component of the phone: "cpu", "gpu", "dsp", "npu",
// "dram", "rest".
type ComponentEnergy struct {
	Name     string
	EnergyPJ float64
}

// AddComponents adds energies by name.
func AddComponents(sum, list []ComponentEnergy) []ComponentEnergy {
	for _, x := range list {
		i := slices.IndexFunc(sum, func(s ComponentEnergy) bool { return s.Name == x.Name })
		if i < 0 {
			sum = append(sum, x)
		} else {
			sum[i].EnergyPJ += x.EnergyPJ
		}
	}
	return sum
}

// EngineFs is how long an execution had its engine to itself, so that others had to
// wait: all of it when the device reports no parts.
func (s *Stats) EngineFs() int64 {
	if len(s.Parts) == 0 {
		return s.LatencyFs
	}
	var sum int64
	for _, p := range s.Parts {
		switch p.Name {
		case "wake", "ramp", "switch", "execution":
			sum += p.TimeFs
		}
	}
	return sum
}

// Counter is a named event count (packets, DRAM bytes, cache misses).
type Counter struct {
	Name  string
	Value int64
}
