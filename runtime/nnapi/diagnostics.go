package nnapi

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// Diagnostics is notified of what an app does with a runtime, as AOSP's telemetry is. It may be
// called from several goroutines at once, and must not call the runtime.
type Diagnostics interface {
	Compiled(CompilationInfo)
	Executed(ExecutionInfo)
}

// Observer is a Diagnostics that follows executions while they run.
type Observer interface {
	Diagnostics
	// Observe is called when an execution begins; nil leaves it alone. The fences of drivers are not used for one that is
	// followed: the runtime waits for its dependencies.
	Observe(SessionInfo) Observation
}

// Observation follows one execution.
type Observation interface {
	// Tracer receives the timeline of the execution; nil is none.
	Tracer() nnrt.Tracer
	// Computed is called with the results of m, the model with the shapes of the execution, before the app's
	// buffers get them: outputs may lie where inputs do. An execution with opaque memory, whose values stay with
	// their device, does not call it.
	Computed(m *nn.Model, inputs [][]byte, r *nnrt.Result)
}

// SetDiagnostics sets the receiver of notifications of later compilations and executions; nil is
// none.
func (r *Runtime) SetDiagnostics(d Diagnostics) { r.diagnostics = d }

// ArchitectureHash identifies a model by its operations and operands, without their values.
type ArchitectureHash [sha256.Size]byte

// SessionInfo is what a compilation and its executions have in common.
type SessionInfo struct {
	Compilation           int // its number in the runtime, from 1
	Model                 ArchitectureHash
	Devices               string // "name=version", separated by commas, in the runtime's order
	Introspection         bool   // the app names its devices
	Cache                 bool   // the app has requested a compilation cache
	HasControlFlow        bool   // the main subgraph has an IF or WHILE
	HasDynamicTemporaries bool   // a temporary whose shape is known only after an execution
}

// CompilationInfo is a call of Finish.
type CompilationInfo struct {
	SessionInfo
	Input, Output DataClass
	Result        ResultCode
	Duration      time.Duration     // of the host: no simulated time passes
	FallbackToCPU bool              // a driver has declined an operation or failed to prepare its part
	Compiled      *nnrt.Compilation // nil after an error
}

// ExecutionMode is the call that an execution began with.
type ExecutionMode int

// Modes, with the numbers of AOSP.
const (
	Asynchronous     ExecutionMode = iota // Execution_startCompute
	Synchronous                           // Execution_compute
	ThroughBurst                          // Execution_burstCompute
	WithDependencies                      // Execution_startComputeWithDependencies
)

// DataClass is a summary of the types of inputs or outputs.
type DataClass int

// Data classes, with the numbers of AOSP.
const (
	DataUnknown DataClass = iota // there is none
	DataOther
	DataFloat32
	DataFloat16
	DataQuantized
	DataMixed // of several of the above
)

// ExecutionInfo is an execution that has ended. The durations are simulated nanoseconds,
// those of NNAPI's duration codes and that of the runtime, NoDuration after an error.
type ExecutionInfo struct {
	SessionInfo
	Mode                      ExecutionMode
	Input, Output             DataClass
	Result                    ResultCode
	Runtime, Driver, Hardware uint64
	Cost                      *nnrt.Result // nil after an error
	Observation               Observation  // of the Observer; nil without
}

// session is the information of a compilation in each of its events. The compilation is finished.
func (c *Compilation) session() SessionInfo {
	c.describing.Do(func() { c.described = c.describe() })
	return c.described
}

func (c *Compilation) describe() SessionInfo {
	list := c.devices
	if list == nil {
		list = c.runtime.devices
	}
	var names []string
	for _, d := range list {
		names = append(names, d.Name()+"="+d.Version())
	}
	g := &c.model.model.Main
	return SessionInfo{
		Compilation: c.number, Model: c.model.hash, Devices: strings.Join(names, ","), Introspection: c.devices != nil, Cache: c.options.Cache != registry.Cache{},
		HasControlFlow:        slices.ContainsFunc(g.Operations, func(op nn.Operation) bool { return op.Type == nn.OpIf || op.Type == nn.OpWhile }),
		HasDynamicTemporaries: slices.ContainsFunc(g.Operands, func(o nn.Operand) bool { return o.Lifetime == nn.TemporaryVariable && !o.Known() }),
	}
}

// diagnose reports the end of Finish.
func (c *Compilation) diagnose(err error, took time.Duration) {
	d := c.runtime.diagnostics
	if d == nil {
		return
	}
	g := &c.model.model.Main
	x := CompilationInfo{SessionInfo: c.session(), Input: dataClass(g, g.Inputs), Output: dataClass(g, g.Outputs), Result: CodeOf(err), Duration: took}
	if c.compiled != nil {
		x.FallbackToCPU, x.Compiled = len(c.compiled.Fallbacks) > 0, c.compiled
	}
	d.Compiled(x)
}

// diagnose reports the end of an execution.
func (e *Execution) diagnose(res *nnrt.Result, err error) {
	d := e.c.runtime.diagnostics
	if d == nil {
		return
	}
	g := &e.c.model.model.Main
	x := ExecutionInfo{
		SessionInfo: e.c.session(), Mode: e.mode, Observation: e.observation, Result: CodeOf(err), Input: dataClass(g, g.Inputs), Output: dataClass(g, g.Outputs),
		Runtime: NoDuration, Driver: NoDuration, Hardware: NoDuration,
	}
	if err == nil {
		x.Cost = res
		x.Runtime, x.Driver, x.Hardware = uint64(res.LatencyFs)/1e6, driverNanoseconds(res), hardwareNanoseconds(res)
	}
	d.Executed(x)
}

// observe asks the Observer, if there is one, to follow an execution that begins.
func (e *Execution) observe() {
	e.observation = nil
	if o, ok := e.c.runtime.diagnostics.(Observer); ok {
		e.observation = o.Observe(e.c.session())
	}
}

// driverNanoseconds is the latency without the runtime's own work.
func driverNanoseconds(r *nnrt.Result) uint64 {
	fs := r.LatencyFs
	for _, p := range r.Chain {
		if p.Name == "runtime" {
			fs -= p.TimeFs
		}
	}
	return uint64(max(fs, 0)) / 1e6
}

var dataClasses = map[nn.OperandType]DataClass{
	nn.TensorFloat32: DataFloat32, nn.Float32: DataFloat32, nn.TensorFloat16: DataFloat16, nn.Float16: DataFloat16,
	nn.TensorQuant8Asymm: DataQuantized, nn.TensorQuant8AsymmSigned: DataQuantized, nn.TensorQuant8Symm: DataQuantized,
	nn.TensorQuant8SymmPerChannel: DataQuantized, nn.TensorQuant16Asymm: DataQuantized, nn.TensorQuant16Symm: DataQuantized,
}

func dataClass(g *nn.Subgraph, operands []uint32) (c DataClass) {
	for _, x := range operands {
		k, ok := dataClasses[g.Operands[x].Type]
		if !ok {
			k = DataOther
		}
		if c != DataUnknown && c != k {
			return DataMixed
		}
		c = k
	}
	return c
}

// architecture hashes what a model is without the values of its operands.
func architecture(m *nn.Model) ArchitectureHash {
	h := sha256.New()
	number := func(list ...uint32) {
		var b [4]byte
		for _, x := range list {
			binary.LittleEndian.PutUint32(b[:], x)
			h.Write(b[:])
		}
	}
	operands := func(list []uint32) {
		number(uint32(len(list)))
		number(list...)
	}
	for _, g := range append([]nn.Subgraph{m.Main}, m.Referenced...) {
		number(uint32(len(g.Operands)))
		for i := range g.Operands {
			o := &g.Operands[i]
			number(uint32(o.Type), math.Float32bits(o.Scale), uint32(o.ZeroPoint), uint32(o.Lifetime.HAL()))
			operands(o.Dimensions)
		}
		number(uint32(len(g.Operations)))
		for i := range g.Operations {
			op := &g.Operations[i]
			number(uint32(op.Type))
			operands(op.Inputs)
			operands(op.Outputs)
		}
		operands(g.Inputs)
		operands(g.Outputs)
	}
	return ArchitectureHash(h.Sum(nil))
}
