package lookup

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
)

// TestFindKey looks for words among few different ones, so that most are there more than
// once, and for some that are not: the first place counts, or the number of words.
func TestFindKey(t *testing.T) {
	const lanes = hvx.VectorBytes / 4
	r := rand.New(rand.NewPCG(13, 8))
	numbers := make([]uint32, lanes)
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	for _, vectors := range []int{1, 2, 5} {
		keys, wants := make([]uint32, vectors*lanes), make([]uint32, 40)
		for i := range keys {
			keys[i] = uint32(r.IntN(30)) - 10
		}
		for i := range wants {
			wants[i] = uint32(r.IntN(36)) - 13
		}
		b := hvxtest.New(t)
		out, none := b.Alloc(4*len(wants)), uint32(len(keys))
		// Two entries of the table, for the halves of the words.
		half := uint32(len(wants) / 2)
		at := b.Words(wants...)
		table := b.Words(at, out, half, at+4*half, out+4*half, half)
		b.Run(FindKey{}, []uint32{table, 2, b.Words(keys...), uint32(vectors), none, b.Words(numbers...)})
		got := b.Bytes(out, 4*len(wants))
		for i, want := range wants {
			place := none
			for k := len(keys) - 1; k >= 0; k-- {
				if keys[k] == want {
					place = uint32(k)
				}
			}
			if g := binary.LittleEndian.Uint32(got[4*i:]); g != place {
				t.Errorf("%d vectors: word %d found at %d, want %d", vectors, int32(want), g, place)
			}
		}
	}
}
