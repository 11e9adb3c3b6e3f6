package platform

import (
	"errors"
	"slices"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// ErrShutdown is returned once the phone has switched itself off because its skin is too hot.
var ErrShutdown = errors.New("platform: shut down by heat")

// Observe calls f for each span of the machine's time, in order and without gaps: about
// three per execution - before the engine, on it, after it - one per second or less of
// idle time, and cut where a clock changes. Clients beside each other cut finer. Reset begins again at 0. It returns a
// function that ends it.
func (m *Machine) Observe(f func(*Sample)) (end func()) {
	a := m.account
	a.observe = append(a.observe, &f)
	return func() {
		a.observe = slices.DeleteFunc(a.observe, func(x *func(*Sample)) bool { return x == &f })
	}
}

// Account is energy that is divided among executions beside each other.
type Account struct {
	PJ [soc.NumRails]float64
}

// Account begins an account of the present client. Energy that concurrent executions do not use themselves - engines
// that wait, the background of the memory, the rest - is divided evenly among those in flight at each instant, an
// engine's among those on it. The shares of the client's executions that begin from now on, and of clients that it
// starts from now on, go to the account until the next. It is complete when all concurrent clients have reached its
// end.
func (m *Machine) Account() *Account {
	m.client.shared = &Account{}
	return m.client.shared
}

// Spent is the energy supplied by each rail up to the end of the last execution or sleep, in pJ.
func (m *Machine) Spent() [soc.NumRails]float64 { return m.account.spent }

// Alive is an error, ErrShutdown, when the phone has switched itself off.
func (m *Machine) Alive() error { return m.account.alive() }

// Sensors are the names of the temperatures of a Sample; none without [thermal].
func (m *Machine) Sensors() []string {
	var l []string
	if t := m.cfg.Thermal; t != nil {
		for i := range t.Nodes {
			l = append(l, t.Nodes[i].Name)
		}
	}
	return l
}

// Rails are the consumers of power of this SoC, indexes of Sample.Watts.
func (m *Machine) Rails() []soc.Rail { return m.cfg.Rails() }

// Clocks are the names of the clocks of a Sample: that of the cores that drivers run on, then the engines', then those
// of the DRAM and of the system-level cache.
func (m *Machine) Clocks() []string {
	var l []string
	for _, d := range m.clocks {
		l = append(l, d.name)
	}
	l = append(l, "ddr")
	if m.systemCacheHasClock() {
		l = append(l, "system cache")
	}
	return l
}

// domain is a clock of the machine.
type domain struct {
	name  string
	ruled string // its name in thermal rules
	clock *sim.Domain
}

// domains are the clocks of the machine.
func (m *Machine) domains() []domain {
	l := []domain{{"host", m.cfg.Host.Cluster, m.host}}
	for e, x := range m.engines {
		if x == nil {
			continue
		}
		for i, clock := range x.clocks {
			name, ruled := soc.Engine(e).String(), soc.Engine(e).String()
			if soc.Engine(e) == soc.EngineCPU {
				if ruled = m.cfg.CPU.Clusters[i].Name; i > 0 {
					name = ruled
				}
			}
			if i == 0 || clock != m.host {
				l = append(l, domain{name, ruled, clock})
			}
		}
	}
	return l
}

// watch lets the account know when clocks change.
func (m *Machine) watch() {
	for _, d := range m.clocks {
		d.clock.Watch(func(at sim.Time, o sim.OPP) {
			for i := range m.clocks {
				if m.clocks[i].clock == d.clock {
					m.account.clocked(i, at, o.Hz)
				}
			}
		})
	}
	m.clock.system.changed = func(at sim.Time, hz int64) { m.account.clocked(len(m.clocks)+1, at, hz) }
	m.clock.changed = func(at sim.Time, hz int64) { m.account.clocked(len(m.clocks), at, hz) }
}

// appendHz adds the present clocks, by Clocks.
func (m *Machine) appendHz(l []int64) []int64 {
	for _, d := range m.clocks {
		o, _ := d.clock.Point()
		l = append(l, o.Hz)
	}
	l = append(l, m.clock.hz())
	if m.systemCacheHasClock() {
		l = append(l, m.clock.system.hz())
	}
	return l
}

func (m *Machine) systemCacheHasClock() bool { return len(m.clock.system.clocks) > 1 }

// ObserveSystemCache calls f with each engine's use of the system-level cache, every 50 us of an execution and at its
// end, unless there was none. It returns a function that ends it.
func (m *Machine) ObserveSystemCache(f func(*SystemCacheUse)) (end func()) {
	s := &m.clock.system.meter
	s.observe = append(s.observe, &f)
	if g := m.group; g != nil {
		m.memory.Due(m.client.now - g.start)
	}
	return func() {
		s.observe = slices.DeleteFunc(s.observe, func(x *func(*SystemCacheUse)) bool { return x == &f })
	}
}

// applyCaps lowers the clocks to the caps of the thermal rules.
func (m *Machine) applyCaps() {
	for _, d := range m.clocks {
		d.clock.Limit(m.caps[d.ruled])
	}
}

// earliest is the instant before which no execution begins or ends any more.
func (m *Machine) earliest() sim.Time {
	if m.group == nil {
		return m.client.now
	}
	t := sim.Never
	for _, c := range m.group.clients {
		switch {
		case c.joins == nil:
			t = min(t, c.now)
		case c.joins.done: // it continues next
			t = min(t, max(c.now, c.joins.now))
		}
	}
	return t
}
