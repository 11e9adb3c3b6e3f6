package nnapi

import (
	"math"
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// Compute runs the execution and returns when it has ended.
func (e *Execution) Compute() error {
	const call = "Execution_compute"
	if err := e.begin(call, Synchronous, true); err != nil {
		return err
	}
	return e.now(func(c hal.Client) error { return e.run(call, nil, e.timeout, c) })
}

// StartCompute starts the execution; the event signals its end.
func (e *Execution) StartCompute() (*Event, error) {
	const call = "Execution_startCompute"
	if err := e.begin(call, Asynchronous, true); err != nil {
		return nil, err
	}
	run := func(c hal.Client) error { return e.run(call, nil, e.timeout, c) }
	if e.c.runtime.inCaller {
		v := &Event{done: make(chan struct{}), runtime: e.c.runtime, err: e.now(run)}
		close(v.done)
		return v, nil
	}
	return e.runConcurrent(call, nil, nil, run)
}

// begin checks the arguments and enters the computation. Opaque memory must have been
// written by now, unless executions that come before may still do it.
func (e *Execution) begin(call string, mode ExecutionMode, written bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state == computation || e.state == completed && !e.reusable {
		return fail(BadState, "%s: the execution has begun", call)
	}
	for i := range e.inputs {
		switch s := &e.inputs[i]; {
		case !s.set:
			return fail(BadData, "%s: input %d is not set", call, i)
		case written && s.opaque() && !s.memory.isWritten():
			return fail(BadData, "%s: the memory of input %d was never written", call, i)
		}
	}
	for i := range e.outputs {
		s := &e.outputs[i]
		if !s.set {
			return fail(BadData, "%s: output %d is not set", call, i)
		}
		if s.opaque() {
			s.memory.invalidate()
		}
	}
	e.state, e.mode, e.result, e.dims, e.err, e.fencedTiming = computation, mode, nil, nil, nil, nil
	e.observe()
	return nil
}

// values are the inputs without padding, nil where one is left out or device memory,
// and their shapes.
func (e *Execution) values() (inputs [][]byte, dims [][]uint32) {
	g := &e.c.model.model.Main
	dims, inputs = make([][]uint32, len(e.inputs)), make([][]byte, len(e.inputs))
	for i := range e.inputs {
		s := &e.inputs[i]
		o := g.Operands[g.Inputs[i]]
		o.Dimensions = s.dims
		dims[i], inputs[i] = s.dims, s.buffer()
		if n := o.Bytes(); n >= 0 && int64(len(inputs[i])) > n {
			inputs[i] = inputs[i][:n]
		}
	}
	return inputs, dims
}

// run computes in the caller's goroutine, through a burst or not, as a client of the
// machine. timeout bounds the time on the device's clock; 0 is none.
func (e *Execution) run(call string, burst *nnrt.Burst, timeout time.Duration, client hal.Client) error {
	for i := range e.inputs {
		if s := &e.inputs[i]; s.opaque() && !s.memory.isWritten() {
			return e.end(nil, fail(BadData, "%s: the memory of input %d was never written", call, i))
		}
	}
	for _, list := range [][]slot{e.inputs, e.outputs} {
		if i := slices.IndexFunc(list, func(s slot) bool { return s.memory != nil && s.memory.private }); i >= 0 {
			return e.end(nil, fail(Unmappable, "%s: argument %d is a hardware buffer of another format than blob, which no device here reads", call, i))
		}
	}
	if i := slices.IndexFunc(e.outputs, slot.unwritable); i >= 0 {
		return e.end(nil, fail(Unmappable, "%s: output %d lies in a file that is not shared for writing", call, i))
	}
	inputs, dims := e.values()
	o := nnrt.ExecuteOptions{Timeout: timeout, LoopTimeout: e.loop, Burst: burst != nil, Through: burst, Client: client, CheckShapes: true}
	o.InputBuffers, o.OutputBuffers = buffers(e.inputs), buffers(e.outputs)
	if e.observation != nil {
		o.Trace = e.observation.Tracer()
	}
	c, err := e.c.compiled, error(nil)
	opaque := slices.ContainsFunc(slices.Concat(e.inputs, e.outputs), slot.onDevice)
	if opaque {
		o.InputDimensions = dims // device memory is of the parts that were prepared without shapes
	} else if c, err = e.c.withShapes(dims); err != nil {
		return e.end(nil, wrap(err))
	}
	res, err := c.Execute(inputs, o)
	if err != nil {
		return e.end(nil, wrap(err))
	}
	if e.observation != nil && !opaque {
		e.observation.Computed(c.Model, inputs, res)
	}
	if i := slices.IndexFunc(e.outputs, slot.omitted); i >= 0 && len(res.Outputs[i]) > 0 && e.known(i) {
		return e.end(nil, fail(OpFailed, "%s: output %d is left out, and its operation computes it in any case", call, i))
	}
	short := -1
	for i := range e.outputs {
		if _, ok := combine(res.Dimensions[i], e.outputs[i].dims); !ok {
			return e.end(nil, fail(OpFailed, "%s: output %d has shape %v, given were %v", call, i, res.Dimensions[i], e.outputs[i].dims))
		}
		if s := &e.outputs[i]; !s.onDevice() && len(s.buffer()) < len(res.Outputs[i]) {
			short = i
		}
	}
	if short >= 0 {
		return e.end(res, fail(OutputInsufficientSize, "%s: output %d needs %d bytes for %v", call, short, len(res.Outputs[short]), res.Dimensions[short]))
	}
	for i := range e.outputs {
		s := &e.outputs[i]
		copy(s.buffer(), res.Outputs[i])
		if s.opaque() {
			s.memory.written()
		}
	}
	return e.end(res, nil)
}

// end leaves the computation.
func (e *Execution) end(res *nnrt.Result, err error) error {
	e.diagnose(res, err)
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

// DurationCode selects the time that Duration returns.
type DurationCode int

// Codes of NNAPI. The fenced times begin when the last fence has signalled that the
// execution waits for; without fences they are those of the execution.
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
	if t := e.fencedTiming; t != nil && code == FencedOnHardware {
		return nanoseconds(t.OnDevice), nil
	} else if t != nil && code == FencedInDriver {
		return nanoseconds(t.InDriver), nil
	}
	if code == OnHardware || code == FencedOnHardware {
		return hardwareNanoseconds(e.result), nil
	}
	return uint64(e.result.LatencyFs) / 1e6, nil
}

// hardwareNanoseconds is the latency without what surrounds the programs of engines.
func hardwareNanoseconds(r *nnrt.Result) uint64 {
	fs := r.LatencyFs
	for i := range r.Overheads {
		if o := &r.Overheads[i]; o.Index == hal.LaunchIndex {
			fs -= o.TimeFs
		}
	}
	return uint64(max(fs, 0)) / 1e6
}

// nanoseconds are NNAPI's unit of durations, microseconds that of the HAL.
func nanoseconds(us uint64) uint64 {
	if us > NoDuration/1000 {
		return NoDuration
	}
	return us * 1000
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
	return !s.onDevice() && int64(len(s.buffer())) < need
}
