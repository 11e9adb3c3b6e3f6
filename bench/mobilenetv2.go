package bench

import "github.com/nnsoc/nnsoc/hal/nn"

// MobileNetV2 is MobileNet v2 1.0 224, quantized, with synthetic weights: the
// operations and shapes of the published network (Sandler et al., arXiv
// 1801.04381), [1,224,224,3] to [1,1001].
func MobileNetV2() *nn.Model {
	b := network{quantized: true, seed: 0x9E3779B9}
	x := b.conv(b.input(224), 32, 3, 2)
	for _, s := range []struct{ expand, out, n, stride uint32 }{
		{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1},
	} {
		for i := range s.n {
			stride := uint32(1)
			if i == 0 {
				stride = s.stride
			}
			x = b.bottleneck(x, s.expand, s.out, stride)
		}
	}
	return b.head(b.conv(x, 1280, 1, 1), "mobilenet_v2_1.0_224")
}

// bottleneck widens, convolves per channel and narrows without activation; the
// input is added when the shape stays.
func (b *network) bottleneck(x, expand, out, stride uint32) uint32 {
	in := b.g.Operands[x].Dimensions[3]
	y := x
	if expand > 1 {
		y = b.conv(y, in*expand, 1, 1)
	}
	y = b.depthwise(y, stride)
	y = b.convolve(y, out, [2]uint32{1, 1}, 1, nn.PaddingSame, nn.ActNone)
	if stride > 1 || in != out {
		return y
	}
	sum := b.activation(linear, b.g.Operands[y].Dimensions...)
	b.g.op(nn.OpAdd, sum, x, y, b.g.int32(int32(nn.ActNone)))
	return sum
}
