package zoo

import "github.com/nnsoc/nnsoc/nn/builder"

// resNet is ResNet (He et al., arXiv 1512.03385) as in torchvision: stages of
// 64, 128, 256 and 512 channels. With bottlenecks the 3x3 convolution strides
// (version 1.5).
func resNet(bottlenecks bool, depths ...int) architecture {
	return func(b *builder.Builder) {
		x := resNetStem(b)
		for i, n := range depths {
			width := uint32(64) << i
			for j := range n {
				stride := uint32(1)
				if i > 0 && j == 0 {
					stride = 2
				}
				x = resNetBlock(b, x, bottlenecks, width, stride)
			}
		}
		denseHead(b, x)
	}
}

// regNetX is RegNetX-800MF (Radosavovic et al., arXiv 2003.13678, as in torchvision): blocks of
// a bottleneck without widening, whose 3x3 convolution has groups of 16 channels.
func regNetX(b *builder.Builder) {
	x := b.Conv(b.Image(224), builder.Conv{Out: 32, Kernel: 3, Stride: 2, Act: builder.ReLU})
	for _, stage := range []struct{ n, width uint32 }{{1, 64}, {3, 128}, {7, 288}, {5, 672}} {
		for i := range stage.n {
			stride := uint32(1)
			if i == 0 {
				stride = 2
			}
			y := b.Conv(x, builder.Conv{Out: stage.width, Kernel: 1, Act: builder.ReLU})
			y = b.Conv(y, builder.Conv{Out: stage.width, Kernel: 3, Stride: stride, Pad: 1, Groups: stage.width / 16, Act: builder.ReLU})
			y = b.Conv(y, builder.Conv{Out: stage.width, Kernel: 1})
			if i == 0 {
				x = b.Conv(x, builder.Conv{Out: stage.width, Kernel: 1, Stride: stride})
			}
			x = b.Add(y, x, builder.ReLU)
		}
	}
	denseHead(b, x)
}

func resNetStem(b *builder.Builder) tensor {
	x := b.Conv(b.Image(224), builder.Conv{Out: 64, Kernel: 7, Stride: 2, Pad: 3, Act: builder.ReLU})
	return b.MaxPool(x, builder.Pool{Window: 3, Stride: 2, Pad: 1})
}

func resNetBlock(b *builder.Builder, x tensor, bottleneck bool, width, stride uint32) tensor {
	out, y := width, x
	if bottleneck {
		out = 4 * width
		y = b.Conv(y, builder.Conv{Out: width, Kernel: 1, Act: builder.ReLU})
		y = b.Conv(y, builder.Conv{Out: width, Kernel: 3, Stride: stride, Pad: 1, Act: builder.ReLU})
		y = b.Conv(y, builder.Conv{Out: out, Kernel: 1})
	} else {
		y = b.Conv(y, builder.Conv{Out: width, Kernel: 3, Stride: stride, Pad: 1, Act: builder.ReLU})
		y = b.Conv(y, builder.Conv{Out: out, Kernel: 3, Pad: 1})
	}
	if stride > 1 || b.Channels(x) != out {
		x = b.Conv(x, builder.Conv{Out: out, Kernel: 1, Stride: stride})
	}
	return b.Add(y, x, builder.ReLU)
}

// resNet101V2 is ResNet-101 v2 (He et al., arXiv 1603.05027): normalization and activation precede each block, so that
// they stay operations.
func resNet101V2(b *builder.Builder) {
	x := b.Conv(b.Image(224), builder.Conv{Out: 64, Kernel: 7, Stride: 2, Pad: 3, NoBias: true})
	x = b.MaxPool(x, builder.Pool{Window: 3, Stride: 2, Pad: 1})
	for i, n := range []int{3, 4, 23, 3} {
		width := uint32(64) << i
		for j := range n {
			stride := uint32(1)
			if i > 0 && j == 0 {
				stride = 2
			}
			y := b.Affine(x, builder.ReLU)
			if j == 0 {
				x = b.Conv(y, builder.Conv{Out: 4 * width, Kernel: 1, Stride: stride, NoBias: true})
			}
			y = b.Conv(y, builder.Conv{Out: width, Kernel: 1, Act: builder.ReLU})
			y = b.Conv(y, builder.Conv{Out: width, Kernel: 3, Stride: stride, Pad: 1, Act: builder.ReLU})
			y = b.Conv(y, builder.Conv{Out: 4 * width, Kernel: 1, NoBias: true})
			x = b.Add(x, y, builder.NoActivation)
		}
	}
	denseHead(b, b.Affine(x, builder.ReLU))
}

// denseNet121 is DenseNet-121 (Huang et al., arXiv 1608.06993) as in
// torchvision: each layer reads all before it and adds 32 channels.
func denseNet121(b *builder.Builder) {
	x := resNetStem(b)
	blocks := []int{6, 12, 24, 16}
	for i, n := range blocks {
		for range n {
			y := b.Affine(x, builder.ReLU)
			y = b.Conv(y, builder.Conv{Out: 128, Kernel: 1, Act: builder.ReLU})
			y = b.Conv(y, builder.Conv{Out: 32, Kernel: 3, Pad: 1, NoBias: true})
			x = b.Concat(x, y)
		}
		x = b.Affine(x, builder.ReLU)
		if i < len(blocks)-1 {
			x = b.Conv(x, builder.Conv{Out: b.Channels(x) / 2, Kernel: 1, NoBias: true})
			x = b.AveragePool(x, builder.Pool{Window: 2, Stride: 2, Valid: true})
		}
	}
	denseHead(b, x)
}
