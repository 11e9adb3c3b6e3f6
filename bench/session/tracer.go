package session

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nntrace"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/trace"
)

// Timeline draws runs, one after the other, with a writer of traces.
type Timeline struct {
	Writer trace.Writer
	flows  uint64 // numbers of arrows issued
}

// maxFlows is how many arrows one execution may have.
const maxFlows = 1 << 32

// Tracer draws a run on devices: one process per device, named after the run too when that is
// of several devices, and one of the application.
func (t *Timeline) Tracer(run string, devices ...string) nnrt.Tracer {
	x := &Tracer{Writer: t.Writer, application: run + ": application", Phone: run + ": phone", flows: t.flows, process: func(device string) string {
		if device == run {
			return device
		}
		return run + ": " + device
	}}
	t.flows += maxFlows
	t.Writer.Processes(x.application)
	for _, d := range devices {
		t.Writer.Processes(x.process(d))
	}
	t.Writer.Processes(x.Phone)
	return x
}

// Concurrent draws an execution, which begins at an instant, of a network beside others:
// one process per engine, and one of the network's application.
func (t *Timeline) Concurrent(application string, atFs int64) nnrt.Tracer {
	x := &Tracer{
		Writer: t.Writer, application: application, atFs: atFs, flows: t.flows,
		process: func(device string) string { return device },
	}
	t.flows += maxFlows
	return x
}

// Tracer implements nnrt.Tracer.
type Tracer struct {
	Writer      trace.Writer
	application string                     // its process
	Phone       string                     // the process of the machine's measurements
	process     func(device string) string // of an engine
	atFs        int64                      // when the execution begins
	flows       uint64                     // numbers of its arrows begin after
}

// Span implements nnrt.Tracer. The name of a span states the operation that it belongs to; its arguments are the costs
// of the whole operation. Phases of an execution outside of its engine are drawn by marks.
func (t *Tracer) Span(device string, s hal.Span, op *nnrt.OperationCost, part int) {
	if op.Index == hal.LaunchIndex {
		return
	}
	name := s.Name
	args := []trace.Arg{{Key: "type", Value: op.Name()}}
	if op.Index >= 0 {
		name = fmt.Sprintf("%d %s", op.Index, op.Type)
		args = append(args, trace.Arg{Key: "operation", Value: op.Index}, trace.Arg{Key: "kernel", Value: s.Name},
			trace.Arg{Key: "inputs", Value: op.Inputs}, trace.Arg{Key: "outputs", Value: op.Outputs}, trace.Arg{Key: "macs", Value: op.MACs})
	}
	args = append(args, trace.Arg{Key: "cycles", Value: op.Cycles}, trace.Arg{Key: "stall", Value: op.BoundBy}, trace.Arg{Key: "stalls", Value: stallMap(op.Stalls)})
	if part > 0 {
		args = append(args, t.arrow(part, true))
	}
	t.Writer.Span(t.process(device), s.Track, name, s.StartFs+t.atFs, s.EndFs+t.atFs, args...)
}

// Sample implements nnrt.Tracer.
func (t *Tracer) Sample(device string, c nnrt.Counter, atFs int64, value float64) {
	t.Writer.Counter(t.process(device), c.String(), atFs+t.atFs, value)
}

// Stall implements nnrt.Tracer.
func (t *Tracer) Stall(device, reason string, atFs int64, percent float64) {
	t.Writer.Counter(t.process(device), trace.StallCounter(reason), atFs+t.atFs, percent)
}

// Mark implements nnrt.Tracer.
func (t *Tracer) Mark(thread string, m nntrace.Mark, startFs, endFs int64, part int) {
	var args []trace.Arg
	if part > 0 {
		args = append(args, t.arrow(part, false))
	}
	t.Writer.Span(t.application, thread, m.String(), startFs+t.atFs, endFs+t.atFs, args...)
}

// arrow leads from the application to the engine that executes a part.
func (t *Tracer) arrow(part int, ends bool) trace.Arg {
	return trace.Arg{Key: "execution", Value: trace.Flow{ID: t.flows + uint64(part), Ends: ends}}
}

// stallMap returns cycles by reason.
func stallMap(l []hal.StallCycles) map[string]int64 {
	m := map[string]int64{}
	for _, s := range l {
		m[s.Reason] = s.Cycles
	}
	return m
}
