package hal

import "slices"

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
