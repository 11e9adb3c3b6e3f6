package interconnect

import "github.com/nnsoc/nnsoc/sim/mem"

// Energy implements Powered. Of a shared bus it is the energy caused by the port, and its part of the background.
func (p *Port) Energy() (dynamicPJ, backgroundMW float64) {
	b := p.bus
	pj, mw := mem.EnergyOf(b.next)
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

// Disown subtracts energy from the port's account, until Quiesce of the bus: another
// requester was at the port.
func (p *Port) Disown(pj float64) { p.others += pj }
