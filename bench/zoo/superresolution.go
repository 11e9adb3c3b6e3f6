package zoo

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// superResolutionSide is the side of the pictures that vendors enlarge.
const superResolutionSide = 128

// quickSRNet is QuickSRNet (Berger et al., arXiv 2303.04336) for four times the side: convolutions of 3x3 alone, the last
// of which computes the 16 pixels that come from each one.
func quickSRNet(channels uint32, layers int) architecture {
	return func(b *builder.Builder) {
		x := b.Image(superResolutionSide)
		for range layers {
			x = b.Conv(x, builder.Conv{Out: channels, Kernel: 3, Act: builder.ReLU})
		}
		enlarge(b, b.Conv(x, builder.Conv{Out: 3 * 4 * 4, Kernel: 3}), 4)
	}
}

// sesrM5 is SESR-M5 (Bhardwaj et al., arXiv 2103.09404) for four times the side, as it is trained: each block is a
// convolution that widens to 256 channels and a pointwise one back, with nothing in between.
func sesrM5(b *builder.Builder) {
	const width, channels = 256, 16
	block := func(x tensor, kernel, out uint32) tensor {
		x = b.Conv(x, builder.Conv{Out: width, Kernel: kernel, NoBias: true})
		return b.Conv(x, builder.Conv{Out: out, Kernel: 1})
	}
	first := b.Activate(block(b.Image(superResolutionSide), 5, channels), builder.ReLU)
	x := first
	for range 5 {
		x = b.Add(block(x, 3, channels), x, builder.ReLU)
	}
	x = b.Add(x, first, builder.NoActivation)
	enlarge(b, block(x, 5, 3*4*4), 4)
}

// enlarge moves channels into blocks of size x size pixels, the output.
func enlarge(b *builder.Builder, x tensor, size int32) {
	b.Output(b.Move(nn.OpDepthToSpace, x, b.Int32(size)), "picture")
}
