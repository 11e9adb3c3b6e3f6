package dsp

import (
	"errors"

	"github.com/nnsoc/nnsoc/sim/mem"
)

// State is what outlives a run: the caches in front of a memory. One run uses it at
// a time. The next one finds the caches as the run before has left them, with nothing
// in flight, until Reset makes them cold.
type State struct {
	core   *Core
	memory *memory
}

// NewState makes cold caches in front of the memory that serves what misses in L2.
func (c *Core) NewState(behind mem.Level) (*State, error) {
	if behind == nil {
		return nil, errors.New("dsp: a state needs the memory behind L2")
	}
	m, err := newMemory(&c.spec, behind)
	if err != nil {
		return nil, err
	}
	return &State{c, m}, nil
}

// Reset makes the caches cold. The memory behind them is the caller's.
func (s *State) Reset() {
	for _, c := range [...]*mem.Cache{s.memory.l1i, s.memory.l1d, s.memory.l2} {
		c.Clear()
	}
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
		return nil, errors.New("dsp: run: the state has a memory of its own: give one of the two")
	}
	st.memory.begin()
	return st.memory, nil
}
