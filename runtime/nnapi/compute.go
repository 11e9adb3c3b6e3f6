package nnapi

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	nnrt "github.com/nnsoc/nnsoc/runtime"
)

// Compute runs the execution and returns when it has ended.
func (e *Execution) Compute() error {
	const call = "Execution_compute"
	if err := e.begin(call); err != nil {
		return err
	}
	return e.run(call, false)
}

// StartCompute runs the execution; the event tells when it has ended.
func (e *Execution) StartCompute() (*Event, error) {
	return e.start("Execution_startCompute", nil, 0)
}

// StartComputeWithDependencies runs the execution after the events it depends
// on. A failed dependency fails it. duration bounds the time on the device's
// clock from then on, which needs one explicit device; 0 is no bound.
func (e *Execution) StartComputeWithDependencies(events []*Event, duration time.Duration) (*Event, error) {
	const call = "Execution_startComputeWithDependencies"
	if slices.Contains(events, nil) {
		return nil, fail(UnexpectedNull, "%s: an event is null", call)
	}
	if duration > 0 && !e.c.one() {
		return nil, fail(BadData, "%s: a duration, but the compilation is not for one explicit device", call)
	}
	return e.start(call, events, duration)
}

func (e *Execution) start(call string, after []*Event, duration time.Duration) (*Event, error) {
	if err := e.begin(call); err != nil {
		return nil, err
	}
	if duration > 0 {
		e.timeout = duration
	}
	v := &Event{done: make(chan struct{})}
	go func() {
		defer close(v.done)
		for _, x := range after {
			if err := x.Wait(); err != nil {
				v.err = e.end(nil, fail(OpFailed, "%s: a dependency failed: %w", call, err))
				return
			}
		}
		v.err = e.run(call, false)
	}()
	return v, nil
}

// Burst is a fast path for executions of a compilation that follow each other.
type Burst struct {
	c  *Compilation
	mu sync.Mutex // held by the execution in flight
}

// NewBurst is Burst_create.
func NewBurst(c *Compilation) (*Burst, error) {
	const call = "Burst_create"
	if c == nil {
		return nil, fail(UnexpectedNull, "%s: no compilation", call)
	}
	if !c.isFinished() {
		return nil, fail(BadState, "%s: the compilation is not finished", call)
	}
	return &Burst{c: c}, nil
}

// BurstCompute is Compute through a burst, which carries one execution at a time.
func (e *Execution) BurstCompute(b *Burst) error {
	const call = "Execution_burstCompute"
	switch {
	case b == nil:
		return fail(UnexpectedNull, "%s: no burst", call)
	case b.c != e.c:
		return fail(BadData, "%s: the burst is of another compilation", call)
	case !b.mu.TryLock():
		return fail(BadState, "%s: the burst carries another execution", call)
	}
	defer b.mu.Unlock()
	if err := e.begin(call); err != nil {
		return err
	}
	return e.run(call, true)
}

// begin checks the arguments and enters the computation.
func (e *Execution) begin(call string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state == computation || e.state == completed && !e.reusable {
		return fail(BadState, "%s: the execution has begun", call)
	}
	for i, s := range e.inputs {
		switch {
		case !s.set:
			return fail(BadData, "%s: input %d is not set", call, i)
		case s.memory != nil && s.memory.roles != nil && !s.memory.initialized:
			return fail(BadData, "%s: the memory of input %d was never written", call, i)
		}
	}
	for i, s := range e.outputs {
		if !s.set {
			return fail(BadData, "%s: output %d is not set", call, i)
		}
		if s.memory != nil && s.memory.roles != nil {
			s.memory.initialized = false
		}
	}
	e.state, e.result, e.dims, e.err = computation, nil, nil, nil
	return nil
}

// run computes in the caller's goroutine.
func (e *Execution) run(call string, burst bool) error {
	g := &e.c.model.model.Main
	dims, inputs := make([][]uint32, len(e.inputs)), make([][]byte, len(e.inputs))
	for i, s := range e.inputs {
		o := g.Operands[g.Inputs[i]]
		o.Dimensions = s.dims
		dims[i], inputs[i] = s.dims, s.data
		if s.data == nil && s.memory != nil {
			inputs[i] = s.memory.data
		}
		if n := o.Bytes(); n >= 0 && int64(len(inputs[i])) > n {
			inputs[i] = inputs[i][:n] // padding
		}
	}
	c, err := e.c.withShapes(dims)
	if err != nil {
		return e.end(nil, wrap(err))
	}
	res, err := c.Execute(inputs, nnrt.ExecuteOptions{Timeout: e.timeout, LoopTimeout: e.loop, Burst: burst})
	if err != nil {
		return e.end(nil, wrap(err))
	}
	short := -1
	for i, s := range e.outputs {
		to := s.data
		if s.memory != nil && s.memory.roles != nil {
			to = s.memory.data
		}
		if len(to) < len(res.Outputs[i]) {
			short = i
			continue
		}
	}
	if short >= 0 {
		return e.end(res, fail(OutputInsufficientSize, "%s: output %d needs %d bytes for %v", call, short, len(res.Outputs[short]), res.Dimensions[short]))
	}
	for i, s := range e.outputs {
		if s.memory != nil && s.memory.roles != nil {
			copy(s.memory.data, res.Outputs[i])
			s.memory.initialized, s.memory.dims = true, res.Dimensions[i]
			continue
		}
		copy(s.data, res.Outputs[i])
	}
	return e.end(res, nil)
}

// end leaves the computation.
func (e *Execution) end(res *nnrt.Result, err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.state, e.err = completed, err
	if err == nil {
		e.result = res
	}
	if res != nil {
		e.dims = res.Dimensions
	}
	return err
}

// DurationCode says which time Duration tells.
type DurationCode int

// Codes of NNAPI. No execution has fences of a driver, so the fenced times are
// those from its start.
const (
	OnHardware DurationCode = iota
	InDriver
	FencedOnHardware
	FencedInDriver
)

// NoDuration is a time that is not known.
const NoDuration = math.MaxUint64

// Duration is Execution_getDuration: simulated nanoseconds.
func (e *Execution) Duration(code DurationCode) (uint64, error) {
	const call = "Execution_getDuration"
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case code < OnHardware || code > FencedInDriver:
		return NoDuration, fail(BadData, "%s: code %d", call, code)
	case e.state != completed, e.err != nil, !e.measure:
		return NoDuration, fail(BadState, "%s: no completed execution that measures", call)
	}
	total := e.result.LatencyFs
	if code == OnHardware || code == FencedOnHardware {
		for i := range e.result.Overheads {
			if o := &e.result.Overheads[i]; o.Index == hal.LaunchIndex {
				total -= o.TimeFs
			}
		}
	}
	return uint64(total) / 1e6, nil
}

// OutputDimensions is Execution_getOutputOperandDimensions, and its length the
// rank. After OUTPUT_INSUFFICIENT_SIZE it is the shape that is needed, with that
// code as the error.
func (e *Execution) OutputDimensions(i uint32) ([]uint32, error) {
	const call = "Execution_getOutputOperandDimensions"
	e.mu.Lock()
	defer e.mu.Unlock()
	o, ok := e.c.output(i)
	switch {
	case !ok:
		return nil, fail(BadData, "%s: output %d of %d", call, i, len(e.outputs))
	case e.state != completed:
		return nil, fail(BadState, "%s: the execution has not ended", call)
	case e.dims == nil:
		return nil, fail(BadState, "%s: the execution failed", call)
	case o.Type.IsScalar():
		return nil, fail(BadData, "%s: output %d is %v", call, i, o.Type)
	}
	if e.err != nil && insufficient(e, i) {
		return slices.Clone(e.dims[i]), e.err
	}
	return slices.Clone(e.dims[i]), nil
}

// insufficient reports whether the buffer of an output was too small.
func insufficient(e *Execution, i uint32) bool {
	o, _ := e.c.output(i)
	need := nn.Elements(e.dims[i]) * int64(o.Type.ElementBytes())
	s := &e.outputs[i]
	if s.memory != nil && s.memory.roles != nil {
		return int64(len(s.memory.data)) < need
	}
	return int64(len(s.data)) < need
}

// Event tells when an execution has ended.
type Event struct {
	done chan struct{}
	err  error
}

// Wait returns when the execution has ended, with its result.
func (v *Event) Wait() error {
	if v == nil {
		return fail(UnexpectedNull, "Event_wait: no event")
	}
	<-v.done
	return v.err
}
