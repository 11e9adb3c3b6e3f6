package zoo

import "github.com/nnsoc/nnsoc/nn/builder"

// vgg is VGG (Simonyan and Zisserman, arXiv 1409.1556): five groups of 3x3
// convolutions with pooling after each, and three fully connected layers.
func vgg(depths ...int) architecture {
	return func(b *builder.Builder) {
		x := b.Image(224)
		for i, n := range depths {
			for range n {
				x = b.Conv(x, builder.Conv{Out: min(uint32(64)<<i, 512), Kernel: 3, Act: builder.ReLU})
			}
			x = b.MaxPool(x, builder.Pool{Window: 2, Stride: 2, Valid: true})
		}
		denseLayers(b, x)
	}
}

// alexNet is AlexNet in the form for one device (Krizhevsky, arXiv 1404.5997,
// as in torchvision): no groups, no normalization.
func alexNet(b *builder.Builder) {
	x := b.Conv(b.Image(224), builder.Conv{Out: 64, Kernel: 11, Stride: 4, Pad: 2, Act: builder.ReLU})
	pool := builder.Pool{Window: 3, Stride: 2, Valid: true}
	x = b.Conv(b.MaxPool(x, pool), builder.Conv{Out: 192, Kernel: 5, Pad: 2, Act: builder.ReLU})
	x = b.MaxPool(x, pool)
	for _, out := range []uint32{384, 256, 256} {
		x = b.Conv(x, builder.Conv{Out: out, Kernel: 3, Pad: 1, Act: builder.ReLU})
	}
	denseLayers(b, b.MaxPool(x, pool))
}

// denseLayers are two fully connected layers of 4096 and the classifier.
func denseLayers(b *builder.Builder, x tensor) {
	d := b.Dims(x)
	x = b.Reshape(x, 1, int32(d[1]*d[2]*d[3]))
	x = b.Dense(b.Dense(x, 4096, builder.ReLU), 4096, builder.ReLU)
	classify(b, b.Dense(x, classes, builder.Logits), classes)
}

// squeezeNet is SqueezeNet 1.0 (Iandola et al., arXiv 1602.07360, as in
// torchvision, whose second pooling rounds its size up).
func squeezeNet(b *builder.Builder) {
	valid := builder.Pool{Window: 3, Stride: 2, Valid: true}
	x := b.Conv(b.Image(224), builder.Conv{Out: 96, Kernel: 7, Stride: 2, Valid: true, Act: builder.ReLU})
	x = b.MaxPool(x, valid)
	for i, squeeze := range []uint32{16, 16, 32, 32, 48, 48, 64, 64} {
		s := b.Conv(x, builder.Conv{Out: squeeze, Kernel: 1, Act: builder.ReLU})
		x = b.Concat(
			b.Conv(s, builder.Conv{Out: 4 * squeeze, Kernel: 1, Act: builder.ReLU}),
			b.Conv(s, builder.Conv{Out: 4 * squeeze, Kernel: 3, Act: builder.ReLU}))
		switch i {
		case 2:
			x = b.MaxPool(x, builder.Pool{Window: 3, Stride: 2}) // 54 to 27
		case 6:
			x = b.MaxPool(x, valid) // 27 to 13
		}
	}
	classify(b, b.GlobalPool(b.Conv(x, builder.Conv{Out: classes, Kernel: 1, Act: builder.ReLU})), classes)
}

// squeezeNet11 is SqueezeNet 1.1 (as in torchvision): a smaller stem, poolings earlier.
func squeezeNet11(b *builder.Builder) {
	valid := builder.Pool{Window: 3, Stride: 2, Valid: true}
	x := b.Conv(b.Image(224), builder.Conv{Out: 64, Kernel: 3, Stride: 2, Valid: true, Act: builder.ReLU})
	x = b.MaxPool(x, valid) // 111 to 55
	for i, squeeze := range []uint32{16, 16, 32, 32, 48, 48, 64, 64} {
		s := b.Conv(x, builder.Conv{Out: squeeze, Kernel: 1, Act: builder.ReLU})
		x = b.Concat(
			b.Conv(s, builder.Conv{Out: 4 * squeeze, Kernel: 1, Act: builder.ReLU}),
			b.Conv(s, builder.Conv{Out: 4 * squeeze, Kernel: 3, Act: builder.ReLU}))
		if i == 1 || i == 3 {
			x = b.MaxPool(x, valid) // 55 to 27 to 13
		}
	}
	classify(b, b.GlobalPool(b.Conv(x, builder.Conv{Out: classes, Kernel: 1, Act: builder.ReLU})), classes)
}
