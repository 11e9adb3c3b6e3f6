package platform

import "github.com/nnsoc/nnsoc/sim"

// preemption is a concurrent client's tenure of its engine for an execution. It implements sim.Preemption.
type preemption struct {
	g  *group
	c  *chain
	me *Client
}

// at is an instant of the run on the machine's clock.
func (u *preemption) at(t sim.Time) sim.Time { return u.c.t + u.c.paused + u.c.began + t }

// Pending implements sim.Preemption: requesters of the engine until then have arrived.
func (u *preemption) Pending(t sim.Time) bool {
	if u.c.e.path.Preempt == nil {
		return false
	}
	u.g.reach(u.me, u.at(t), 0)
	for _, w := range u.c.e.queue {
		if w.rank > u.c.r.Priority {
			return true
		}
	}
	return false
}

// Yield implements sim.Preemption.
func (u *preemption) Yield(t sim.Time) []sim.Change {
	c, g, m := u.c, u.g, u.c.m
	e, p, engine := c.e, c.e.path.Preempt, c.r.Engine
	left, own := u.at(t), c.began+t
	g.reach(u.me, left, 0)
	c.executed(own)
	g.activate(engine, nil)
	e.advance(left, 1)
	e.free = left + sim.Microseconds(p.SaveUs)
	e.sleep(e.free)
	e.release(engine)
	before := m.memory.Use(engine)
	if err := g.requeue(u.me, e, c.r.Priority); err != nil {
		panic(err) // the client that has the engine now waits for none
	}
	back := max(e.free, u.me.at)
	e.prefer(c.r.Preference)
	wake, ramp := m.wake(e, engine, back)
	end := back + wake + ramp + sim.Microseconds(p.RestoreUs)
	e.advance(end, 0)
	c.add(PartSwitch, sim.Microseconds(p.SaveUs), 0)
	c.add(PartPreempted, back-left-sim.Microseconds(p.SaveUs), 0)
	c.add(PartWake, wake, 0)
	c.add(PartRamp, ramp, 0)
	c.add(PartSwitch, sim.Microseconds(p.RestoreUs), 0)
	c.paused += end - left
	m.memory.Disown(engine, m.memory.Use(engine).Since(before))
	c.begin(c.began)
	g.reach(u.me, end, 0)
	g.activate(engine, u.me)
	points := e.plan()
	m.place(engine, end, points)
	for i := range points { // the first have been there before
		if points[i].At > 0 {
			points[i].At += t
		}
	}
	return points
}
