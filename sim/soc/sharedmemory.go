package soc

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// SharedMemory is what the engines of a machine share: the interconnect, the
// system-level cache and the DRAM. Each engine has a port.
type SharedMemory struct {
	DRAM  *mem.DRAM
	Cache *mem.SystemCache // nil where the SoC has none
	Bus   *mem.Bus
	Ports [NumEngines]*mem.Port

	cfg   *Config
	drams map[float64]*mem.DRAM // by transfers per second
}

// NewSharedMemory builds the memory of a machine, cold, its DRAM at the highest clock.
func (c *Config) NewSharedMemory() (*SharedMemory, error) {
	d, err := c.NewDRAM()
	if err != nil {
		return nil, err
	}
	m := &SharedMemory{DRAM: d, cfg: c, drams: map[float64]*mem.DRAM{c.DRAM.MTPerS: d}}
	var last mem.Level = d
	if c.SystemCache != nil {
		if m.Cache, err = mem.NewSystemCache(c.systemCache(), d); err != nil {
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

// settle begins again at time 0 with the DRAM at a clock: nothing is in flight, rows are
// closed, the next refresh is a whole interval away, counters are 0. What the system
// cache holds stays.
func (m *SharedMemory) settle(c *DRAM) error {
	d := m.drams[c.MTPerS]
	if d == nil {
		var err error
		if d, err = mem.NewDRAM(c.Config()); err != nil {
			return err
		}
		m.drams[c.MTPerS] = d
	}
	if m.DRAM = d; m.Cache != nil {
		m.Cache.Attach(d)
		m.Cache.Settle()
	} else {
		m.Bus.Attach(d)
	}
	m.Bus.Settle()
	d.Reset()
	return nil
}

// Fingerprint tells states of the system cache apart.
func (m *SharedMemory) Fingerprint() uint64 {
	if m.Cache == nil {
		return 0
	}
	return m.Cache.Fingerprint()
}

// MemoryUse is what an engine has had of the shared memory. The system cache counts
// lines.
type MemoryUse struct {
	mem.DRAMUse
	ReadHits, ReadMisses, WriteHits, WriteMisses, Fills, WriteBacks int64
	PJ                                                              float64 // of the events
}

// use is what an engine has had since the memory has settled.
func (m *SharedMemory) use(e Engine) MemoryUse {
	p := m.Ports[e]
	u := MemoryUse{DRAMUse: m.DRAM.Use(p.Master()), PJ: p.OwnPJ()}
	if c := m.Cache; c != nil {
		for event, n := range [...]*int64{
			mem.SystemReadHit: &u.ReadHits, mem.SystemReadMiss: &u.ReadMisses, mem.SystemWriteHit: &u.WriteHits,
			mem.SystemWriteMiss: &u.WriteMisses, mem.SystemFill: &u.Fills, mem.SystemWriteBack: &u.WriteBacks,
		} {
			*n = c.Count(p.Master(), event)
		}
	}
	return u
}

// Since is the use after an earlier one.
func (u MemoryUse) Since(e MemoryUse) MemoryUse {
	return MemoryUse{
		DRAMUse: mem.DRAMUse{
			ReadBursts: u.ReadBursts - e.ReadBursts, WriteBursts: u.WriteBursts - e.WriteBursts,
			RowHits: u.RowHits - e.RowHits, Activates: u.Activates - e.Activates, Wait: u.Wait - e.Wait,
		},
		ReadHits: u.ReadHits - e.ReadHits, ReadMisses: u.ReadMisses - e.ReadMisses,
		WriteHits: u.WriteHits - e.WriteHits, WriteMisses: u.WriteMisses - e.WriteMisses,
		Fills: u.Fills - e.Fills, WriteBacks: u.WriteBacks - e.WriteBacks, PJ: u.PJ - e.PJ,
	}
}

// place readies an engine's port for an execution that starts at an instant and whose
// program has a number: programs have addresses of their own. An engine alone has
// the memory at the clock that it votes for, from time 0 on.
func (m *Machine) place(e Engine, start sim.Time, points []sim.Change, program int) (mem.Level, error) {
	s, offset := m.memory, uint64(program)*programBytes
	if g := m.group; g != nil {
		s.Ports[e].Place(start-g.start, offset)
		return s.Ports[e], nil
	}
	s.Bus.Share(nil) // the clients of a group that has ended are gone
	s.Ports[e].Place(0, offset)
	return s.Ports[e], s.settle(&m.cfg.VotedAt(m.engines[e].section, points[0].OPP).DRAM)
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
