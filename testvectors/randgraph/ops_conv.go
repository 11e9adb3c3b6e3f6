package randgraph

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// image reads the sizes of an image in a layout.
func image(d []uint32, nchw bool) (n, h, w, c int) {
	if nchw {
		return int(d[0]), int(d[2]), int(d[3]), int(d[1])
	}
	return int(d[0]), int(d[1]), int(d[2]), int(d[3])
}

// filter is the filter of a convolution, its bias, and an output with a scale
// that suits a sum of taps products.
func (g *gen) filter(k nn.OperandType, in uint32, dims []uint32, channelDim, channels, taps int) (f, bias uint32, out nn.Operand) {
	t := k
	if g.perChannel {
		t = nn.TensorQuant8SymmPerChannel
	}
	fo, bo := nn.Operand{Type: t, Dimensions: dims}, nn.Operand{Type: k, Dimensions: []uint32{uint32(channels)}}
	out = nn.Operand{Type: k}
	fill := filler{finite: true} // taps outside the image count as 0 or not at all
	if k.IsQuant8() {
		scale, shrink := float32(0), float32(1)
		if g.at(in).Scale > 0.25 && g.kind.operations > 1 { // scales do not grow from layer to layer
			shrink = 1. / 128
		}
		bo.Type = nn.TensorInt32
		if g.perChannel {
			fo.Channel = &nn.ChannelQuant{Dim: uint32(channelDim)}
			for range channels {
				s := g.scale() * shrink
				fo.Channel.Scales = append(fo.Channel.Scales, s)
				scale = max(scale, s)
			}
		} else {
			fo = g.typed(k, dims)
			fo.Scale *= shrink
			scale = fo.Scale
			bo.Scale = g.at(in).Scale * fo.Scale
		}
		out = g.typed(k, nil)
		out.Scale = g.at(in).Scale * scale * float32(g.real(1, 5))
		if !g.chance(25) { // wide enough that sums do not all saturate
			out.Scale *= float32(30 * math.Sqrt(float64(taps)))
		}
		fill = filler{signed: true, limit: 255}
	}
	return g.weight(fo, filler{finite: true}), g.weight(bo, fill), out
}

// padding adds stride and padding of a window on an image of h x w: the
// implicit form, or the explicit one.
func (g *gen) padding(in []uint32, kh, kw int, stride bool) []uint32 {
	if g.chance(50) {
		in = append(in, g.int32(g.choose(kw)), g.int32(g.choose(kw)), g.int32(g.choose(kh)), g.int32(g.choose(kh)))
	} else {
		in = append(in, g.int32(pick(g.source, nn.PaddingValid, nn.PaddingSame)))
	}
	if stride {
		in = append(in, g.int32(1+g.choose(3)), g.int32(1+g.choose(3)))
	}
	return in
}

// layout draws NCHW for one model in four.
func (g *gen) layout() bool { return g.chance(25) }

// window draws a filter no larger than the image.
func (g *gen) window(h, w int) (kh, kw int) { return 1 + g.choose(min(h, 5)), 1 + g.choose(min(w, 5)) }

func rank4(d []uint32) bool { return len(d) == 4 }

func makeConv(g *gen, op nn.OperationType, k nn.OperandType) bool {
	nchw := g.layout()
	x := g.shaped(k, rank4, func() []uint32 { return g.dims(4) })
	_, h, w, c := image(g.at(x).Dimensions, nchw)
	kh, kw := g.window(h, w)
	depth, mult, dim := g.dim(), 1, 0
	fd := []uint32{uint32(depth), uint32(kh), uint32(kw), uint32(c)}
	taps := kh * kw * c
	if op == nn.OpDepthwiseConv2D {
		mult, dim, taps = pick(g.source, 1, 1, 1, 2, 3, 8), 3, kh*kw
		depth = c * mult
		fd = []uint32{1, uint32(kh), uint32(kw), uint32(depth)}
	}
	if nn.Elements(fd) > maxElements {
		return false
	}
	f, b, out := g.filter(k, x, fd, dim, depth, taps)
	in := g.padding([]uint32{x, f, b}, kh, kw, true)
	if op == nn.OpDepthwiseConv2D {
		in = append(in, g.int32(mult))
	}
	in = append(in, g.activation(k))
	dilate := g.chance(25)
	if nchw || dilate || g.chance(25) {
		in = append(in, g.bool(nchw))
	}
	if dilate {
		in = append(in, g.int32(1+g.choose(3)), g.int32(1+g.choose(3)))
	}
	return g.finish(op, in, out)
}

func makeGroupedConv(g *gen, op nn.OperationType, k nn.OperandType) bool {
	nchw := g.layout()
	groups := 1 + g.choose(4)
	x := g.shaped(k,
		func(d []uint32) bool {
			if len(d) != 4 {
				return false
			}
			_, _, _, c := image(d, nchw)
			return c%groups == 0
		},
		func() []uint32 {
			d := g.dims(4)
			c := &d[3]
			if nchw {
				c = &d[1]
			}
			*c = (*c + uint32(groups) - 1) / uint32(groups) * uint32(groups)
			return d
		})
	_, h, w, c := image(g.at(x).Dimensions, nchw)
	if c%groups != 0 {
		return false
	}
	kh, kw := g.window(h, w)
	depth := groups * (1 + g.choose(5))
	f, b, out := g.filter(k, x, []uint32{uint32(depth), uint32(kh), uint32(kw), uint32(c / groups)}, 0, depth, kh*kw*c/groups)
	in := g.padding([]uint32{x, f, b}, kh, kw, true)
	return g.finish(op, append(in, g.int32(groups), g.activation(k), g.bool(nchw)), out)
}

func makeTransposeConv(g *gen, op nn.OperationType, k nn.OperandType) bool {
	nchw := g.layout()
	x := g.shaped(k, rank4, func() []uint32 { return g.dims(4) })
	n, h, w, c := image(g.at(x).Dimensions, nchw)
	kh, kw := 1+g.choose(5), 1+g.choose(5)
	depth := g.dim()
	fd := []uint32{uint32(depth), uint32(kh), uint32(kw), uint32(c)}
	if nn.Elements(fd) > maxElements {
		return false
	}
	f, b, out := g.filter(k, x, fd, 0, depth, kh*kw*c)
	in := []uint32{x, f, b}
	sw, sh := 1+g.choose(3), 1+g.choose(3)
	if g.chance(50) {
		in = append(in, g.int32(g.choose(kw)), g.int32(g.choose(kw)), g.int32(g.choose(kh)), g.int32(g.choose(kh)))
	} else {
		scheme, oh, ow := nn.PaddingValid, sh*(h-1)+kh, sw*(w-1)+kw
		if g.chance(50) {
			scheme, oh, ow = nn.PaddingSame, sh*h, sw*w
		}
		shape := []int{n, oh, ow, depth}
		if nchw {
			shape = []int{n, depth, oh, ow}
		}
		in = append(in, g.vector(shape...), g.int32(scheme))
	}
	return g.finish(op, append(in, g.int32(sw), g.int32(sh), g.activation(k), g.bool(nchw)), out)
}

func makeFullyConnected(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 2, 4, filler{})
	d := g.at(x).Dimensions
	units, depth := g.dim(), int(d[len(d)-1])
	if len(d) > 2 && g.chance(50) { // flattened further
		depth *= int(d[len(d)-2])
	}
	if units*depth > 4*maxElements {
		return false
	}
	f, b, out := g.filter(k, x, []uint32{uint32(units), uint32(depth)}, 0, units, depth)
	return g.finish(op, []uint32{x, f, b, g.activation(k)}, out)
}

func makePool(g *gen, op nn.OperationType, k nn.OperandType) bool {
	nchw := g.layout()
	x := g.shaped(k, rank4, func() []uint32 { return g.dims(4) })
	_, h, w, _ := image(g.at(x).Dimensions, nchw)
	kh, kw := g.window(h, w)
	in := g.padding([]uint32{x}, kh, kw, true)
	in = append(in, g.int32(kw), g.int32(kh), g.activation(k))
	if nchw || g.chance(25) {
		in = append(in, g.bool(nchw))
	}
	return g.finish(op, in, g.out(op, k, x))
}

func makeBatchMatmul(g *gen, op nn.OperationType, k nn.OperandType) bool {
	x := g.tensor(k, 2, 4, filler{})
	d := g.at(x).Dimensions
	at := len(d) - 2
	adjX, adjY := g.chance(30), g.chance(30)
	depth := d[at+1]
	if adjX {
		depth = d[at]
	}
	e := append(append([]uint32(nil), d[:at]...), depth, uint32(g.dim()))
	if adjY {
		e[at], e[at+1] = e[at+1], e[at]
	}
	if nn.Elements(e) > maxElements {
		return false
	}
	y := g.like(k, e, filler{})
	o := g.out(op, k, x)
	if k.IsQuant8() {
		o.Scale = g.at(x).Scale * g.at(y).Scale * float32(g.real(1, 5)) * float32(pick(g.source, 60, 1, 400))
	}
	return g.finish(op, []uint32{x, y, g.bool(adjX), g.bool(adjY)}, o)
}
