package soc

import (
	"slices"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
)

// SharedMemory is what the engines of a machine share: the interconnect, the
// system-level cache and the DRAM. Each engine has a port.
type SharedMemory struct {
	DRAM  *dram.DRAM
	Cache *interconnect.SystemCache // nil where the SoC has none
	Bus   *interconnect.Bus
	Ports [NumEngines]*interconnect.Port

	foreign [NumEngines]MemoryUse // see disown
}

// NewSharedMemory builds the memory of a machine, cold, its DRAM at the highest clock.
func (c *Config) NewSharedMemory() (*SharedMemory, error) {
	d, err := c.NewDRAM()
	if err != nil {
		return nil, err
	}
	m := &SharedMemory{DRAM: d}
	var last mem.Level = d
	if c.SystemCache != nil {
		if m.Cache, err = interconnect.NewSystemCache(c.systemCache(), d); err != nil {
			return nil, err
		}
		last = m.Cache
	}
	if m.Bus, err = c.newBus(last); err != nil {
		return nil, err
	}
	for e := range m.Ports {
		m.Ports[e] = m.Bus.Port(Engine(e).String())
	}
	return m, nil
}

// NewEngineMemory is the memory of a machine, cold, as an engine sees it that has it to
// itself.
func (c *Config) NewEngineMemory(e Engine) (mem.Level, error) {
	m, err := c.NewSharedMemory()
	if err != nil {
		return nil, err
	}
	return m.Ports[e], nil
}

// quiesce begins again at time 0: nothing is in flight, counters are 0. What the system cache
// holds stays. The DRAM's clock begins by itself.
func (m *SharedMemory) quiesce() {
	if m.Cache != nil {
		m.Cache.Quiesce()
	}
	m.Bus.Quiesce()
	m.foreign = [NumEngines]MemoryUse{}
}

// due lets the clocks be asked for an instant of the memory's time.
func (m *SharedMemory) due(at sim.Time) {
	m.DRAM.Due(at)
	if m.Cache != nil {
		m.Cache.Due(at)
	}
}

// disown takes off from what an engine has had: another execution had it in between.
func (m *SharedMemory) disown(e Engine, u MemoryUse) {
	m.Ports[e].Disown(u.PJ)
	u.PJ = 0
	m.foreign[e] = m.foreign[e].add(&u, 1)
}

// Fingerprint tells states of the system cache apart.
func (m *SharedMemory) Fingerprint() uint64 {
	if m.Cache == nil {
		return 0
	}
	return m.Cache.Fingerprint()
}

// lines are those in the system cache, nil without one.
func (m *SharedMemory) lines() *interconnect.Lines {
	if m.Cache == nil {
		return nil
	}
	return m.Cache.Lines()
}

// MemoryUse is what an engine has had of the shared memory. The system cache counts
// lines.
type MemoryUse struct {
	dram.Use
	ReadHits, ReadMisses, WriteHits, WriteMisses, Fills, WriteBacks int64
	PJ                                                              float64 // of the events
}

// use is what an engine has had since quiesce.
func (m *SharedMemory) use(e Engine) MemoryUse {
	p := m.Ports[e]
	u := MemoryUse{Use: m.DRAM.Use(p.Master()), PJ: p.OwnPJ()}
	if c := m.Cache; c != nil {
		for event, n := range [...]*int64{
			interconnect.SystemReadHit: &u.ReadHits, interconnect.SystemReadMiss: &u.ReadMisses, interconnect.SystemWriteHit: &u.WriteHits,
			interconnect.SystemWriteMiss: &u.WriteMisses, interconnect.SystemFill: &u.Fills, interconnect.SystemWriteBack: &u.WriteBacks,
		} {
			*n = c.Count(p.Master(), event)
		}
	}
	return u.Since(m.foreign[e])
}

// Since is the use after an earlier one.
func (u MemoryUse) Since(e MemoryUse) MemoryUse { return u.add(&e, -1) }

// add adds so many times another use.
func (u MemoryUse) add(e *MemoryUse, n int64) MemoryUse {
	return MemoryUse{
		Use: dram.Use{
			ReadBursts: u.ReadBursts + n*e.ReadBursts, WriteBursts: u.WriteBursts + n*e.WriteBursts,
			RowHits: u.RowHits + n*e.RowHits, Activates: u.Activates + n*e.Activates, Wait: u.Wait + sim.Time(n)*e.Wait,
		},
		ReadHits: u.ReadHits + n*e.ReadHits, ReadMisses: u.ReadMisses + n*e.ReadMisses,
		WriteHits: u.WriteHits + n*e.WriteHits, WriteMisses: u.WriteMisses + n*e.WriteMisses,
		Fills: u.Fills + n*e.Fills, WriteBacks: u.WriteBacks + n*e.WriteBacks, PJ: u.PJ + float64(n)*e.PJ,
	}
}

// place readies the memory for an execution on an engine that starts at an instant. An engine
// alone has it from time 0 on: rows are closed, the next refresh is a whole interval away.
func (m *Machine) place(e Engine, start sim.Time, points []sim.Change) mem.Level {
	s, k := m.memory, m.clock
	points = voting(points)
	if g := m.group; g != nil {
		// The vote comes before the start, so that nothing waits for the clock.
		at := start - m.cfg.DRAM.Config().SwitchTime
		k.ask(e, m.engines[e].section, at, points)
		s.due(max(at-g.start, 0))
		return s.Ports[e]
	}
	m.measured(sim.Never)
	s.Bus.Share(nil) // the clients of a group that has ended are gone
	s.quiesce()
	k.alone(e, m.engines[e].section, start, points)
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

// programBytes is how far apart the addresses of programs lie: more than any uses, and a
// row of every bank, so that programs do not begin in the same one.
const programBytes = 1<<36 + 1<<13

// VotedAt is the SoC with its DRAM at the clock that an engine votes for at an operating
// point.
func (c *Config) VotedAt(clock *Clock, o sim.OPP) *Config {
	for i := range clock.OPPs {
		if hz(clock.OPPs[i].MHz) == o.Hz {
			return c.votedMHz(clock.OPPs[i].DDRMHz)
		}
	}
	return c
}

// DRAMUse is what an engine has moved to and from DRAM over a span, by the time at which the
// data bus has carried it.
type DRAMUse struct {
	From, To sim.Time
	Engine   Engine
	Bytes    int64
}

// dramMeter hands out what the DRAM counts while somebody observes it.
type dramMeter struct {
	observe []*func(*DRAMUse)
}

// ObserveDRAM calls f with what each engine has moved to and from DRAM, every 50 us in which
// it moved something. The CPU alone, whose kernels' costs include the memory, moves its bytes
// evenly. It returns a function that ends it and hands out the rest.
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

// measured hands out what engines have moved in the spans that end until an instant.
func (m *Machine) measured(until sim.Time) {
	if len(m.traffic.observe) == 0 {
		return
	}
	start := m.clock.start
	if until != sim.Never {
		until -= start
	}
	m.memory.DRAM.Measured(until, func(from, to sim.Time, bytes *dram.Moved) {
		for e := range NumEngines {
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
