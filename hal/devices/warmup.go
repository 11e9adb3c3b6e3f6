package devices

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Warm calls f on a machine that has warmed up, as if calls of f had run back to back for
// platform.WarmUp. Most of the warm-up does not run on the engines: first each execution of f
// follows a loop of itself, then f is repeated with the costs of those executions, until
// clocks and idle states are those of a loop of all of them.
func (m *Machine) Warm(f func() error) error {
	m.warmed = &warmUps{known: map[any][]*remembered{}, most: maxSteadyRuns}
	defer func() { m.warmed = nil }()
	return m.warmUp(m.warmed, f)
}

// Approximate warms up like Warm, but runs each program once, and a second time if its caches may hold data of the
// first. Until Exact, an execution with the program and inputs of one of the warm-up reuses its costs, at the present
// clock. Of programs that are alike (base.Call.CostKey) only the first runs on an engine, whatever their inputs: the
// others leave its outputs.
func (m *Machine) Approximate(f func() error) error {
	m.warmed = &warmUps{known: map[any][]*remembered{}, most: 2, approximate: true}
	err := m.warmUp(m.warmed, f)
	if m.warmed.repeating = true; err != nil {
		m.warmed = nil
	}
	return err
}

// Refresh lets the next execution of each program that Approximate repeats run, at the clocks that it finds, and its costs
// count from then on.
func (m *Machine) Refresh() {
	if m.warmed != nil {
		clear(m.warmed.known)
	}
}

// Exact ends what Approximate began.
func (m *Machine) Exact() { m.warmed = nil }

// warmUp calls f and repeats it for platform.WarmUp.
func (m *Machine) warmUp(w *warmUps, f func() error) error {
	err := f()
	if err != nil || w.executions < 2 && m.soc.Exclusive() {
		return err // a loop of one execution alone is one of itself
	}
	w.repeating = true
	for now, end := m.soc.Now(), m.soc.Now()+platform.WarmUp; now < end; {
		if err := f(); err != nil {
			return err
		}
		if before := now; m.soc.Now() > before {
			now = m.soc.Now()
			continue
		}
		return nil // f executes nothing, or nothing of any cost
	}
	return nil
}

// warmUps are the executions of a warm-up.
type warmUps struct {
	known       map[any][]*remembered // by program
	executions  int
	most        int // executions of a program that bring the machine to where its loop has it
	approximate bool
	repeating   bool
}

// first reports whether executions are those that are repeated later.
func (w *warmUps) first() bool { return w != nil && !w.repeating }

// note keeps an execution that ran.
func (w *warmUps) note(e soc.Engine, c *base.Call, k platform.Conditions, res *hal.Result, traffic *platform.Traffic) {
	if w == nil {
		return
	}
	if w.executions++; w.find(e, c) != nil {
		return
	}
	x := remember(c.Buffers, k.Points, memoryState{}, res)
	x.traffic, x.hz = traffic, clockHz(e, res)
	w.known[w.key(e, c)] = append(w.known[w.key(e, c)], x)
}

// key identifies programs whose executions are reused for each other.
func (w *warmUps) key(e soc.Engine, c *base.Call) any {
	if w.approximate && e != soc.EngineCPU && c.CostKey != "" {
		return c.CostKey
	}
	return c.Program
}

// clockHz is the mean clock of an engine in an execution; 0 of the CPU, whose clusters have clocks of
// their own.
func clockHz(e soc.Engine, res *hal.Result) float64 {
	if e == soc.EngineCPU || res.Stats.LatencyFs <= 0 {
		return 0
	}
	return float64(res.Stats.Cycles) / float64(res.Stats.LatencyFs) * 1e15
}

func (w *warmUps) find(e soc.Engine, c *base.Call) *remembered {
	key := w.key(e, c)
	list := w.known[key]
	if len(list) > 0 && key == c.CostKey {
		return list[0]
	}
	if i := slices.IndexFunc(list, func(x *remembered) bool { return x.same(c.Buffers) }); i >= 0 {
		return list[i]
	}
	return nil
}

// recall returns the result of an earlier call of a program on the same inputs, at the present clocks; nil: it has to run.
func (w *warmUps) recall(h *engineHost, c *base.Call, k platform.Conditions) (*hal.Result, *platform.Traffic) {
	if w == nil || !w.repeating && !w.approximate {
		return nil, nil
	}
	x := w.find(h.engine, c)
	if x == nil || h.engine == soc.EngineCPU && !x.began(k.Points) {
		return nil, nil // a CPU costs the host little time
	}
	res := x.replay(c.Buffers)
	if x.hz > 0 && !(x.began(k.Points) && h.m.soc.Fits(x.traffic)) {
		retime(&res.Stats, h.clocks(x), h.present(k.Points), k.Points)
	}
	return res, x.traffic
}

// scaled converts a time at a clock of hz to the time of as many cycles at the points of a clock;
// with hz 0 it is unchanged.
func scaled(took sim.Time, hz int64, points []sim.Change) sim.Time {
	if hz <= 0 || len(points) == 0 {
		return took
	}
	left := float64(took) * float64(hz) // cycles in femtoseconds of 1 Hz
	for i, p := range points {
		at := float64(p.OPP.Hz)
		if at <= 0 {
			return took
		}
		if i+1 < len(points) {
			if span := float64(points[i+1].At - p.At); left > span*at {
				left -= span * at
				continue
			}
		}
		return p.At + sim.Time(left/at)
	}
	return took
}

// warmUp repeats a call until its clocks and caches are steady. A call that is still running after patience
// times its deadline is stopped there in every iteration. An approximate warm-up keeps the last execution for
// later calls.
func (h *engineHost) warmUp(c *base.Call, r platform.Request, run func(hal.Tracer, base.Place) (*hal.Result, error)) (*hal.Result, error) {
	w := h.m.warmed
	if w.approximate && w.find(h.engine, c) != nil {
		return nil, nil
	}
	allowed := longest(c, h.m.clock)
	s := h.steadyState(c, w.most, until(run, patient(allowed), 0))
	engine := h.engine != soc.EngineCPU && !h.foreign
	warms := func(int64) bool { return engine }
	if w.approximate || h.m.Most > 0 {
		warms = func(bytes int64) bool {
			holds := cachesHold(h.m.config, h.engine, h.foreign, bytes)
			if !holds {
				s.most = 1
			}
			return holds
		}
	}
	failed, err := s.reach(r, engine && !w.approximate && h.m.Most == 0, warms)
	if late := lateness(err); late != nil && allowed > 0 {
		return nil, s.repeat(r, min(late.At, allowed))
	}
	if err != nil {
		return failed, err
	}
	if w.approximate && w.find(h.engine, c) == nil {
		key := w.key(h.engine, c)
		w.known[key] = append(w.known[key], s.known[len(s.known)-1])
	}
	return nil, nil
}

// unobserved is a call whose client is shown nothing but the results.
func unobserved(c *base.Call) *base.Call {
	plain, buffers := *c, *c.Buffers
	buffers.Trace, buffers.Profile = nil, nil
	plain.Buffers = &buffers
	return &plain
}

// rehearsal runs a call without its client's profile: of an execution that is none of the client's.
func rehearsal(c *base.Call, run func(hal.Tracer, base.Place) (*hal.Result, error)) func(hal.Tracer, base.Place) (*hal.Result, error) {
	if c.Buffers.Profile == nil {
		return run
	}
	return func(t hal.Tracer, at base.Place) (*hal.Result, error) {
		at.Rehearsal = true
		return run(t, at)
	}
}
