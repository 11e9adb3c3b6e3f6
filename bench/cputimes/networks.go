package cputimes

import (
	"fmt"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

type tensor = builder.Tensor

// network is one of the data set's: pytorchcv's definition as its converter wrote it. Batch
// normalization is folded, a depthwise convolution is a PAD and one without padding, other
// windows are padded themselves, and nothing follows the classifier.
type network struct {
	mmacs float64 // as the source counts
	build func(g *graph)
}

// graph adds layers the way these networks have them.
type graph struct {
	*builder.Builder
	x tensor
}

func (g *graph) conv(out, kernel, stride uint32, act builder.Activation) {
	g.x = g.Conv(g.x, builder.Conv{Out: out, Kernel: kernel, Stride: stride, Act: act})
}

// depthwise is a PAD and a depthwise convolution.
func (g *graph) depthwise(kernel, stride uint32, act builder.Activation) {
	p := int32(kernel / 2)
	g.x = g.Pad(g.x, 0, 0, p, p, p, p, 0, 0)
	g.x = g.Depthwise(g.x, builder.Conv{Kernel: kernel, Stride: stride, Valid: true, Act: act})
}

// concat joins tensors; each has its own range in 8 bits, as calibration finds it.
func (g *graph) concat(in ...tensor) {
	s, d := g.SpreadOf(in[0]), g.Dims(in[0])
	var q builder.Quant
	if t := g.Type(); t != nn.TensorFloat32 {
		q = builder.Quant{Scale: 1, ZeroPoint: -128}
	}
	g.x = g.Apply(nn.OpConcatenation, g.Type(), q, append(append([]tensor(nil), in...), g.Int32(int32(len(d)-1)))...)
	g.SetSpread(g.x, s)
}

// classify averages over the image and adds the classifier, whose scores are the output.
func (g *graph) classify() {
	x := g.Reshape(g.GlobalPool(g.x), 1, int32(g.Channels(g.x)))
	g.Output(g.Dense(x, 1000, builder.Logits), "scores")
}

// bottleneck is an inverted residual.
func (g *graph) bottleneck(expand, out, kernel, stride uint32, act builder.Activation) {
	in, x := g.Channels(g.x), g.x
	if expand > in {
		g.conv(expand, 1, 1, act)
	}
	g.depthwise(kernel, stride, act)
	g.conv(out, 1, 1, builder.NoActivation)
	if in == out && stride == 1 {
		g.x = g.Add(x, g.x, builder.NoActivation)
	}
}

var networks = map[string]network{
	"mobilenet_v1_1.0":  {569, mobileNetV1(1)},
	"mobilenet_v1_0.5":  {150, mobileNetV1(0.5)},
	"mobilenet_v1_0.25": {41, mobileNetV1(0.25)},
	"mobilenet_v2_0.75": {187, mobileNetV2(0.75)},
	"mobilenet_v2_0.5":  {92, mobileNetV2(0.5)},
	"mnasnet_b1": {314, inverted(32, []stage{
		{24, 3, 2, 3, 3}, {40, 5, 2, 3, 3}, {80, 5, 2, 6, 3}, {96, 3, 1, 6, 2}, {192, 5, 2, 6, 4}, {320, 3, 1, 6, 1},
	})},
	"spnasnet": {333, inverted(32, []stage{
		{24, 3, 2, 3, 3}, {40, 5, 2, 6, 1}, {40, 3, 1, 3, 3}, {80, 5, 2, 6, 1}, {80, 3, 1, 3, 3},
		{96, 5, 1, 6, 1}, {96, 5, 1, 3, 3}, {192, 5, 2, 6, 4}, {320, 3, 1, 6, 1},
	})},
	"resnet12":       {1121, resNet(2, 1, 1, 1)},
	"resnet14":       {1353, resNet(2, 2, 1, 1)},
	"resnet18":       {1815, resNet(2, 2, 2, 2)},
	"squeezenet_1.1": {352, squeezeNet},
	"bn_inception":   {2041, bnInception},
	"regnetx_008":    {800, regNetX008},
}

// config is float, or 8 bits with a scale per channel, without weights.
func config(float bool) builder.Config {
	if float {
		return builder.Config{Format: builder.Float32, ShapesOnly: true}
	}
	return builder.Config{Format: builder.Quant8Signed, ChannelScales: true, ShapesOnly: true}
}

// model builds a network of the data set.
func model(name string, float bool) (*nn.Model, error) {
	n, ok := networks[name]
	if !ok {
		return nil, fmt.Errorf("cpu: no network is called %q", name)
	}
	g := &graph{Builder: builder.New(config(float))}
	g.x = g.Image(224)
	n.build(g)
	return outline(g.Builder, name)
}

// outline is the model with weights of zero.
func outline(b *builder.Builder, name string) (*nn.Model, error) {
	m, err := b.Model(name)
	if err != nil {
		return nil, err
	}
	written := map[uint32]bool{}
	for i := range m.Main.Operations {
		for _, o := range m.Main.Operations[i].Outputs {
			written[o] = true
		}
	}
	for i := range m.Main.Operands {
		if o := &m.Main.Operands[i]; o.Lifetime == nn.TemporaryVariable && !written[uint32(i)] {
			o.Lifetime, o.Data = nn.ConstantReference, make([]byte, o.Bytes())
		}
	}
	return m, nil
}

func mobileNetV1(width float64) func(*graph) {
	return func(g *graph) {
		g.conv(uint32(32*width), 3, 2, builder.ReLU)
		stride := map[int]uint32{1: 2, 3: 2, 5: 2, 11: 2}
		for i, out := range []float64{64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024} {
			g.depthwise(3, max(stride[i], 1), builder.ReLU)
			g.conv(uint32(out*width), 1, 1, builder.ReLU)
		}
		g.classify()
	}
}

// mobileNetV2 cuts the channels of narrower networks, where TensorFlow-Slim rounds them to
// multiples of 8, and its first residual has a pointwise convolution that does not widen.
func mobileNetV2(width float64) func(*graph) {
	return func(g *graph) {
		g.conv(uint32(32*width), 3, 2, builder.ReLU6)
		g.conv(uint32(32*width), 1, 1, builder.ReLU6)
		for _, s := range []stage{{16, 3, 1, 1, 1}, {24, 3, 2, 6, 2}, {32, 3, 2, 6, 3}, {64, 3, 2, 6, 4}, {96, 3, 1, 6, 3}, {160, 3, 2, 6, 3}, {320, 3, 1, 6, 1}} {
			s.out = uint32(float64(s.out) * width)
			s.add(g, builder.ReLU6)
		}
		g.conv(1280, 1, 1, builder.ReLU6)
		g.classify()
	}
}

// stage is a row of inverted residuals, the first of which strides.
type stage struct{ out, kernel, stride, factor, n uint32 }

func (s stage) add(g *graph, act builder.Activation) {
	for i := range s.n {
		stride := uint32(1)
		if i == 0 {
			stride = s.stride
		}
		g.bottleneck(s.factor*g.Channels(g.x), s.out, s.kernel, stride, act)
	}
}

// inverted is a network of inverted residuals behind a first layer and a separable
// convolution: MnasNet-B1 and Single-Path NAS.
func inverted(first uint32, stages []stage) func(*graph) {
	return func(g *graph) {
		g.conv(first, 3, 2, builder.ReLU)
		g.depthwise(3, 1, builder.ReLU)
		g.conv(16, 1, 1, builder.NoActivation)
		for _, s := range stages {
			s.add(g, builder.ReLU)
		}
		g.conv(1280, 1, 1, builder.ReLU)
		g.classify()
	}
}

func resNet(depths ...int) func(*graph) {
	return func(g *graph) {
		g.conv(64, 7, 2, builder.ReLU)
		g.x = g.MaxPool(g.x, builder.Pool{Window: 3, Stride: 2})
		for i, n := range depths {
			for j := range n {
				out, stride := uint32(64)<<i, uint32(1)
				if i > 0 && j == 0 {
					stride = 2
				}
				x := g.x
				g.conv(out, 3, stride, builder.ReLU)
				g.conv(out, 3, 1, builder.NoActivation)
				if stride > 1 {
					x = g.Conv(x, builder.Conv{Out: out, Kernel: 1, Stride: stride})
				}
				g.x = g.Add(g.x, x, builder.ReLU)
			}
		}
		g.classify()
	}
}

func squeezeNet(g *graph) {
	g.x = g.Conv(g.x, builder.Conv{Out: 64, Kernel: 3, Stride: 2, Valid: true, Act: builder.ReLU})
	for i, squeeze := range []uint32{16, 16, 32, 32, 48, 48, 64, 64} {
		if i == 0 || i == 2 || i == 4 {
			g.x = g.MaxPool(g.x, builder.Pool{Window: 3, Stride: 2, Valid: i != 0})
		}
		g.conv(squeeze, 1, 1, builder.ReLU)
		g.concat(
			g.Conv(g.x, builder.Conv{Out: 4 * squeeze, Kernel: 1, Act: builder.ReLU}),
			g.Conv(g.x, builder.Conv{Out: 4 * squeeze, Kernel: 3, Act: builder.ReLU}))
	}
	g.conv(1000, 1, 1, builder.ReLU)
	g.Output(g.Reshape(g.GlobalPool(g.x), 1, 1000), "scores")
}

// bnInception is Inception with batch normalization (Ioffe and Szegedy, arXiv 1502.03167).
func bnInception(g *graph) {
	g.conv(64, 7, 2, builder.ReLU)
	g.x = g.MaxPool(g.x, builder.Pool{Window: 3, Stride: 2})
	g.conv(64, 1, 1, builder.ReLU)
	g.conv(192, 3, 1, builder.ReLU)
	g.x = g.MaxPool(g.x, builder.Pool{Window: 3, Stride: 2})
	for i, m := range [][6]uint32{
		{64, 64, 64, 64, 96, 32}, {64, 64, 96, 64, 96, 64}, {0, 128, 160, 64, 96},
		{224, 64, 96, 96, 128, 128}, {192, 96, 128, 96, 128, 128}, {160, 128, 160, 128, 160, 128}, {96, 128, 192, 160, 192, 128}, {0, 128, 192, 192, 256},
		{352, 192, 320, 160, 224, 128}, {352, 192, 320, 192, 224, 128},
	} {
		stride := uint32(1)
		if m[0] == 0 {
			stride = 2
		}
		conv := func(x tensor, out, kernel, stride uint32) tensor {
			return g.Conv(x, builder.Conv{Out: out, Kernel: kernel, Stride: stride, Act: builder.ReLU})
		}
		var l []tensor
		if m[0] > 0 {
			l = append(l, conv(g.x, m[0], 1, 1))
		}
		l = append(l, conv(conv(g.x, m[1], 1, 1), m[2], 3, stride),
			conv(conv(conv(g.x, m[3], 1, 1), m[4], 3, 1), m[4], 3, stride))
		pooled := g.MaxPool
		if stride == 1 && i < 9 {
			pooled = g.AveragePool
		}
		p := pooled(g.x, builder.Pool{Window: 3, Stride: stride})
		if m[5] > 0 {
			p = conv(p, m[5], 1, 1)
		}
		g.concat(append(l, p)...)
	}
	g.classify()
}

// regNetX008 is RegNetX-800MF (Radosavovic et al., arXiv 2003.13678): groups of 16 channels.
func regNetX008(g *graph) {
	g.conv(32, 3, 2, builder.ReLU)
	for i, out := range []uint32{64, 128, 288, 672} {
		for j := range []int{1, 3, 7, 5}[i] {
			x, stride := g.x, uint32(1)
			if j == 0 {
				stride = 2
			}
			g.conv(out, 1, 1, builder.ReLU)
			g.x = g.Conv(g.x, builder.Conv{Out: out, Kernel: 3, Stride: stride, Groups: out / 16, Act: builder.ReLU})
			g.conv(out, 1, 1, builder.NoActivation)
			if j == 0 {
				x = g.Conv(x, builder.Conv{Out: out, Kernel: 1, Stride: stride})
			}
			g.x = g.Add(g.x, x, builder.ReLU)
		}
	}
	g.classify()
}
