package gpu

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
)

// State is the mutable state of a run: the caches in front of a memory, the waves, and the account. One run uses it at
// a time. The next one finds the caches as the run before has left them, with nothing in flight, until Reset makes them
// cold. Reusing a State saves allocations; with cold caches the costs of a run are those on a new State.
type State struct {
	core *Core
	m    *machine
}

// machine is the waves, units and account of a run.
type machine struct {
	executor

	opt      Options
	h        *hierarchy // nil: functional runs only
	clock    sim.Clock
	point    sim.OPP   // of the clock
	recorder *recorder // nil: no run has recorded
	filler   *filler   // nil: the run executes, or all recordings have their words

	front   front
	agenda  agenda
	fetcher fetcher
	cut     int64 // cycle of Options.Until in the present dispatches

	// Timing.
	cus      []cu
	simds    []simd
	ahead    int64 // how many cycles a SIMD may be ahead of the others
	charged  traffic
	now      int64 // start of the dispatches
	live     int   // work-groups resident
	woken    bool
	profiler *profiler // nil: no run had a profile
	sampling *sampling // nil: the dispatch is simulated in full
	number   int       // of the next dispatch of a sampled run
	account
}

func newMachine(s *Spec) *machine {
	m := &machine{front: front{launch: int64(s.LaunchCycles)}}
	m.build(s)
	return m
}

// NewState makes a cold state in front of the memory that serves the misses of L2. A state without a memory is for
// functional runs.
func (c *Core) NewState(memory mem.Level) (*State, error) {
	m := newMachine(&c.spec)
	if memory != nil {
		var err error
		if m.h, err = newHierarchy(&c.spec, memory); err != nil {
			return nil, err
		}
		m.fetcher.h = m.h
		m.buildUnits()
	}
	return &State{core: c, m: m}, nil
}

// Reset makes the caches cold. The memory behind them is the caller's.
func (s *State) Reset() {
	if s.m.h != nil {
		s.m.h.each((*cache.Cache).Clear)
	}
}

// begin starts a run.
func (m *machine) begin(space *mem.Space, opt Options) {
	m.opt = opt
	m.executor.begin(space, &m.opt)
	m.setPoint(sim.OPP{Hz: m.spec.Hz, Volts: m.spec.V})
	if len(opt.Points) > 0 {
		m.setPoint(opt.Points[0].OPP)
	}
	m.now, m.account = 0, account{events: m.events[:0]}
	if m.profiler != nil {
		clear(m.profiler.rows)
	}
	m.sampling, m.number = nil, 0
	if !opt.Functional {
		m.h.begin()
		m.clearUnits()
		m.charged = m.h.traffic()
	}
}

// setPoint lets the clock run at a point from the start of a run on.
func (m *machine) setPoint(o sim.OPP) {
	m.clock = sim.Clock{Hz: o.Hz}
	m.retime(o)
}

// retime sets the caches to an operating point.
func (m *machine) retime(o sim.OPP) {
	if m.h != nil {
		m.h.clock = m.clock
	}
	if m.point == o {
		return
	}
	m.point, m.Hz = o, o.Hz
	if m.h != nil {
		m.h.retime(m.clock)
	}
}

// reclock applies the operating point of the present instant. Cycles keep counting.
func (m *machine) reclock() {
	at := m.clock.At(m.now)
	if m.opt.PointRead != nil {
		m.opt.PointRead(at)
	}
	o := m.point
	for _, c := range m.opt.Points {
		if c.At <= at {
			o = c.OPP
		}
	}
	if o == m.point {
		return
	}
	m.clock = sim.Clock{Hz: o.Hz}
	m.clock.Origin = at - m.clock.At(m.now)
	m.retime(o)
}
