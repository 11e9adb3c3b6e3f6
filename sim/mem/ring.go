package mem

import "github.com/nnsoc/nnsoc/sim"

// ring holds a fixed number of instants in rising order. Each takes the place
// of the first, and most come in order, so that they are put in at the end.
type ring struct {
	at   []sim.Time
	head int
}

func newRing(n int) ring { return ring{at: make([]sim.Time, n)} }

func (r *ring) clear() {
	clear(r.at)
	r.head = 0
}

func (r *ring) first() sim.Time { return r.at[r.head] }

// replaceFirst takes the first instant out and puts t in.
func (r *ring) replaceFirst(t sim.Time) {
	i := r.head // where the first was: behind the last, once the ring begins one later
	if r.head++; r.head == len(r.at) {
		r.head = 0
	}
	for i != r.head {
		k := i - 1
		if k < 0 {
			k = len(r.at) - 1
		}
		if r.at[k] <= t {
			break
		}
		r.at[i] = r.at[k]
		i = k
	}
	r.at[i] = t
}
