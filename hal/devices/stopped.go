package devices

import (
	"errors"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// warmUpFactor bounds an execution that warms a machine up, in multiples of its deadline: with warm caches, and at other
// clocks, a later execution may still end in time (D-1690).
const warmUpFactor = 4

// patient is that bound for an execution with a deadline; 0: it has none.
func patient(longest sim.Time) sim.Time { return min(longest, sim.Never/warmUpFactor) * warmUpFactor }

// longest is how long after a request its deadline is; 0: it has none.
func longest(c *base.Call, clock *hal.Clock) sim.Time {
	d := c.Buffers.Deadline
	if d == nil {
		return 0
	}
	return sim.Time(max(1, int64(min(*d, math.MaxInt64/1_000_000))*1_000_000-clock.NowFs()))
}

// until makes the engine of run, which starts at the instant start of a request, stop when longest has passed; 0: never. Work
// after a deadline is not simulated.
func until(run func(hal.Tracer, base.Place) (*hal.Result, error), longest, start sim.Time) func(hal.Tracer, base.Place) (*hal.Result, error) {
	if longest <= 0 {
		return run
	}
	return func(t hal.Tracer, at base.Place) (*hal.Result, error) {
		at.Until = max(1, longest-start)
		return run(t, at)
	}
}

// lateness returns from the error of an execution the instant at which its engine stopped, on the execution's own clock; nil: it did not.
func lateness(err error) (late *sim.Late) {
	errors.As(err, &late)
	return late
}

// stopped is the outcome of an execution that its engine stopped after some time. Its power is that of the first known
// execution of the program that ended, else what the engine draws without work (D-1611).
func (h *engineHost) stopped(known []*remembered, k platform.Conditions, after sim.Time) platform.Outcome {
	after++ // it would have gone on
	o := platform.Outcome{Time: after, Launches: 1}
	v := k.Points[0].OPP.Volts
	o.EnergyPJ = h.staticMW() * v * v * float64(after) / 1e6
	if i := slices.IndexFunc(known, func(x *remembered) bool { return x.result.Stats.LatencyFs > 0 }); i >= 0 {
		s := &known[i].result.Stats
		o.EnergyPJ = s.EnergyPJ / float64(s.LatencyFs) * float64(after)
	}
	if o.Traffic = h.m.soc.Traffic(after); o.Traffic != nil {
		o.DRAMBytes = o.Traffic.Bytes()
	}
	return o
}

// missed ends an execution of a request that its engine has stopped: at its deadline, or where a loop did not end in its
// time, which is why.
func missed(e soc.Engine, clock *hal.Clock, c *base.Call, r platform.Request, x *platform.Execution, spans recorder, why error) error {
	calledFs := clock.NowFs()
	wrap(&hal.Result{}, x, c.Buffers.Trace, spans.until(x))
	if !x.Aborted {
		clock.AdvanceTo(calledFs + int64(x.Latency))
		return why
	}
	clock.AdvanceTo(int64(*c.Buffers.Deadline) * 1e6)
	return hal.Errorf(hal.MissedDeadlineTransient, "%s: stopped at the deadline, %.1f us after the request", e, r.Longest.Microseconds())
}

// stop adds the span of an execution that has been stopped at an instant.
func (r *recorder) stop(e soc.Engine, at sim.Time) {
	var from int64
	for _, s := range *r {
		from = max(from, s.EndFs)
	}
	r.Span(hal.Span{Track: e.String(), Name: "stopped", Operation: hal.LaunchIndex, StartFs: from, EndFs: int64(at)})
}
