package soc

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// client is a thread of an application: its executions follow one another.
type client struct {
	now  sim.Time
	pool sim.Time // when a thread of its binder pool worked last

	// In a group.
	id     int
	at     sim.Time // no access of the client comes before this instant
	waits  *engine  // it cannot go on before another client leaves the engine
	resume chan struct{}
	done   bool
	err    error
	pj     float64 // of the shared memory
}

// group are clients beside each other. One of them runs at a time; it goes on until
// another one is earlier.
type group struct {
	m       *Machine
	clients []*client
	start   sim.Time
	window  sim.Time
	running *client
	active  [NumEngines]*client
	dram    *mem.DRAM
	ports   [NumEngines]*mem.Port
	charged float64 // energy of the shared memory that a client has
	ended   chan struct{}
}

// DefaultWindow is how far a client may run ahead of the others' accesses to the
// shared memory before it lets them go first.
const DefaultWindow = 50 * sim.Nanosecond

// SetWindow changes DefaultWindow; 0 orders every access.
func (m *Machine) SetWindow(w sim.Time) { m.window = w }

// Together lets clients run beside each other from the present instant on and returns
// when each ended. A client is a function that calls Execute, Sleep and Now; it runs in
// a goroutine of its own, but never at the same time as another: clients hand over in
// the order of (time, client), at their requests, where they wait for an engine, and at
// every access to the memory, which all engines share until the last client ends.
// The next executions begin when all have ended. Errors are joined.
func (m *Machine) Together(clients ...func() error) ([]sim.Time, error) {
	if m.group != nil {
		return nil, errors.New("soc: machine: clients of a group cannot form another")
	}
	d, bus, err := m.cfg.NewFabric()
	if err != nil {
		return nil, err
	}
	g := &group{m: m, start: m.client.now, window: m.window, dram: d, ended: make(chan struct{})}
	for e := range g.ports {
		g.ports[e] = bus.Port(Engine(e).String())
	}
	bus.Share(g)
	before := m.client
	for i, f := range clients {
		c := &client{now: before.now, pool: before.pool, id: i, at: before.now, resume: make(chan struct{})}
		g.clients = append(g.clients, c)
		go func() {
			<-c.resume
			defer func() {
				if r := recover(); r != nil {
					c.err = fmt.Errorf("soc: machine: client %d: panic: %v", c.id, r)
				}
				g.leave(c)
			}()
			c.err = f()
		}()
	}
	if len(clients) > 0 {
		m.group = g
		g.run(g.clients[0])
		<-g.ended
		m.group = nil
	}
	m.client = before
	var ends []sim.Time
	var errs []error
	for _, c := range g.clients {
		ends = append(ends, c.now)
		errs = append(errs, c.err)
		before.now = max(before.now, c.now)
		before.pool = max(before.pool, c.pool)
	}
	return ends, errors.Join(errs...)
}

// run hands over to a client.
func (g *group) run(c *client) {
	if g.running != nil {
		g.settleEnergy()
	}
	g.running, g.m.client = c, c
	c.resume <- struct{}{}
}

// settleEnergy gives the client that runs what the memory has drawn since the last
// hand-over.
func (g *group) settleEnergy() {
	pj, _ := g.dram.Energy()
	g.running.pj += pj - g.charged
	g.charged = pj
}

// first is the earliest client that can go on; of equals the first.
func (g *group) first() *client {
	var best *client
	for _, c := range g.clients {
		if !c.done && c.waits == nil && (best == nil || c.at < best.at) {
			best = c
		}
	}
	return best
}

// leave ends a client.
func (g *group) leave(c *client) {
	c.done = true
	if next := g.first(); next != nil {
		g.run(next)
		return
	}
	g.settleEnergy()
	close(g.ended)
}

// reach says that the client asks for nothing before an instant, and returns when no
// other client can ask for anything before it.
func (g *group) reach(c *client, t, window sim.Time) {
	c.at = t
	if next := g.first(); next != c && next.at+window < t || next != c && next.at == t && next.id < c.id && window == 0 {
		g.run(next)
		<-c.resume
	}
}

// Enter implements mem.Arbiter for the ports of the engines.
func (g *group) Enter(t sim.Time, master int) {
	if c := g.active[master]; c != nil {
		g.reach(c, g.start+t, g.window)
	}
}

// acquire waits until the engine belongs to no other client.
func (g *group) acquire(c *client, e *engine, rank int, t sim.Time) {
	g.reach(c, t, 0)
	for e.owner != nil {
		c.waits = e
		e.queue = append(e.queue, waiting{c, rank})
		next := g.first()
		g.run(next)
		<-c.resume
	}
	e.owner = c
}

// waiting is a client in the queue of an engine.
type waiting struct {
	client *client
	rank   int // the higher goes first, then the one that came first
}

// release lets the next client have the engine.
func (g *group) release(e *engine) {
	e.owner = nil
	best := -1
	for i, w := range e.queue {
		if best < 0 || w.rank > e.queue[best].rank {
			best = i
		}
	}
	if best >= 0 {
		w := e.queue[best]
		e.queue = append(e.queue[:best], e.queue[best+1:]...)
		w.client.waits = nil
		w.client.at = max(w.client.at, e.free)
		e.owner = nil
	}
}

// sharedPath is an engine's way to the memory of a group during one execution.
type sharedPath struct {
	g      *group
	port   *mem.Port
	client *client
	base   sim.Time // of the execution's times, since the group began
	pj     float64  // of the client when the execution began
}

// Access implements mem.Level.
func (s *sharedPath) Access(t sim.Time, addr uint64, bytes int, k mem.Kind) (sim.Time, sim.Reason) {
	done, from := s.port.Access(t+s.base, addr, bytes, k)
	return done - s.base, from
}

// Reset implements mem.Level: the memory is not the execution's alone.
func (s *sharedPath) Reset() {}

// Energy implements mem.Powered: what the memory drew while this client ran, and the
// client's part of the background.
func (s *sharedPath) Energy() (dynamicPJ, backgroundMW float64) {
	s.g.settleEnergy()
	_, mw := s.g.dram.Energy()
	n := 0
	for _, c := range s.g.active {
		if c != nil {
			n++
		}
	}
	return s.client.pj - s.pj, mw / float64(max(n, 1))
}
