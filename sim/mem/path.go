package mem

import "github.com/nnsoc/nnsoc/sim"

// Path puts a constant delay in front of a level: the round trip of one device to
// a shared memory, added to a read.
type Path struct {
	Next  Level
	Delay sim.Time
}

// Delayed is l with a delay in front of it; the delays of paths in a row add up.
func Delayed(l Level, delay sim.Time) *Path {
	if p, ok := l.(*Path); ok {
		return &Path{p.Next, p.Delay + delay}
	}
	return &Path{l, delay}
}

// Access implements Level.
func (p *Path) Access(t sim.Time, addr uint64, bytes int, k Kind) (sim.Time, sim.Reason) {
	done, from := p.Next.Access(t, addr, bytes, k)
	if k != Write {
		done += p.Delay
	}
	return done, from
}

// Reset implements Level.
func (p *Path) Reset() { p.Next.Reset() }
