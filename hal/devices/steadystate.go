package devices

import (
	"bytes"
	"cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// steadyState brings a machine to the steady state of a loop of one execution. The execution runs once;
// a loop repeats its costs at the clocks of work without a pause for platform.WarmUp, and then iterates
// until the engine's clock is stable. If it is not after platform.WarmUp, the loop ends before an
// iteration at the operating point at which most began. The execution runs again where an iteration
// finds clocks at which it has not run, or caches that are no longer cold.
type steadyState struct {
	host   *engineHost
	call   *base.Call
	run    func(hal.Tracer, base.Place) (*hal.Result, error)
	most   int      // runs; the last one stands for others then
	inputs [][]byte // the call's inputs
	known  []*remembered
	runs   int
	cold   bool // what is known began on caches that its like had not filled
}

// SteadySpan is how long the clock of a loop must not change before it counts as steady. The GPU's
// governor decides after 50 ms of work, which is 150 ms of a loop that keeps the GPU busy for a
// third of the time; the DRAM's waits 40 ms, the CPU's 20.
const SteadySpan = 200 * sim.Millisecond

// maxSteadyRuns bounds the executions of a warm-up that are run on the engine: one at each point
// of the clocks that a loop comes to, and one more where the first has found the caches cold.
const maxSteadyRuns = 4

func (h *engineHost) steadyState(c *base.Call, most int, run func(hal.Tracer, base.Place) (*hal.Result, error)) *steadyState {
	return &steadyState{host: h, call: c, most: most, run: run, inputs: cloned(c.Buffers.Inputs)}
}

// reach brings the machine there. A first iteration begins in the machine's present state, in which
// a cold machine may have run it already for an application that waits for its first result. Without
// one the execution runs at the clocks of work without a pause. The result is that of a failed execution.
func (s *steadyState) reach(r platform.Request, firstIteration bool, warms func(bytes int64) bool) (*hal.Result, error) {
	m := s.host.m.soc
	if firstIteration {
		if _, res, err := s.iterate(r); err != nil {
			return res, err
		}
	}
	k, err := m.Saturated(r)
	if err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	if !firstIteration {
		if _, res, err := s.at(k); err != nil {
			return res, err
		}
	}
	first := s.known[0]
	out := outcome(&first.result, first.traffic)
	out.Time = scaled(out.Time, int64(first.hz), k.Points)
	s.cold = s.most > 1 && warms(out.DRAMBytes)
	if err := m.Repeat(r, out, platform.WarmUp); err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	turns := map[sim.OPP]int{} // by the point of the engine at which they began
	now, usual := m.Now(), k.Points[0].OPP
	for since, end := now, now+platform.WarmUp; now < min(end, since+SteadySpan); now = m.Now() {
		point, res, err := s.iterate(r)
		if err != nil {
			return res, err
		}
		if turns[point]++; point != usual {
			since, usual = now, point
		}
	}
	for o, n := range turns {
		if n > turns[usual] || n == turns[usual] && o.Hz > usual.Hz {
			usual = o
		}
	}
	for end := now + platform.WarmUp; len(turns) > 1 && m.Now() < end; {
		if k, err = m.Present(r); err != nil {
			return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
		}
		if k.Points[0].OPP == usual {
			break
		}
		if _, res, err := s.iterate(r); err != nil {
			return res, err
		}
	}
	return nil, nil
}

// iterate runs an iteration of the loop. It returns the operating point of the engine at which it began,
// and the result of a failed execution.
func (s *steadyState) iterate(r platform.Request) (point sim.OPP, res *hal.Result, err error) {
	var failed error
	_, err = s.host.m.soc.Execute(r, func(k platform.Conditions) (platform.Outcome, error) {
		point = k.Points[0].OPP
		var x *remembered
		if x, res, failed = s.at(k); failed != nil {
			return platform.Outcome{}, failed
		}
		o := outcome(&x.result, x.traffic)
		if s.find(k) == nil {
			o.Time = scaled(o.Time, int64(x.hz), k.Points)
		}
		return o, nil
	})
	switch {
	case failed != nil:
		return point, res, failed
	case err != nil:
		return point, nil, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	return point, nil, nil
}

// steady executes a call on a machine in the steady state of its loop. The engine stops at the instant most of the execution;
// 0: at its end. A stopped execution also has an outcome, that of the time before, in a loop of executions that are stopped.
func (l *loop) steady(m *platform.Machine, r platform.Request, c *base.Call, spans *recorder,
	run func(hal.Tracer, base.Place) (*hal.Result, error), most sim.Time) (*hal.Result, platform.Outcome, error) {
	h := l.on(m)
	r.Program = h.m.number(c.Program)
	defer h.m.caches[h.engine].Clear() // nobody comes back to this machine
	s := h.steadyState(c, maxSteadyRuns, until(run, patient(most), 0))
	res, why := s.reach(r, false, l.warms)
	late := lateness(why)
	if late != nil {
		after := late.At
		if most > 0 {
			after = min(after, most)
		}
		if err := s.repeat(r, after); err != nil {
			return nil, platform.Outcome{}, err
		}
	} else if why != nil {
		return res, platform.Outcome{}, why
	}
	k, err := m.Present(r)
	if err != nil {
		return nil, platform.Outcome{}, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	if _, loop := hal.StatusIn(why); loop { // in no state does it end sooner
		spans.stop(h.engine, late.At)
		return nil, h.stopped(s.known, k, late.At), why
	}
	if c.Buffers.Trace == nil && c.Buffers.Profile == nil {
		if x := s.find(k); x != nil {
			res := x.replay(c.Buffers)
			return res, outcome(res, x.traffic), nil
		}
	}
	restore(c.Buffers.Inputs, s.inputs)
	res, traffic, err := h.run(c, k, spans, until(run, most, 0))
	if late := lateness(err); late != nil {
		spans.stop(h.engine, late.At)
		return nil, h.stopped(s.known, k, late.At), err
	}
	if err != nil {
		return res, platform.Outcome{}, err
	}
	return res, outcome(res, traffic), nil
}

// repeat brings the machine to where a loop of executions has it that are stopped after some time.
func (s *steadyState) repeat(r platform.Request, after sim.Time) error {
	k, err := s.host.m.soc.Saturated(r)
	if err == nil {
		err = s.host.m.soc.Repeat(r, s.host.stopped(s.known, k, after), platform.WarmUp)
	}
	if err != nil {
		return hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	return nil
}

// find is the execution that has begun under conditions, nil: there was none.
func (s *steadyState) find(k platform.Conditions) *remembered {
	for _, x := range s.known {
		if x.began(k.Points) && s.host.m.soc.Fits(x.traffic) {
			return x
		}
	}
	return nil
}

// at is what the execution comes to under conditions.
func (s *steadyState) at(k platform.Conditions) (*remembered, *hal.Result, error) {
	x := s.find(k)
	if x != nil && !s.cold {
		return x, nil, nil
	}
	if s.runs == s.most {
		return cmp.Or(x, s.known[len(s.known)-1]), nil, nil
	}
	if s.cold {
		s.known, s.cold = nil, false
	}
	restore(s.call.Buffers.Inputs, s.inputs)
	res, traffic, err := s.host.run(unobserved(s.call), k, &recorder{}, rehearsal(s.call, s.run))
	if err != nil {
		return nil, res, err
	}
	s.runs++
	x = remember(s.call.Buffers, k.Points, memoryState{}, res)
	x.traffic, x.hz = traffic, clockHz(s.host.engine, res)
	s.known = append(s.known, x)
	return x, nil, nil
}

// restore gives buffers their contents back where an execution has written its outputs over them.
func restore(buffers, given [][]byte) {
	for i, data := range buffers {
		if !bytes.Equal(data, given[i]) {
			copy(data, given[i])
		}
	}
}

// warms reports whether an execution that has moved so many bytes on a cold memory may find
// caches that its like have filled.
func (l *loop) warms(bytes int64) bool { return cachesHold(l.config, l.engine, l.foreign, bytes) }

// CachesHold reports whether the caches of a device and that of the system may hold the bytes that an execution has moved
// on a cold memory, so that the next one finds some of them.
func (m *Machine) CachesHold(device string, bytes int64) bool {
	e, ok := soc.EngineNamed(device)
	return ok && cachesHold(m.config, e, false, bytes)
}

// cachesHold reports whether the caches of an engine and that of the system hold what an execution has moved on a cold
// memory, or some of it may lie on the engine's chip.
func cachesHold(c *soc.Config, e soc.Engine, foreign bool, bytes int64) bool {
	if e == soc.EngineCPU || foreign || bytes == 0 {
		return false
	}
	if e == soc.EngineNPU && c.NPU.KeepsParameters {
		return true
	}
	var holds int
	switch e {
	case soc.EngineGPU:
		holds = c.GPU.L2.Bytes()
	case soc.EngineDSP:
		holds = c.DSP.L2.Bytes()
	}
	if c := c.SystemCache; c != nil {
		holds += c.KiB << 10
	}
	return bytes <= int64(holds)
}
