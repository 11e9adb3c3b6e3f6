package zoo

import "github.com/nnsoc/nnsoc/nn/builder"

// The networks of MLPerf Tiny (Banbury et al., arXiv 2106.07597), as in the
// reference implementations of its benchmark.

// tinyAD is its detector of anomalies in sounds: an autoencoder of fully
// connected layers over five spectra of 128 bands.
func tinyAD(b *builder.Builder) {
	const features = 640
	x := b.Values("input", 1, features)
	for _, width := range []uint32{128, 128, 128, 128, 8, 128, 128, 128, 128} {
		x = b.Dense(x, width, builder.ReLU)
	}
	b.Output(b.Dense(x, features, builder.NoActivation), "reconstruction")
}

// tinyIC is its classifier of images: ResNet-8, three blocks, the latter two of which stride.
func tinyIC(b *builder.Builder) {
	x := b.Conv(b.Image(32), builder.Conv{Out: 16, Kernel: 3, Act: builder.ReLU})
	for i, width := range []uint32{16, 32, 64} {
		stride := uint32(min(i+1, 2))
		y := b.Conv(x, builder.Conv{Out: width, Kernel: 3, Stride: stride, Act: builder.ReLU})
		y = b.Conv(y, builder.Conv{Out: width, Kernel: 3})
		if stride > 1 {
			x = b.Conv(x, builder.Conv{Out: width, Kernel: 1, Stride: stride})
		}
		x = b.Add(x, y, builder.ReLU)
	}
	tinyHead(b, b.GlobalPool(x), 10)
}

// tinyKWS is its spotter of keywords: DS-CNN (Zhang et al., arXiv 1711.07128)
// over 49 frames of ten cepstral coefficients.
func tinyKWS(b *builder.Builder) {
	const width = 64
	x := b.Conv(b.Values("input", 1, 49, 10, 1), builder.Conv{Out: width, Kernel: 10, Width: 4, Stride: 2, Act: builder.ReLU})
	for range 4 {
		x = b.Depthwise(x, builder.Conv{Kernel: 3, Act: builder.ReLU})
		x = b.Conv(x, builder.Conv{Out: width, Kernel: 1, Act: builder.ReLU})
	}
	tinyHead(b, b.AveragePool(x, builder.Pool{Window: 25, Width: 5, Valid: true}), 12)
}

// tinyVWW is its detector of persons: MobileNet v1 of a quarter of the width on
// images of 96.
func tinyVWW(b *builder.Builder) {
	tinyHead(b, b.GlobalPool(mobileNetV1Body(b, b.Image(96), 25, 32, nil)), 2)
}

// tinyHead classifies [1, 1, 1, channels] with a fully connected layer.
func tinyHead(b *builder.Builder, x tensor, classes uint32) {
	x = b.Reshape(x, 1, int32(b.Channels(x)))
	classify(b, b.Dense(x, classes, builder.Logits), int32(classes))
}
