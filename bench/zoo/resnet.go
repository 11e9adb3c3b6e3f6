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

// regNetX is RegNetX (Radosavovic et al., arXiv 2003.13678, as in torchvision): blocks of
// a bottleneck without widening, whose 3x3 convolution has groups of so many channels.
func regNetX(groupWidth uint32, stages ...regNetStage) architecture {
	return func(b *builder.Builder) {
		x := b.Conv(b.Image(224), builder.Conv{Out: 32, Kernel: 3, Stride: 2, Act: builder.ReLU})
		for _, stage := range stages {
			for i := range stage.n {
				stride := uint32(1)
				if i == 0 {
					stride = 2
				}
				y := b.Conv(x, builder.Conv{Out: stage.width, Kernel: 1, Act: builder.ReLU})
				y = b.Conv(y, builder.Conv{Out: stage.width, Kernel: 3, Stride: stride, Pad: 1, Groups: stage.width / groupWidth, Act: builder.ReLU})
				y = b.Conv(y, builder.Conv{Out: stage.width, Kernel: 1})
				if i == 0 {
					x = b.Conv(x, builder.Conv{Out: stage.width, Kernel: 1, Stride: stride})
				}
				x = b.Add(y, x, builder.ReLU)
			}
		}
		denseHead(b, x)
	}
}

// regNetStage is blocks of a width.
type regNetStage struct{ n, width uint32 }

// resNeXt is ResNet-50 or 101 whose 3x3 convolutions have groups (Xie et al., arXiv 1611.05431) or are wider (Zagoruyko and
// Komodakis, arXiv 1605.07146), as in torchvision: width is the channels of a group in the first stage.
func resNeXt(groups, width uint32, depths ...int) architecture {
	return func(b *builder.Builder) {
		x := resNetStem(b)
		for i, n := range depths {
			inner, out := groups*width<<i, uint32(256)<<i
			for j := range n {
				stride := uint32(1)
				if i > 0 && j == 0 {
					stride = 2
				}
				y := b.Conv(x, builder.Conv{Out: inner, Kernel: 1, Act: builder.ReLU})
				y = b.Conv(y, builder.Conv{Out: inner, Kernel: 3, Stride: stride, Pad: 1, Groups: groups, Act: builder.ReLU})
				y = b.Conv(y, builder.Conv{Out: out, Kernel: 1})
				if j == 0 {
					x = b.Conv(x, builder.Conv{Out: out, Kernel: 1, Stride: stride})
				}
				x = b.Add(y, x, builder.ReLU)
			}
		}
		denseHead(b, x)
	}
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
