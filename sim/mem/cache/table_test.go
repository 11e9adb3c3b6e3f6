package cache

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestHashedSets: bit j of a line's set is the parity of bits j, j+n and j+2n of its number, where sets have n bits;
// without hashing it is bit j.
func TestHashedSets(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 4, 9} {
		var plain, hashed table
		plain.init(1<<n, 2, false)
		hashed.init(1<<n, 2, true)
		for range 200 {
			ln := r.Uint64() >> 6
			var want uint64
			for j := range n {
				want |= uint64(bits.OnesCount64(ln&(1<<j|1<<(j+n)|1<<(j+2*n)))&1) << j
			}
			if got := hashed.setOf(ln); got != want {
				t.Fatalf("%d bits: line %#x in set %#x, want %#x", n, ln, got, want)
			}
			if got := plain.setOf(ln); got != ln%(1<<n) {
				t.Fatalf("%d bits, not hashed: line %#x in set %#x", n, ln, got)
			}
		}
	}
}
