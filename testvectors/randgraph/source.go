package randgraph

import "math/rand/v2"

// source yields the decisions of one operation: fresh random ones, or a
// recorded list. It records what it yields. A list that is too short goes on
// with zeros; an entry that is too large becomes the largest possible.
type source struct {
	rng    *rand.Rand // nil when replaying
	replay []uint32
	log    []uint32
}

// choose decides between 0 and n-1; 0 is the simplest.
func (s *source) choose(n int) int {
	v := 0
	switch at := len(s.log); {
	case s.rng != nil:
		v = s.rng.IntN(n)
	case at < len(s.replay):
		v = min(int(s.replay[at]), n-1)
	}
	s.log = append(s.log, uint32(v))
	return v
}

// chance is true with the given probability in percent; the simplest is false.
func (s *source) chance(percent int) bool { return s.choose(100) >= 100-percent }

// pick decides between values, the simplest first.
func pick[T any](s *source, values ...T) T { return values[s.choose(len(values))] }
