package reduction

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
)

// TestTopK sorts each lane in Go: descending, equal words by rising slice. Few different words
// make most equal to others; the least and the greatest word are among them.
func TestTopK(t *testing.T) {
	const lanes = hvx.VectorBytes / 4
	r := rand.New(rand.NewPCG(13, 10))
	for _, c := range []struct{ slices, k int }{{1, 1}, {9, 1}, {9, 9}, {40, 6}} {
		words := make([]uint32, c.slices*lanes)
		for i := range words {
			words[i] = [...]uint32{0, 1, 1<<32 - 1, 1 << 31, 1<<31 - 1, 77}[r.IntN(6)]
		}
		b := hvxtest.New(t)
		values, indexes := b.Alloc(c.k*hvx.VectorBytes), b.Alloc(c.k*hvx.VectorBytes)
		table := b.Words(b.Words(words...), values, indexes, uint32(c.k))
		b.Run(TopK{}, []uint32{table, 1, uint32(c.slices), hvx.VectorBytes, hvx.VectorBytes})
		word := func(at uint32, k, lane int) int32 {
			return int32(binary.LittleEndian.Uint32(b.Bytes(at+uint32(k*hvx.VectorBytes+4*lane), 4)))
		}
		for lane := range lanes {
			value := func(slice int) int32 { return int32(words[slice*lanes+lane]) }
			order := make([]int, c.slices)
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(value(y), value(x)) })
			for k, want := range order[:c.k] {
				if v, i := word(values, k, lane), word(indexes, k, lane); v != value(want) || int(i) != want {
					t.Fatalf("%+v: lane %d, place %d: %d of slice %d, want %d of slice %d", c, lane, k, v, i, value(want), want)
				}
			}
		}
	}
}
