// Package ring takes locks in circles, by each way that a call can go, and in ways that
// are none.
package ring

import "sync"

type table struct {
	mu   sync.RWMutex
	list []taker
}

type taker interface{ take() }

// all reaches the locks of all takers through the interface.
func (t *table) all() {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, x := range t.list {
		x.take()
	}
}

func (t *table) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.list)
}

// callbacks calls a function value under its lock.
type callbacks struct {
	mu sync.Mutex
	f  func()
}

func (c *callbacks) take() {
	c.mu.Lock()
	c.f()
	c.mu.Unlock()
}

// once calls the function that sync.OnceFunc has made.
type once struct {
	mu sync.Mutex
	f  func()
}

func (o *once) take() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.f()
}

// deferred defers a call to before its lock is free.
type deferred struct {
	mu sync.Mutex
	t  *table
}

func (d *deferred) take() {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.t.size()
}

// twice waits for itself.
type twice struct{ mu sync.Mutex }

func (w *twice) outer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inner()
}

func (w *twice) inner() {
	w.mu.Lock()
	defer w.mu.Unlock()
}

// good has no cycle: it unlocks before it calls, starts a goroutine, or tries.
type good struct {
	mu sync.Mutex
	t  *table
}

func (g *good) take() {
	g.mu.Lock()
	g.mu.Unlock()
	g.t.size()
	g.mu.Lock()
	defer g.mu.Unlock()
	go g.t.size()
	if g.t.mu.TryLock() {
		g.t.mu.Unlock()
	}
}

// New joins all.
func New() func() {
	t := &table{}
	grow := func() { t.size() }
	t.list = []taker{&callbacks{f: grow}, &once{f: sync.OnceFunc(grow)}, &deferred{t: t}, &good{t: t}}
	(&twice{}).outer()
	return t.all
}
