package layout

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// TestTensor: positions of a tensor and of its halo share no bytes and lie in its region, rows begin on vectors, and the
// vectors that kernels write of a row stay inside it.
func TestTensor(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 300 {
		s := Shape{1 + r.IntN(2), 1 + r.IntN(3), 1 + r.IntN(5), 1 + r.IntN(200)}
		x := &Tensor{Shape: s, Pitch: []int{s.Pitch(), s.SmallPitch()}[r.IntN(2)], Addr: 1 << 12, Dense: r.IntN(4) == 0}
		if !x.Dense && r.IntN(2) > 0 {
			x.Top, x.Bottom, x.Left, x.Right = r.IntN(3), r.IntN(3), r.IntN(3), r.IntN(3)
		}
		size := s.C // of a position
		if !x.Dense {
			if size = x.Pitch; size < s.C {
				t.Fatalf("%v at a pitch of %d", s, size)
			}
			if n := x.PerVec(); n != max(1, 128/size) {
				t.Fatalf("%d positions of %d bytes in a vector", n, size)
			}
		}
		end := x.Addr
		used := make([]bool, x.Bytes())
		steps := x.Steps()
		for n := range s.N {
			for y := -x.Top; y < s.H+x.Bottom; y++ {
				if at := x.At(n, y, 0); !x.Dense && (at-uint32(x.Lead()))%VectorBytes != 0 {
					t.Fatalf("%+v: row %d begins at %#x, position 0 behind %d", x, y, at, x.Lead())
				}
				for c := -x.Left; c < s.W+x.Right; c++ {
					at := x.At(n, y, c)
					if want := int(x.At(0, 0, 0)) + n*steps[0] + y*steps[1] + c*steps[2]; int(at) != want || steps[3] != 1 {
						t.Fatalf("%+v: steps %v", x, steps)
					}
					for i := range size {
						if k := int(at-x.Addr) + i; used[k] {
							t.Fatalf("%+v: position %d %d %d shares bytes", x, n, y, c)
						} else {
							used[k] = true
						}
					}
					end = max(end, at+uint32(size))
				}
				if !x.Dense && x.At(n, y, 0)+uint32(x.VectorsPerRow()*VectorBytes) > x.At(n, y, -x.Left)/VectorBytes*VectorBytes+uint32(x.RowBytes()) {
					t.Fatalf("%+v: %d vectors in rows of %d", x, x.VectorsPerRow(), x.RowBytes())
				}
			}
		}
		if x.VectorsPerRow() != (s.W*x.Pitch+127)/128 {
			t.Fatalf("%+v: %d vectors a row", x, x.VectorsPerRow())
		}
		if slack := x.Bytes() - int(end-x.Addr); x.Dense && (slack != 0 || slices.Contains(used, false)) || slack < 0 || slack >= 3*VectorBytes {
			t.Fatalf("%+v: %d bytes, %d in use", x, x.Bytes(), end-x.Addr)
		}
	}
}

// TestPitch: a position has the least pitch that holds its channels, and one of whole vectors never every set of L1D.
func TestPitch(t *testing.T) {
	for _, c := range []struct{ channels, pitch, small, alone int }{
		{1, 32, 4, 32}, {4, 32, 4, 32}, {5, 32, 8, 32}, {8, 32, 8, 32}, {9, 32, 16, 32}, {16, 32, 16, 32}, {17, 32, 32, 32}, {32, 32, 32, 32}, {33, 64, 64, 64},
		{64, 64, 64, 64}, {65, 128, 128, 128}, {129, 256, 256, 256}, {384, 384, 384, 384}, {385, 640, 640, 512}, {512, 640, 640, 512}, {1024, 1152, 1152, 1024},
	} {
		s := Shape{1, 1, 2, c.channels}
		one := Shape{1, 1, 1, c.channels}
		if s.Pitch() != c.pitch || s.SmallPitch() != c.small || one.Pitch() != c.alone {
			t.Errorf("%d channels: pitches %d, %d and %d", c.channels, s.Pitch(), s.SmallPitch(), one.Pitch())
		}
		x := Tensor{Shape: s, Pitch: s.SmallPitch()}
		require.Same(t, c.small < 32, x.HasSmallPitch(), c.channels, "channels", "small")
		if x.Dense = true; x.HasSmallPitch() {
			t.Errorf("%d channels: a dense tensor has a small pitch", c.channels)
		}
	}
}

// TestShapeOf: dimensions are the last of N, H, W and C, and more of them images.
func TestShapeOf(t *testing.T) {
	for _, c := range []struct {
		dims []uint32
		want Shape
	}{
		{nil, Shape{1, 1, 1, 1}}, {[]uint32{5}, Shape{1, 1, 1, 5}}, {[]uint32{4, 5}, Shape{1, 1, 4, 5}}, {[]uint32{3, 4, 5}, Shape{1, 3, 4, 5}},
		{[]uint32{2, 3, 4, 5}, Shape{2, 3, 4, 5}}, {[]uint32{7, 2, 3, 4, 5}, Shape{14, 3, 4, 5}},
	} {
		if s := ShapeOf(c.dims); s != c.want || s.Positions()*s.C != s.Elements() || s.Positions() != c.want.N*c.want.H*c.want.W {
			t.Errorf("%v: %v", c.dims, s)
		}
	}
	for _, c := range []struct{ signedDense, otherDense, want bool }{{true, false, true}, {true, true, false}, {false, false, false}} {
		a, b := &Tensor{Signed: true, Dense: c.signedDense}, &Tensor{Signed: true, Dense: c.otherDense}
		if a.Flips(b) != c.want || b.Flips(a) != c.want {
			t.Errorf("%+v: flips %v", c, a.Flips(b))
		}
	}
}

// TestNeedHalo: the halo holds all that windows read outside the image, and no more.
func TestNeedHalo(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 6))
	for range 300 {
		x := &Tensor{}
		top, bottom, left, right := 0, 0, 0, 0
		for range 1 + r.IntN(3) {
			w := &opspec.Window{H: 4 + r.IntN(4), W: 4 + r.IntN(4), KH: 1 + r.IntN(3), KW: 1 + r.IntN(3), StrideH: 1 + r.IntN(2), StrideW: 1 + r.IntN(2),
				DilationH: 1 + r.IntN(2), DilationW: 1 + r.IntN(2), OutH: 1 + r.IntN(6), OutW: 1 + r.IntN(6), Top: r.IntN(3), Left: r.IntN(3)}
			top, left = max(top, w.Top), max(left, w.Left)
			for y := range w.OutH {
				for k := range w.KH {
					bottom = max(bottom, y*w.StrideH+k*w.DilationH-w.Top-w.H+1)
				}
			}
			for y := range w.OutW {
				for k := range w.KW {
					right = max(right, y*w.StrideW+k*w.DilationW-w.Left-w.W+1)
				}
			}
			require.NoError(t, x.NeedHalo(w))
		}
		if x.Top != top || x.Bottom != bottom || x.Left != left || x.Right != right || x.HasHalo() != (top+bottom+left+right > 0) {
			t.Fatalf("%+v, want %d %d %d %d", x, top, bottom, left, right)
		}
	}
	for _, w := range []opspec.Window{{Top: maxPadding}, {Bottom: maxPadding}, {Left: maxPadding}, {Right: maxPadding}} {
		if err := (&Tensor{}).NeedHalo(&w); err != nil {
			t.Errorf("%+v: %v", w, err)
		}
		w.Top, w.Bottom, w.Left, w.Right = w.Top+w.Top/maxPadding, w.Bottom+w.Bottom/maxPadding, w.Left+w.Left/maxPadding, w.Right+w.Right/maxPadding
		if err := (&Tensor{}).NeedHalo(&w); err == nil {
			t.Errorf("%+v is taken", w)
		}
	}
}
