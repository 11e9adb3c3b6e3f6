package zoo

import "github.com/nnsoc/nnsoc/nn/builder"

// nasNetA is NASNet-A (Zoph et al., arXiv 1707.07012, as in TensorFlow-Slim): normal cells in three groups, and four
// that reduce.
func nasNetA(side, stem, filters uint32, cells int) architecture {
	return func(b *builder.Builder) { nasNetCells(b, side, stem, filters, cells) }
}

func nasNetCells(g *builder.Builder, side, stem, filters uint32, cells int) {
	b := nasNet{g}
	x := b.Conv(b.Image(side), builder.Conv{Out: stem, Kernel: 3, Stride: 2, Valid: true})
	previous, x := x, b.reduced(x, x, filters/4) // the first cell reads its input twice, as it is
	previous, x = x, b.reduction(x, previous, filters/2)
	scale := uint32(1)
	for i := range 3 * cells {
		if i == cells || i == 2*cells {
			scale *= 2
			previous, x = x, b.reduction(x, previous, filters*scale)
		}
		previous, x = x, b.normal(x, previous, filters*scale)
	}
	denseHead(g, b.Activate(x, builder.ReLU))
}

type nasNet struct{ *builder.Builder }

// normal is the cell that keeps the size. x is the last cell's output, p the
// one before it.
func (b nasNet) normal(x, p tensor, n uint32) tensor {
	p = b.adjust(p, x, n)
	h := b.squeeze(x, n)
	return b.Concat(p,
		b.Add(b.separable(h, n, 5, 1), b.separable(p, n, 3, 1), builder.NoActivation),
		b.Add(b.separable(p, n, 5, 1), b.separable(p, n, 3, 1), builder.NoActivation),
		b.Add(b.average(h, 1), p, builder.NoActivation),
		b.Add(b.average(p, 1), b.average(p, 1), builder.NoActivation),
		b.Add(b.separable(h, n, 3, 1), h, builder.NoActivation))
}

// reduction is the cell that halves the size.
func (b nasNet) reduction(x, p tensor, n uint32) tensor { return b.reduced(x, b.adjust(p, x, n), n) }

func (b nasNet) reduced(x, p tensor, n uint32) tensor {
	h := b.squeeze(x, n)
	one := b.Add(b.separable(h, n, 5, 2), b.separable(p, n, 7, 2), builder.NoActivation)
	two := b.Add(b.maximum(h), b.separable(p, n, 7, 2), builder.NoActivation)
	three := b.Add(b.average(h, 2), b.separable(p, n, 5, 2), builder.NoActivation)
	four := b.Add(two, b.average(one, 1), builder.NoActivation)
	five := b.Add(b.separable(one, n, 3, 1), b.maximum(h), builder.NoActivation)
	return b.Concat(two, three, four, five)
}

// separable is a depthwise and a pointwise convolution, twice, each behind a
// RELU. There is nothing between the two halves.
func (b nasNet) separable(x tensor, n, kernel, stride uint32) tensor {
	for range 2 {
		x = b.Depthwise(b.Activate(x, builder.ReLU), builder.Conv{Kernel: kernel, Stride: stride, NoBias: true})
		x = b.Conv(x, builder.Conv{Out: n, Kernel: 1})
		stride = 1
	}
	return x
}

func (b nasNet) squeeze(x tensor, n uint32) tensor {
	return b.Conv(b.Activate(x, builder.ReLU), builder.Conv{Out: n, Kernel: 1})
}

// adjust reshapes p to the size of x and n channels. Halving keeps all positions: one path has the even, the other one
// the odd ones.
func (b nasNet) adjust(p, x tensor, n uint32) tensor {
	d := b.Dims(p)
	switch {
	case d[1] != b.Dims(x)[1]:
		p = b.Activate(p, builder.ReLU)
		every := builder.Pool{Window: 1, Stride: 2, Valid: true}
		shifted := b.Slice(b.Pad(p, 0, 0, 0, 1, 0, 1, 0, 0), []int32{0, 1, 1, 0}, []int32{1, int32(d[1]), int32(d[2]), int32(d[3])})
		return b.Concat(
			b.Conv(b.AveragePool(p, every), builder.Conv{Out: n / 2, Kernel: 1}),
			b.Conv(b.AveragePool(shifted, every), builder.Conv{Out: n / 2, Kernel: 1}))
	case d[3] != n:
		return b.squeeze(p, n)
	}
	return p
}

func (b nasNet) average(x tensor, stride uint32) tensor {
	return b.AveragePool(x, builder.Pool{Window: 3, Stride: stride})
}

func (b nasNet) maximum(x tensor) tensor { return b.MaxPool(x, builder.Pool{Window: 3, Stride: 2}) }
