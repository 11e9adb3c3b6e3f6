package mem

import "github.com/nnsoc/nnsoc/sim"

// Path puts a constant delay in front of a level: what the way of one device to
// a shared memory adds to a read, there and back.
type Path struct {
	Next  Level
	Delay sim.Time
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
