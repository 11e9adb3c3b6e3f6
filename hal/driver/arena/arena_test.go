package arena

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPlace(t *testing.T) {
	// c lives beside a and b, which share their bytes.
	buffers := []Interval{a: {100, 0, 1}, b: {60, 2, 3}, c: {30, 1, 2}}
	offsets, end := Place(buffers, Options{Align: 16, Guard: 4, Limit: Unlimited})
	if offsets[a] != 0 || offsets[b] != 0 || offsets[c] != 112 || end != 160 {
		t.Errorf("offsets %v, end %d", offsets, end)
	}
	offsets, end = Place(buffers, Options{Align: 16, Limit: 120})
	if offsets[a] != 0 || offsets[b] != 0 || offsets[c] != Unplaced || end != 112 {
		t.Errorf("with a limit: offsets %v, end %d", offsets, end)
	}
	if offsets, end = Place(nil, Options{Align: 16, Start: 32}); len(offsets) != 0 || end != 32 {
		t.Errorf("nothing: offsets %v, end %d", offsets, end)
	}
}

const (
	a = iota
	b
	c
)

// TestPlaceDisjoint places random buffers and looks at every pair.
func TestPlaceDisjoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := rapid.Custom(func(t *rapid.T) Interval {
			first := rapid.IntRange(0, 20).Draw(t, "first")
			return Interval{rapid.IntRange(0, 300).Draw(t, "bytes"), first, first + rapid.IntRange(0, 8).Draw(t, "life")}
		})
		buffers := rapid.SliceOfN(interval, 0, 30).Draw(t, "buffers")
		o := Options{Align: rapid.SampledFrom([]int{1, 16, 128}).Draw(t, "align"), Guard: rapid.IntRange(0, 64).Draw(t, "guard"),
			Limit: rapid.SampledFrom([]int{0, 500, Unlimited}).Draw(t, "limit")}
		offsets, end := Place(buffers, o)
		for i := range buffers {
			x := &buffers[i]
			if offsets[i] == Unplaced {
				if o.Limit == Unlimited {
					t.Fatalf("buffer %d is not placed, and there is no limit", i)
				}
				continue
			}
			stop := offsets[i] + x.Bytes + o.Guard
			if offsets[i]%o.Align != 0 || stop > end || stop > o.Limit {
				t.Fatalf("buffer %d of %d bytes at %d, end %d, %+v", i, x.Bytes, offsets[i], end, o)
			}
			for j := range i {
				y := &buffers[j]
				if offsets[j] != Unplaced && x.overlaps(y) && offsets[i] < offsets[j]+y.Bytes+o.Guard && offsets[j] < stop {
					t.Fatalf("buffers %d and %d overlap: %v at %d, %v at %d", i, j, *x, offsets[i], *y, offsets[j])
				}
			}
		}
	})
}
