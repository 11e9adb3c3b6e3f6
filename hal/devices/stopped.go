package devices

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// until runs an execution that its engine, which starts at an instant of a request, ends at the last that this allows; 0: when it has
// ended. What lies behind a deadline costs the host nothing.
func until(run func(hal.Tracer, base.Place) (*hal.Result, error), longest, start sim.Time) func(hal.Tracer, base.Place) (*hal.Result, error) {
	if longest <= 0 {
		return run
	}
	return func(t hal.Tracer, at base.Place) (*hal.Result, error) {
		at.Until = max(1, longest-start)
		return run(t, at)
	}
}

// stopped is what an execution comes to that its engine has stopped after some time. Its power is that of an execution of the
// program that ended, where one is known, else what the engine draws without work (D-1611).
func (h *engineHost) stopped(c *base.Call, k soc.Conditions, after sim.Time) soc.Outcome {
	after++ // it would have gone on
	o := soc.Outcome{Time: after, Launches: 1}
	v := k.Points[0].OPP.Volts
	o.EnergyPJ = h.staticMW() * v * v * float64(after) / 1e6
	list := h.m.memo[c.Program]
	if i := slices.IndexFunc(list, func(x *remembered) bool { return x.result.Stats.LatencyFs > 0 }); i >= 0 {
		s := &list[i].result.Stats
		o.EnergyPJ = s.EnergyPJ / float64(s.LatencyFs) * float64(after)
	}
	if o.Traffic = h.m.soc.Traffic(after); o.Traffic != nil {
		o.DRAMBytes = o.Traffic.Bytes()
	}
	return o
}

// end is the last instant of the spans.
func (r recorder) end() (fs int64) {
	for _, s := range r {
		fs = max(fs, s.EndFs)
	}
	return fs
}
