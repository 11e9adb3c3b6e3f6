package mem

import "github.com/nnsoc/nnsoc/sim"

// DRAMEnergy is what a DRAM draws: picojoules per event, and a background power
// that does not depend on what it does (static power, refresh), awake and in
// self-refresh.
type DRAMEnergy struct {
	ActivatePJ, ReadBurstPJ, WriteBurstPJ float64
	BackgroundMW, SelfRefreshMW           float64
}

// Powered is a level that knows the energy of the memory at its end: dynamic
// energy since Reset, by whichever requester, and background power.
type Powered interface {
	Energy() (dynamicPJ, backgroundMW float64)
}

// EnergyOf asks a level for the energy of the memory at its end; a level that
// is not Powered draws none.
func EnergyOf(l Level) (dynamicPJ, backgroundMW float64) {
	if p, ok := l.(Powered); ok {
		return p.Energy()
	}
	return 0, 0
}

// Energy implements Powered. Writes that still wait in the queue are counted. What a
// channel saved in self-refresh is taken off when it wakes.
func (d *DRAM) Energy() (dynamicPJ, backgroundMW float64) {
	e := &d.cfg.Energy
	writes := d.count[DRAMWriteBurst]
	asleep := int64(0)
	for i := range d.ch {
		writes += int64(d.ch[i].waiting)
		asleep += d.ch[i].selfClocks
	}
	saved := e.saved(len(d.ch), d.asleep+d.clock.span(asleep))
	pj := float64(float64(d.count[DRAMActivate])*e.ActivatePJ) + float64(float64(d.count[DRAMReadBurst])*e.ReadBurstPJ) +
		float64(float64(writes)*e.WriteBurstPJ)
	return pj - saved, e.BackgroundMW
}

// saved is the energy of background that channels save in self-refresh.
func (e *DRAMEnergy) saved(channels int, asleep sim.Time) float64 {
	return (e.BackgroundMW - e.SelfRefreshMW) / float64(channels) * asleep.Seconds() * 1e9
}

// Energy implements Powered.
func (p *Path) Energy() (dynamicPJ, backgroundMW float64) { return EnergyOf(p.Next) }

// Energy implements Powered. Of a shared bus it is what the port has caused, and its part
// of the background.
func (p *Port) Energy() (dynamicPJ, backgroundMW float64) {
	b := p.bus
	pj, mw := EnergyOf(b.next)
	if b.arbiter == nil {
		return pj, mw
	}
	return p.OwnPJ(), mw / float64(max(b.busy, 1))
}

// OwnPJ is the energy of the memory's events that the port has caused.
func (p *Port) OwnPJ() float64 {
	b, d, pj := p.bus, p.bus.dram, 0.0
	if b.cache != nil {
		d, pj = b.cache.dram, b.cache.OwnPJ(p.master)
	}
	if d != nil {
		pj += d.PJ(p.master)
	}
	return pj - p.others
}

// Disown takes energy off from what the port has caused, until the bus settles: another
// requester was at the port.
func (p *Port) Disown(pj float64) { p.others += pj }
