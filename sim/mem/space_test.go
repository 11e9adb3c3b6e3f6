package mem

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestSpace: a space finds the segment that contains all of some bytes, as a map of each address does, and rejects a
// segment that overlaps another or wraps.
func TestSpace(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var s Space
		owner := map[uint64]int{}
		var segs []Segment
		for range 12 {
			seg := Segment{Name: fmt.Sprint("s", len(segs)), Base: uint64(r.IntN(200)), Data: make([]byte, r.IntN(20))}
			meets := false
			for i := range segs { // an empty one overlaps a segment that it is inside of
				o := &segs[i]
				meets = meets || seg.Base < o.Base+uint64(len(o.Data)) && o.Base < seg.Base+uint64(len(seg.Data))
			}
			if err := s.Map(seg); (err != nil) != meets {
				t.Fatalf("segment [%d,%d) beside %d others: %v", seg.Base, seg.Base+uint64(len(seg.Data)), len(segs), err)
			} else if err != nil {
				continue
			}
			for i := range seg.Data {
				owner[seg.Base+uint64(i)] = len(segs)
				seg.Data[i] = byte(r.Uint32())
			}
			segs = append(segs, seg)
		}
		clone := s.Clone()
		for range 200 {
			at, n := uint64(r.IntN(220)), 1+r.IntN(8)
			first, there := owner[at]
			for i := range n {
				k, ok := owner[at+uint64(i)]
				there = there && ok && k == first
			}
			for _, x := range []*Space{&s, clone} {
				seg, b := x.Find(at, n), x.Bytes(at, n)
				switch {
				case !there:
					if seg != nil || b != nil {
						t.Fatalf("%d bytes at %d are there", n, at)
					}
				case seg == nil || seg.Name != segs[first].Name || len(b) != n || cap(b) != n || !bytes.Equal(b, segs[first].Data[at-segs[first].Base:][:n]):
					t.Fatalf("%d bytes at %d: %v, %v, want those of segment %d", n, at, seg, b, first)
				}
			}
		}
	}
	var s Space
	require.Fails(t, s.Map(Segment{Base: 1<<64 - 4, Data: make([]byte, 5)}), "a segment wraps")
	if err := s.Map(Segment{Name: "top", Base: 1<<64 - 8, Data: make([]byte, 7)}); err != nil || s.Find(1<<64-8, 7) == nil || s.Find(1<<64-8, 8) != nil || s.Find(1<<64-9, 1) != nil {
		t.Errorf("a segment below the top: %v", err)
	}
}
