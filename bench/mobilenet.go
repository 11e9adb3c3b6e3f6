package bench

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// MobileNetV1 is MobileNet v1 1.0 224 with synthetic weights: the operations
// and shapes of the published network (Howard et al., arXiv 1704.04861), 31
// operations, [1,224,224,3] to [1,1001]. Quantized, it is TENSOR_QUANT8_ASYMM
// throughout; otherwise TENSOR_FLOAT32 with the same weights dequantized.
//
// Weights are bell-shaped and sum to zero per output channel; scales are set
// so that the values before each RELU6 have a standard deviation of about 2.
// Activations stay alive through all layers, as in a trained network.
func MobileNetV1(quantized bool) *nn.Model {
	b := mobilenet{quantized: quantized, seed: 0x2545F491}
	x := b.input()
	x = b.conv(x, 32, 3, 2)
	stride := map[int]uint32{1: 2, 3: 2, 5: 2, 11: 2} // of depthwise layer i
	for i, out := range []uint32{64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024} {
		x = b.depthwise(x, max(stride[i], 1))
		x = b.conv(x, out, 1, 1)
	}
	return b.head(x)
}

// preActivation is the standard deviation aimed at before each activation.
const preActivation = 2

// pooledDeviation is the deviation between channels that the mean over 7x7
// leaves, measured on a picture. With it the logits deviate by about 2, and
// softmax prefers some classes.
const pooledDeviation = 0.24

// weightSigma is the standard deviation of quantized weights around 128.
const weightSigma = 28

type mobilenet struct {
	g         graph
	quantized bool
	seed      noise
	rms       float64 // of the current activation, real units
	in        uint32
}

func (b *mobilenet) typ() nn.OperandType {
	if b.quantized {
		return nn.TensorQuant8Asymm
	}
	return nn.TensorFloat32
}

// activation adds a tensor; only the quantized form has q.
func (b *mobilenet) activation(q quant, dims ...uint32) uint32 {
	if !b.quantized {
		q = quant{}
	}
	return b.g.tensor("", b.typ(), q, dims...)
}

func (b *mobilenet) input() uint32 {
	b.in = b.activation(quant{1.0 / 128, 128}, 1, 224, 224, 3)
	b.g.Operands[b.in].Name = "input"
	b.rms = 0.577 // uniform in [-1, 1)
	return b.in
}

// relu6 is the output quantization of a layer with RELU6.
var relu6 = quant{6.0 / 255, 0}

// weights adds filter and bias for n channels of k weights each, laid out with
// a channel's weights at stride step.
func (b *mobilenet) weights(n, k, step int, sigma float64, dims ...uint32) (filter, bias uint32) {
	values := make([]int, n*k)
	for c := range n {
		sum := 0
		for i := range k {
			v := int(math.Round(b.seed.bell(weightSigma)))
			values[b.at(c, i, k, step)] = v
			sum += v
		}
		for i := range k { // spread the surplus: the channel's sum becomes zero
			share := sum / (k - i)
			values[b.at(c, i, k, step)] -= share
			sum -= share
		}
	}
	x := b.g.Operands[b.last()]
	scale := float32(sigma / (b.rms * weightSigma * math.Sqrt(float64(k))))
	name := fmt.Sprintf("layer%d", len(b.g.Operations))
	data := make([]byte, len(values))
	real := make([]float32, len(values))
	for i, v := range values {
		q := min(max(128+v, 0), 255)
		data[i] = byte(q)
		real[i] = scale * float32(q-128)
	}
	biases := make([]float32, n)
	for i := range biases {
		biases[i] = float32(b.seed.bell(0.25))
	}
	if !b.quantized {
		return b.g.constant(name+"/weights", nn.TensorFloat32, quant{}, floats(real...), dims...),
			b.g.constant(name+"/bias", nn.TensorFloat32, quant{}, floats(biases...), uint32(n))
	}
	biasScale := x.Scale * scale
	steps := make([]int32, n)
	for i, v := range biases {
		steps[i] = int32(math.Round(float64(v) / float64(biasScale)))
	}
	return b.g.constant(name+"/weights", nn.TensorQuant8Asymm, quant{scale, 128}, data, dims...),
		b.g.constant(name+"/bias", nn.TensorInt32, quant{biasScale, 0}, int32s(steps...), uint32(n))
}

// at is the position of weight i of channel c: channels of a depthwise filter
// interleave (step 1), those of a convolution are contiguous (step 0).
func (b *mobilenet) at(c, i, k, step int) int {
	if step == 0 {
		return c*k + i
	}
	return i*step + c
}

// last is the newest activation.
func (b *mobilenet) last() uint32 {
	if n := len(b.g.Operations); n > 0 {
		return b.g.Operations[n-1].Outputs[0]
	}
	return b.in
}

func (b *mobilenet) conv(x, out, kernel, stride uint32) uint32 {
	d := b.g.Operands[x].Dimensions
	k := int(kernel * kernel * d[3])
	filter, bias := b.weights(int(out), k, 0, preActivation, out, kernel, kernel, d[3])
	y := b.activation(relu6, 1, d[1]/stride, d[2]/stride, out)
	g := &b.g
	g.op(nn.OpConv2D, y, x, filter, bias, g.int32(nn.PaddingSame), g.int32(int32(stride)), g.int32(int32(stride)), g.int32(int32(nn.ActRelu6)))
	b.rectified()
	return y
}

func (b *mobilenet) depthwise(x, stride uint32) uint32 {
	d := b.g.Operands[x].Dimensions
	filter, bias := b.weights(int(d[3]), 9, int(d[3]), preActivation, 1, 3, 3, d[3])
	y := b.activation(relu6, 1, d[1]/stride, d[2]/stride, d[3])
	g := &b.g
	g.op(nn.OpDepthwiseConv2D, y, x, filter, bias, g.int32(nn.PaddingSame), g.int32(int32(stride)), g.int32(int32(stride)), g.int32(1), g.int32(int32(nn.ActRelu6)))
	b.rectified()
	return y
}

// rectified sets the deviation that zero-sum weights of the next layer see:
// that of a rectified bell of deviation preActivation, sqrt(1/2 - 1/(2 pi)).
func (b *mobilenet) rectified() { b.rms = preActivation * math.Sqrt(0.5-1/(2*math.Pi)) }

// head is global average pooling, the classifier as a 1x1 convolution, and
// softmax.
func (b *mobilenet) head(x uint32) *nn.Model {
	g := &b.g
	pooled := b.activation(relu6, 1, 1, 1, 1024)
	g.op(nn.OpAveragePool2D, pooled, x, g.int32(nn.PaddingValid), g.int32(2), g.int32(2), g.int32(7), g.int32(7), g.int32(int32(nn.ActNone)))
	b.rms = pooledDeviation
	filter, bias := b.weights(1001, 1024, 0, preActivation, 1001, 1, 1, 1024)
	logits := b.activation(quant{0.125, 100}, 1, 1, 1, 1001)
	g.op(nn.OpConv2D, logits, pooled, filter, bias, g.int32(nn.PaddingSame), g.int32(1), g.int32(1), g.int32(int32(nn.ActNone)))
	flat := b.activation(quant{0.125, 100}, 1, 1001)
	shape := g.constant("shape", nn.TensorInt32, quant{}, int32s(1, 1001), 2)
	g.op(nn.OpReshape, flat, logits, shape)
	out := b.activation(quant{1.0 / 256, 0}, 1, 1001)
	g.Operands[out].Name = "probabilities"
	g.op(nn.OpSoftmax, out, flat, g.float32(1))
	name := "mobilenet_v1_1.0_224_synthetic_float"
	if b.quantized {
		name = "mobilenet_v1_1.0_224_synthetic_quant"
	}
	return g.model(name, b.in, out)
}
