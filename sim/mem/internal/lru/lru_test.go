package lru

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrder: ways move to the front as in a list.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for ways := 1; ways <= MaxWays; ways++ {
		order, list := Order(0), []uint64{}
		for w := range ways {
			order |= Order(w) << (4 * w)
			list = append(list, uint64(w))
		}
		for range 200 {
			way := r.Uint64N(uint64(ways))
			at := slices.Index(list, way)
			if got := order.Place(way); got != 4*at || order.Way(got) != way {
				t.Fatalf("%d ways, %x: way %d is at bit %d, want %d", ways, order, way, got, 4*at)
			}
			if all := Order(1)<<(4*ways) - 1; at == ways-1 && order.Rotate(way, all) != order.Front(way, 4*at) {
				t.Fatalf("%d ways, %x: way %d is last, yet Rotate and Front differ", ways, order, way)
			}
			order = order.Front(way, 4*at)
			list = slices.Insert(slices.Delete(list, at, at+1), 0, way)
			for i, w := range list {
				if order.Way(4*i) != w {
					t.Fatalf("%d ways: order %x, want %d", ways, order, list)
				}
			}
		}
	}
}

// TestSigns: the first match is the first line with the sign of a number.
func TestSigns(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var s Signs
		var numbers [MaxWays]uint64
		for w := range uint64(MaxWays) {
			s.Set(w, r.Uint64()) // the previous sign is gone
			numbers[w] = r.Uint64N(4)<<14 | r.Uint64N(3) | r.Uint64()<<16
			s.Set(w, numbers[w])
		}
		number := numbers[r.IntN(MaxWays)] ^ r.Uint64N(2)<<20
		for word := range s {
			own := numbers[4*word : 4*word+4]
			want := slices.IndexFunc(own, func(n uint64) bool { return n&0xffff == number&0xffff })
			got := -1
			if m := s.Match(word, Sign(number)); m != 0 {
				got = bits.TrailingZeros64(m) / 16
			}
			if got != want {
				t.Fatalf("%x in %x: way %d, want %d", number, own, got, want)
			}
		}
	}
}
