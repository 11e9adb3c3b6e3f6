package platform

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// The clocks of an engine work, idle and sleep together.

// ahead is a copy of an engine that runs ahead of it.
func (e *engine) ahead() *engine {
	x := &engine{}
	for _, d := range e.clocks {
		x.clocks = append(x.clocks, d.Lookahead())
	}
	return x
}

// prefer limits the governors while a model runs.
func (e *engine) prefer(p sim.Preference) {
	for _, d := range e.clocks {
		d.Prefer(p)
	}
}

// ClocksOf are the lowest and the highest clock of an engine with one clock.
func (m *Machine) ClocksOf(e soc.Engine) (lowest, highest int64) {
	opps := m.engines[e].clocks[0].Config().OPPs
	return opps[0].Hz, opps[len(opps)-1].Hz
}

// PointsOf are the clocks of an engine with one clock, rising.
func (m *Machine) PointsOf(e soc.Engine) (list []int64) {
	for _, o := range m.engines[e].clocks[0].Config().OPPs {
		list = append(list, o.Hz)
	}
	return list
}

// Hz is the present clock of an engine, for the CPU that of its first cluster.
func (m *Machine) Hz(e soc.Engine) int64 {
	o, _ := m.engines[e].clocks[0].Point()
	return o.Hz
}

// PinClock keeps the clock of an engine at one of its points whatever requests another, also through
// Reset; with 0 it is free again.
func (m *Machine) PinClock(e soc.Engine, hz int64) error {
	x := m.engines[e]
	if x == nil || len(x.clocks) != 1 {
		return fmt.Errorf("platform: %s has no %s with one clock", m.cfg.SoC.Name, e)
	}
	if !x.clocks[0].Pin(hz) {
		return fmt.Errorf("platform: the %s has no point of %d Hz", e, hz)
	}
	return nil
}

// release lifts the preference of a model that has run on the CPU, whose clocks are those
// of drivers and applications, too.
func (e *engine) release(engine soc.Engine) {
	if engine != soc.EngineCPU {
		return
	}
	for _, d := range e.clocks {
		d.Release()
	}
}

// wake makes the engine work from t on and returns the delays: the longest of its clocks.
func (e *engine) wake(t sim.Time) (wake, ramp sim.Time) {
	for _, d := range e.clocks {
		w, r := d.Wake(t)
		wake, ramp = max(wake, w), max(ramp, r)
	}
	return wake, ramp
}

// advance moves the clocks to t, with work for a share of the time.
func (e *engine) advance(t sim.Time, share float64) {
	for _, d := range e.clocks {
		d.AdvanceLoad(t, share)
	}
}

// sleep notes that the engine has no work from t on.
func (e *engine) sleep(t sim.Time) {
	for _, d := range e.clocks {
		d.Sleep(t)
	}
}

// saturate puts the clocks where work without a pause has them.
func (e *engine) saturate() {
	for _, d := range e.clocks {
		d.Saturate()
	}
}

// planHorizon is as far as the points of an engine at work are foreseen.
const planHorizon = 10 * sim.Second

// plan returns the points that the clocks go through when the engine works from now on, in
// the order of time; times count from now.
func (e *engine) plan() []sim.Change {
	if len(e.clocks) == 1 {
		return e.clocks[0].Plan(planHorizon)
	}
	var points []sim.Change
	for i, d := range e.clocks {
		for _, c := range d.Plan(planHorizon) {
			c.Cluster = i
			points = append(points, c)
		}
	}
	slices.SortStableFunc(points, func(a, b sim.Change) int { return cmp.Compare(a.At, b.At) })
	return points
}
