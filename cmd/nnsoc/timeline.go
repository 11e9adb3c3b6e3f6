package main

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
	nnrt "github.com/nnsoc/nnsoc/runtime"
	"github.com/nnsoc/nnsoc/sim/trace"
)

// timeline is the trace file of a command; nil without one.
type timeline struct {
	file   *newFile
	chrome *trace.Chrome
}

func openTrace(path string) (*timeline, error) {
	if path == "" {
		return nil, nil
	}
	f, err := createFile(path)
	if err != nil {
		return nil, err
	}
	return &timeline{file: f, chrome: trace.NewChrome(f)}, nil
}

func (t *timeline) commit() error {
	if t == nil {
		return nil
	}
	if t.chrome.Spans() == 0 {
		return usage(fmt.Errorf("--trace %s: nothing was traced, no device ran the network", t.file.path))
	}
	if err := t.chrome.Close(); err != nil {
		return err // discard does the rest
	}
	f := t.file
	t.file = nil
	return f.commit(0o644)
}

// discard removes an uncommitted trace.
func (t *timeline) discard() {
	if t != nil && t.file != nil {
		t.file.discard()
	}
}

// tracer draws a run: one process per device, named after the run too when
// that is of several devices.
func (t *timeline) tracer(run string) nnrt.Tracer { return &runTracer{t.chrome, run} }

type runTracer struct {
	chrome *trace.Chrome
	run    string
}

func (t *runTracer) process(device string) string {
	if device == t.run {
		return device
	}
	return t.run + ": " + device
}

// Span implements nnrt.Tracer. The name of a span says which operation it
// belongs to; its arguments are the costs of the whole operation.
func (t *runTracer) Span(device string, s hal.Span, op *nnrt.OperationCost) {
	name := s.Name
	args := []trace.Arg{{Key: "type", Value: op.Name()}}
	if op.Index >= 0 {
		name = fmt.Sprintf("%d %s", op.Index, op.Type)
		args = append(args, trace.Arg{Key: "operation", Value: op.Index}, trace.Arg{Key: "kernel", Value: s.Name},
			trace.Arg{Key: "inputs", Value: op.Inputs}, trace.Arg{Key: "outputs", Value: op.Outputs}, trace.Arg{Key: "macs", Value: op.MACs})
	}
	args = append(args, trace.Arg{Key: "cycles", Value: op.Cycles}, trace.Arg{Key: "stall", Value: op.BoundBy}, trace.Arg{Key: "stalls", Value: stallMap(op.Stalls)})
	t.chrome.Span(t.process(device), s.Track, name, s.StartFs, s.EndFs, args...)
}

// Sample implements nnrt.Tracer.
func (t *runTracer) Sample(device string, c nnrt.Counter, atFs int64, value float64) {
	t.chrome.Counter(t.process(device), c.String(), atFs, value)
}

// contender draws an execution, which begins at an instant, of a network beside others:
// engines are processes, and so is each network for what its application goes through.
func (t *timeline) contender(c *contender, atFs int64) nnrt.Tracer {
	return &contenderTracer{t.chrome, c.model.Name + " on " + c.device, atFs}
}

type contenderTracer struct {
	chrome  *trace.Chrome
	network string
	atFs    int64
}

// Span implements nnrt.Tracer.
func (t *contenderTracer) Span(device string, s hal.Span, op *nnrt.OperationCost) {
	s.StartFs += t.atFs
	s.EndFs += t.atFs
	if op.Index == hal.LaunchIndex {
		device = t.network
	}
	(&runTracer{t.chrome, device}).Span(device, s, op)
}

// Sample implements nnrt.Tracer.
func (t *contenderTracer) Sample(device string, c nnrt.Counter, atFs int64, value float64) {
	t.chrome.Counter(device, c.String(), atFs+t.atFs, value)
}
