package platform

import (
	"slices"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// place readies the memory for an execution on an engine that starts at an instant. An engine
// alone has it from time 0 on: rows are closed, the next refresh is a whole interval away.
func (m *Machine) place(e soc.Engine, start sim.Time, points []sim.Change) mem.Level {
	s, k := m.memory, m.clock
	points = voting(points)
	if g := m.group; g != nil {
		// The vote is before the start, so that nothing waits for the clock.
		at := start - m.cfg.DRAM.Config().SwitchTime
		k.request(e, m.engines[e].section, at, points)
		s.Due(max(at-g.start, 0))
		return s.Ports[e]
	}
	m.measured(sim.Never)
	s.Bus.Share(nil) // the clients of a group that has ended are gone
	s.Quiesce()
	k.requestAlone(e, m.engines[e].section, start, points)
	k.begin(s, start, true)
	return s.Ports[e]
}

// voting are the points whose clock has votes: of the CPU those of its first cluster.
func voting(points []sim.Change) []sim.Change {
	if !slices.ContainsFunc(points, func(c sim.Change) bool { return c.Cluster > 0 }) {
		return points
	}
	return slices.DeleteFunc(slices.Clone(points), func(c sim.Change) bool { return c.Cluster > 0 })
}

// programBytes is the distance between the addresses of programs: more than any uses, and a row of every bank, so that
// programs do not begin in the same one.
const programBytes = 1<<36 + 1<<13

// DRAMUse is the DRAM traffic of an engine over a span, by the time at which the data bus has carried it.
type DRAMUse struct {
	From, To sim.Time
	Engine   soc.Engine
	Bytes    int64
}

// dramMeter reports the counts of the DRAM while it is observed.
type dramMeter struct {
	observe []*func(*DRAMUse)
}

// ObserveDRAM calls f with the DRAM traffic of each engine, every 50 us with traffic. The traffic of the CPU alone,
// whose kernels' costs include the memory, is spread evenly. It returns a function that ends it and passes the rest to
// f.
func (m *Machine) ObserveDRAM(f func(*DRAMUse)) (end func()) {
	x := &m.traffic
	x.observe = append(x.observe, &f)
	if len(x.observe) == 1 {
		from := sim.Time(0)
		if g := m.group; g != nil {
			from = m.client.now - g.start
		}
		m.memory.DRAM.Measure(meterSpan, from)
	}
	return func() {
		m.measured(sim.Never)
		x.observe = slices.DeleteFunc(x.observe, func(x *func(*DRAMUse)) bool { return x == &f })
		if len(x.observe) == 0 {
			m.memory.DRAM.Measure(0, 0)
		}
	}
}

// measured reports the traffic of engines in the spans that end until an instant.
func (m *Machine) measured(until sim.Time) {
	if len(m.traffic.observe) == 0 {
		return
	}
	start := m.clock.start
	if until != sim.Never {
		until -= start
	}
	m.memory.DRAM.Measured(until, func(from, to sim.Time, bytes *dram.Moved) {
		for e := range soc.NumEngines {
			m.traffic.add(&DRAMUse{start + from, start + to, e, bytes[e]})
		}
	})
}

func (x *dramMeter) add(u *DRAMUse) {
	if u.Bytes == 0 || u.To <= u.From {
		return
	}
	for _, f := range x.observe {
		(*f)(u)
	}
}
