// Package idle keeps resources for reuse by tasks that follow one another quickly, and frees them when none has
// followed.
package idle

import (
	"slices"
	"sync"
	"time"
	"weak"
)

// Time is how long an idle value is kept (D-1360).
const Time = time.Second

// Pool keeps values of T. Values idle for Time are released by a timer, which runs on no separate goroutine and ends
// when it finds none. The timer does not keep the pool alive: with the owner of the pool its values are released at
// once. It may be used from several goroutines. The zero Pool is empty.
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

// Put returns a value, as one of a group.
func (p *Pool[T]) Put(value T, group any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = append(p.left, entry[T]{value, group, time.Now()})
	if p.timer == nil {
		p.expireAfter(Time)
	}
}

// expireAfter sets a timer to expire the values idle for Time by then.
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

// expire releases the values idle for Time.
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
