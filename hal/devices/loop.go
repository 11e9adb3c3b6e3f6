package devices

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Loop repeats the executions that a function makes on a machine, without the function
// and its software around them: the same programs with the same inputs, in the same order.
// Where an engine is in a state in which one of them has run, its costs are reused; otherwise
// the program runs, so a loop costs what calling the function again would. When a program
// keeps finding clocks that it has had before, but always other contents of the caches, the
// last few executions at those clocks are reused in rotation (D-720).
type Loop struct {
	m          *Machine
	f          func() error
	calls      []*loopCall
	concurrent bool // clients executed beside each other
	last       Invocation
}

// Invocation is the costs of the executions of one iteration of a loop, one after the other.
type Invocation struct {
	Start, Latency sim.Time
	EnergyPJ       float64
	Rails          [soc.NumRails]float64 // that by rail
	Parts          []platform.Part
}

// loopCall is an execution to be repeated.
type loopCall struct {
	host    *engineHost
	call    *base.Call
	run     func(hal.Tracer, base.Place) (*hal.Result, error)
	request platform.Request
	same    map[*remembered]bool // those of the same inputs
	samples []*clockSamples
}

// clockSamples are executions of a call at the same clocks whose caches differed.
type clockSamples struct {
	woken  bool
	last   []*remembered // a ring
	ran    int
	reused int
}

// Executions whose caches differ are simulated sampleRuns times at the same clocks; then the
// last sampleIterations of them are reused in rotation.
const (
	sampleRuns       = 6
	sampleIterations = 4
)

// find returns the executions at the clocks that a call finds under conditions, nil: none.
func (c *loopCall) find(k platform.Conditions) *clockSamples {
	for i, s := range c.samples {
		if x := s.last[0]; s.woken == k.Woken && x.began(k.Points) && c.host.m.soc.Fits(x.traffic) {
			copy(c.samples[1:i+1], c.samples[:i]) // it is likely the next as well
			c.samples[0] = s
			return s
		}
	}
	return nil
}

// ran notes an execution that was simulated.
func (c *loopCall) ran(s *clockSamples, k platform.Conditions, res *hal.Result, traffic *platform.Traffic) {
	if s == nil {
		s = &clockSamples{woken: k.Woken}
		c.samples = append(c.samples, s)
	}
	x := &remembered{points: k.Points, result: copyOf(res), traffic: traffic}
	if len(s.last) < sampleIterations {
		s.last = append(s.last, x)
	} else {
		s.last[s.ran%sampleIterations] = x
	}
	s.ran++
}

// Loop calls f and returns the loop of its executions, and their costs. The
// buffers of its executions must not change as long as the loop is used.
func (m *Machine) Loop(f func() error) (*Loop, Invocation, error) {
	l := &Loop{m: m, f: f}
	x, err := l.simulate()
	return l, x, err
}

// Next runs another iteration.
func (l *Loop) Next() (Invocation, error) {
	if l.m.SimulateAll || l.concurrent {
		return l.simulate()
	}
	m := l.m
	m.mu.Lock()
	defer m.mu.Unlock()
	l.begin()
	for _, c := range l.calls {
		c.request.Program = m.number(c.call.Program) // a reset machine places programs anew
		x, err := m.soc.Execute(c.request, c.outcome)
		if err != nil {
			return Invocation{}, err
		}
		l.last.add(&x)
	}
	return l.end(), nil
}

// simulate runs an iteration of the loop's function on the machine.
func (l *Loop) simulate() (Invocation, error) {
	l.calls = l.calls[:0]
	l.begin()
	l.m.loop = l
	before := l.m.soc.Spent()
	err := l.f()
	l.m.loop = nil
	if l.concurrent { // what is divided among executions is in none of them
		l.last.share(before, l.m.soc.Spent())
	}
	return l.end(), err
}

// share adds the energy of an iteration that belongs to none of its executions, as a part of
// zero time.
func (x *Invocation) share(before, after [soc.NumRails]float64) {
	spent := -x.EnergyPJ
	for r := range after {
		spent += after[r] - before[r]
		x.Rails[r] = after[r] - before[r]
	}
	x.EnergyPJ += spent
	x.Parts = append(x.Parts, platform.Part{Name: platform.PartShared, EnergyPJ: spent})
}

func (l *Loop) begin() { l.last = Invocation{Start: l.m.soc.Now(), Parts: l.last.Parts[:0]} }

// end returns the iteration. Concurrent executions last less than the sum of their times.
func (l *Loop) end() Invocation {
	l.last.Latency = l.m.soc.Now() - l.last.Start
	return l.last
}

func (x *Invocation) add(e *platform.Execution) {
	x.EnergyPJ += e.EnergyPJ
	for r, pj := range e.Rails {
		x.Rails[r] += pj
	}
	x.Parts = append(x.Parts, e.Parts...)
}

// executed adds an execution of the function, which has ended or was stopped.
func (l *Loop) executed(h *engineHost, c *base.Call, run func(hal.Tracer, base.Place) (*hal.Result, error), r platform.Request, x *platform.Execution, ended bool) {
	if l == nil {
		return
	}
	l.concurrent = l.concurrent || !h.m.soc.Exclusive() || !ended // what was stopped has left nothing to repeat
	l.last.add(x)
	l.calls = append(l.calls, &loopCall{host: h, call: c, run: run, request: r, same: map[*remembered]bool{}})
}

// outcome runs the call's program under conditions, or reuses the costs of an earlier execution.
func (c *loopCall) outcome(k platform.Conditions) (platform.Outcome, error) {
	h := c.host
	if k.Woken {
		h.m.caches[h.engine].Reset()
	}
	if x := h.recall(c.call, k, h.memory(c.call.Program), c.sameInputs); x != nil {
		return outcome(&x.result, x.traffic), nil
	}
	s := c.find(k)
	if s != nil && s.ran >= sampleRuns {
		x := s.last[s.reused%sampleIterations]
		s.reused++
		return outcome(&x.result, x.traffic), nil
	}
	res, traffic, err := h.run(c.call, k, &recorder{}, c.run)
	if err != nil {
		return platform.Outcome{}, err
	}
	c.ran(s, k, res, traffic)
	return outcome(res, traffic), nil
}

// outcome is what an execution came to as the machine sees it.
func outcome(res *hal.Result, traffic *platform.Traffic) platform.Outcome {
	o := outcomeOf(&res.Stats)
	if o.Traffic = traffic; traffic != nil {
		o.DRAMBytes = traffic.Bytes()
	}
	return o
}

// sameInputs reports whether a remembered execution had the inputs of the call.
func (c *loopCall) sameInputs(x *remembered) bool {
	same, known := c.same[x]
	if !known {
		same = x.same(c.call.Buffers)
		c.same[x] = same
	}
	return same
}
