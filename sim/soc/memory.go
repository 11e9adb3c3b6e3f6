package soc

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
)

// SharedMemory is the memory that the engines of a machine share: the interconnect, the system-level cache and the
// DRAM. Each engine has a port.
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

// Quiesce begins again at time 0: nothing is in flight, counters are 0. What the system cache
// holds stays. The DRAM's clock begins by itself.
func (m *SharedMemory) Quiesce() {
	if m.Cache != nil {
		m.Cache.Quiesce()
	}
	m.Bus.Quiesce()
	m.foreign = [NumEngines]MemoryUse{}
}

// Due lets the clocks be queried for an instant of the memory's time.
func (m *SharedMemory) Due(at sim.Time) {
	m.DRAM.Due(at)
	if m.Cache != nil {
		m.Cache.Due(at)
	}
}

// Disown subtracts from an engine's account: another execution had the engine in between.
func (m *SharedMemory) Disown(e Engine, u MemoryUse) {
	m.Ports[e].Disown(u.PJ)
	u.PJ = 0
	m.foreign[e] = m.foreign[e].add(&u, 1)
}

// Fingerprint identifies the state of the system cache.
func (m *SharedMemory) Fingerprint() uint64 {
	if m.Cache == nil {
		return 0
	}
	return m.Cache.Fingerprint()
}

// Lines are those in the system cache, nil without one.
func (m *SharedMemory) Lines() *interconnect.Lines {
	if m.Cache == nil {
		return nil
	}
	return m.Cache.Lines()
}

// MemoryUse is an engine's use of the shared memory. The system cache counts lines.
type MemoryUse struct {
	dram.Use
	ReadHits, ReadMisses, WriteHits, WriteMisses, Fills, WriteBacks int64
	PJ                                                              float64 // of the events
}

// Use is an engine's use since quiesce.
func (m *SharedMemory) Use(e Engine) MemoryUse {
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

// VotedAt is the SoC with its DRAM at the clock that an engine votes for at an operating
// point.
func (c *Config) VotedAt(clock *Clock, o sim.OPP) *Config {
	for i := range clock.OPPs {
		if sim.Hertz(clock.OPPs[i].MHz) == o.Hz {
			return c.VotedMHz(clock.OPPs[i].DDRMHz)
		}
	}
	return c
}
