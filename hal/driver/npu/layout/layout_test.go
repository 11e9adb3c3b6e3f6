package layout

import (
	"math/rand/v2"
	"testing"
)

// TestMap: kinds of memory behind one base pointer follow each other without sharing bytes, and the
// region reaches to the end of the last.
func TestMap(t *testing.T) {
	sizes := Sizes{RegionArena: 100, RegionIO: 33, RegionSpill: 7}
	for _, m := range []Map{
		{RegionArena: 1, RegionIO: 3, RegionSpill: 4}, // each of its own
		{RegionArena: 1, RegionIO: 1, RegionSpill: 1}, // all in one
		{RegionArena: 1, RegionIO: 2, RegionSpill: 1},
	} {
		for i, a := range order {
			begin := m.Base(a, &sizes)
			if end := begin + sizes[a]; end > m.Size(m[a], &sizes) {
				t.Errorf("%v: kind %d ends at %d of %d", m, a, end, m.Size(m[a], &sizes))
			}
			if begin%Alignment != 0 {
				t.Errorf("%v: kind %d begins at %d", m, a, begin)
			}
			for _, b := range order[:i] {
				x, y := Buffer{m[a], begin, sizes[a]}, Buffer{m[b], m.Base(b, &sizes), sizes[b]}
				if x.Overlaps(&y) {
					t.Errorf("%v: %v and %v share bytes", m, x, y)
				}
			}
		}
	}
	if one := (Map{RegionArena: 1, RegionIO: 1, RegionSpill: 1}); one.Size(1, &sizes) != 48+112+7 || one.Base(RegionSpill, &sizes) != 48+112 {
		t.Errorf("in one region: %d bytes, spill at %d", one.Size(1, &sizes), one.Base(RegionSpill, &sizes))
	}
}

// TestBricks: elements of a map in bricks lie where NHCWB16 has them, 16 channels of a row of pixels, the next 16, the
// next row, and the map ends behind the last.
func TestBricks(t *testing.T) {
	for _, c := range []int{1, 16, 17, 40, 48} {
		for _, bytes := range []int{1, 4} {
			f := Dense(32, 3, 5, c, bytes, false).Bricks()
			last := 0
			for y := range 3 {
				for brick := range (c + 15) / 16 {
					for x := range 5 {
						at := f.Addr + y*f.StrideY + brick*f.StrideC + x*f.StrideX
						if want := 32 + ((y*((c+15)/16)+brick)*5+x)*16*bytes; at != want {
							t.Fatalf("%d channels: row %d, brick %d, column %d at %d, want %d", c, y, brick, x, at, want)
						}
						last = at + 16*bytes
					}
				}
			}
			if rest, top := f.Rows(1, 3), f.Rows(0, 1); f.End() != last || rest.End() != last || top.End() != 32+f.StrideY {
				t.Errorf("%d channels: ends at %d, want %d", c, f.End(), last)
			}
		}
	}
}

// TestFeatureMap: the end of a map is behind its last byte, and maps that share one overlap.
func TestFeatureMap(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	bytesOf := func(f *FeatureMap) map[int]bool {
		m := map[int]bool{}
		for y := range f.H {
			for x := range f.W {
				for c := range f.C * f.Bytes {
					m[f.Addr+y*f.StrideY+x*f.StrideX+c] = true
				}
			}
		}
		return m
	}
	for range 300 {
		draw := func() FeatureMap {
			f := Dense(r.IntN(40), 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(4), []int{1, 4}[r.IntN(2)], false)
			if r.IntN(2) == 0 { // gaps between rows
				f.StrideY += r.IntN(8)
			}
			return f
		}
		a, b := draw(), draw()
		in, other := bytesOf(&a), bytesOf(&b)
		last, shared := 0, false
		for x := range in {
			last, shared = max(last, x), shared || other[x]
		}
		if a.End() != last+1 {
			t.Fatalf("%+v ends at %d, its last byte is %d", a, a.End(), last)
		}
		if shared && !a.Overlaps(&b) {
			t.Fatalf("%+v and %+v share bytes", a, b)
		}
		if b.Region = RegionSpill; a.Region != b.Region && a.Overlaps(&b) {
			t.Fatal("maps of two regions overlap")
		}
	}
	var c Constants
	first, second := c.Add([]byte{1}), c.Add([]byte{2, 3})
	if c.Pad(); first != 0 || second != Alignment || len(c.Data) != 2*Alignment || c.Data[second] != 2 {
		t.Errorf("constants at %d and %d of %d bytes", first, second, len(c.Data))
	}
}
