package gpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
)

// Core is one GPU. It is immutable: every run uses its own State, so several goroutines may run programs at once.
type Core struct{ spec Spec }

// New checks the machine description.
func New(spec Spec) (*Core, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	return &Core{spec: spec}, nil
}

// Spec is the machine.
func (c *Core) Spec() Spec { return c.spec }

// Run executes dispatches on the bytes of space, in the order imposed by their queues and barriers, and returns the
// cost from the first cycle of the first dispatch until the last byte has reached DRAM. Errors of the program are
// *Fault; the space then holds whatever was written before. Times count from 0 at the start of the run.
func (c *Core) Run(space *mem.Space, dispatches []Dispatch, opt Options) (*sim.Report, error) {
	if space == nil {
		return nil, errors.New("gpu: run: no address space")
	}
	st := opt.State
	switch {
	case st == nil:
		var err error
		if st, err = c.NewState(opt.Memory); err != nil {
			return nil, err
		}
	case st.core != c:
		return nil, errors.New("gpu: run: the state is one of another core")
	case opt.Memory != nil:
		return nil, errors.New("gpu: run: the state has its own memory: set one of the two")
	}
	m := st.m
	if !opt.Functional && m.h == nil {
		return nil, errors.New("gpu: run: a timed run needs the memory behind L2")
	}
	m.begin(space, opt)
	report := &sim.Report{Hz: c.spec.Hz}
	kept := opt.Recorded
	again, err := kept.times(dispatches, &opt)
	if err != nil {
		return nil, err
	}
	var rec *recorder
	m.filler = nil
	switch {
	case !again:
		if kept != nil {
			kept.Renew()
		}
		rec = m.recorded(space, dispatches)
	case kept.short:
		m.filler = &filler{recorder: m.recorded(space, dispatches), ds: dispatches}
	}
	if rec != nil {
		defer rec.stop()
	}
	done := 0
	queues := slices.ContainsFunc(dispatches, func(d Dispatch) bool { return d.Queue != dispatches[0].Queue })
	for n := 0; len(dispatches) > 0; dispatches = dispatches[n:] {
		for n = 1; n < len(dispatches) && (queues || dispatches[n].Concurrent); {
			n++
		}
		m.tape = nil
		if again {
			m.tape = &kept.dispatches[done]
		} else if alone := sequential(dispatches, queues); rec != nil && alone > 0 {
			if opt.Preemption != nil {
				alone = 1 // other programs may run in between
			}
			m.tape = rec.next(dispatches[:alone], m.executed)
		}
		if err := m.dispatch(dispatches[:n]); err != nil {
			return nil, err
		}
		if m.tape != nil {
			if opt.replayed != nil {
				*opt.replayed++
			}
			if !again {
				kept.add(m.tape, opt.Sampler != nil)
				rec.recycle(m.tape)
			}
		}
		done += n
		if n < len(dispatches) && opt.Preemption != nil && !opt.Functional {
			m.yield(opt.Preemption)
		}
	}
	kept.end(done)
	m.finish(report)
	report.Hz = m.point.Hz
	m.opt, m.Space, m.regions = Options{}, nil, nil
	return report, nil
}

// sequential is how many dispatches from the first on are under way each on its own.
func sequential(ds []Dispatch, queues bool) int {
	if queues {
		return 0
	}
	n := 0
	for n < len(ds) && !ds[n].Concurrent && (n+1 == len(ds) || !ds[n+1].Concurrent) {
		n++
	}
	return n
}

// Fault is an error of the simulated program, with where it happened.
type Fault struct {
	Kernel string
	PC     int    // byte offset into the code
	Instr  string // disassembly or mnemonic
	Where  string // work-group and wave
	Err    error
}

// Error is one line: kernel, pc, instruction, place, cause.
func (f *Fault) Error() string {
	return fmt.Sprintf("gpu: kernel %s pc %#x (%s) %s: %v", f.Kernel, f.PC, f.Instr, f.Where, f.Err)
}

// Unwrap is the cause.
func (f *Fault) Unwrap() error { return f.Err }

// AbsentBuffer is the address of a buffer of the runtime's services that a hidden argument names, as printf_buffer;
// nothing is there, and an access fails with the name.
func AbsentBuffer(name string) (address uint64, ok bool) {
	i := slices.Index(state.AbsentBuffers, name)
	return state.AbsentAddress(max(i, 0)), i >= 0
}

// ScratchError is the cause of a Fault whose access is outside the lane's scratch.
type ScratchError = state.ScratchError

// dispatch runs grids that are under way together.
func (m *machine) dispatch(ds []Dispatch) error {
	m.grids = m.grids[:0]
	for i := range ds {
		if err := m.newGrid(&ds[i]); err != nil {
			return err
		}
	}
	m.Err, m.Failed = nil, nil
	m.begun(m.grids[0])
	if m.tape == nil {
		m.arguments()
	} else {
		copy(m.executions, m.tape.executions)
		m.executed += m.tape.executed
	}
	switch {
	case m.opt.Functional:
		m.runFunctional()
	case m.opt.Sampler != nil && m.runSampled(m.opt.Sampler):
	case m.fill():
		m.reclock()
		m.runTimed()
	}
	if m.Err != nil {
		err := m.fault()
		m.drop()
		return err
	}
	return nil
}

// runFunctional executes the work-groups of the dispatches one after the other. The waves of a work-group alternate at
// barriers.
func (m *machine) runFunctional() {
	for _, g := range m.grids {
		if m.begun(g); !m.runGroups() {
			return
		}
		m.tally(0, 0)
	}
}

// drop forgets the waves of a dispatch that failed.
func (m *machine) drop() {
	for i := range m.simds {
		m.simds[i].waves = m.simds[i].waves[:0]
	}
	m.live = 0
}

// yield yields the machine after a dispatch to another program, if one waits: dirty lines of L2 are written back
// first, and the caches are empty afterwards.
func (m *machine) yield(p sim.Preemption) {
	if !p.Pending(m.clock.At(m.now)) {
		return
	}
	before := m.clock.At(m.cycles)
	m.drain()
	m.region(m.d.Region).Time += m.clock.At(m.cycles) - before
	if points := p.Yield(m.clock.At(m.now)); points != nil {
		m.opt.Points = points
	}
	m.h.each((*cache.Cache).Invalidate)
}

// finish fills in the report.
func (m *machine) finish(r *sim.Report) {
	r.Instructions = m.instrs
	if !m.opt.Functional {
		m.drain()
		r.Cycles = m.cycles
		r.Time = m.clock.At(m.cycles)
		r.Stalls = m.stalls
		for i := range m.regions {
			m.regions[i].Counters = m.events[i].counters()
		}
	}
	r.EnergyPJ = m.energy
	r.Regions = m.regions
	r.Counters = m.counters()
}
