package move_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/move"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// junk is n random bytes.
func junk(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestCopy copies blocks between strided places of every element, so that lanes move 16, 8, 4,
// 2 and 1 bytes, the last of a run again bytes of the one before: dense, transposed, reversed, a part into a part. Bytes of the output outside of the
// block stay.
func TestCopy(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 1))
	for _, b := range []struct {
		dims, from, to []int
		inAt, outAt    int
		in, out        int // elements of the tensors
	}{
		{dims: []int{96}, from: []int{1}, to: []int{1}, in: 96, out: 96},
		{dims: []int{37}, from: []int{1}, to: []int{1}, in: 37, out: 37},
		{dims: []int{10, 6}, from: []int{1, 10}, to: []int{6, 1}, in: 60, out: 60},
		{dims: []int{3, 8}, from: []int{-16, 1}, to: []int{16, 1}, inAt: 32, in: 48, out: 48},
		{dims: []int{5, 4}, from: []int{4, -1}, to: []int{4, 1}, inAt: 3, in: 20, out: 20},
		{dims: []int{4, 8}, from: []int{8, 1}, to: []int{24, 1}, outAt: 8, in: 32, out: 96},
		{dims: []int{4, 3}, from: []int{7, 1}, to: []int{5, 1}, inAt: 2, outAt: 1, in: 30, out: 20},
		{dims: []int{2, 3, 4, 2}, from: []int{24, 2, 6, 1}, to: []int{24, 8, 2, 1}, in: 48, out: 48},
		{dims: []int{6, 5}, from: []int{0, 1}, to: []int{5, 1}, in: 5, out: 30},
		{dims: []int{3, 65}, from: []int{65, 1}, to: []int{130, 1}, outAt: 65, in: 195, out: 400},
		{dims: []int{2, 3, 19}, from: []int{57, 19, 1}, to: []int{100, 33, 1}, inAt: 1, outAt: 2, in: 120, out: 204},
	} {
		for _, e := range []layout.Element{layout.F32, layout.F16, layout.U8, layout.I8} {
			t.Run(fmt.Sprintf("%v/%v/%v/%s", b.dims, b.from, b.to, e), func(t *testing.T) {
				in, out := kerneltest.Tensor(e, b.in), kerneltest.Tensor(e, b.out)
				axes := require.V(layout.Collapse(b.dims, b.from, b.to))(t)
				c := kerneltest.Case{Kernel: &move.Copy{Axes: axes, InAt: b.inAt, OutAt: b.outAt, In: in, Out: out}, Inputs: []*layout.Tensor{in},
					Data: [][]byte{junk(r, in.Bytes())}, Output: out, Before: junk(r, out.Bytes())}
				got := require.V(c.Run())(t)
				want, size := bytes.Clone(c.Before), e.Bytes()
				for i, dense := 0, layout.Dense(b.dims); i < layout.Product(b.dims); i++ {
					from, to := b.inAt, b.outAt
					for d, n := range b.dims {
						from += i / dense[d] % n * b.from[d]
						to += i / dense[d] % n * b.to[d]
					}
					copy(want[to*size:(to+1)*size], c.Data[0][from*size:])
				}
				if !bytes.Equal(got.Output, want) {
					t.Errorf("%v, want %v", got.Output, want)
				}
				if w, n := got.Launch.Work, int64(layout.Product(b.dims)*size); w.Waves < 1 || w.WriteBytes > n || w.WriteBytes < n-n/64-1 {
					t.Errorf("work %+v", w)
				}
			})
		}
	}
}

// TestFill writes zeros over every element.
func TestFill(t *testing.T) {
	for _, e := range []layout.Element{layout.F32, layout.F16, layout.U8} {
		out := kerneltest.Tensor(e, 77)
		c := kerneltest.Case{Kernel: &move.Fill{Out: out}, Output: out, Before: junk(rand.New(rand.NewPCG(23, 2)), out.Bytes())}
		got := require.V(c.Run())(t)
		if !bytes.Equal(got.Output, make([]byte, out.Bytes())) {
			t.Errorf("%s: %v", e, got.Output)
		}
	}
}

// TestGather writes matrices of padded, strided and dilated windows of two images, of rows
// that fill the lanes of a wave and of others.
func TestGather(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 3))
	for _, s := range []move.Gather{
		{Batches: 2, Channels: 3, Width: 32, Window: opspec.Window{H: 6, W: 5, KH: 3, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1,
			Top: 1, Bottom: 1, Left: 1, Right: 1, OutH: 6, OutW: 5}},
		{Batches: 1, Channels: 7, Width: 44, Window: opspec.Window{H: 9, W: 7, KH: 2, KW: 3, StrideH: 2, StrideW: 3, DilationH: 3, DilationW: 2,
			Top: 2, Left: 3, Right: 1, OutH: 4, OutW: 3}},
		{Batches: 2, Channels: 5, Width: 8, Window: opspec.Window{H: 1, W: 1, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 1, OutW: 1}},
	} {
		for _, e := range []layout.Element{layout.F32, layout.F16} {
			t.Run(fmt.Sprintf("%+v/%s", s, e), func(t *testing.T) {
				w, size := &s.Window, e.Bytes()
				rows := s.Batches * w.OutH * w.OutW
				in, out := kerneltest.Tensor(e, s.Batches*w.H*w.W*s.Channels), kerneltest.Tensor(e, rows*s.Width)
				k := s
				k.In, k.Out = in, out
				c := kerneltest.Case{Kernel: &k, Inputs: []*layout.Tensor{in},
					Data: [][]byte{junk(r, in.Bytes())}, Output: out, Before: junk(r, out.Bytes())}
				c.Pages.Need(0, layout.Guard)
				got := require.V(c.Run())(t)
				want := make([]byte, out.Bytes())
				for row := range rows {
					image, oy, ox := row/(w.OutH*w.OutW), row/w.OutW%w.OutH, row%w.OutW
					for tap := range w.KH * w.KW {
						y, x := oy*w.StrideH-w.Top+tap/w.KW*w.DilationH, ox*w.StrideW-w.Left+tap%w.KW*w.DilationW
						if y >= 0 && y < w.H && x >= 0 && x < w.W {
							from := ((image*w.H+y)*w.W + x) * s.Channels * size
							copy(want[(row*s.Width+tap*s.Channels)*size:], c.Data[0][from:from+s.Channels*size])
						}
					}
				}
				if !bytes.Equal(got.Output, want) {
					t.Errorf("%v, want %v", got.Output, want)
				}
			})
		}
	}
}
