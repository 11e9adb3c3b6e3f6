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
	own := Map{RegionArena: 1, RegionIO: 3, RegionSpill: 4}
	for region, want := range map[int]int{1: 100, 2: 0, 3: 33, 4: 7} {
		if n := own.Size(region, &sizes); n != want {
			t.Errorf("region %d of %d bytes, want %d", region, n, want)
		}
	}
	if one := (Map{RegionArena: 1, RegionIO: 1, RegionSpill: 1}); one.Size(1, &sizes) != 48+112+7 || one.Base(RegionSpill, &sizes) != 48+112 {
		t.Errorf("in one region: %d bytes, spill at %d", one.Size(1, &sizes), one.Base(RegionSpill, &sizes))
	}
}

// TestOverlaps: buffers overlap where a byte is in both, buffers side by side do not.
func TestOverlaps(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		draw := func() Buffer { return Buffer{r.IntN(2), r.IntN(12), r.IntN(5)} }
		a, b := draw(), draw()
		want := false
		for i := a.Addr; i < a.Addr+a.Bytes; i++ {
			want = want || a.Region == b.Region && i >= b.Addr && i < b.Addr+b.Bytes
		}
		if a.Bytes > 0 && b.Bytes > 0 && a.Overlaps(&b) != want {
			t.Fatalf("%+v and %+v: %v", a, b, !want)
		}
	}
}

// TestRolled: rows of a map in a rolling buffer lie at their number modulo its rows: those of the tile from the first on,
// the others from its begin on, none behind its end.
func TestRolled(t *testing.T) {
	for ring := 1; ring < 6; ring++ {
		for lo := range 9 {
			for hi := lo + 1; hi <= lo+ring; hi++ {
				whole := Dense(48, 20, 5, 7, 1, true)
				f := whole.Rolled(ring, lo, hi)
				if f.H != hi-lo || f.Addr != 48 || f.End() != 48+ring*35 {
					t.Fatalf("rows %d to %d of %d: %+v ends at %d", lo, hi, ring, f, f.End())
				}
				for y := range f.H {
					at := f.Row + y
					if y >= f.Tile() {
						at = y - f.Tile()
					}
					if at != (lo+y)%ring {
						t.Fatalf("rows %d to %d of %d: row %d lies at %d", lo, hi, ring, lo+y, at)
					}
				}
				if f.Ring = 0; f.Tile() != f.H {
					t.Fatalf("a tile of %d of %d rows that lie in one piece", f.Tile(), f.H)
				}
			}
		}
	}
	for signed, want := range map[bool][2]int{false: {0, 255}, true: {-128, 127}} {
		if lo, hi := Limits(signed); lo != want[0] || hi != want[1] {
			t.Errorf("signed %v: %d to %d", signed, lo, hi)
		}
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
