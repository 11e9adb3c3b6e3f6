package zoo

import "github.com/nnsoc/nnsoc/nn/builder"

// shuffleNetV2 is ShuffleNet v2 x0.5 (Ma et al., arXiv 1807.11164, as in torchvision): a block changes half of the channels
// and mixes both halves; the first of a stage strides and changes both.
func shuffleNetV2(b *builder.Builder) {
	x := b.Conv(b.Image(224), builder.Conv{Out: 24, Kernel: 3, Stride: 2, Pad: 1, Act: builder.ReLU})
	x = b.MaxPool(x, builder.Pool{Window: 3, Stride: 2, Pad: 1})
	for _, s := range []struct {
		n   int
		out uint32
	}{{4, 48}, {8, 96}, {4, 192}} {
		half := s.out / 2
		for i := range s.n {
			var kept, changed tensor
			if i == 0 {
				kept = b.Depthwise(x, builder.Conv{Kernel: 3, Stride: 2, Pad: 1})
				kept = b.Conv(kept, builder.Conv{Out: half, Kernel: 1, Act: builder.ReLU})
				changed = shuffleNetBranch(b, x, half, 2)
			} else {
				side := int32(b.Dims(x)[1])
				kept = b.Slice(x, []int32{0, 0, 0, 0}, []int32{1, side, side, int32(half)})
				changed = shuffleNetBranch(b, b.Slice(x, []int32{0, 0, 0, int32(half)}, []int32{1, side, side, int32(half)}), half, 1)
			}
			x = shuffle(b, b.Concat(kept, changed))
		}
	}
	denseHead(b, b.Conv(x, builder.Conv{Out: 1024, Kernel: 1, Act: builder.ReLU}))
}

// shuffle takes channels from both halves in turn, as converters write it for formats without CHANNEL_SHUFFLE.
func shuffle(b *builder.Builder, x tensor) tensor {
	d := b.Dims(x)
	y := b.Reshape(x, int32(d[1]*d[2]), 2, int32(d[3]/2))
	return b.Reshape(b.Transpose(y, 0, 2, 1), 1, int32(d[1]), int32(d[2]), int32(d[3]))
}

// shuffleNetBranch is a depthwise convolution between two pointwise ones.
func shuffleNetBranch(b *builder.Builder, x tensor, out, stride uint32) tensor {
	x = b.Conv(x, builder.Conv{Out: out, Kernel: 1, Act: builder.ReLU})
	x = b.Depthwise(x, builder.Conv{Kernel: 3, Stride: stride, Pad: 1})
	return b.Conv(x, builder.Conv{Out: out, Kernel: 1, Act: builder.ReLU})
}
