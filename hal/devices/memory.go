package devices

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// memoryStats is what an execution of some length has had of the shared memory, in the
// HAL's terms. Refresh and background are what its time costs.
func (m *Machine) memoryStats(u soc.MemoryUse, took sim.Time) hal.MemoryStats {
	d := &m.config.DRAM
	burst := int64(d.BusBits / 8 * d.BurstLength)
	ms := float64(took) / 1e12
	s := hal.MemoryStats{
		ReadBytes: u.ReadBursts * burst, WriteBytes: u.WriteBursts * burst,
		Bursts: u.ReadBursts + u.WriteBursts, RowHits: u.RowHits, ReadBursts: u.ReadBursts, WaitFs: int64(u.Wait),
		CacheHits: u.ReadHits + u.WriteHits, CacheMisses: u.ReadMisses + u.WriteMisses, CacheWriteBacks: u.WriteBacks,
		EventsPJ: u.PJ, RefreshPJ: d.RefreshMW() * ms * 1e6, BackgroundPJ: d.Energy.StaticMW * ms * 1e6,
	}
	if c := m.config.SystemCache; c != nil {
		s.BackgroundPJ += c.Energy.StaticMW * ms * 1e6
	}
	return s
}
