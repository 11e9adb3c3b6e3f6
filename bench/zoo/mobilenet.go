package zoo

import (
	"fmt"

	"github.com/nnsoc/nnsoc/nn/builder"
)

// mobileNetV1 is MobileNet v1 (Howard et al., arXiv 1704.04861, as in
// TensorFlow-Slim): 13 pairs of depthwise and pointwise convolutions.
func mobileNetV1(hundredths, side uint32) architecture {
	return func(b *builder.Builder) {
		slimHead(b, mobileNetV1Body(b, b.Image(side), hundredths, 32, nil))
	}
}

// mobileNetV1Body is the part before pooling. Where the product of strides would exceed outputStride, the layers dilate
// instead. tap, if there is one, sees the output of each pointwise convolution.
func mobileNetV1Body(b *builder.Builder, x tensor, hundredths, outputStride uint32, tap func(layer int, x tensor)) tensor {
	x = b.Conv(x, builder.Conv{Out: max(32*hundredths/100, 8), Kernel: 3, Stride: 2, Act: builder.ReLU6})
	stride := map[int]uint32{1: 2, 3: 2, 5: 2, 11: 2} // of depthwise layer i
	reached, dilation := uint32(2), uint32(1)
	for i, out := range []uint32{64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024} {
		layer := builder.Conv{Kernel: 3, Stride: stride[i], Dilation: dilation, Act: builder.ReLU6}
		if reached *= max(stride[i], 1); reached > outputStride {
			reached, layer.Stride = outputStride, 1
			dilation *= stride[i] // from the next layer on
		}
		x = b.Depthwise(x, layer)
		x = b.Conv(x, builder.Conv{Out: max(out*hundredths/100, 8), Kernel: 1, Act: builder.ReLU6})
		if tap != nil {
			tap(i, x)
		}
	}
	return x
}

// mobileNetV2 is MobileNet v2 (Sandler et al., arXiv 1801.04381, as in
// TensorFlow-Slim). The last convolution keeps 1280 channels in networks
// narrower than 1.0.
func mobileNetV2(hundredths, side uint32) architecture {
	return func(b *builder.Builder) {
		x := mobileNetV2Body(b, b.Image(side), hundredths, 32)
		last := uint32(1280)
		if hundredths > 100 {
			last = divisible(float64(last*hundredths) / 100)
		}
		slimHead(b, b.Conv(x, builder.Conv{Out: last, Kernel: 1, Act: builder.ReLU6}))
	}
}

// mobileNetV2Body is the part up to the last bottleneck. Where the product of
// strides would exceed outputStride, the layers dilate instead.
func mobileNetV2Body(b *builder.Builder, x tensor, hundredths, outputStride uint32) tensor {
	width := func(c uint32) uint32 { return divisible(float64(c*hundredths) / 100) }
	x = b.Conv(x, builder.Conv{Out: width(32), Kernel: 3, Stride: 2, Act: builder.ReLU6})
	reached, dilation := uint32(2), uint32(1)
	for _, stage := range []struct{ expand, out, n, stride uint32 }{
		{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1},
	} {
		for i := range stage.n {
			block := bottleneck{expand: stage.expand * b.Channels(x), out: width(stage.out), kernel: 3, dilation: dilation, act: builder.ReLU6}
			if i == 0 && stage.stride > 1 {
				if reached < outputStride {
					block.stride, reached = stage.stride, reached*stage.stride
				} else {
					dilation *= stage.stride // from the next layer on
				}
			}
			x = block.add(b, x)
		}
	}
	return x
}

// mobileNetV2Cut is MobileNet v2 as PyTorchCV narrows it: widths are cut to whole channels, not
// rounded to eights, and the first bottleneck has a pointwise convolution that does not widen.
func mobileNetV2Cut(hundredths uint32) architecture {
	return func(b *builder.Builder) {
		x := b.Conv(b.Image(224), builder.Conv{Out: 32 * hundredths / 100, Kernel: 3, Stride: 2, Act: builder.ReLU6})
		x = b.Conv(x, builder.Conv{Out: b.Channels(x), Kernel: 1, Act: builder.ReLU6})
		for _, s := range []struct{ factor, out, n, stride uint32 }{
			{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1},
		} {
			x = stage(b, x, s.n, s.factor, bottleneck{out: s.out * hundredths / 100, kernel: 3, stride: s.stride, act: builder.ReLU6})
		}
		slimHead(b, b.Conv(x, builder.Conv{Out: 1280, Kernel: 1, Act: builder.ReLU6}))
	}
}

// bottleneck is an inverted residual: a pointwise convolution that widens, a
// depthwise one, squeeze-and-excitation if wanted, and a pointwise one without
// activation. The input is added when the shape stays.
type bottleneck struct {
	expand, out, kernel uint32 // channels in the middle and at the end
	stride, dilation    uint32
	act                 builder.Activation
	squeeze             uint32 // channels of squeeze-and-excitation, 0 for none
	fused               bool   // widening and depthwise are one full convolution
	noResidual          bool   // the input is not added
}

func (k bottleneck) add(b *builder.Builder, x tensor) tensor {
	in := b.Channels(x)
	y := x
	spatial := builder.Conv{Out: k.expand, Kernel: k.kernel, Stride: k.stride, Dilation: k.dilation, Act: k.act}
	switch {
	case k.fused:
		if k.expand > in {
			y = b.Conv(y, spatial)
		}
	default:
		if k.expand > in {
			y = b.Conv(y, builder.Conv{Out: k.expand, Kernel: 1, Act: k.act})
		}
		y = b.Depthwise(y, spatial)
	}
	if k.squeeze > 0 {
		y = squeezeExcite(b, y, k.squeeze)
	}
	y = b.Conv(y, builder.Conv{Out: k.out, Kernel: 1})
	if k.noResidual || k.stride > 1 || in != k.out {
		return y
	}
	return b.Add(x, y, builder.NoActivation)
}

// squeezeExcite scales each channel by a gate computed from the mean of all
// (Hu et al., arXiv 1709.01507), with the hard sigmoid relu6(x+3)/6.
func squeezeExcite(b *builder.Builder, x tensor, hidden uint32) tensor {
	gate := b.Conv(b.GlobalPool(x), builder.Conv{Out: hidden, Kernel: 1, Act: builder.ReLU})
	gate = b.Conv(gate, builder.Conv{Out: b.Channels(x), Kernel: 1})
	gate = b.Add(gate, b.Scalar(3), builder.ReLU6)
	return b.Mul(x, b.Mul(gate, b.Scalar(1.0/6)))
}

// v3Row is a row of tables 1 and 2 of Howard et al., arXiv 1905.02244.
type v3Row struct {
	kernel, expand, out uint32
	squeeze             bool
	act                 builder.Activation
	stride              uint32
}

const (
	re = builder.ReLU
	hs = builder.HardSwish
)

var v3Large = []v3Row{
	{3, 16, 16, false, re, 1}, {3, 64, 24, false, re, 2}, {3, 72, 24, false, re, 1},
	{5, 72, 40, true, re, 2}, {5, 120, 40, true, re, 1}, {5, 120, 40, true, re, 1},
	{3, 240, 80, false, hs, 2}, {3, 200, 80, false, hs, 1}, {3, 184, 80, false, hs, 1}, {3, 184, 80, false, hs, 1},
	{3, 480, 112, true, hs, 1}, {3, 672, 112, true, hs, 1},
	{5, 672, 160, true, hs, 2}, {5, 960, 160, true, hs, 1}, {5, 960, 160, true, hs, 1},
}

var v3Small = []v3Row{
	{3, 16, 16, true, re, 2}, {3, 72, 24, false, re, 2}, {3, 88, 24, false, re, 1},
	{5, 96, 40, true, hs, 2}, {5, 240, 40, true, hs, 1}, {5, 240, 40, true, hs, 1},
	{5, 120, 48, true, hs, 1}, {5, 144, 48, true, hs, 1},
	{5, 288, 96, true, hs, 2}, {5, 576, 96, true, hs, 1}, {5, 576, 96, true, hs, 1},
}

// mobileNetV3 is MobileNet v3 1.0 224; wide and hidden are the channels of the
// last convolution and of the layer behind the pooling.
func mobileNetV3(rows []v3Row, wide, hidden uint32) architecture {
	return func(b *builder.Builder) {
		x := b.Conv(b.Image(224), builder.Conv{Out: 16, Kernel: 3, Stride: 2, Act: hs})
		for _, r := range rows {
			block := bottleneck{expand: r.expand, out: r.out, kernel: r.kernel, stride: r.stride, act: r.act}
			if r.squeeze {
				block.squeeze = divisible(float64(r.expand) / 4)
			}
			x = block.add(b, x)
		}
		x = b.GlobalPool(b.Conv(x, builder.Conv{Out: wide, Kernel: 1, Act: hs}))
		x = b.Conv(x, builder.Conv{Out: hidden, Kernel: 1, Act: hs})
		classify(b, b.Conv(x, builder.Conv{Out: slimClasses, Kernel: 1, Act: builder.Logits}), slimClasses)
	}
}

// mobileNetEdgeTPU is MobileNetEdgeTPU 224 of a depth multiplier in hundredths (TensorFlow-Slim,
// mobilenet_v3.py, V3_EDGETPU): full convolutions instead of depthwise ones in
// the early layers.
func mobileNetEdgeTPU(hundredths uint32) architecture {
	scaled := func(channels uint32) uint32 { return divisible(float64(channels*hundredths) / 100) }
	return func(b *builder.Builder) { mobileNetEdgeTPUScaled(b, scaled) }
}

func mobileNetEdgeTPUScaled(b *builder.Builder, scaled func(channels uint32) uint32) {
	x := b.Conv(b.Image(224), builder.Conv{Out: scaled(32), Kernel: 3, Stride: 2, Act: re})
	for _, r := range []struct {
		n, factor, out, kernel, stride uint32
		fused, noResidual              bool
	}{
		{1, 1, 16, 3, 1, true, false},
		{1, 8, 32, 3, 2, true, false}, {3, 4, 32, 3, 1, true, false},
		{1, 8, 48, 3, 2, true, false}, {3, 4, 48, 3, 1, true, false},
		{1, 8, 96, 3, 2, false, false}, {3, 4, 96, 3, 1, false, false},
		{1, 8, 96, 3, 1, false, true}, {3, 4, 96, 3, 1, false, false},
		{1, 8, 160, 5, 2, false, false}, {3, 4, 160, 5, 1, false, false},
		{1, 8, 192, 3, 1, false, false},
	} {
		for range r.n {
			x = bottleneck{expand: r.factor * b.Channels(x), out: scaled(r.out), kernel: r.kernel, stride: r.stride, act: re, fused: r.fused, noResidual: r.noResidual}.add(b, x)
		}
	}
	slimHead(b, b.Conv(x, builder.Conv{Out: 1280, Kernel: 1, Act: re}))
}

// efficientNetEdgeTPU is EfficientNet-EdgeTPU (TensorFlow TPU models, efficientnet/edgetpu): the first blocks widen by a
// full convolution.
func efficientNetEdgeTPU(depth float64, side uint32) architecture {
	return func(b *builder.Builder) {
		x := b.Conv(b.Image(side), builder.Conv{Out: 32, Kernel: 3, Stride: 2, Act: re})
		for range ceil(depth) { // widens as if it had 24 channels
			x = bottleneck{expand: 4 * 24, out: 24, kernel: 3, stride: 1, act: re, fused: true, noResidual: true}.add(b, x)
		}
		for _, s := range []struct {
			n, kernel, stride, out uint32
			fused                  bool
		}{
			{2, 3, 2, 32, true}, {4, 3, 2, 48, true}, {5, 5, 2, 96, false}, {4, 5, 1, 144, false}, {2, 5, 2, 192, false},
		} {
			x = stage(b, x, ceil(depth*float64(s.n)), 8, bottleneck{out: s.out, kernel: s.kernel, stride: s.stride, act: re, fused: s.fused})
		}
		x = b.GlobalPool(b.Conv(x, builder.Conv{Out: 1280, Kernel: 1, Act: re}))
		classify(b, b.Dense(b.Reshape(x, 1, 1280), slimClasses, builder.Logits), slimClasses)
	}
}

// mnasNet is MnasNet-B1 1.0 224 (Tan et al., arXiv 1807.11626, as in torchvision).
func mnasNet(b *builder.Builder) {
	x := b.Conv(b.Image(224), builder.Conv{Out: 32, Kernel: 3, Stride: 2, Act: re})
	x = b.Depthwise(x, builder.Conv{Kernel: 3, Act: re})
	x = b.Conv(x, builder.Conv{Out: 16, Kernel: 1})
	for _, s := range []struct{ out, kernel, stride, factor, n uint32 }{
		{24, 3, 2, 3, 3}, {40, 5, 2, 3, 3}, {80, 5, 2, 6, 3}, {96, 3, 1, 6, 2}, {192, 5, 2, 6, 4}, {320, 3, 1, 6, 1},
	} {
		x = stage(b, x, s.n, s.factor, bottleneck{out: s.out, kernel: s.kernel, stride: s.stride, act: re})
	}
	denseHead(b, b.Conv(x, builder.Conv{Out: 1280, Kernel: 1, Act: re}))
}

// spNASNet is Single-Path NAS (Stamoulis et al., arXiv 1904.02877, as in PyTorchCV).
func spNASNet(b *builder.Builder) {
	x := b.Conv(b.Image(224), builder.Conv{Out: 32, Kernel: 3, Stride: 2, Act: re})
	x = bottleneck{expand: 32, out: 16, kernel: 3, act: re}.add(b, x)
	for _, s := range []struct {
		out, stride uint32
		rows        [][2]uint32 // widening and kernel of each bottleneck
	}{
		{24, 2, [][2]uint32{{3, 3}, {3, 3}, {3, 3}}},
		{40, 2, [][2]uint32{{6, 5}, {3, 3}, {3, 3}, {3, 3}}},
		{80, 2, [][2]uint32{{6, 5}, {3, 3}, {3, 3}, {3, 3}}},
		{96, 1, [][2]uint32{{6, 5}, {3, 5}, {3, 5}, {3, 5}}},
		{192, 2, [][2]uint32{{6, 5}, {6, 5}, {6, 5}, {6, 5}}},
		{320, 1, [][2]uint32{{6, 3}}},
	} {
		stride := s.stride
		for _, r := range s.rows {
			x = bottleneck{expand: r[0] * b.Channels(x), out: s.out, kernel: r[1], stride: stride, act: re}.add(b, x)
			stride = 1
		}
	}
	denseHead(b, b.Conv(x, builder.Conv{Out: 1280, Kernel: 1, Act: re}))
}

// stage repeats a bottleneck that widens by a factor; only the first one strides.
func stage(b *builder.Builder, x tensor, n, factor uint32, k bottleneck) tensor {
	for range n {
		k.expand = factor * b.Channels(x)
		x = k.add(b, x)
		k.stride = 1
	}
	return x
}

// efficientNetLite is EfficientNet-Lite (TensorFlow TPU models,
// efficientnet/lite): EfficientNet-B0 without squeeze-and-excitation, with
// RELU6, and with a stem and a head that do not scale.
func efficientNetLite(width, depth float64, side uint32) architecture {
	return func(b *builder.Builder) {
		x := efficientNetLiteBody(b, b.Image(side), width, depth, func(int, tensor) {})
		denseHead(b, b.Conv(x, builder.Conv{Out: 1280, Kernel: 1, Act: builder.ReLU6}))
	}
}

// efficientNetLiteBody is the part up to the last bottleneck; tap sees the output of each stage.
func efficientNetLiteBody(b *builder.Builder, x tensor, width, depth float64, tap func(stage int, x tensor)) tensor {
	x = b.Conv(x, builder.Conv{Out: 32, Kernel: 3, Stride: 2, Act: builder.ReLU6})
	stages := []struct{ n, kernel, stride, factor, out uint32 }{
		{1, 3, 1, 1, 16}, {2, 3, 2, 6, 24}, {2, 5, 2, 6, 40}, {3, 3, 2, 6, 80}, {3, 5, 1, 6, 112}, {4, 5, 2, 6, 192}, {1, 3, 1, 6, 320},
	}
	for i, s := range stages {
		n := s.n
		if i > 0 && i < len(stages)-1 {
			n = ceil(depth * float64(n))
		}
		x = stage(b, x, n, s.factor, bottleneck{out: divisible(width * float64(s.out)), kernel: s.kernel, stride: s.stride, act: builder.ReLU6})
		tap(i, x)
	}
	return x
}

// widthName is a width multiplier as names of networks spell it.
func widthName(hundredths uint32) string {
	if hundredths%10 == 0 {
		return fmt.Sprintf("%.1f", float64(hundredths)/100)
	}
	return fmt.Sprintf("%.2f", float64(hundredths)/100)
}
