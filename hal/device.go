package hal

import (
	"io"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// Support is a driver's answer for one operation of a model.
type Support struct {
	OK     bool
	Reason string // why not, in one line; empty when OK
}

// Device is one accelerator behind its driver. All methods may be called from
// several goroutines.
type Device interface {
	// Name is the short, lower-case name of the device: cpu, gpu, dsp, npu.
	Name() string
	// Description is one line for a person: machine shape and clock.
	Description() string
	// Version changes with every release that changes results or performance.
	Version() string
	Type() DeviceType
	Capabilities() Capabilities
	// SupportedOperations answers for every operation of the main subgraph, in
	// model order. It depends only on the model.
	SupportedOperations(m *nn.Model) ([]Support, error)
	// PrepareModel lowers a model whose operations are all supported. The model
	// must not change until the prepared model is dropped.
	PrepareModel(m *nn.Model, o PrepareOptions) (PreparedModel, error)
}

// PreparedModel is a model lowered for one device. Execute may be called from
// several goroutines; executions share no mutable state.
type PreparedModel interface {
	// Execute runs the model once from a cold machine.
	Execute(r *Request) (*Result, error)
	// WriteListing prints the lowered program: each instruction with its source
	// operation and a cycle estimate.
	WriteListing(w io.Writer) error
	// WriteProgram writes the lowered program as bytes: code, constants, launches
	// and places of tensors, but no names. Two lowerings that write the same bytes
	// do the same. Parts that only an execution lowers are not in it.
	WriteProgram(w io.Writer) error
}

// Span is an interval in which one unit of a device worked.
type Span struct {
	Track          string // the unit, unique within its device: "thread 0", "dma"
	Name           string // the work: a kernel, a job, a copy
	Operation      int    // OperationStats.Index that the interval is charged to
	StartFs, EndFs int64  // simulated femtoseconds since the request
}

// Tracer receives the spans of an execution; it may be nil in a Request.
type Tracer interface {
	Span(s Span)
}

// Request is one execution: dense row-major little-endian buffers in the order
// of the main subgraph's inputs and outputs.
type Request struct {
	Inputs  [][]byte
	Outputs [][]byte
	// Functional skips the timing model: same tensors, no cycles, no energy.
	Functional bool
	// Detail asks for OperationStats.Threads and .Counters, which cost time.
	Detail bool
	Trace  Tracer
}

// StallCycles is the share of a run charged to one reason.
type StallCycles struct {
	Reason string
	Cycles int64
}

// Indexes of the rows of Stats.Operations that belong to no operation.
const (
	// LaunchIndex is the fixed cost of an execution: from the request at the
	// driver to the device's first cycle, and from its last cycle back to the
	// waiting thread.
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
	BoundBy  string        // the resource that limits it: the largest reason, "issue" when none stalls
	// DRAMBytes are the bytes moved to and from DRAM.
	DRAMBytes int64
	// Of a Request with Detail, from devices that have it: the cycles of all
	// hardware threads by reason, with "idle" where one had no work, and event counts.
	Threads  []StallCycles
	Counters []Counter
}

// Stats are the costs of one execution. Cycles are of the device's own clock;
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
}

// Counter is a named event count (packets, DRAM bytes, cache misses).
type Counter struct {
	Name  string
	Value int64
}

// Result is what an execution reports besides the output buffers.
type Result struct {
	// OutputDimensions are the shapes of the outputs, in order.
	OutputDimensions [][]uint32
	Stats            Stats
}
