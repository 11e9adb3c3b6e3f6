package applog

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/nntrace"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// observation follows an execution for what its line says besides its costs.
type observation struct {
	checks, traces bool
	check          *Check
	spans          []Span
}

// Observe implements nnapi.Observer.
func (r *Recorder) Observe(nnapi.SessionInfo) nnapi.Observation {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := &observation{checks: r.options.Check, traces: r.traced < r.options.Traced}
	if o.traces {
		r.traced++
	}
	if !o.checks && !o.traces {
		return nil
	}
	return o
}

// Tracer implements nnapi.Observation.
func (o *observation) Tracer() nnrt.Tracer {
	if !o.traces {
		return nil
	}
	return (*spans)(o)
}

// Computed implements nnapi.Observation.
func (o *observation) Computed(m *nn.Model, inputs [][]byte, r *nnrt.Result) {
	if !o.checks {
		return
	}
	o.check = &Check{}
	expected, err := cpudriver.ReferenceTensors(m, inputs)
	if err != nil {
		o.check.Reason = fmt.Sprintf("the reference failed: %v", err)
		return
	}
	o.check.Compared = true
	for _, x := range nnrt.Compare(m, expected, r) {
		if o.check.Mismatches == 0 && x.First != nil {
			o.check.Reason = x.First.Error()
		}
		o.check.Mismatches += x.Mismatches
	}
}

// verdict is the result of the check, nil without one.
func (o *observation) verdict() *Check {
	if o.checks && o.check == nil {
		return &Check{Reason: "it failed, or its values are in device memory"}
	}
	return o.check
}

// spans is an observation that collects the spans of operations and of phases.
type spans observation

// Application is the device of phases outside of devices.
const Application = "application"

// Span implements nnrt.Tracer.
func (s *spans) Span(device string, x hal.Span, op *nnrt.OperationCost, _ int) {
	if op.Index == hal.LaunchIndex {
		return
	}
	name := x.Name
	if op.Index >= 0 {
		name = fmt.Sprintf("%d %s", op.Index, op.Type)
	}
	s.spans = append(s.spans, Span{device, x.Track, name, micros(x.StartFs), micros(x.EndFs)})
}

// Mark implements nnrt.Tracer.
func (s *spans) Mark(thread string, m nntrace.Mark, startFs, endFs int64, _ int) {
	s.spans = append(s.spans, Span{Application, thread, m.String(), micros(startFs), micros(endFs)})
}

// Sample implements nnrt.Tracer: counters are not recorded.
func (*spans) Sample(string, nnrt.Counter, int64, float64) {}

// Stall implements nnrt.Tracer: counters are not recorded.
func (*spans) Stall(string, string, int64, float64) {}
