package bench

import "github.com/nnsoc/nnsoc/hal/nn"

// InceptionV3 is Inception v3, quantized, with synthetic weights: the
// operations and shapes of the published network (Szegedy et al., arXiv
// 1512.00567, as in TensorFlow-Slim), [1,299,299,3] to [1,1001].
func InceptionV3() *nn.Model {
	b := inception{network{quantized: true, seed: 0x1234567}}
	x := b.valid(b.input(299), 32, 3, 2)
	x = b.valid(x, 32, 3, 1)
	x = b.conv(x, 64, 3, 1)
	x = b.valid(b.reduce(x), 80, 1, 1)
	x = b.reduce(b.valid(x, 192, 3, 1))
	for _, pooled := range []uint32{32, 64, 64} {
		x = b.concat(
			b.conv(x, 64, 1, 1),
			b.conv(b.conv(x, 48, 1, 1), 64, 5, 1),
			b.conv(b.conv(b.conv(x, 64, 1, 1), 96, 3, 1), 96, 3, 1),
			b.conv(b.average(x), pooled, 1, 1))
	}
	x = b.concat(
		b.valid(x, 384, 3, 2),
		b.valid(b.conv(b.conv(x, 64, 1, 1), 96, 3, 1), 96, 3, 2),
		b.reduce(x))
	for _, c := range []uint32{128, 160, 160, 192} {
		x = b.concat(
			b.conv(x, 192, 1, 1),
			b.column(b.row(b.conv(x, c, 1, 1), c, 7), 192, 7),
			b.row(b.column(b.row(b.column(b.conv(x, c, 1, 1), c, 7), c, 7), c, 7), 192, 7),
			b.conv(b.average(x), 192, 1, 1))
	}
	x = b.concat(
		b.valid(b.conv(x, 192, 1, 1), 320, 3, 2),
		b.valid(b.column(b.row(b.conv(x, 192, 1, 1), 192, 7), 192, 7), 192, 3, 2),
		b.reduce(x))
	for range 2 {
		one := b.conv(x, 384, 1, 1)
		two := b.conv(b.conv(x, 448, 1, 1), 384, 3, 1)
		x = b.concat(
			b.conv(x, 320, 1, 1),
			b.concat(b.row(one, 384, 3), b.column(one, 384, 3)),
			b.concat(b.row(two, 384, 3), b.column(two, 384, 3)),
			b.conv(b.average(x), 192, 1, 1))
	}
	return b.head(x, "inception_v3_299")
}

type inception struct{ network }

// valid is a convolution without padding.
func (b *inception) valid(x, out, kernel, stride uint32) uint32 {
	return b.convolve(x, out, [2]uint32{kernel, kernel}, stride, nn.PaddingValid, nn.ActRelu6)
}

// row and column are convolutions of 1 x n and n x 1.
func (b *inception) row(x, out, n uint32) uint32 {
	return b.convolve(x, out, [2]uint32{1, n}, 1, nn.PaddingSame, nn.ActRelu6)
}

func (b *inception) column(x, out, n uint32) uint32 {
	return b.convolve(x, out, [2]uint32{n, 1}, 1, nn.PaddingSame, nn.ActRelu6)
}

func (b *inception) reduce(x uint32) uint32 { return b.pool(nn.OpMaxPool2D, x, 3, 2, nn.PaddingValid) }

func (b *inception) average(x uint32) uint32 {
	return b.pool(nn.OpAveragePool2D, x, 3, 1, nn.PaddingSame)
}
