package pool

import (
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestMaximum moves windows over an image of one vector of channels, with their size as an argument or
// written one by one, and bounds the results.
func TestMaximum(t *testing.T) {
	const width, lo, hi = 9, 10, 250
	r := rand.New(rand.NewPCG(13, 11))
	image := make([]byte, 6*width*hvx.VectorBytes)
	for i := range image {
		image[i] = byte(r.Uint32())
	}
	for _, c := range []struct {
		rows, cols, stride int
		clamp, fixed       bool
	}{{1, 1, 1, false, false}, {2, 3, 1, false, false}, {3, 3, 2, true, false}, {2, 2, 2, true, true}, {5, 4, 1, false, true}} {
		w := Window{Max: true, RowStep: width * hvx.VectorBytes, ColStep: hvx.VectorBytes, Clamp: c.clamp}
		if c.fixed {
			w.Rows, w.Cols = c.rows, c.cols
		}
		count := (width-c.cols)/c.stride + 1
		b := hvxtest.New(t)
		out := b.Alloc(count * hvx.VectorBytes)
		table := b.Words(b.Load(image), out, uint32(c.rows), uint32(c.cols), uint32(count), uint32(c.stride*hvx.VectorBytes), hvx.VectorBytes)
		b.Run(w, []uint32{table, 1, lo * 0x01010101, hi * 0x01010101, 0, 0, 0})
		got := b.Bytes(out, count*hvx.VectorBytes)
		for i, g := range got {
			x, channel, want := i/hvx.VectorBytes*c.stride, i%hvx.VectorBytes, byte(0)
			for row := range c.rows {
				for col := range c.cols {
					want = max(want, image[(row*width+x+col)*hvx.VectorBytes+channel])
				}
			}
			if c.clamp {
				want = min(max(want, lo), hi)
			}
			if g != want {
				t.Fatalf("%+v: window %d, channel %d is %d, want %d", c, i/hvx.VectorBytes, channel, g, want)
			}
		}
	}
}

// TestAverage rounds the quotients of windows of unsigned bytes, in 32 bits and where that is
// enough in 16.
func TestAverage(t *testing.T) {
	const width = 20
	r := rand.New(rand.NewPCG(13, 12))
	image := make([]byte, 18*width*hvx.VectorBytes)
	for i := range image {
		image[i] = byte(r.Uint32()) | byte(-(i >> 7 & 1)) // every second position is 255 throughout
	}
	for _, c := range []struct{ rows, cols int }{{1, 1}, {2, 2}, {3, 5}, {7, 7}, {18, 20}} {
		n := c.rows * c.cols
		q := require.V(AverageQuotient(n, false))(t)
		for _, halfwords := range []bool{false, true} {
			constants := q.Constants()
			if halfwords {
				if n > MaxHalfwords {
					continue
				}
				constants = q.HalfwordConstants(n)
			}
			count := width - c.cols + 1
			b := hvxtest.New(t)
			out := b.Alloc(count * hvx.VectorBytes)
			entry := []uint32{b.Load(image), out, uint32(c.rows), uint32(c.cols), uint32(count), hvx.VectorBytes, hvx.VectorBytes}
			w := Window{RowStep: width * hvx.VectorBytes, ColStep: hvx.VectorBytes, Halfwords: halfwords}
			b.Run(w, []uint32{b.Words(append(entry, constants...)...), 1, 0, 0, 0, 0, 0})
			for i, got := range b.Bytes(out, count*hvx.VectorBytes) {
				sum := n / 2
				for row := range c.rows {
					for col := range c.cols {
						sum += int(image[(row*width+i/hvx.VectorBytes+col)*hvx.VectorBytes+i%hvx.VectorBytes])
					}
				}
				if int(got) != sum/n {
					t.Fatalf("%+v, halfwords %v: window %d, channel %d is %d, want %d", c, halfwords, i/hvx.VectorBytes, i%hvx.VectorBytes, got, sum/n)
				}
			}
		}
	}
}
