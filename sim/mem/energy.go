package mem

// Powered is a level that knows the energy of the memory at its end: dynamic
// energy since Reset, by whichever requester, and background power.
type Powered interface {
	Energy() (dynamicPJ, backgroundMW float64)
}

// EnergyOf returns the energy of the memory behind a level; a level that
// is not Powered draws none.
func EnergyOf(l Level) (dynamicPJ, backgroundMW float64) {
	if p, ok := l.(Powered); ok {
		return p.Energy()
	}
	return 0, 0
}

// Energy implements Powered.
func (p *Path) Energy() (dynamicPJ, backgroundMW float64) { return EnergyOf(p.Next) }
