package engine

import (
	"sync"

	"github.com/nnsoc/nnsoc/hal/driver/base"
)

// Idle keeps what the executions of a program work on, M, for the next ones: on the engine of a machine, where
// it stays until another program runs there, or else in a pool. For engines whose own caches are cold when an
// execution begins. The zero Idle is empty.
type Idle[M any] struct{ pool sync.Pool }

// Take returns what an earlier execution at a place has left, if there is something.
func (s *Idle[M]) Take(at *base.Place) (m M, ok bool) {
	if home := at.Home(); home != nil {
		left, ok := home.Take(s).(coldState[M])
		return left.m, ok
	}
	m, ok = s.pool.Get().(M)
	return m, ok
}

// Leave gives m back. home is that of its place.
func (s *Idle[M]) Leave(m M, home *base.Caches) {
	if home != nil {
		home.Leave(s, coldState[M]{m})
	} else {
		s.pool.Put(m)
	}
}

// coldState implements base.CacheState for an engine whose caches say nothing of earlier executions.
type coldState[M any] struct{ m M }

// Fingerprint implements base.CacheState.
func (coldState[M]) Fingerprint() uint64 { return 0 }

// Reset implements base.CacheState.
func (coldState[M]) Reset() {}

// Clone implements base.CacheState.
func (s coldState[M]) Clone() base.CacheState { return s }
