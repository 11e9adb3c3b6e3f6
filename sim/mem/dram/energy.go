package dram

import "github.com/nnsoc/nnsoc/sim"

// Energy is the energy of a DRAM: picojoules per event, and a background power independent of its activity (static
// power, refresh), awake and in self-refresh.
type Energy struct {
	ActivatePJ, ReadBurstPJ, WriteBurstPJ float64
	BackgroundMW, SelfRefreshMW           float64
}

// Energy implements Powered. Writes that still wait in the queue are counted. The saving of a channel in self-refresh
// is subtracted when it wakes.
func (d *DRAM) Energy() (dynamicPJ, backgroundMW float64) {
	e := &d.cfg.Energy
	writes := d.count[WriteBurst]
	asleep := int64(0)
	for i := range d.ch {
		writes += d.ch[i].buffer.waiting
		asleep += d.ch[i].selfClocks
	}
	saved := e.saved(len(d.ch), d.selfRefreshTime+d.clock.span(asleep))
	pj := float64(float64(d.count[Activate])*e.ActivatePJ) + float64(float64(d.count[ReadBurst])*e.ReadBurstPJ) +
		float64(float64(writes)*e.WriteBurstPJ)
	return pj - saved, e.BackgroundMW
}

// saved is the energy of background that channels save in self-refresh.
func (e *Energy) saved(channels int, asleep sim.Time) float64 {
	return (e.BackgroundMW - e.SelfRefreshMW) / float64(channels) * asleep.Seconds() * 1e9
}
