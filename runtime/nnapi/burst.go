package nnapi

import (
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// Burst is a fast path for executions of a compilation that follow each other: a burst
// of the driver for each part.
type Burst struct {
	c     *Compilation
	mu    sync.Mutex // held by the execution in flight
	parts *nnrt.Burst
	free  bool
}

// NewBurst is Burst_create.
func NewBurst(c *Compilation) (*Burst, error) {
	const call = "Burst_create"
	if c == nil {
		return nil, fail(UnexpectedNull, "%s: no compilation", call)
	}
	if !c.isFinished() {
		return nil, fail(BadState, "%s: the compilation is not finished", call)
	}
	return &Burst{c: c, parts: c.compiled.NewBurst()}, nil
}

// Free is Burst_free. It waits for the execution in flight.
func (b *Burst) Free() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = true
	return wrap(b.parts.Close())
}

// BurstCompute is Compute through a burst, which carries one execution at a time.
func (e *Execution) BurstCompute(b *Burst) error {
	const call = "Execution_burstCompute"
	switch {
	case b == nil:
		return fail(UnexpectedNull, "%s: no burst", call)
	case b.c != e.c:
		return fail(BadData, "%s: the burst is of another compilation", call)
	case !b.mu.TryLock():
		return fail(BadState, "%s: the burst carries another execution", call)
	}
	defer b.mu.Unlock()
	if b.free {
		return fail(BadState, "%s: the burst was freed", call)
	}
	if err := e.begin(call, ThroughBurst, true); err != nil {
		return err
	}
	return e.now(func(c hal.Client) error { return e.run(call, b.parts, e.timeout, c) })
}
