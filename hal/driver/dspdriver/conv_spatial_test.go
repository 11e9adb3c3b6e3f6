package dspdriver

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// filterSize is random, and so are its stride, dilation and padding along an axis of
// the given length: at least one output is left.
func filterSize(r *rand.Rand, n int) (size, stride, dilation, before, behind, out int) {
	size, stride, dilation = pick(r, 1, 1, 2, 3, 3, 5), pick(r, 1, 1, 1, 2, 2, 3, 4), pick(r, 1, 1, 1, 2, 3)
	before, behind = r.IntN(size+1), r.IntN(size+1)
	for (size-1)*dilation+1 > n+before+behind {
		behind++
	}
	return size, stride, dilation, before, behind, (n+before+behind-(size-1)*dilation-1)/stride + 1
}

// convolution appends a convolution of an operand with k outputs, depthwise for k = 0.
func (b *builder) convolution(x uint32, k int, near, last bool) (y uint32, what string) {
	r, in := b.r, b.m.Main.Operands[x]
	n, h, w, c := int(in.Dimensions[0]), int(in.Dimensions[1]), int(in.Dimensions[2]), int(in.Dimensions[3])
	kh, sh, dh, top, bottom, oh := filterSize(r, h)
	kw, sw, dw, left, right, ow := filterSize(r, w)
	dims, dim, op, terms := []int{k, kh, kw, c}, 0, nn.OpConv2D, kh*kw*c
	if k == 0 {
		k, dims, dim, op, terms = c, []int{1, kh, kw, c}, 3, nn.OpDepthwiseConv2D, kh*kw
	}
	f, bias := b.weights(in, dims, k, dim)
	if o := &b.m.Main.Operands[f]; near && o.Type == nn.TensorQuant8Asymm { // few weights need more than a signed byte
		for i := range o.Data {
			if r.IntN(50) > 0 {
				o.Data[i] = byte(max(0, min(255, int(o.ZeroPoint)+r.IntN(120)-60)))
			}
		}
	}
	out := b.activation(in.Type, n, oh, ow, k)
	out.Scale = outScale(b, in, terms)
	args := []uint32{x, f, bias, b.int32(left), b.int32(right), b.int32(top), b.int32(bottom), b.int32(sw), b.int32(sh)}
	if op == nn.OpDepthwiseConv2D {
		args = append(args, b.int32(1))
	}
	args = append(args, b.int32(r.IntN(4)), b.bool(false), b.int32(dw), b.int32(dh))
	if last {
		y = b.output(out)
	} else {
		y = b.operand(out)
	}
	b.add(op, args, y)
	return y, fmt.Sprintf("_%dx%dx%d_f%dx%d_s%dx%d_d%dx%d", oh, ow, k, kh, kw, sh, sw, dh, dw)
}

// spatialName finds the form of a kernel whose lanes are positions.
var spatialName = regexp.MustCompile(`^spatial_.*_m([zas]*)_`)

// TestRandomNarrow runs convolutions and depthwise ones of few channels behind each other,
// so that their values may have positions of few bytes.
func TestRandomNarrow(t *testing.T) {
	d := device(t)
	seen := map[string]int{}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 41))
		b := newBuilder(r)
		h, w, c := 1+r.IntN(20), 1+r.IntN(70), 1+r.IntN(40)
		if r.IntN(2) == 0 {
			c = pick(r, 1, 3, 4, 8, 16)
		}
		typ := pick(r, nn.TensorQuant8Asymm, nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned)
		x := b.input(b.activation(typ, 1+r.IntN(2), h, w, c))
		name := fmt.Sprintf("%d_%dx%dx%d", seed, h, w, c)
		near := r.IntN(2) == 0
		for layers := 1 + r.IntN(3); layers >= 0; layers-- {
			k := pick(r, 0, 0, 1+r.IntN(16), 1+r.IntN(16), 1+r.IntN(40))
			if layers == 0 {
				k = 1 + r.IntN(40)
			}
			var what string
			x, what = b.convolution(x, k, near, layers == 0)
			name += what
		}
		p := require.V(d.PrepareModel(&b.m, hal.PrepareOptions{}))(t, name)
		for _, k := range allKernels(p) {
			seen[strings.SplitN(k.Name, "_", 2)[0]]++
			if form := spatialName.FindStringSubmatch(k.Name); form != nil {
				for _, c := range form[1] {
					seen[string(c)]++
				}
			}
		}
		b.run(t, d, name)
	}
	for _, kind := range [...]string{"spatial", "dw", "conv", "z", "a", "s"} {
		if seen[kind] == 0 {
			t.Errorf("no kernel of kind %s", kind)
		}
	}
}
