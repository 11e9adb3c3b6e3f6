package nnrt

import (
	"cmp"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nntrace"
)

// Tracer receives the timeline of an execution. Times are simulated
// femtoseconds since the execution began.
type Tracer interface {
	// Span records an interval of a unit of a device. op is the operation, or
	// overhead, that it is charged to, with the operation's whole cost. It must
	// not be kept. Unless 0, part is the number of the part of the execution that begins on
	// the device with this interval.
	Span(device string, s hal.Span, op *OperationCost, part int)
	// Sample records the value that a counter of a device has from atFs on.
	Sample(device string, c Counter, atFs int64, value float64)
	// Stall records the percentage of a device's cycles that go to a reason from atFs on,
	// "issue" when it works.
	Stall(device, reason string, atFs int64, percent float64)
	// Mark records what a layer of the NNAPI stack did, on a thread of it. Marks of a
	// thread lie inside each other or apart. Unless 0, part is the number of the part that
	// the thread waits for meanwhile: its Span comes later.
	Mark(thread string, m nntrace.Mark, startFs, endFs int64, part int)
}

// Counter is what a Tracer samples.
type Counter int

// Counters of a timeline.
const (
	Power     Counter = iota // W
	Frequency                // MHz
	NumCounters
)

var counterNames = [NumCounters]string{"power (W)", "clock (MHz)"}

// String is the counter's name with its unit.
func (c Counter) String() string { return counterNames[c] }

// partTrace keeps the spans of a part until the execution's costs are known.
type partTrace struct {
	device     string
	of         *source
	operations []int // of the source, by the part's indexes
	startFs    int64
	spans      []hal.Span
	stats      hal.Stats
}

// Span implements hal.Tracer.
func (p *partTrace) Span(s hal.Span) {
	s.EndFs = max(s.EndFs, s.StartFs)
	p.spans = append(p.spans, s)
}

// shift sets the start of the part.
func (p *partTrace) shift(startFs int64) {
	p.startFs = startFs
	for i := range p.spans {
		p.spans[i].StartFs += startFs
		p.spans[i].EndFs += startFs
	}
}

// applicationThread is the thread that an execution is called on.
const applicationThread = "application"

// marks passes on which layer of the stack worked when: the execution, and in it what each
// of its parts went through. Parts beside those before are on threads of their own.
func (e *execution) marks(to Tracer) {
	r := e.result
	to.Mark(applicationThread, nntrace.Mark{Layer: nntrace.Runtime, Phase: nntrace.Execution, Detail: e.Model.Name}, 0, r.LatencyFs, 0)
	free := map[string]int64{} // when a thread has nothing to do any more
	for i, x := range e.ran {
		p := &r.Parts[i]
		thread := applicationThread
		if p.StartFs < free[thread] {
			thread += ", " + p.Device
			to.Mark(thread, nntrace.Mark{Layer: nntrace.Runtime, Phase: nntrace.Execution, Detail: e.Model.Name}, p.StartFs, p.EndFs, 0)
		}
		free[thread] = p.EndFs
		parts := x.stats.Parts
		if len(parts) == 0 { // no machine is around the device
			parts = []hal.Part{{Name: partExecution, TimeFs: x.stats.LatencyFs}}
		}
		at, before, number := p.StartFs, "", 0
		if x.trace.hasSpan() {
			number = i + 1
		}
		for _, part := range parts {
			if m, ok := markOf(part.Name, before, x.device == e.cpu); ok && part.TimeFs > 0 {
				waits := 0
				if part.Name == partExecution {
					waits, number = number, 0
				}
				to.Mark(thread, m, at, at+part.TimeFs, waits)
			}
			at, before = at+part.TimeFs, part.Name
		}
	}
}

// Names of hal.Stats.Parts that are handled separately.
const (
	partExecution = "execution"
	partInterrupt = "interrupt"
	partWaking    = "cpu_wake"
)

// partLayers is the layer and phase of each part of an execution. "runtime" is the time
// of the execution's own mark.
var partLayers = map[string]nntrace.Mark{
	"binder":      {Layer: nntrace.IPC, Phase: nntrace.Execution},
	"burst":       {Layer: nntrace.IPC, Phase: nntrace.Execution},
	"thread":      {Layer: nntrace.IPC, Phase: nntrace.Execution},
	partWaking:    {Layer: nntrace.IPC, Phase: nntrace.Execution}, // of a thread that waits for a call
	"map":         {Layer: nntrace.Driver, Phase: nntrace.InputsOutputs},
	"clean":       {Layer: nntrace.Driver, Phase: nntrace.InputsOutputs},
	"rpc":         {Layer: nntrace.Driver, Phase: nntrace.Computation},
	"launch":      {Layer: nntrace.Driver, Phase: nntrace.Computation},
	"queue":       {Layer: nntrace.Driver, Phase: nntrace.Computation},
	"wake":        {Layer: nntrace.Driver, Phase: nntrace.Computation},
	"ramp":        {Layer: nntrace.Driver, Phase: nntrace.Computation},
	"preempted":   {Layer: nntrace.Driver, Phase: nntrace.Computation},
	"switch":      {Layer: nntrace.Driver, Phase: nntrace.Computation},
	partExecution: {Layer: nntrace.Driver, Phase: nntrace.Computation},
	partInterrupt: {Layer: nntrace.Driver, Phase: nntrace.Computation},
	"invalidate":  {Layer: nntrace.Driver, Phase: nntrace.Results},
	"unmap":       {Layer: nntrace.Driver, Phase: nntrace.Results},
}

// markOf is the mark of a part that follows another; false for the runtime's own.
func markOf(name, before string, cpu bool) (nntrace.Mark, bool) {
	m, ok := partLayers[name]
	m.Detail = name
	switch {
	case name == partWaking && before == partInterrupt: // the driver's thread
		m.Layer, m.Phase = nntrace.Driver, nntrace.Computation
	case name == partExecution && cpu:
		m.Layer = nntrace.CPU
	}
	return m, ok
}

// shown reports whether a span is of the device and of an operation that there is.
func (p *partTrace) shown(s *hal.Span) bool {
	return s.Operation != hal.LaunchIndex && s.Operation < len(p.operations)
}

// hasSpan reports whether the part has a span on its device.
func (p *partTrace) hasSpan() bool {
	return slices.ContainsFunc(p.spans, func(s hal.Span) bool { return p.shown(&s) })
}

// emit passes the spans on of the part of a number, with the operations of the model, and the
// counters that follow from them.
func (p *partTrace) emit(to Tracer, r *Result, number int) {
	// Of those that begin at once the longest comes first, so that the others lie in it.
	slices.SortStableFunc(p.spans, func(a, b hal.Span) int {
		return cmp.Or(cmp.Compare(a.StartFs, b.StartFs), cmp.Compare(b.EndFs, a.EndFs))
	})
	for _, s := range p.spans {
		part := 0
		if p.shown(&s) {
			part, number = number, 0
		}
		op := r.overhead(p.device, s.Operation)
		if s.Operation >= 0 {
			if s.Operation >= len(p.operations) {
				continue
			}
			op = r.row(p.of, p.device, p.operations[s.Operation])
			s.Operation = op.Index
		}
		to.Span(p.device, s, op, part)
	}
	st := &p.stats
	if st.Cycles == 0 {
		return
	}
	p.power(to)
	p.stalls(to)
	to.Sample(p.device, Frequency, p.startFs, float64(st.ClockHz)/1e6)
	to.Sample(p.device, Frequency, p.startFs+st.LatencyFs, 0)
}

// power samples the power: the area under the counter is the energy of the part.
func (p *partTrace) power(to Tracer) {
	watts := func(o *hal.OperationStats) float64 { return o.EnergyPJ * 1e3 }
	p.samples(watts, func(atFs int64, value float64) { to.Sample(p.device, Power, atFs, value) })
}

// stalls samples each reason that cycles went to: the area under its counter is the time of
// those cycles, and at no instant are the counters more than 100 % together.
func (p *partTrace) stalls(to Tracer) {
	for i := range p.stats.Stalls {
		reason := p.stats.Stalls[i].Reason
		percent := func(o *hal.OperationStats) float64 {
			for _, s := range o.Stalls {
				if s.Reason == reason && o.Cycles > 0 {
					return 100 * float64(s.Cycles) / float64(o.Cycles) * float64(o.TimeFs)
				}
			}
			return 0
		}
		p.samples(percent, func(atFs int64, value float64) { to.Stall(p.device, reason, atFs, value) })
	}
}

// interval is the time that is charged to an operation, or a piece of that of LAUNCH.
type interval struct {
	startFs, endFs int64
	of             *hal.OperationStats
}

// intervals lays out the charged times of operations one after the other, by their start: an operation that overlaps
// others on its units has been charged the time by which it lengthened the execution. LAUNCH is around them.
func (p *partTrace) intervals() []interval {
	began := map[int]int64{}
	first := p.startFs + p.stats.LatencyFs
	for i := range p.spans {
		s := &p.spans[i]
		if at, known := began[s.Operation]; !known || s.StartFs < at {
			began[s.Operation] = s.StartFs
		}
		if s.Operation != hal.LaunchIndex {
			first = min(first, s.StartFs)
		}
	}
	var launch *hal.OperationStats
	var order []interval
	last := p.startFs
	for i := range p.stats.Operations {
		o := &p.stats.Operations[i]
		if o.Index == hal.LaunchIndex {
			launch = o
			continue
		}
		if at, known := began[o.Index]; known {
			last = at
		}
		order = append(order, interval{startFs: last, of: o})
	}
	slices.SortStableFunc(order, func(a, b interval) int { return cmp.Compare(a.startFs, b.startFs) })
	at := p.startFs
	put := func(o *hal.OperationStats, fs int64) interval {
		at += fs
		return interval{at - fs, at, o}
	}
	var list []interval
	var before int64
	if launch != nil {
		before = min(launch.TimeFs, first-p.startFs)
		list = append(list, put(launch, before))
	}
	for _, x := range order {
		list = append(list, put(x.of, x.of.TimeFs))
	}
	if launch != nil {
		list = append(list, put(launch, launch.TimeFs-before))
	}
	return list
}

// samples samples an amount of each operation per femtosecond of the time that it was charged. An operation that
// was charged no time has its amount with the next one.
func (p *partTrace) samples(amount func(*hal.OperationStats) float64, sample func(atFs int64, value float64)) {
	list, some := p.intervals(), false
	for _, x := range list {
		some = some || amount(x.of) != 0
	}
	if !some {
		return
	}
	last, left := -1.0, 0.0
	for _, x := range list {
		share := 1.0
		if x.of.TimeFs > 0 {
			share = float64(x.endFs-x.startFs) / float64(x.of.TimeFs)
		}
		left += share * amount(x.of)
		if x.endFs == x.startFs {
			continue
		}
		if v := left / float64(x.endFs-x.startFs); v != last {
			sample(x.startFs, v)
			last = v
		}
		left = 0
	}
	if n := len(list); last != 0 && n > 0 {
		sample(list[n-1].endFs, 0)
	}
}

// Profiler receives where an execution's costs arose.
type Profiler interface {
	// Sample records a place of a program of a device. op is the operation, or overhead, that
	// it is a part of, with the operation's whole cost; it must not be kept, and neither must s.
	// What a device reports of no place comes as one sample of its operation, without a Program.
	Sample(device string, s *hal.Sample, op *OperationCost)
}

// partProfile keeps the samples of a part until the execution's costs are known.
type partProfile struct {
	device     string
	of         *source
	operations []int // of the source, by the part's indexes
	samples    []hal.Sample
	stats      hal.Stats
}

// Sample implements hal.Profiler.
func (p *partProfile) Sample(s *hal.Sample) { p.samples = append(p.samples, *s) }

// emit passes the samples on, with the operations of the model.
func (p *partProfile) emit(to Profiler, r *Result) {
	row := func(index int) *OperationCost {
		switch {
		case index < 0:
			return r.overhead(p.device, index)
		case index >= len(p.operations):
			return nil
		}
		return r.row(p.of, p.device, p.operations[index])
	}
	for i := range p.samples {
		s := &p.samples[i]
		if op := row(s.Operation); op != nil {
			to.Sample(p.device, s, op)
		}
	}
	for i := range p.stats.Operations {
		o := &p.stats.Operations[i]
		if slices.ContainsFunc(p.samples, func(s hal.Sample) bool { return s.Operation == o.Index }) {
			continue
		}
		if op := row(o.Index); op != nil {
			to.Sample(p.device, &hal.Sample{Operation: o.Index, At: hal.NoInstruction, Text: op.Name(), Count: 1, Stalls: o.Stalls, EnergyPJ: o.EnergyPJ}, op)
		}
	}
}
