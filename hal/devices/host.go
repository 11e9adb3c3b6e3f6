package devices

import (
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/statistics"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// loop is the host of a device that no machine keeps: each execution costs what it
// costs in a loop of the same execution, back to back, after a warm-up. It has no
// state, so results do not depend on what ran before. It implements base.Host.
type loop struct {
	config  *soc.Config
	engine  soc.Engine
	clock   *hal.Clock
	queue   *queue
	cold    bool // see Cold
	foreign bool // of a driver from outside, whose memory is its own
}

// queue orders the executions of an engine that no machine keeps.
type queue struct {
	mu     sync.Mutex
	freeFs int64 // the engine's last execution ends, on the devices' clock
}

// execute lets a request that was called at an instant of the devices' clock go through a
// machine in its steady state: it waits there for the executions of other callers that have the engine.
func (q *queue) execute(m *platform.Machine, r platform.Request, out platform.Outcome, calledFs int64) (platform.Execution, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if busy := q.freeFs - calledFs; busy > 0 {
		m.Occupy(r.Engine, m.Now()+sim.Time(busy))
	}
	x, err := m.Execute(r, func(platform.Conditions) (platform.Outcome, error) { return out, nil })
	at := calledFs
	for _, p := range x.Parts {
		if at += int64(p.Time); p.Name == platform.PartExecution {
			q.freeFs = max(q.freeFs, at)
		}
	}
	return x, err
}

// Execute implements base.Host.
func (l *loop) Execute(c *base.Call, run func(hal.Tracer, base.Place) (*hal.Result, error)) (*hal.Result, error) {
	calledFs := l.clock.NowFs()
	m, err := platform.NewMachine(l.config)
	if err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	var spans recorder
	r, most := requestOf(l.engine, c), longest(c, l.clock)
	execute := l.steady
	if l.cold {
		execute = l.once
	}
	res, out, err := execute(m, r, c, &spans, run, most)
	halted := err
	if err != nil && lateness(err) == nil {
		return res, err
	}
	r.Longest = most
	x, err := l.queue.execute(m, r, out, calledFs)
	if err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	if x.Aborted || halted != nil {
		return nil, missed(l.engine, l.clock, c, r, &x, spans, halted)
	}
	wrap(res, &x, c.Buffers.Trace, spans)
	return res, nil
}

// once runs an execution on a cold memory of its own, at the highest clocks, and brings a machine
// to where a loop of such has it. One that is late is the outcome until it was stopped as well.
func (l *loop) once(m *platform.Machine, r platform.Request, c *base.Call, spans *recorder,
	run func(hal.Tracer, base.Place) (*hal.Result, error), most sim.Time) (*hal.Result, platform.Outcome, error) {
	var to hal.Tracer
	if c.Buffers.Trace != nil {
		to = spans
	}
	res, err := until(run, most, 0)(to, base.Place{})
	var out platform.Outcome
	switch late := lateness(err); {
	case late != nil:
		k, failed := m.Saturated(r)
		if failed != nil {
			return nil, out, hal.Errorf(hal.GeneralFailure, "%w", failed)
		}
		spans.stop(l.engine, late.At)
		out = l.on(m).stopped(nil, k, late.At)
	case err != nil:
		return res, out, err
	default:
		out = outcomeOf(&res.Stats)
	}
	if err := m.Repeat(r, out, platform.WarmUp); err != nil {
		return nil, out, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	return res, out, err
}

// on is the engine on a machine of its own.
func (l *loop) on(m *platform.Machine) *engineHost {
	return &engineHost{m: &Machine{config: l.config, soc: m, programs: map[any]int{}, SimulateAll: true}, engine: l.engine, foreign: l.foreign}
}

// requestOf is a call as the machine sees it. Operands in memory of the device are
// neither mapped nor maintained.
func requestOf(e soc.Engine, c *base.Call) platform.Request {
	b := c.Buffers
	r := platform.Request{Engine: e, Preference: sim.Preference(c.Options.Preference), Burst: b.InBurst, Priority: int(c.Options.Priority)}
	add := func(list [][]byte, onDevice []bool, bytes *int64) {
		for i, x := range list {
			if i >= len(onDevice) || !onDevice[i] {
				r.Buffers++
				*bytes += int64(len(x))
			}
		}
	}
	add(b.Inputs, b.DeviceInputs, &r.In)
	add(b.Outputs, b.DeviceOutputs, &r.Out)
	return r
}

// outcomeOf is what a device reports as the machine sees it.
func outcomeOf(s *hal.Stats) platform.Outcome {
	o := platform.Outcome{Time: sim.Time(s.LatencyFs), EnergyPJ: s.EnergyPJ, Launches: s.Launches}
	if m := &s.Memory; m.Bursts+m.CacheHits > 0 { // what has passed the system-level cache
		o.DRAMBytes = m.ReadBytes + m.WriteBytes
		return o
	}
	for i := range s.Operations {
		o.DRAMBytes += s.Operations[i].DRAMBytes
	}
	return o
}

// wrap puts the parts of an execution around what the device reported, and its spans
// between those of the parts.
func wrap(res *hal.Result, x *platform.Execution, to hal.Tracer, spans recorder) {
	parts := make([]hal.Part, len(x.Parts))
	var atFs, ranFs int64 // of the parts, of the engine's own time
	for i, p := range x.Parts {
		parts[i] = hal.Part{Name: p.Name, TimeFs: int64(p.Time), EnergyPJ: p.EnergyPJ}
		if to != nil {
			if p.Name == platform.PartExecution {
				last := !slices.ContainsFunc(x.Parts[i+1:], func(p platform.Part) bool { return p.Name == platform.PartExecution })
				spans = spans.replay(to, atFs-ranFs, ranFs+int64(p.Time), last)
				ranFs += int64(p.Time)
			} else {
				to.Span(hal.Span{Track: "launch", Name: p.Name, Operation: hal.LaunchIndex, StartFs: atFs, EndFs: atFs + int64(p.Time)})
			}
		}
		atFs += int64(p.Time)
	}
	statistics.AddParts(&res.Stats, parts)
	res.Stats.Components = components(&x.Rails)
}

// components are energies by rail, of those that have supplied any.
func components(rails *[soc.NumRails]float64) (list []hal.ComponentEnergy) {
	for r, pj := range rails {
		if pj != 0 {
			list = append(list, hal.ComponentEnergy{Name: soc.Rail(r).String(), EnergyPJ: pj})
		}
	}
	return list
}

// recorder keeps spans until it is known when the device started. It implements
// hal.Tracer.
type recorder []hal.Span

// Span implements hal.Tracer.
func (r *recorder) Span(s hal.Span) { *r = append(*r, s) }

// until are the spans of the engine's own time that begin before it was stopped, cut off there.
func (r recorder) until(x *platform.Execution) (list recorder) {
	var end int64
	for _, p := range x.Parts {
		if p.Name == platform.PartExecution {
			end += int64(p.Time)
		}
	}
	for _, s := range r {
		if s.StartFs < end {
			s.EndFs = min(s.EndFs, end)
			list = append(list, s)
		}
	}
	return list
}

// replay passes on the spans that begin before an instant, or all, later by a time, and
// returns the others.
func (r recorder) replay(to hal.Tracer, byFs, endFs int64, all bool) (left recorder) {
	for _, s := range r {
		if s.StartFs >= endFs && !all {
			left = append(left, s)
			continue
		}
		s.StartFs += byFs
		s.EndFs += byFs
		to.Span(s)
	}
	return left
}
