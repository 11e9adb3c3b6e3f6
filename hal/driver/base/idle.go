package base

import "sync"

// Idle keeps what the executions of a program work on, M, for the next ones: on the engine of a machine, where
// it stays until another program runs there, or else in a pool. For engines whose own caches are cold when an
// execution begins. The zero Idle is empty.
type Idle[M any] struct{ pool sync.Pool }

// Take returns what an earlier execution at a place has left, if there is something.
func (s *Idle[M]) Take(at *Place) (m M, ok bool) {
	if home := at.Home(); home != nil {
		left, ok := home.Take(s).(coldState[M])
		return left.m, ok
	}
	m, ok = s.pool.Get().(M)
	return m, ok
}

// Leave gives m back. home is that of its place.
func (s *Idle[M]) Leave(m M, home *Caches) {
	if home != nil {
		home.Leave(s, coldState[M]{m})
	} else {
		s.pool.Put(m)
	}
}

// Home is where an execution leaves what outlives it on the engine of a machine, nil when the place is none.
func (p *Place) Home() *Caches {
	if p.Memory == nil {
		return nil
	}
	return p.Caches
}

// coldState implements CacheState for an engine whose caches say nothing of earlier executions.
type coldState[M any] struct{ m M }

// Fingerprint implements CacheState.
func (coldState[M]) Fingerprint() uint64 { return 0 }

// Reset implements CacheState.
func (coldState[M]) Reset() {}

// Clone implements CacheState.
func (s coldState[M]) Clone() CacheState { return s }
