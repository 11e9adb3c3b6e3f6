package zoo

import "github.com/nnsoc/nnsoc/nn/builder"

// cocoClasses are the classes of COCO with a background class.
const cocoClasses = 91

// ssd predicts boxes and classes from several feature maps (Liu et al., arXiv
// 1512.02325). The outputs are those before decoding and suppression of boxes:
// [1, anchors, 4] and [1, anchors, 91].
type ssd struct {
	*builder.Builder
	separable      bool // SSDLite: predictors and extra layers are separable
	boxes, classes []tensor
}

// predict adds the predictors of a feature map: three boxes per position on the
// first map, six on the others.
func (b *ssd) predict(x tensor) {
	boxes := uint32(6)
	if len(b.boxes) == 0 {
		boxes = 3
	}
	b.boxes = append(b.boxes, b.predictor(x, boxes, 4))
	b.classes = append(b.classes, b.predictor(x, boxes, cocoClasses))
}

func (b *ssd) predictor(x tensor, boxes, values uint32) tensor {
	if b.separable {
		x = b.Depthwise(x, builder.Conv{Kernel: 3, Act: builder.ReLU6})
	}
	x = b.Conv(x, builder.Conv{Out: boxes * values, Kernel: 1})
	return b.Reshape(x, 1, -1, int32(values))
}

// extra adds a feature map of half the size.
func (b *ssd) extra(x tensor, out uint32) tensor {
	x = b.Conv(x, builder.Conv{Out: out / 2, Kernel: 1, Act: builder.ReLU6})
	if b.separable {
		x = b.Depthwise(x, builder.Conv{Kernel: 3, Stride: 2, Act: builder.ReLU6})
		return b.Conv(x, builder.Conv{Out: out, Kernel: 1, Act: builder.ReLU6})
	}
	return b.Conv(x, builder.Conv{Out: out, Kernel: 3, Stride: 2, Act: builder.ReLU6})
}

func (b *ssd) finish(x tensor, extras ...uint32) {
	b.predict(x)
	for _, out := range extras {
		x = b.extra(x, out)
		b.predict(x)
	}
	b.Output(b.ConcatAt(1, b.boxes...), "boxes")
	b.Output(b.Activate(b.ConcatAt(1, b.classes...), builder.Sigmoid), "scores")
}

// ssdMobileNetV1 is SSD with MobileNet v1 for 300x300 (TensorFlow object
// detection, ssd_mobilenet_v1_coco).
func ssdMobileNetV1(g *builder.Builder) {
	b := &ssd{Builder: g}
	x := mobileNetV1Body(g, b.Image(300), 100, 32, func(layer int, x tensor) {
		if layer == 10 { // the last one of stride 16
			b.predict(x)
		}
	})
	b.finish(x, 512, 256, 256, 128)
}

// mobileDetDSP is SSDLite with the backbone that was searched for the Hexagon
// DSP, for 320x320 (Xiong et al., arXiv 2004.14525; TensorFlow object
// detection, ssd_mobiledet_feature_extractor.py).
func mobileDetDSP(g *builder.Builder) {
	b := &ssd{Builder: g, separable: true}
	x := b.Conv(b.Image(320), builder.Conv{Out: 32, Kernel: 3, Stride: 2, Act: builder.ReLU6})
	x = bottleneck{expand: 32, out: 24, kernel: 3, act: builder.ReLU6, noResidual: true}.add(g, x)
	// fused and ibn widen by a factor, the former with a full convolution.
	const fused, ibn, tucker = 0, 1, 2
	for _, r := range []struct {
		kind            int
		factor, out     uint32
		stride          uint32
		noResidual      bool
		inRank, outRank float64
		predict         bool
	}{
		{kind: fused, factor: 4, out: 32, stride: 2, noResidual: true},
		{kind: fused, factor: 4, out: 32},
		{kind: ibn, factor: 4, out: 32},
		{kind: tucker, out: 32, inRank: 0.25, outRank: 0.75},
		{kind: fused, factor: 8, out: 64, stride: 2, noResidual: true},
		{kind: ibn, factor: 4, out: 64},
		{kind: fused, factor: 4, out: 64},
		{kind: fused, factor: 4, out: 64},
		{kind: fused, factor: 8, out: 120, stride: 2, noResidual: true},
		{kind: ibn, factor: 4, out: 120},
		{kind: ibn, factor: 8, out: 120},
		{kind: ibn, factor: 8, out: 120},
		{kind: fused, factor: 8, out: 144, noResidual: true},
		{kind: ibn, factor: 8, out: 144},
		{kind: ibn, factor: 8, out: 144},
		{kind: ibn, factor: 8, out: 144, predict: true},
		{kind: ibn, factor: 4, out: 160, stride: 2, noResidual: true},
		{kind: ibn, factor: 4, out: 160},
		{kind: fused, factor: 4, out: 160},
		{kind: tucker, out: 160, inRank: 0.75, outRank: 0.75},
		{kind: ibn, factor: 8, out: 240, noResidual: true},
	} {
		if r.kind == tucker {
			x = tuckerConv(g, x, r.out, r.inRank, r.outRank)
		} else {
			x = bottleneck{expand: r.factor * b.Channels(x), out: r.out, kernel: 3, stride: r.stride, act: builder.ReLU6,
				fused: r.kind == fused, noResidual: r.noResidual}.add(g, x)
		}
		if r.predict {
			b.predict(x)
		}
	}
	b.finish(x, 512, 256, 256, 128)
}

// tuckerConv is a 3x3 convolution between two pointwise ones, whose channels
// are parts of those outside; the input is added.
func tuckerConv(b *builder.Builder, x tensor, out uint32, inRank, outRank float64) tensor {
	rank := func(c uint32, part float64) uint32 { return max(8*uint32(float64(c)*part/8+0.5), 8) }
	y := b.Conv(x, builder.Conv{Out: rank(b.Channels(x), inRank), Kernel: 1, Act: builder.ReLU6})
	y = b.Conv(y, builder.Conv{Out: rank(out, outRank), Kernel: 3, Act: builder.ReLU6})
	return b.Add(x, b.Conv(y, builder.Conv{Out: out, Kernel: 1}), builder.NoActivation)
}

// deepLabV3 is DeepLab v3 with MobileNet v2 for 513x513 (TensorFlow DeepLab,
// mobilenetv2_coco_voc_trainaug): output stride 16, image pooling, no further
// atrous pyramid, no decoder. The output are logits of the 21 classes of
// PASCAL VOC at full size.
func deepLabV3(b *builder.Builder) {
	const side, vocClasses = 513, 21
	x := mobileNetV2Body(b, b.Image(side), 100, 16)
	d := b.Dims(x)
	image := b.Conv(b.GlobalPool(x), builder.Conv{Out: 256, Kernel: 1, Act: builder.ReLU})
	image = b.Resize(image, d[1], d[2])
	x = b.Concat(image, b.Conv(x, builder.Conv{Out: 256, Kernel: 1, Act: builder.ReLU}))
	x = b.Conv(x, builder.Conv{Out: 256, Kernel: 1, Act: builder.ReLU})
	x = b.Conv(x, builder.Conv{Out: vocClasses, Kernel: 1, Act: builder.Logits})
	b.Output(b.Resize(x, side, side), "logits")
}
