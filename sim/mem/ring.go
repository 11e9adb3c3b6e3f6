package mem

import "github.com/nnsoc/nnsoc/sim"

// ring holds a fixed number of instants in rising order. Each takes the place
// of the first, and most come in order, so that they are put in at the end.
type ring struct {
	at   []sim.Time // twice as long, so that the instants lie side by side
	head int
	n    int
}

func newRing(n int) ring { return ring{at: make([]sim.Time, 2*n), n: n} }

func (r *ring) clear() {
	clear(r.at)
	r.head = 0
}

func (r *ring) first() sim.Time { return r.at[r.head] }

// replaceFirst takes the first instant out and puts t in.
func (r *ring) replaceFirst(t sim.Time) {
	if r.head++; r.head == r.n {
		copy(r.at, r.at[r.head:])
		r.head = 0
	}
	at := r.at[r.head:][:r.n]
	i := len(at) - 1
	for ; i > 0 && at[i-1] > t; i-- {
		at[i] = at[i-1]
	}
	at[i] = t
}
