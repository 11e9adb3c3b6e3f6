package zoo

import (
	"math"

	"github.com/nnsoc/nnsoc/nn/builder"
)

type tensor = builder.Tensor

// Numbers of classes: ImageNet's, and the same with a background class.
const (
	classes     = 1000
	slimClasses = classes + 1
)

// slimHead is the head of TensorFlow-Slim's networks: global average pooling
// and the classifier as a 1x1 convolution.
func slimHead(b *builder.Builder, x tensor) {
	classify(b, b.Conv(b.GlobalPool(x), builder.Conv{Out: slimClasses, Kernel: 1, Act: builder.Logits}), slimClasses)
}

// denseHead is global average pooling and a fully connected classifier.
func denseHead(b *builder.Builder, x tensor) {
	x = b.Reshape(b.GlobalPool(x), 1, int32(b.Channels(x)))
	classify(b, b.Dense(x, classes, builder.Logits), classes)
}

// classify converts logits to probabilities, the output.
func classify(b *builder.Builder, logits tensor, n int32) {
	if len(b.Dims(logits)) != 2 {
		logits = b.Reshape(logits, 1, n)
	}
	b.Output(b.Softmax(logits), "probabilities")
}

// divisible rounds a number of channels to a multiple of 8, at least 8, and
// not more than 10 % down.
func divisible(channels float64) uint32 {
	const by = 8
	n := max(by, uint32(channels+by/2)/by*by)
	if float64(n) < 0.9*channels {
		n += by
	}
	return n
}

func ceil(x float64) uint32 { return uint32(math.Ceil(x)) }
