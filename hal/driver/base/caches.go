package base

// Caches stores the caches of an engine, in front of the memory of a machine, between
// executions. A machine has one for each engine and empties it when the engine has been
// asleep. A program finds the contents that it has left, unless another program has run
// on the engine since, which discards them.
type Caches struct {
	program any
	state   CacheState
}

// CacheState is the state of an engine's caches.
type CacheState interface {
	// Fingerprint identifies a state; it is 0 when a program finds nothing in them.
	Fingerprint() uint64
	// Reset makes the caches empty.
	Reset()
	// Clone returns the caches in the same state.
	Clone() CacheState
}

// Acquire removes and returns the state that the program has left, nil when there is none.
func (c *Caches) Acquire(program any) CacheState {
	s := c.state
	if c.program != program {
		c.Clear()
		return nil
	}
	c.program, c.state = nil, nil
	return s
}

// dropper is a CacheState that holds resources of the host, which Drop releases.
type dropper interface{ Drop() }

// Store keeps the caches as a program has left them.
func (c *Caches) Store(program any, s CacheState) { c.program, c.state = program, s }

// Clear makes the caches empty.
func (c *Caches) Clear() {
	if d, ok := c.state.(dropper); ok {
		d.Drop()
	}
	c.program, c.state = nil, nil
}

// Reset is called when the engine has been asleep.
func (c *Caches) Reset() {
	if c.state != nil {
		c.state.Reset()
	}
}

// State is comparable: the program that left contents in the caches, and their fingerprint.
func (c *Caches) State() (program any, fingerprint uint64) {
	if c.state == nil {
		return nil, 0
	}
	if fingerprint = c.state.Fingerprint(); fingerprint == 0 {
		return nil, 0
	}
	return c.program, fingerprint
}

// Clone is a copy with the same state.
func (c *Caches) Clone() Caches {
	if c.state == nil {
		return Caches{}
	}
	return Caches{c.program, c.state.Clone()}
}

// Home is the Caches for state that outlives an execution on the engine of a machine, nil without a machine.
func (p *Place) Home() *Caches {
	if p.Memory == nil {
		return nil
	}
	return p.Caches
}
