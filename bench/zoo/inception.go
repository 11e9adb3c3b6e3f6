package zoo

import "github.com/nnsoc/nnsoc/nn/builder"

// inception adds layers the way TensorFlow-Slim's Inception networks have them.
type inception struct {
	*builder.Builder
	act builder.Activation
}

// same and valid are square convolutions with their kind of padding.
func (b inception) same(x tensor, out, kernel, stride uint32) tensor {
	return b.Conv(x, builder.Conv{Out: out, Kernel: kernel, Stride: stride, Act: b.act})
}

func (b inception) valid(x tensor, out, kernel, stride uint32) tensor {
	return b.Conv(x, builder.Conv{Out: out, Kernel: kernel, Stride: stride, Valid: true, Act: b.act})
}

func (b inception) point(x tensor, out uint32) tensor { return b.same(x, out, 1, 1) }

// row and column are convolutions of 1 x n and n x 1.
func (b inception) row(x tensor, out, n uint32) tensor {
	return b.Conv(x, builder.Conv{Out: out, Kernel: 1, Width: n, Act: b.act})
}

func (b inception) column(x tensor, out, n uint32) tensor {
	return b.Conv(x, builder.Conv{Out: out, Kernel: n, Width: 1, Act: b.act})
}

func (b inception) reduce(x tensor) tensor {
	return b.MaxPool(x, builder.Pool{Window: 3, Stride: 2, Valid: true})
}

func (b inception) average(x tensor) tensor { return b.AveragePool(x, builder.Pool{Window: 3}) }

// inceptionV1 is Inception v1, GoogLeNet (Szegedy et al., arXiv 1409.4842): the
// 5x5 convolutions are 3x3 here.
func inceptionV1(g *builder.Builder) {
	b := inception{g, builder.ReLU}
	half := builder.Pool{Window: 3, Stride: 2}
	x := b.MaxPool(b.same(b.Image(224), 64, 7, 2), half)
	x = b.MaxPool(b.same(b.point(x, 64), 192, 3, 1), half)
	for i, m := range [][6]uint32{
		{64, 96, 128, 16, 32, 32}, {128, 128, 192, 32, 96, 64},
		{192, 96, 208, 16, 48, 64}, {160, 112, 224, 24, 64, 64}, {128, 128, 256, 24, 64, 64}, {112, 144, 288, 32, 64, 64}, {256, 160, 320, 32, 128, 128},
		{256, 160, 320, 32, 128, 128}, {384, 192, 384, 48, 128, 128},
	} {
		switch i {
		case 2:
			x = b.MaxPool(x, half)
		case 7:
			x = b.MaxPool(x, builder.Pool{Window: 2, Stride: 2})
		}
		x = b.Concat(
			b.point(x, m[0]),
			b.same(b.point(x, m[1]), m[2], 3, 1),
			b.same(b.point(x, m[3]), m[4], 3, 1),
			b.point(b.MaxPool(x, builder.Pool{Window: 3}), m[5]))
	}
	slimHead(g, x)
}

// bnInception is BN-Inception (Ioffe and Szegedy, arXiv 1502.03167): Inception v1 with two 3x3
// convolutions for each 5x5 one, and modules that halve the image.
func bnInception(g *builder.Builder) {
	b := inception{g, builder.ReLU}
	half := builder.Pool{Window: 3, Stride: 2}
	x := b.MaxPool(b.same(b.Image(224), 64, 7, 2), half)
	x = b.MaxPool(b.same(b.point(x, 64), 192, 3, 1), half)
	for i, m := range []struct {
		one           uint32    // channels of the 1x1 convolution; 0: the module halves the image
		three, double [2]uint32 // before and after one 3x3 convolution, two of them
		pooled        uint32
	}{
		{64, [2]uint32{64, 64}, [2]uint32{64, 96}, 32}, {64, [2]uint32{64, 96}, [2]uint32{64, 96}, 64}, {0, [2]uint32{128, 160}, [2]uint32{64, 96}, 0},
		{224, [2]uint32{64, 96}, [2]uint32{96, 128}, 128}, {192, [2]uint32{96, 128}, [2]uint32{96, 128}, 128}, {160, [2]uint32{128, 160}, [2]uint32{128, 160}, 128},
		{96, [2]uint32{128, 192}, [2]uint32{160, 192}, 128}, {0, [2]uint32{128, 192}, [2]uint32{192, 256}, 0},
		{352, [2]uint32{192, 320}, [2]uint32{160, 224}, 128}, {352, [2]uint32{192, 320}, [2]uint32{192, 224}, 128},
	} {
		double := b.same(b.point(x, m.double[0]), m.double[1], 3, 1)
		if m.one == 0 {
			x = b.Concat(b.same(b.point(x, m.three[0]), m.three[1], 3, 2), b.same(double, m.double[1], 3, 2), b.MaxPool(x, half))
			continue
		}
		pool := b.average
		if i == 9 {
			pool = func(x tensor) tensor { return b.MaxPool(x, builder.Pool{Window: 3}) }
		}
		x = b.Concat(b.point(x, m.one), b.same(b.point(x, m.three[0]), m.three[1], 3, 1), b.same(double, m.double[1], 3, 1), b.point(pool(x), m.pooled))
	}
	denseHead(g, x)
}

// inceptionV3 is Inception v3 (Szegedy et al., arXiv 1512.00567).
func inceptionV3(side uint32) architecture {
	return func(b *builder.Builder) { inceptionV3Layers(b, side) }
}

func inceptionV3Layers(g *builder.Builder, side uint32) {
	b := inception{g, builder.ReLU6}
	x := b.valid(b.Image(side), 32, 3, 2)
	x = b.same(b.valid(x, 32, 3, 1), 64, 3, 1)
	x = b.valid(b.reduce(x), 80, 1, 1)
	x = b.reduce(b.valid(x, 192, 3, 1))
	for _, pooled := range []uint32{32, 64, 64} {
		x = b.Concat(
			b.point(x, 64),
			b.same(b.point(x, 48), 64, 5, 1),
			b.same(b.same(b.point(x, 64), 96, 3, 1), 96, 3, 1),
			b.point(b.average(x), pooled))
	}
	x = b.Concat(
		b.valid(x, 384, 3, 2),
		b.valid(b.same(b.point(x, 64), 96, 3, 1), 96, 3, 2),
		b.reduce(x))
	for _, c := range []uint32{128, 160, 160, 192} {
		x = b.Concat(
			b.point(x, 192),
			b.column(b.row(b.point(x, c), c, 7), 192, 7),
			b.row(b.column(b.row(b.column(b.point(x, c), c, 7), c, 7), c, 7), 192, 7),
			b.point(b.average(x), 192))
	}
	x = b.Concat(
		b.valid(b.point(x, 192), 320, 3, 2),
		b.valid(b.column(b.row(b.point(x, 192), 192, 7), 192, 7), 192, 3, 2),
		b.reduce(x))
	for range 2 {
		one := b.point(x, 384)
		two := b.same(b.point(x, 448), 384, 3, 1)
		x = b.Concat(
			b.point(x, 320),
			b.Concat(b.row(one, 384, 3), b.column(one, 384, 3)),
			b.Concat(b.row(two, 384, 3), b.column(two, 384, 3)),
			b.point(b.average(x), 192))
	}
	slimHead(g, x)
}

// inceptionV4 is Inception v4 (Szegedy et al., arXiv 1602.07261).
func inceptionV4(g *builder.Builder) {
	b := inception{g, builder.ReLU}
	x := b.valid(b.valid(b.Image(299), 32, 3, 2), 32, 3, 1)
	x = b.same(x, 64, 3, 1)
	x = b.Concat(b.reduce(x), b.valid(x, 96, 3, 2))
	x = b.Concat(
		b.valid(b.point(x, 64), 96, 3, 1),
		b.valid(b.column(b.row(b.point(x, 64), 64, 7), 64, 7), 96, 3, 1))
	x = b.Concat(b.valid(x, 192, 3, 2), b.reduce(x))
	for range 4 {
		x = b.Concat(
			b.point(x, 96),
			b.same(b.point(x, 64), 96, 3, 1),
			b.same(b.same(b.point(x, 64), 96, 3, 1), 96, 3, 1),
			b.point(b.average(x), 96))
	}
	x = b.Concat(
		b.valid(x, 384, 3, 2),
		b.valid(b.same(b.point(x, 192), 224, 3, 1), 256, 3, 2),
		b.reduce(x))
	for range 7 {
		x = b.Concat(
			b.point(x, 384),
			b.column(b.row(b.point(x, 192), 224, 7), 256, 7),
			b.row(b.column(b.row(b.column(b.point(x, 192), 192, 7), 224, 7), 224, 7), 256, 7),
			b.point(b.average(x), 128))
	}
	x = b.Concat(
		b.valid(b.point(x, 192), 192, 3, 2),
		b.valid(b.column(b.row(b.point(x, 256), 256, 7), 320, 7), 320, 3, 2),
		b.reduce(x))
	for range 3 {
		one := b.point(x, 384)
		two := b.row(b.column(b.point(x, 384), 448, 3), 512, 3)
		x = b.Concat(
			b.point(x, 256),
			b.Concat(b.row(one, 256, 3), b.column(one, 256, 3)),
			b.Concat(b.row(two, 256, 3), b.column(two, 256, 3)),
			b.point(b.average(x), 256))
	}
	slimHead(g, x)
}

// inceptionResNetV2 is Inception-ResNet v2 (Szegedy et al., arXiv 1602.07261).
// The factors that scale the residuals are part of the weights.
func inceptionResNetV2(g *builder.Builder) {
	b := inception{g, builder.ReLU}
	x := b.valid(b.valid(b.Image(299), 32, 3, 2), 32, 3, 1)
	x = b.reduce(b.same(x, 64, 3, 1))
	x = b.reduce(b.valid(b.valid(x, 80, 1, 1), 192, 3, 1))
	x = b.Concat(
		b.point(x, 96),
		b.same(b.point(x, 48), 64, 5, 1),
		b.same(b.same(b.point(x, 64), 96, 3, 1), 96, 3, 1),
		b.point(b.average(x), 64))
	for range 10 {
		x = b.residual(x, 0.17, builder.ReLU, b.Concat(
			b.point(x, 32),
			b.same(b.point(x, 32), 32, 3, 1),
			b.same(b.same(b.point(x, 32), 48, 3, 1), 64, 3, 1)))
	}
	x = b.Concat(
		b.valid(x, 384, 3, 2),
		b.valid(b.same(b.point(x, 256), 256, 3, 1), 384, 3, 2),
		b.reduce(x))
	for range 20 {
		x = b.residual(x, 0.1, builder.ReLU, b.Concat(
			b.point(x, 192),
			b.column(b.row(b.point(x, 128), 160, 7), 192, 7)))
	}
	x = b.Concat(
		b.valid(b.point(x, 256), 384, 3, 2),
		b.valid(b.point(x, 256), 288, 3, 2),
		b.valid(b.same(b.point(x, 256), 288, 3, 1), 320, 3, 2),
		b.reduce(x))
	for i := range 10 {
		act := builder.ReLU
		scale := 0.2
		if i == 9 {
			act, scale = builder.NoActivation, 1
		}
		x = b.residual(x, scale, act, b.Concat(
			b.point(x, 192),
			b.column(b.row(b.point(x, 192), 224, 3), 256, 3)))
	}
	slimHead(g, b.point(x, 1536))
}

// residual adds a linear projection of branch to x.
func (b inception) residual(x tensor, scale float64, act builder.Activation, branch tensor) tensor {
	y := b.Conv(branch, builder.Conv{Out: b.Channels(x), Kernel: 1, Deviation: scale * builder.PreActivation})
	return b.Add(x, y, act)
}
