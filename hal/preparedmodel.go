package hal

import (
	"io"
	"time"
)

// PreparedModel is a model lowered for one device: IPreparedModel. Its methods may be
// called from several goroutines; executions share no mutable state. It holds its
// resources until nobody refers to it.
type PreparedModel interface {
	// Execute is executeSynchronously_1_3. With status OUTPUT_INSUFFICIENT_SIZE there
	// is a result beside the error: the shapes of the outputs as far as they are known.
	Execute(r *Request, o ExecuteOptions) (*Result, error)
	// ExecuteFenced returns without waiting for the fences in waitFor; the execution
	// starts when all have signalled. It must end within afterFence of that instant
	// when afterFence is not 0. The shapes of all outputs must be known.
	ExecuteFenced(r *Request, waitFor []*SyncFence, o ExecuteOptions, afterFence time.Duration) (*FencedExecution, error)
	// CreateReusableExecution checks a request once; it may then be computed often.
	CreateReusableExecution(r *Request, o ExecuteOptions) (Execution, error)
	// ConfigureExecutionBurst opens a burst: a fast path for executions that follow
	// each other closely.
	ConfigureExecutionBurst() (Burst, error)
	// WriteListing prints the lowered program: each instruction with its source
	// operation and a cycle estimate.
	WriteListing(w io.Writer) error
	// WriteProgram writes the lowered program as bytes: code, constants, launches
	// and places of tensors, but no names. Two lowerings that write the same bytes
	// do the same. Parts that only an execution lowers are not in it.
	WriteProgram(w io.Writer) error
}

// ExecuteOptions steer an execution.
type ExecuteOptions struct {
	// MeasureTiming requests Result.Timing.
	MeasureTiming bool
	// Deadline is the instant of the device's clock at which the result is worthless;
	// nil is none.
	Deadline *TimePoint
	// LoopTimeout bounds the simulated time of each WHILE; 0 is DefaultLoopTimeout,
	// more than MaximumLoopTimeout is that.
	LoopTimeout time.Duration
	// Functional skips the timing model: same tensors, no cycles, no energy.
	Functional bool
	// Detail requests OperationStats.Threads and .Counters, which cost time.
	Detail bool
	Trace  Tracer
	// Profile receives where the costs arose, instruction by instruction.
	Profile Profiler
	// InBurst announces that more executions follow closely, so that clocks stay up. Bursts
	// set it.
	InBurst bool
	// EngineOnly requests the costs of the engine alone: the caller adds the path
	// to the engine and back. Drivers that do not model that path ignore
	// it.
	EngineOnly bool
	// Clock, with EngineOnly, is the operating points of the engine's clock, in order;
	// none leaves it to the driver.
	Clock []ClockPoint
	// Client is the client of the device's machine that executes; nil is an application
	// of one thread.
	Client Client
	// Account, if there is one, pays for memory of a size that only values of the execution decide.
	Account MemoryAccount
}

// MemoryAccount counts memory of one execution. Its methods may be called from several goroutines.
type MemoryAccount interface {
	// Reserve is called before the driver allocates bytes that its caller could not foresee. An error ends the
	// execution.
	Reserve(bytes int64) error
	// Free gives bytes back that were reserved. What is left when the execution ends its caller takes back.
	Free(bytes int64)
}

// ClockPoint is an operating point of an engine's clock, from an instant of an execution on.
type ClockPoint struct {
	AtFs    int64
	Hz      int64
	Volts   float64
	Cluster int // of a CPU; 0 for others
}

// Bounds of ExecuteOptions.LoopTimeout.
const (
	DefaultLoopTimeout = 2 * time.Second
	MaximumLoopTimeout = 15 * time.Second
)

// LoopLimit is LoopTimeout with its default and its bound.
func (o *ExecuteOptions) LoopLimit() time.Duration {
	if o.LoopTimeout <= 0 {
		return DefaultLoopTimeout
	}
	return min(o.LoopTimeout, MaximumLoopTimeout)
}

// Result is what an execution reports besides the output buffers.
type Result struct {
	// OutputDimensions are the shapes of the outputs, in order; a dimension of 0 is
	// unknown when the status is OUTPUT_INSUFFICIENT_SIZE.
	OutputDimensions [][]uint32
	// Insufficient is for each output whether its buffer is too small; nil is none.
	Insufficient []bool
	Timing       Timing
	Stats        Stats
}

// OutputShape is the shape of one output as an execution reports it.
type OutputShape struct {
	Dimensions   []uint32
	IsSufficient bool
}

// OutputShapes are the shapes of the outputs in the HAL's form.
func (r *Result) OutputShapes() []OutputShape {
	if r == nil {
		return nil
	}
	shapes := make([]OutputShape, len(r.OutputDimensions))
	for i, d := range r.OutputDimensions {
		shapes[i] = OutputShape{d, i >= len(r.Insufficient) || !r.Insufficient[i]}
	}
	return shapes
}

// Execution is a request bound to a prepared model: IExecution. One computation runs
// at a time.
type Execution interface {
	Compute() (*Result, error)
	ComputeFenced(waitFor []*SyncFence, afterFence time.Duration) (*FencedExecution, error)
}

// FencedExecution is what an execution with fences returns: the fence that it
// signals and IFencedExecutionCallback.
type FencedExecution struct {
	Fence *SyncFence
	info  func() (FencedInfo, error)
}

// FencedInfo is the result of IFencedExecutionCallback.getExecutionInfo.
type FencedInfo struct {
	TimingLaunched Timing // since the call
	TimingFenced   Timing // since the last fence signalled
	Result         *Result
}

// NewFencedExecution returns a fenced execution; info must return GENERAL_FAILURE
// before fence has signalled.
func NewFencedExecution(fence *SyncFence, info func() (FencedInfo, error)) *FencedExecution {
	return &FencedExecution{fence, info}
}

// ExecutionInfo is getExecutionInfo: a GENERAL_FAILURE before the execution has ended,
// then its status. Timings are unknown unless they were requested and it succeeded.
func (f *FencedExecution) ExecutionInfo() (FencedInfo, error) { return f.info() }

// Burst is a fast path to one prepared model: IBurst. It keeps the memories of its
// requests mapped. One execution runs at a time.
type Burst interface {
	// CacheMemory keeps a memory mapped from now on; Release frees it.
	CacheMemory(m *Memory) (release func())
	// Execute runs a request. One that needs what a burst cannot carry (a deadline, a
	// loop timeout, device memory) is passed to PreparedModel.Execute.
	Execute(r *Request, o ExecuteOptions) (*Result, error)
	// Close ends the burst. The prepared model stays.
	Close() error
}

// Preparing is a PreparedModel that reports the time of its preparation.
type Preparing interface {
	// PreparedFs is the simulated time of prepareModel or prepareModelFromCache, the files
	// of a cache included.
	PreparedFs() int64
}
