package mem

// DRAMEnergy is what a DRAM draws: picojoules per event, and a background power
// that does not depend on what it does (static power, refresh).
type DRAMEnergy struct {
	ActivatePJ, ReadBurstPJ, WriteBurstPJ float64
	BackgroundMW                          float64
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

// Energy implements Powered. Writes that still wait in the queue are counted.
func (d *DRAM) Energy() (dynamicPJ, backgroundMW float64) {
	e := &d.cfg.Energy
	writes := d.count[DRAMWriteBurst]
	for i := range d.ch {
		c := &d.ch[i]
		for k := 1; k <= c.wqLen; k++ {
			w := &c.queue[(c.wqPos-k+len(c.queue))%len(c.queue)]
			writes += d.bursts(w.addr, w.bytes)
		}
	}
	pj := float64(float64(d.count[DRAMActivate])*e.ActivatePJ) + float64(float64(d.count[DRAMReadBurst])*e.ReadBurstPJ) +
		float64(float64(writes)*e.WriteBurstPJ)
	return pj, e.BackgroundMW
}

// Energy implements Powered.
func (p *Path) Energy() (dynamicPJ, backgroundMW float64) { return EnergyOf(p.Next) }

// Energy implements Powered.
func (p *Port) Energy() (dynamicPJ, backgroundMW float64) { return EnergyOf(p.bus.next) }
