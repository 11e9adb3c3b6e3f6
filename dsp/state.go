package dsp

import (
	"errors"
	"reflect"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
)

// State is the state that outlives a run: the caches in front of a memory. One run uses it at a time. The next one
// finds the caches as the run before has left them, with nothing in flight, until Reset makes them cold.
type State struct {
	core   *Core
	memory *memory
	next   mem.Level // L2
}

// NewState makes cold caches in front of the memory that serves the misses of L2.
func (c *Core) NewState(next mem.Level) (*State, error) {
	if next == nil {
		return nil, errors.New("dsp: a state needs the memory behind L2")
	}
	m, err := newMemory(&c.spec, next)
	if err != nil {
		return nil, err
	}
	return &State{c, m, next}, nil
}

// Reset makes the caches cold. The memory behind them is the caller's.
func (s *State) Reset() {
	for _, c := range [...]*cache.Cache{s.memory.l1i, s.memory.l1d, s.memory.l2} {
		c.Clear()
	}
}

// Flush writes the dirty lines of n bytes at addr back to the memory behind and drops all of them, as the maintenance
// around an execution does with the buffers of the host.
func (s *State) Flush(t sim.Time, addr uint64, n int) {
	if n <= 0 {
		return
	}
	m := s.memory
	m.l1d.Drop(addr, n) // written through
	m.l2.Flush(t, addr, n)
}

// Fingerprint distinguishes states of the caches.
func (s *State) Fingerprint() uint64 {
	h := s.memory.l2.Fingerprint()
	h = h*31 + s.memory.l1i.Fingerprint()
	return h*31 + s.memory.l1d.Fingerprint()
}

// Clone returns a separate state with the same caches, in front of the same memory.
func (s *State) Clone() *State {
	c, err := s.core.NewState(s.next)
	if err != nil {
		panic(err) // s was made the same way
	}
	c.memory.l1i.Copy(s.memory.l1i)
	c.memory.l1d.Copy(s.memory.l1d)
	c.memory.l2.Copy(s.memory.l2)
	return c
}

// Move makes the state one of a core that differs from its own in clock and voltage only;
// it returns false, and does nothing, when it differs in more.
func (s *State) Move(c *Core) bool {
	a, b := s.core.spec, c.spec
	a.ClockHz, a.VoltageV = b.ClockHz, b.VoltageV
	if !reflect.DeepEqual(a, b) {
		return false
	}
	s.core = c
	s.memory.retime(&c.spec)
	return true
}

// memoryOf is the memory system of a run, at time 0.
func (c *Core) memoryOf(o *Options) (*memory, error) {
	st := o.State
	switch {
	case st == nil && o.Memory == nil:
		return nil, errors.New("dsp: run: a timed run needs the memory behind L2")
	case st == nil:
		var err error
		if st, err = c.NewState(o.Memory); err != nil {
			return nil, err
		}
	case st.core != c:
		return nil, errors.New("dsp: run: the state is one of another core")
	case o.Memory != nil:
		return nil, errors.New("dsp: run: the state has its own memory: set one of the two")
	}
	st.memory.begin()
	return st.memory, nil
}
