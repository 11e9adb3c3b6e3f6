package engine

import (
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/internal/idle"
)

// Idle keeps the working memories M of a program's executions for later ones: on the engine of a machine, until
// another program runs there, or else for all. A memory that no execution has used for idle.Time is freed, so
// that an idle client holds no buffers. It is for engines whose own caches are cold when an execution begins.
// The zero Idle is empty.
type Idle[M any] struct {
	// KeepsParameters is set where an execution leaves parameters in the engine for the next one of its program.
	KeepsParameters bool
	pool            idle.Pool[M]
}

// Acquire returns what an earlier execution at a place has left, if there is something, and whether the program has
// been the last on the engine there and keeps something in it: that does not depend on the host's time.
func (s *Idle[M]) Acquire(at *base.Place) (m M, ok, kept bool) {
	home := at.Home()
	if home != nil {
		if home.Acquire(s) == nil {
			return m, false, false
		}
		kept = s.KeepsParameters
	}
	m, ok = s.pool.Acquire(home)
	return m, ok, kept
}

// Put returns m to the pool. home is the Home of its place.
func (s *Idle[M]) Put(m M, home *base.Caches) {
	s.pool.Put(m, home)
	if home != nil {
		home.Store(s, coldState{s.KeepsParameters, func() { s.pool.Drop(home) }})
	}
}

// coldState marks the program that ran last on an engine whose caches keep nothing between executions, and whether
// the program keeps data in the engine. It implements base.CacheState.
type coldState struct {
	keepsParameters bool
	drop            func()
}

// Fingerprint implements base.CacheState.
func (s coldState) Fingerprint() uint64 {
	if s.keepsParameters {
		return 1
	}
	return 0
}

// Reset implements base.CacheState: what is kept outlives sleep (assumed, D-1530).
func (coldState) Reset() {}

// Clone implements base.CacheState.
func (s coldState) Clone() base.CacheState { return s }

// Drop releases the memory that an engine has kept.
func (s coldState) Drop() { s.drop() }
