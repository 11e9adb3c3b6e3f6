package platform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Client is a thread of an application: its executions follow one another.
type Client struct {
	now  sim.Time
	pool sim.Time // when a thread of its binder pool worked last

	shared *Account

	// In a group.
	id         int
	at         sim.Time    // no access of the client is before this instant
	preemption *preemption // of its execution on an engine
	waits      *engine     // it cannot continue before another client leaves the engine
	joins      *Client     // it cannot continue before this one has ended
	stuck      error       // the event that it waited for will not occur
	resume     chan struct{}
	done       bool
	err        error
}

// Now is the time of the client: the end of its last execution, or later.
func (c *Client) Now() sim.Time { return c.now }

// group are concurrent clients. One of them runs at a time, until another one is earlier.
type group struct {
	m       *Machine
	clients []*Client // those that have not ended, in the order of their ids; the first has begun the group
	started int       // ids assigned
	start   sim.Time
	window  sim.Time
	active  [soc.NumEngines]*Client
}

// DefaultWindow is how far a client may run ahead of the others' accesses to the
// shared memory before it lets them go first.
const DefaultWindow = 10 * sim.Nanosecond

// SetWindow changes DefaultWindow; 0 orders every access.
func (m *Machine) SetWindow(w sim.Time) { m.window = w }

// RunConcurrent lets clients run beside each other from the present instant on and returns
// when each ended. The client that calls it waits. Errors are joined.
func (m *Machine) RunConcurrent(clients ...func() error) ([]sim.Time, error) {
	var ends []sim.Time
	var errs []error
	var list []*Client
	for _, f := range clients {
		c, err := m.Go(f)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	for _, c := range list {
		errs = append(errs, m.Join(c))
		ends = append(ends, c.now)
	}
	return ends, errors.Join(errs...)
}

// Go starts a client at the present instant, concurrent with the caller. A client is a function that calls Execute,
// Sleep, Go and Join; it runs in its own goroutine, but never at the same time as another: clients are switched in the
// order of (time, client), at their requests, where they wait for an engine or for each other, and at every access to
// the memory, which all engines share until only the client is left that was there first. That one must Join the
// others, or nothing runs them.
func (m *Machine) Go(f func() error) (*Client, error) {
	me := m.client
	if m.group == nil {
		m.begin()
	}
	g := m.group
	c := &Client{now: me.now, pool: me.pool, shared: me.shared, at: me.now, resume: make(chan struct{})}
	g.add(c)
	go func() {
		<-c.resume
		defer func() {
			if r := recover(); r != nil {
				c.err = fmt.Errorf("platform: client %d: panic: %v", c.id, r)
			}
			g.remove(c)
		}()
		c.err = f()
	}()
	return c, nil
}

// begin makes a group of the present client.
func (m *Machine) begin() {
	me := m.client
	m.measured(sim.Never)
	m.memory.Quiesce()
	m.clock.pass(me.now, 0)
	m.clock.votes = [soc.NumEngines][]vote{} // those of executions alone have ended
	m.clock.begin(m.memory, me.now, false)
	g := &group{m: m, start: me.now, window: m.window}
	m.memory.Bus.Share(g)
	me.at, me.resume = me.now, make(chan struct{})
	g.add(me)
	m.group = g
}

// Join waits until a client has ended and returns its error. The caller's time is then
// not before its end.
func (m *Machine) Join(c *Client) error {
	me := m.client
	if !c.done {
		if m.group == nil || !slices.Contains(m.group.clients, c) {
			return errors.New("platform: the client is of another machine")
		}
		me.joins = c
		if err := m.group.pass(me); err != nil {
			return err
		}
	}
	me.now, me.pool = max(me.now, c.now), max(me.pool, c.pool)
	if m.group == nil {
		m.account.close(me.now)
	}
	return c.err
}

// Exclusive reports whether the present client has the machine to itself.
func (m *Machine) Exclusive() bool { return m.group == nil }

// drain runs all clients but the first to their ends.
func (m *Machine) drain() {
	for g := m.group; g != nil && m.group == g; {
		_ = m.Join(g.clients[1]) // whoever needs its error has joined it
	}
}

func (g *group) add(c *Client) {
	c.id = g.started
	g.started++
	g.clients = append(g.clients, c)
}

// run switches to a client.
func (g *group) run(c *Client) {
	g.m.client = c
	c.resume <- struct{}{}
}

// pass switches to the next client and returns when the caller runs again. The error means that it never would.
func (g *group) pass(me *Client) error {
	next := g.first()
	if next == nil { // all wait: one of those that wait for each other fails
		next = g.circle()
		next.stuck = fmt.Errorf("platform: deadlock: %s", g.waiting())
		next.waits, next.joins = nil, nil
	}
	if next != me {
		g.run(next)
		if me == nil {
			return nil
		}
		<-me.resume
	}
	err := me.stuck
	me.stuck = nil
	return err
}

// circle is the first of some clients that wait for each other in a circle, where all wait.
func (g *group) circle() *Client {
	c := g.clients[0]
	for range g.clients { // a walk from outside the circle is in it by then
		c = c.blocker()
	}
	first := c
	for x := c.blocker(); x != c; x = x.blocker() {
		if x.id < first.id {
			first = x
		}
	}
	return first
}

// blocker is the client that a waiting one waits for.
func (c *Client) blocker() *Client {
	if c.joins != nil {
		return c.joins
	}
	return c.waits.owner
}

// waiting lists the clients that wait and for what.
func (g *group) waiting() string {
	var list []string
	for _, c := range g.clients {
		switch {
		case c.joins != nil:
			list = append(list, fmt.Sprintf("client %d waits for client %d", c.id, c.joins.id))
		case c.waits != nil:
			list = append(list, fmt.Sprintf("client %d waits for the %s of client %d", c.id, c.waits.clocks[0].Config().Name, c.waits.owner.id))
		}
	}
	return strings.Join(list, ", ")
}

// activate sets the client that has an engine, nil for none. Engines at work share the memory's background power; the
// costs of the CPU's kernels include it.
func (g *group) activate(e soc.Engine, c *Client) {
	if g == nil {
		return
	}
	g.active[e] = c
	n := 0
	for e, c := range g.active {
		if c != nil && soc.Engine(e) != soc.EngineCPU {
			n++
		}
	}
	g.m.memory.Bus.Busy(n)
}

// first is the earliest client that can continue; of equals the first.
func (g *group) first() *Client {
	var best *Client
	for _, c := range g.clients {
		if c.waits == nil && c.joins == nil && (best == nil || c.at < best.at) {
			best = c
		}
	}
	return best
}

// remove ends a client. The group ends with the last but one.
func (g *group) remove(c *Client) {
	c.done = true
	for _, e := range g.m.engines {
		if e != nil && e.owner == c { // it panicked on it
			g.release(e)
		}
	}
	g.clients = slices.DeleteFunc(g.clients, func(x *Client) bool { return x == c })
	for _, x := range g.clients {
		if x.joins == c {
			x.joins = nil
			x.at = max(x.at, x.now, c.now)
		}
	}
	if len(g.clients) == 1 {
		g.m.group = nil
	}
	_ = g.pass(nil)
}

// reach declares that the client requests nothing before an instant, and returns when no other client can request
// anything before it.
func (g *group) reach(c *Client, t, window sim.Time) {
	c.at = t
	if next := g.first(); next != c && (window == 0 || next.at+window < t) {
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
func (g *group) acquire(c *Client, e *engine, rank int, t sim.Time) error {
	g.reach(c, t, 0)
	if e.owner == nil {
		e.owner = c
		return nil
	}
	e.queue = append(e.queue, waiting{c, rank})
	return g.await(c, e)
}

// requeue releases an engine and waits until it is the client's again: before those of its rank.
func (g *group) requeue(c *Client, e *engine, rank int) error {
	g.release(e)
	e.queue = slices.Insert(e.queue, 0, waiting{c, rank})
	return g.await(c, e)
}

// await waits in the queue of an engine.
func (g *group) await(c *Client, e *engine) error {
	c.waits = e
	err := g.pass(c)
	if err != nil {
		e.queue = slices.DeleteFunc(e.queue, func(w waiting) bool { return w.client == c })
	}
	return err
}

// waiting is a client in the queue of an engine.
type waiting struct {
	client *Client
	rank   int // the highest is served first, then the earliest
}

// release passes the engine to the next client.
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
		e.owner = w.client
		w.client.waits = nil
		w.client.at = max(w.client.at, e.free)
	}
}
