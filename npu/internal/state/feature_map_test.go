package state

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// address is the tile of an element and its byte, by the rule of the programmer's manual: the
// tile by column and row, rows and columns of a tile count from its base.
func address(f *FeatureMap, y, x, c int) (tile, at int) {
	switch {
	case x < f.Width0 && y >= f.Height0:
		tile, y = 2, y-f.Height0
	case x >= f.Width0 && y < f.Height1:
		tile = 1
	case x >= f.Width0:
		tile, y = 3, y-f.Height1
	}
	if x >= f.Width0 {
		x -= f.Width0
	}
	if f.NHCWB16 {
		return tile, f.Base[tile] + y*f.StrideY + c/16*f.StrideC + (x*16+c%16)*f.ElemSize
	}
	return tile, f.Base[tile] + y*f.StrideY + x*f.StrideX + c*f.ElemSize
}

// randomMap is a feature map of one to four tiles at separate addresses.
func randomMap(r *rand.Rand) *FeatureMap {
	f := &FeatureMap{Region: r.IntN(8), ElemSize: 1 << r.IntN(3), NHCWB16: r.IntN(2) == 0, Signed: r.IntN(2) == 0,
		H: 1 + r.IntN(5), W: 1 + r.IntN(5), C: 1 + r.IntN(40)}
	f.ZeroPoint = r.IntN(5)
	limit := func(n int) int { return 1 + r.IntN(n+2) } // within the map, or beyond it
	f.Height0, f.Height1, f.Width0 = limit(f.H), limit(f.H), limit(f.W)
	f.StrideX = f.C*f.ElemSize + 4*r.IntN(3)
	f.StrideC = f.W * 16 * f.ElemSize
	f.StrideY = f.W * f.StrideX
	if f.NHCWB16 {
		f.StrideY = (f.C + 15) / 16 * f.StrideC
	}
	at := 0
	for t := range f.Base {
		f.Base[t] = at + 16*r.IntN(3)
		at = f.Base[t] + f.H*f.StrideY + 16
		at = (at + 15) / 16 * 16
	}
	f.Data = make([]byte, at+64)
	return f
}

// shape is a map without its bytes, for messages.
func shape(f *FeatureMap) string {
	g := *f
	g.Data = nil
	return fmt.Sprintf("%+v", g)
}

// TestTileSpans: the spans of a map are, tile by tile, from its first element to the end of its last, and fit a region
// that ends there, but not one a byte smaller.
func TestTileSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 1))
	single := 0
	for range 2000 {
		f := randomMap(r)
		var lo, hi [4]int
		if f.H == 1 || f.H-f.Height0 == 1 {
			single++
		}
		for y := range f.H {
			for x := range f.W {
				for c := range f.C {
					tile, at := address(f, y, x, c)
					if hi[tile] == 0 {
						lo[tile] = at
					}
					lo[tile], hi[tile] = min(lo[tile], at), max(hi[tile], at+f.ElemSize)
				}
			}
		}
		var want []Span
		for tile := range hi {
			if hi[tile] > 0 {
				want = append(want, Span{f.Region, lo[tile], hi[tile]})
			}
		}
		spans, n := f.TileSpans()
		if n != len(want) {
			t.Fatalf("%s: %d spans %v, want %v", shape(f), n, spans[:n], want)
		}
		end := 0
		for i, s := range want {
			if spans[i] != s {
				t.Fatalf("%s: span %d is %v, want %v", shape(f), i, spans[i], s)
			}
			end = max(end, s.Hi)
		}
		f.Data = f.Data[:end]
		require.NoError(t, f.Check("map"), shape(f))
		f.Data = f.Data[:end-1]
		if f.Check("map") == nil {
			t.Fatalf("%s fits into a region a byte too small", shape(f))
		}
	}
	if single < 100 {
		t.Errorf("%d maps with a tile of one row", single)
	}
}

// TestOverlaps: ranges overlap where they share a byte of one region.
func TestOverlaps(t *testing.T) {
	for _, c := range []struct {
		a, b Span
		want bool
	}{
		{Span{1, 10, 20}, Span{1, 19, 30}, true},
		{Span{1, 10, 20}, Span{1, 20, 30}, false},
		{Span{1, 10, 20}, Span{1, 12, 13}, true},
		{Span{1, 10, 20}, Span{2, 10, 20}, false},
		{Span{1, 10, 20}, Span{1, 0, 10}, false},
		{Span{1, 10, 20}, Span{1, 0, 11}, true},
	} {
		if c.a.Overlaps(c.b) != c.want || c.b.Overlaps(c.a) != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, !c.want)
		}
	}
}

// TestRows: elements are read from and written to their addresses and nowhere else, row by row.
func TestRows(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 2))
	for range 600 {
		f := randomMap(r)
		for i := range f.Data {
			f.Data[i] = byte(r.Uint32())
		}
		before := bytes.Clone(f.Data)
		element := func(data []byte, y, x, c int) int32 {
			_, at := address(f, y, x, c)
			v := uint32(0)
			for i := range f.ElemSize {
				v |= uint32(data[at+i]) << (8 * i)
			}
			if shift := 32 - 8*f.ElemSize; f.Signed {
				return int32(v<<shift) >> shift
			}
			return int32(v)
		}
		got := make([]int32, f.W*f.C)
		for y := range f.H {
			f.ReadRow(got, y)
			for i, v := range got {
				if want := element(before, y, i/f.C, i%f.C) - int32(f.ZeroPoint); v != want {
					t.Fatalf("%s: row %d, element %d is %d, want %d", shape(f), y, i, v, want)
				}
			}
		}
		if f.ElemSize == 1 {
			pitch := f.C + r.IntN(4)
			row := make([]byte, f.W*pitch+16)
			flip := byte(r.IntN(2) * 0x80)
			for y := range f.H {
				f.Gather8(row, y, pitch, flip)
				for x := range f.W {
					for c := range f.C {
						if _, at := address(f, y, x, c); row[x*pitch+c] != before[at]^flip {
							t.Fatalf("%s: row %d, column %d, channel %d gathered wrong", shape(f), y, x, c)
						}
					}
				}
			}
		}
		want := bytes.Clone(before)
		values := make([]int32, f.W*f.C)
		narrow := make([]byte, f.W*f.C)
		for y := range f.H {
			for i := range values {
				values[i] = int32(r.Uint32())
				narrow[i] = byte(values[i])
				_, at := address(f, y, i/f.C, i%f.C)
				for b := range f.ElemSize {
					want[at+b] = byte(values[i] >> (8 * b))
				}
			}
			if f.ElemSize == 1 && y%2 == 0 {
				f.Scatter8(narrow, y, f.C)
			} else {
				f.WriteRow(values, y)
			}
		}
		if !bytes.Equal(f.Data, want) {
			t.Fatalf("%s: rows written wrong", shape(f))
		}
	}
}

// TestLastChannel: the last byte of a pixel is that of its farthest channel, wherever bricks are.
func TestLastChannel(t *testing.T) {
	for c := 1; c <= 50; c++ {
		for _, brick := range []int{0, 4, 8, 40, 512} {
			f := FeatureMap{C: c, ElemSize: 2, StrideC: brick, NHCWB16: brick > 0}
			want := 0
			for i := range c {
				want = max(want, f.channel(i))
			}
			if got := f.lastChannel(); got != want {
				t.Errorf("%d channels, bricks %d bytes apart: %d, want %d", c, brick, got, want)
			}
		}
	}
}
