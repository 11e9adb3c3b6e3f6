package dspdriver

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// zeroPointCase is a convolution with few outputs, so that the sums matter.
type zeroPointCase struct {
	n, h, w, c, k, kh, kw, sh, sw, dh, dw int
	pad                                   [4]int // left, right, top, bottom
}

func (s *zeroPointCase) String() string {
	return fmt.Sprintf("%dx%dx%dx%d_k%d_f%dx%d_s%dx%d_d%dx%d_p%v", s.n, s.h, s.w, s.c, s.k, s.kh, s.kw, s.sh, s.sw, s.dh, s.dw, s.pad)
}

func (s *zeroPointCase) out() (h, w int) {
	return (s.h+s.pad[2]+s.pad[3]-(s.kh-1)*s.dh-1)/s.sh + 1, (s.w+s.pad[0]+s.pad[1]-(s.kw-1)*s.dw-1)/s.sw + 1
}

// build makes the model; the filter has the zero point given.
func (s *zeroPointCase) build(b *builder, zero int32) {
	in := b.activation(quantType(b.r), s.n, s.h, s.w, s.c)
	x := b.input(in)
	f, bias := b.weights(in, []int{s.k, s.kh, s.kw, s.c}, s.k, 0)
	o := &b.m.Main.Operands[f]
	o.Type, o.Scale, o.Channel, o.ZeroPoint = in.Type, 0.01, nil, zero
	if in.Type == nn.TensorQuant8AsymmSigned {
		o.ZeroPoint -= 128
	}
	b.m.Main.Operands[bias].Scale = in.Scale * o.Scale
	oh, ow := s.out()
	out := b.activation(in.Type, s.n, oh, ow, s.k)
	out.Scale = outScale(b, in, s.kh*s.kw*s.c)
	args := []uint32{x, f, bias}
	for _, v := range [...]int{s.pad[0], s.pad[1], s.pad[2], s.pad[3], s.sw, s.sh, 0} {
		args = append(args, b.int32(v))
	}
	b.add(nn.OpConv2D, append(args, b.bool(false), b.int32(s.dw), b.int32(s.dh)), b.output(out))
}

// drawZeroPointCase draws a case of at most some products.
func drawZeroPointCase(r *rand.Rand) *zeroPointCase {
	for {
		s := &zeroPointCase{n: 1 + r.IntN(2), c: pick(r, 1, 2, 3, 4, 5, 7, 8, 13, 16, 24, 32, 40, 64, 96, 127, 128, 129, 144, 256, 300, 384, 512, 640, 1024, 1+r.IntN(2000)),
			k: pick(r, 1, 8, 24, 32, 33, 64, 100, 130), kh: 1, kw: 1, sh: 1 + r.IntN(3)*r.IntN(2), sw: 1 + r.IntN(4)*r.IntN(2), dh: 1, dw: 1}
		s.h, s.w = 1+r.IntN(pick(r, 4, 20)), 1+r.IntN(pick(r, 6, 40, 300))
		if r.IntN(2) == 0 {
			s.kh, s.kw = 1+r.IntN(pick(r, 3, 7)), 1+r.IntN(pick(r, 3, 12))
			s.dh, s.dw = 1+r.IntN(2)*r.IntN(3), 1+r.IntN(2)*r.IntN(40)
			s.pad = [4]int{r.IntN(s.kw), r.IntN(s.kw), r.IntN(s.kh), r.IntN(s.kh)}
		}
		oh, ow := s.out()
		if (s.kh-1)*s.dh < s.h && (s.kw-1)*s.dw < s.w && s.n*oh*ow*s.k*s.kh*s.kw*s.c < 4e6 && s.n*s.h*s.w*s.c < 3e5 {
			return s
		}
	}
}

// TestRandomZeroPoint has every width of positions, window, stride, dilation and number
// of channels that sums are made for.
func TestRandomZeroPoint(t *testing.T) {
	d := device(t)
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 31))
		b := newBuilder(r)
		s := drawZeroPointCase(r)
		s.build(b, pick(r, 1, 255, 1+r.Int32N(255)))
		b.run(t, d, fmt.Sprintf("%d_%s", seed, s))
	}
}

// TestLargestWindowSums has inputs that are all as large as they can be: sums in halves
// come close to the largest half.
func TestLargestWindowSums(t *testing.T) {
	d := device(t)
	for i, c := range [...]int{4, 8, 16, 32, 64, 128, 200, 256, 384, 512, 1000, 1024, 2000} {
		for rows := 1; rows <= 5; rows++ {
			r := rand.New(rand.NewPCG(uint64(i), uint64(rows)))
			b := newBuilder(r)
			s := &zeroPointCase{n: 1, h: rows + 1, w: 20, c: c, k: 5, kh: rows, kw: 1 + i%2, sh: 1, sw: 1, dh: 1, dw: 1}
			s.build(b, 255)
			data := bytes.Repeat([]byte{255}, s.h*s.w*c)
			if b.m.Main.Operands[b.m.Main.Inputs[0]].Type == nn.TensorQuant8AsymmSigned {
				data = bytes.Repeat([]byte{127}, len(data))
			}
			t.Run(s.String(), func(t *testing.T) { drivertest.Exact(t, d, &b.m, [][]byte{data}, false) })
		}
	}
}
