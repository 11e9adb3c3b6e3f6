package engine

import (
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/internal/idle"
)

// Idle keeps what the executions of a program work on, M, for the next ones: on the engine of a machine, where
// it stays until another program runs there, or else for all. What no execution has taken for idle.Time is
// let go of, so that a client that makes a pause holds no buffers. For engines whose own caches are cold when
// an execution begins. The zero Idle is empty.
type Idle[M any] struct{ pool idle.Pool[M] }

// Take returns what an earlier execution at a place has left, if there is something.
func (s *Idle[M]) Take(at *base.Place) (m M, ok bool) {
	home := at.Home()
	if home != nil && home.Take(s) == nil {
		return m, false
	}
	return s.pool.Take(home)
}

// Leave gives m back. home is that of its place.
func (s *Idle[M]) Leave(m M, home *base.Caches) {
	s.pool.Put(m, home)
	if home != nil {
		home.Leave(s, coldState{func() { s.pool.Drop(home) }})
	}
}

// coldState says that an engine whose caches say nothing of earlier executions has run a program last.
// It implements base.CacheState.
type coldState struct{ drop func() }

// Fingerprint implements base.CacheState.
func (coldState) Fingerprint() uint64 { return 0 }

// Reset implements base.CacheState.
func (coldState) Reset() {}

// Clone implements base.CacheState.
func (s coldState) Clone() base.CacheState { return s }

// Drop lets go of what an engine has left.
func (s coldState) Drop() { s.drop() }
