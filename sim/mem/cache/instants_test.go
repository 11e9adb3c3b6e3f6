package cache

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
)

// TestInstants compares with a sorted list.
func TestInstants(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 16, 63, 64, 128} {
		s, want := newInstants(n), make([]sim.Time, n)
		now := sim.Time(0)
		for i := range 4000 {
			if s.first() != want[0] {
				t.Fatalf("%d instants, after %d: the first is %d, want %d", n, i, s.first(), want[0])
			}
			now += sim.Time(r.IntN(10))
			at := now + sim.Time(r.IntN(3))
			switch r.IntN(4) {
			case 0:
				at += 500 + sim.Time(r.IntN(100))
			case 1:
				at -= sim.Time(r.IntN(int(at) + 1))
			}
			s.replace(at)
			want = append(want[1:], at)
			slices.Sort(want)
			if i%1000 == 999 {
				s.clear()
				clear(want)
			}
		}
	}
}
