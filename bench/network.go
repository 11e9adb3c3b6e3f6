package bench

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// preActivation is the standard deviation aimed at before each activation.
const preActivation = 2

// pooledDeviation is the deviation between channels that the mean over 7x7
// leaves, measured on a picture. With it the logits deviate by about 2, and
// softmax prefers some classes.
const pooledDeviation = 0.24

// weightSigma is the standard deviation of quantized weights around 128.
const weightSigma = 28

type network struct {
	g         graph
	quantized bool
	seed      noise
	rms       float64 // of the current activation, real units
	in        uint32
}

func (b *network) typ() nn.OperandType {
	if b.quantized {
		return nn.TensorQuant8Asymm
	}
	return nn.TensorFloat32
}

// activation adds a tensor; only the quantized form has q.
func (b *network) activation(q quant, dims ...uint32) uint32 {
	if !b.quantized {
		q = quant{}
	}
	return b.g.tensor("", b.typ(), q, dims...)
}

// input is a square picture.
func (b *network) input(side uint32) uint32 {
	b.in = b.activation(quant{1.0 / 128, 128}, 1, side, side, 3)
	b.g.Operands[b.in].Name = "input"
	b.rms = 0.577 // uniform in [-1, 1)
	return b.in
}

// relu6 is the output quantization of a layer with RELU6.
var relu6 = quant{6.0 / 255, 0}

// weights adds filter and bias of a layer on in: n channels of k weights each, laid out with
// a channel's weights at stride step.
func (b *network) weights(in uint32, n, k, step int, sigma float64, dims ...uint32) (filter, bias uint32) {
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
	x := &b.g.Operands[in]
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
func (b *network) at(c, i, k, step int) int {
	if step == 0 {
		return c*k + i
	}
	return i*step + c
}

func (b *network) conv(x, out, kernel, stride uint32) uint32 {
	return b.convolve(x, out, [2]uint32{kernel, kernel}, stride, nn.PaddingSame, nn.ActRelu6)
}

func (b *network) convolve(x, out uint32, kernel [2]uint32, stride uint32, padding int32, act nn.FusedActivation) uint32 {
	d := b.g.Operands[x].Dimensions
	k := int(kernel[0] * kernel[1] * d[3])
	filter, bias := b.weights(x, int(out), k, 0, preActivation, out, kernel[0], kernel[1], d[3])
	q := relu6
	if act == nn.ActNone {
		q = linear
	}
	y := b.activation(q, 1, reach(d[1], kernel[0], stride, padding), reach(d[2], kernel[1], stride, padding), out)
	g := &b.g
	g.op(nn.OpConv2D, y, x, filter, bias, g.int32(padding), g.int32(int32(stride)), g.int32(int32(stride)), g.int32(int32(act)))
	b.rectified()
	return y
}

// linear is the output quantization of a layer without activation.
var linear = quant{12.0 / 255, 128}

// reach is the output size of a window that steps over n elements.
func reach(n, window, stride uint32, padding int32) uint32 {
	if padding == nn.PaddingSame {
		return (n + stride - 1) / stride
	}
	return (n-window)/stride + 1
}

// pool is a square window.
func (b *network) pool(t nn.OperationType, x, window, stride uint32, padding int32) uint32 {
	o := b.g.Operands[x]
	y := b.activation(quant{o.Scale, o.ZeroPoint}, 1, reach(o.Dimensions[1], window, stride, padding), reach(o.Dimensions[2], window, stride, padding), o.Dimensions[3])
	g := &b.g
	g.op(t, y, x, g.int32(padding), g.int32(int32(stride)), g.int32(int32(stride)), g.int32(int32(window)), g.int32(int32(window)), g.int32(int32(nn.ActNone)))
	return y
}

// concat joins channels.
func (b *network) concat(in ...uint32) uint32 {
	d := b.g.Operands[in[0]].Dimensions
	c := uint32(0)
	for _, x := range in {
		c += b.g.Operands[x].Dimensions[3]
	}
	y := b.activation(relu6, 1, d[1], d[2], c)
	b.g.op(nn.OpConcatenation, y, append(append([]uint32(nil), in...), b.g.int32(3))...)
	return y
}

func (b *network) depthwise(x, stride uint32) uint32 {
	d := b.g.Operands[x].Dimensions
	filter, bias := b.weights(x, int(d[3]), 9, int(d[3]), preActivation, 1, 3, 3, d[3])
	y := b.activation(relu6, 1, reach(d[1], 3, stride, nn.PaddingSame), reach(d[2], 3, stride, nn.PaddingSame), d[3])
	g := &b.g
	g.op(nn.OpDepthwiseConv2D, y, x, filter, bias, g.int32(nn.PaddingSame), g.int32(int32(stride)), g.int32(int32(stride)), g.int32(1), g.int32(int32(nn.ActRelu6)))
	b.rectified()
	return y
}

// rectified sets the deviation that zero-sum weights of the next layer see:
// that of a rectified bell of deviation preActivation, sqrt(1/2 - 1/(2 pi)).
func (b *network) rectified() { b.rms = preActivation * math.Sqrt(0.5-1/(2*math.Pi)) }

// head is global average pooling, the classifier as a 1x1 convolution, and
// softmax.
func (b *network) head(x uint32, name string) *nn.Model {
	g := &b.g
	d := g.Operands[x].Dimensions
	pooled := b.pool(nn.OpAveragePool2D, x, d[1], 2, nn.PaddingValid)
	b.rms = pooledDeviation
	filter, bias := b.weights(pooled, 1001, int(d[3]), 0, preActivation, 1001, 1, 1, d[3])
	logits := b.activation(quant{0.125, 100}, 1, 1, 1, 1001)
	g.op(nn.OpConv2D, logits, pooled, filter, bias, g.int32(nn.PaddingSame), g.int32(1), g.int32(1), g.int32(int32(nn.ActNone)))
	flat := b.activation(quant{0.125, 100}, 1, 1001)
	shape := g.constant("shape", nn.TensorInt32, quant{}, int32s(1, 1001), 2)
	g.op(nn.OpReshape, flat, logits, shape)
	out := b.activation(quant{1.0 / 256, 0}, 1, 1001)
	g.Operands[out].Name = "probabilities"
	g.op(nn.OpSoftmax, out, flat, g.float32(1))
	if b.quantized {
		return g.model(name+"_synthetic_quant", b.in, out)
	}
	return g.model(name+"_synthetic_float", b.in, out)
}
