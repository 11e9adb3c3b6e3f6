// Package idle keeps what work is done on between two pieces of work that follow one another
// quickly, and frees it by itself when nothing has followed.
package idle

import (
	"slices"
	"sync"
	"time"
	"weak"
)

// Time is how long something that nobody takes is kept (D-1360).
const Time = time.Second

// Pool keeps values of T. What nobody has taken for Time is let go of by a timer, which is on no
// goroutine of its own and ends when it finds nothing. The timer does not keep the pool: with what the pool is a part
// of its values go at once. It may be used from several goroutines.
// The zero Pool is empty.
type Pool[T any] struct {
	mu    sync.Mutex
	left  []entry[T] // put last last
	timer *time.Timer
}

type entry[T any] struct {
	value T
	group any
	since time.Time
}

// Put gives a value back, as one of a group.
func (p *Pool[T]) Put(value T, group any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = append(p.left, entry[T]{value, group, time.Now()})
	if p.timer == nil {
		p.expireAfter(Time)
	}
}

// expireAfter lets a timer expire what has been left for Time by then.
func (p *Pool[T]) expireAfter(d time.Duration) {
	pool := weak.Make(p)
	p.timer = time.AfterFunc(d, func() {
		if p := pool.Value(); p != nil {
			p.expire()
		}
	})
}

// Acquire returns the value of a group that was put last, if there is one.
func (p *Pool[T]) Acquire(group any) (value T, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.left) - 1; i >= 0; i-- {
		if x := p.left[i]; x.group == group {
			p.left = slices.Delete(p.left, i, i+1)
			return x.value, true
		}
	}
	return value, false
}

// Drop lets go of the values of a group.
func (p *Pool[T]) Drop(group any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = slices.DeleteFunc(p.left, func(x entry[T]) bool { return x.group == group })
}

// Len is how many values there are.
func (p *Pool[T]) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.left)
}

// expire lets go of what has been left for Time.
func (p *Pool[T]) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	n := 0
	for n < len(p.left) && now.Sub(p.left[n].since) >= Time {
		n++
	}
	p.left = slices.Delete(p.left, 0, n)
	if p.timer = nil; len(p.left) > 0 {
		p.expireAfter(Time - now.Sub(p.left[0].since))
	}
}
