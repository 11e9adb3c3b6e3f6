package nnapi

import (
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// Event signals the end of an execution, or a sync fence.
type Event struct {
	done  chan struct{} // nil: the fence or the client signals the end
	err   error         // once done is closed
	fence *hal.SyncFence

	runtime *Runtime   // of an execution
	client  hal.Client // that executes on the runtime's machine
}

// NewEventFromSyncFence is Event_createFromSyncFenceFd: an event that a fence signals.
func NewEventFromSyncFence(f *hal.SyncFence) (*Event, error) {
	const call = "Event_createFromSyncFenceFd"
	if f.State() == hal.FenceUnknown {
		return nil, fail(BadData, "%s: no fence", call)
	}
	return &Event{fence: f}, nil
}

// SyncFence is Event_getSyncFenceFd. An event that no driver signals has none.
func (v *Event) SyncFence() (*hal.SyncFence, error) {
	const call = "Event_getSyncFenceFd"
	switch {
	case v == nil:
		return nil, fail(UnexpectedNull, "%s: no event", call)
	case v.fence == nil:
		return nil, fail(BadData, "%s: the event has no fence", call)
	}
	return v.fence, nil
}

// Wait returns when the execution has ended, with its result.
func (v *Event) Wait() error {
	if v == nil {
		return fail(UnexpectedNull, "Event_wait: no event")
	}
	if v.client != nil {
		return v.join()
	}
	if v.done != nil {
		<-v.done
		return v.err
	}
	<-v.fence.Done()
	if _, err := v.fence.SignalTime(); err != nil {
		return fail(OpFailed, "Event_wait: the fence signals an error: %w", err)
	}
	return nil
}

// StartComputeWithDependencies runs the execution after the events it depends
// on. A failed dependency fails it. duration bounds the time on the device's
// clock from then on, which needs one explicit device; 0 is no bound.
//
// Where the events have sync fences and drivers can run every part, the drivers wait
// for the fences and the returned event has a fence; otherwise the runtime waits, after
// the call has returned. The event has a fence then where a driver runs the last part and
// all shapes are known. It has none on a machine, whose clients wait for each other, where
// there is no event to wait for or where all events are clients.
func (e *Execution) StartComputeWithDependencies(events []*Event, duration time.Duration) (*Event, error) {
	const call = "Execution_startComputeWithDependencies"
	if slices.Contains(events, nil) {
		return nil, fail(UnexpectedNull, "%s: an event is null", call)
	}
	if duration < 0 {
		return nil, fail(BadData, "%s: a duration of %v", call, duration)
	}
	if duration > 0 && !e.c.one() {
		return nil, fail(BadData, "%s: a duration, but the compilation is not for one explicit device", call)
	}
	if err := e.begin(call, WithDependencies, len(events) == 0); err != nil {
		return nil, err
	}
	if e.c.runtime.machine == nil || len(events) > 0 {
		if v, ok := e.fenced(events, duration); ok {
			return v, nil
		}
	}
	timeout := e.timeout
	if duration > 0 {
		timeout = duration
	}
	var driver hal.Device
	if !e.c.open() {
		driver = e.c.compiled.LastDriver()
	}
	return e.runConcurrent(call, events, driver, func(c hal.Client) error { return e.run(call, nil, timeout, c) })
}

// inBackground makes an event of a function.
func (e *Execution) inBackground(do func() error) *Event {
	r := e.c.runtime
	v := &Event{done: make(chan struct{}), runtime: r}
	r.begun(v)
	go func() {
		defer r.ended(v)
		defer close(v.done)
		v.err = do()
	}()
	return v
}

// fenced starts the execution with the fences of drivers; ok is false when they cannot.
func (e *Execution) fenced(events []*Event, duration time.Duration) (v *Event, ok bool) {
	var waitFor []*hal.SyncFence
	for _, x := range events {
		if x.fence == nil {
			return nil, false
		}
		waitFor = append(waitFor, x.fence)
	}
	inputs, _ := e.values()
	if e.observation != nil || e.c.open() || !e.c.compiled.CanFence() || slices.ContainsFunc(e.outputs, slot.unwritable) {
		return nil, false
	}
	o := nnrt.ExecuteOptions{Timeout: e.timeout, LoopTimeout: e.loop}
	o.InputBuffers, o.OutputBuffers = buffers(e.inputs), buffers(e.outputs)
	var outputs [][]byte
	for i := range e.outputs {
		outputs = append(outputs, e.outputs[i].buffer())
	}
	f, err := e.c.compiled.ExecuteFenced(inputs, outputs, waitFor, o, duration)
	if err != nil {
		return nil, false // the path without fences reports the error
	}
	v = e.inBackground(func() error {
		res, err := f.Wait()
		if err != nil {
			return e.end(nil, wrap(err))
		}
		for i := range e.outputs {
			if s := &e.outputs[i]; s.opaque() {
				s.memory.written()
			}
		}
		e.mu.Lock()
		e.fencedTiming = &res.AfterFences
		e.mu.Unlock()
		return e.end(res.Result, nil)
	})
	v.fence = f.Fence
	return v, true
}
