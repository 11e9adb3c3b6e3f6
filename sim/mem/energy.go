package mem

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
	saved := (e.BackgroundMW - e.SelfRefreshMW) / float64(len(d.ch)) * d.clock.span(asleep).Seconds() * 1e9
	pj := float64(float64(d.count[DRAMActivate])*e.ActivatePJ) + float64(float64(d.count[DRAMReadBurst])*e.ReadBurstPJ) +
		float64(float64(writes)*e.WriteBurstPJ)
	return pj - saved, e.BackgroundMW
}

// Energy implements Powered.
func (p *Path) Energy() (dynamicPJ, backgroundMW float64) { return EnergyOf(p.Next) }

// Energy implements Powered.
func (p *Port) Energy() (dynamicPJ, backgroundMW float64) { return EnergyOf(p.bus.next) }
