package builder

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// Type is the type of the builder's activations.
func (b *Builder) Type() nn.OperandType {
	types := [...]nn.OperandType{Float32: nn.TensorFloat32, Quant8: nn.TensorQuant8Asymm, Quant8Signed: nn.TensorQuant8AsymmSigned}
	if b.Format == 0 || int(b.Format) >= len(types) {
		b.fail("a layer in no format")
		return nn.TensorFloat32
	}
	return types[b.Format]
}

// Values adds a model input of values uniform in [-1, 1): an image as most
// networks want it, quantized with scale 1/128, or features.
func (b *Builder) Values(name string, dims ...uint32) Tensor {
	q := b.shift(Quant{1.0 / 128, 128})
	t := b.Operand(nn.Operand{Type: b.Type(), Dimensions: dims, Scale: q.Scale, ZeroPoint: q.ZeroPoint})
	b.SetSpread(t, Spread{0, 0.577})
	return b.Input(t, name)
}

// Image adds a model input of shape [1, side, side, 3].
func (b *Builder) Image(side uint32) Tensor { return b.Values("input", 1, side, side, 3) }

// Conv describes a convolution or a depthwise convolution.
type Conv struct {
	// Out is the number of output channels; Depthwise keeps those of its input.
	Out uint32
	// Kernel is the height and width of the filter, Width its width if it is not
	// square.
	Kernel, Width uint32
	// Stride and Dilation apply to both directions; 0 is 1.
	Stride, Dilation uint32
	// Pad elements of zero on each side; with Valid none, otherwise as many as
	// "same" padding needs.
	Pad   uint32
	Valid bool
	Act   Activation
	// Groups of channels that Conv computes apart; 0 is 1.
	Groups uint32
	// NoBias leaves the bias zero.
	NoBias bool
	// Deviation is the standard deviation wanted of the values before the
	// activation; 0 is PreActivation.
	Deviation float64
}

// Conv adds a CONV_2D or GROUPED_CONV_2D with synthetic weights and its activation.
func (b *Builder) Conv(x Tensor, c Conv) Tensor {
	depth := b.Channels(x) / max(c.Groups, 1)
	height, width := c.window()
	filter, bias := b.weights(x, kernel{
		n: int(c.Out), k: int(height * width * depth), dims: []uint32{c.Out, height, width, depth},
		perChannel: true, noBias: c.NoBias, deviation: c.Deviation,
	})
	if c.Groups > 1 {
		return b.convolution(nn.OpGroupedConv2D, x, filter, bias, c)
	}
	return b.convolution(nn.OpConv2D, x, filter, bias, c)
}

// Depthwise adds a DEPTHWISE_CONV_2D of multiplier 1 with synthetic weights,
// and its activation.
func (b *Builder) Depthwise(x Tensor, c Conv) Tensor {
	depth := b.Channels(x)
	height, width := c.window()
	filter, bias := b.weights(x, kernel{
		n: int(depth), k: int(height * width), interleaved: true, channelDim: 3, dims: []uint32{1, height, width, depth},
		perChannel: true, noBias: c.NoBias, deviation: c.Deviation,
	})
	return b.convolution(nn.OpDepthwiseConv2D, x, filter, bias, c)
}

func (c *Conv) window() (height, width uint32) {
	if c.Width == 0 {
		return c.Kernel, c.Kernel
	}
	return c.Kernel, c.Width
}

// convolution adds the operation, whose operands end in options.
func (b *Builder) convolution(op nn.OperationType, x, filter, bias Tensor, c Conv) Tensor {
	in := append([]Tensor{x, filter, bias}, b.padding(c.Pad, c.Valid)...)
	stride := b.Int32(int32(max(c.Stride, 1)))
	in = append(in, stride, stride)
	if op == nn.OpDepthwiseConv2D {
		in = append(in, b.Int32(1))
	}
	if op == nn.OpGroupedConv2D {
		in = append(in, b.Int32(int32(c.Groups)))
	}
	in = append(in, b.Int32(int32(c.Act.fused())))
	if op == nn.OpGroupedConv2D {
		in = append(in, b.Bool(false))
	}
	if c.Dilation > 1 {
		dilation := b.Int32(int32(c.Dilation))
		in = append(in, b.Bool(false), dilation, dilation)
	}
	return b.layer(op, c.Act, Spread{0, orPreActivation(c.Deviation)}, in...)
}

// orPreActivation is a deviation, PreActivation where none is given.
func orPreActivation(deviation float64) float64 {
	if deviation == 0 {
		return PreActivation
	}
	return deviation
}

// padding is the padding scheme, or four explicit sizes.
func (b *Builder) padding(pad uint32, valid bool) []Tensor {
	switch {
	case pad > 0:
		p := b.Int32(int32(pad))
		return []Tensor{p, p, p, p}
	case valid:
		return []Tensor{b.Int32(nn.PaddingValid)}
	}
	return []Tensor{b.Int32(nn.PaddingSame)}
}

// layer adds an operation and its activation, fused if possible; before is the
// spread of the values before the activation.
func (b *Builder) layer(op nn.OperationType, act Activation, before Spread, in ...Tensor) Tensor {
	if after, r := act.after(before); act == Logits || act.fused() != nn.ActNone {
		return b.put(op, after, r, in...)
	}
	return b.Activate(b.put(op, before, before.preActivation(), in...), act)
}

// put adds an operation whose output has the range r and the spread s.
func (b *Builder) put(op nn.OperationType, s Spread, r quantRange, in ...Tensor) Tensor {
	return b.putAs(op, s, b.quant(r), in...)
}

func (b *Builder) putAs(op nn.OperationType, s Spread, q Quant, in ...Tensor) Tensor {
	y := b.Apply(op, b.Type(), q, in...)
	b.SetSpread(y, s)
	return y
}

// activations are the operations of activations that no layer fuses.
var activations = map[Activation]nn.OperationType{
	ReLU: nn.OpRelu, ReLU6: nn.OpRelu6, HardSwish: nn.OpHardSwish, Sigmoid: nn.OpLogistic, Tanh: nn.OpTanh,
}

// Activate adds an activation as an operation of its own. RELU and RELU6 keep
// the quantization of their input, as NNAPI demands.
func (b *Builder) Activate(x Tensor, act Activation) Tensor {
	if act == NoActivation {
		return x
	}
	after, r := act.after(b.SpreadOf(x))
	q := b.quant(r)
	switch act {
	case ReLU, ReLU6:
		q = b.quantOf(x)
	case Sigmoid:
		q = b.shift(Quant{1.0 / 256, 0})
	case Tanh:
		q = b.shift(Quant{1.0 / 128, 128})
	}
	return b.putAs(activations[act], after, q, x)
}

// Dense adds a FULLY_CONNECTED of n units on x, which is flattened to
// [rows, columns] with the last dimension as columns.
func (b *Builder) Dense(x Tensor, n uint32, act Activation) Tensor { return b.DenseTo(x, n, act, 0) }

// DenseTo is Dense with the deviation wanted before the activation.
func (b *Builder) DenseTo(x Tensor, n uint32, act Activation, deviation float64) Tensor {
	depth := b.Channels(x)
	w, bias := b.weights(x, kernel{n: int(n), k: int(depth), dims: []uint32{n, depth}, deviation: deviation})
	return b.layer(nn.OpFullyConnected, act, Spread{0, orPreActivation(deviation)}, x, w, bias, b.Int32(int32(act.fused())))
}

// Pool describes a square pooling window.
type Pool struct {
	Window, Width uint32 // height and width; Width 0 is Window
	Stride        uint32 // 0 is 1
	Pad           uint32
	Valid         bool
}

// MaxPool adds a MAX_POOL_2D. Maxima lie above the mean by about half a deviation.
func (b *Builder) MaxPool(x Tensor, p Pool) Tensor {
	s := b.SpreadOf(x)
	s.Mean += s.Deviation / 2
	return b.pool(nn.OpMaxPool2D, x, p, s)
}

// AveragePool adds an AVERAGE_POOL_2D. Neighbours in a channel are alike, so
// that most of the deviation remains (0.8 is assumed, D-365).
func (b *Builder) AveragePool(x Tensor, p Pool) Tensor {
	s := b.SpreadOf(x)
	s.Deviation *= 0.8
	return b.pool(nn.OpAveragePool2D, x, p, s)
}

// pooledDeviation is the part of the deviation of rectified activations that
// their mean over an image keeps between channels, measured on MobileNet v1.
var pooledDeviation = 0.24 / (PreActivation * math.Sqrt(0.5-1/(2*math.Pi)))

// GlobalPool averages over height and width: [n, 1, 1, channels].
func (b *Builder) GlobalPool(x Tensor) Tensor {
	s := b.SpreadOf(x)
	s.Deviation *= pooledDeviation
	d := b.Dims(x)
	if len(d) != 4 {
		b.fail("global pooling of shape %v", d)
		return x
	}
	if d[1] == d[2] {
		return b.pool(nn.OpAveragePool2D, x, Pool{Window: d[1], Stride: 2, Valid: true}, s)
	}
	return b.putAs(nn.OpMean, s, b.quantOf(x), x, b.Ints(1, 2), b.Int32(1))
}

func (b *Builder) pool(op nn.OperationType, x Tensor, p Pool, s Spread) Tensor {
	in := append([]Tensor{x}, b.padding(p.Pad, p.Valid)...)
	stride, window := b.Int32(int32(max(p.Stride, 1))), b.Int32(int32(p.Window))
	width := window
	if p.Width > 0 {
		width = b.Int32(int32(p.Width))
	}
	in = append(in, stride, stride, width, window, b.Int32(int32(nn.ActNone)))
	return b.putAs(op, s, b.quantOf(x), in...)
}

// Add adds x and y element by element.
func (b *Builder) Add(x, y Tensor, act Activation) Tensor {
	return b.layer(nn.OpAdd, act, sum(b.SpreadOf(x), b.SpreadOf(y)), x, y, b.Int32(int32(act.fused())))
}

// Mul multiplies x and y element by element; y may be a gate of fewer dimensions.
func (b *Builder) Mul(x, y Tensor) Tensor {
	p, q := b.SpreadOf(x), b.SpreadOf(y)
	s := Spread{p.Mean * q.Mean, math.Sqrt(square(p.Deviation*q.Mean) + square(q.Deviation*p.Mean) + square(p.Deviation*q.Deviation))}
	r := s.preActivation()
	if b.rangeOf(x).low >= 0 && b.rangeOf(y).low >= 0 {
		r.low = 0
	}
	return b.put(nn.OpMul, s, r, x, y, b.Int32(int32(nn.ActNone)))
}

func square(x float64) float64 { return x * x }

// Affine multiplies each channel of x by a synthetic factor and adds a
// synthetic offset: a batch normalization that no convolution can absorb. The
// result has mean 0 and deviation PreActivation before the activation.
func (b *Builder) Affine(x Tensor, act Activation) Tensor {
	s, n := b.SpreadOf(x), b.Channels(x)
	if !(s.Deviation > 0) {
		b.fail("normalization of values of deviation %g", s.Deviation)
		return x
	}
	gain := PreActivation / s.Deviation
	factors, offsets := make([]float32, n), make([]float32, n)
	for i := range factors {
		factors[i] = float32(gain * (1 + b.seed.bell(0.1)))
		offsets[i] = float32(b.seed.bell(PreActivation/8) - gain*s.Mean)
	}
	b.parameters += 2 * int64(n)
	scaled := Spread{gain * s.Mean, PreActivation}
	y := b.put(nn.OpMul, scaled, scaled.preActivation(), x, b.vector(factors), b.Int32(int32(nn.ActNone)))
	return b.layer(nn.OpAdd, act, Spread{0, PreActivation}, y, b.vector(offsets), b.Int32(int32(act.fused())))
}

// vector adds a constant of one value per channel in the builder's format.
func (b *Builder) vector(values []float32) Tensor {
	n := uint32(len(values))
	if b.Type() == nn.TensorFloat32 {
		return b.Constant("", nn.TensorFloat32, Quant{}, floats(values...), n)
	}
	var r quantRange
	for _, v := range values {
		r.low, r.high = min(r.low, float64(v)), max(r.high, float64(v))
	}
	if r.low == r.high {
		r.high = 1
	}
	q := b.quant(r)
	low := b.shift(Quant{1, 0}).ZeroPoint
	data := make([]byte, n)
	for i, v := range values {
		step := q.ZeroPoint + int32(math.Round(float64(v)/float64(q.Scale)))
		data[i] = byte(min(max(step, low), low+255))
	}
	return b.Constant("", b.Type(), q, data, n)
}

// Concat joins tensors along their last dimension. Its range holds those of
// all of them.
func (b *Builder) Concat(in ...Tensor) Tensor {
	if len(in) == 0 {
		b.fail("nothing to concatenate")
		return 0
	}
	r := b.rangeOf(in[0])
	var n, mean, square float64
	for _, x := range in {
		s, c, o := b.SpreadOf(x), float64(b.Channels(x)), b.rangeOf(x)
		n, mean, square = n+c, mean+c*s.Mean, square+c*(s.Deviation*s.Deviation+s.Mean*s.Mean)
		r.low, r.high = min(r.low, o.low), max(r.high, o.high)
	}
	mean /= n
	s := Spread{mean, math.Sqrt(max(square/n-mean*mean, 0))}
	q := b.quantOf(in[0])
	for _, x := range in[1:] {
		if b.quantOf(x) != q {
			q = b.quant(r)
			break
		}
	}
	axis := b.Int32(int32(len(b.Dims(in[0])) - 1))
	return b.putAs(nn.OpConcatenation, s, q, append(append([]Tensor(nil), in...), axis)...)
}

// ConcatAt joins tensors of one spread along an axis.
func (b *Builder) ConcatAt(axis int32, in ...Tensor) Tensor {
	if len(in) == 0 {
		b.fail("nothing to concatenate")
		return 0
	}
	r := b.rangeOf(in[0])
	for _, x := range in[1:] {
		o := b.rangeOf(x)
		r.low, r.high = min(r.low, o.low), max(r.high, o.high)
	}
	return b.put(nn.OpConcatenation, b.SpreadOf(in[0]), r, append(append([]Tensor(nil), in...), b.Int32(axis))...)
}

// Move adds an operation that moves values and keeps their quantization, such as DEPTH_TO_SPACE or
// RESIZE_NEAREST_NEIGHBOR, with the inputs that follow x.
func (b *Builder) Move(op nn.OperationType, x Tensor, options ...Tensor) Tensor {
	return b.same(op, x, options...)
}

// same adds an operation that moves values and keeps their quantization.
func (b *Builder) same(op nn.OperationType, x Tensor, options ...Tensor) Tensor {
	return b.putAs(op, b.SpreadOf(x), b.quantOf(x), append([]Tensor{x}, options...)...)
}

// Reshape adds a RESHAPE; one dimension may be -1.
func (b *Builder) Reshape(x Tensor, dims ...int32) Tensor {
	return b.same(nn.OpReshape, x, b.Ints(dims...))
}

// Transpose permutes dimensions.
func (b *Builder) Transpose(x Tensor, permutation ...int32) Tensor {
	return b.same(nn.OpTranspose, x, b.Ints(permutation...))
}

// Slice adds a SLICE; a size of -1 reaches to the end.
func (b *Builder) Slice(x Tensor, begin, size []int32) Tensor {
	return b.same(nn.OpSlice, x, b.Ints(begin...), b.Ints(size...))
}

// Pad adds zeros: before and after each dimension, in pairs.
func (b *Builder) Pad(x Tensor, pairs ...int32) Tensor {
	p := b.Constant("", nn.TensorInt32, Quant{}, int32s(pairs...), uint32(len(pairs)/2), 2)
	return b.same(nn.OpPad, x, p)
}

// Resize adds a RESIZE_BILINEAR to height x width with aligned corners.
func (b *Builder) Resize(x Tensor, height, width uint32) Tensor {
	return b.same(nn.OpResizeBilinear, x, b.Int32(int32(width)), b.Int32(int32(height)), b.Bool(false), b.Bool(true), b.Bool(false))
}

// Softmax adds a SOFTMAX over the last dimension.
func (b *Builder) Softmax(x Tensor) Tensor {
	return b.putAs(nn.OpSoftmax, Spread{0.1, 0.1}, b.shift(Quant{1.0 / 256, 0}), x, b.Float32(1))
}

// Scalar adds a constant that is broadcast to every element of what it is
// combined with.
func (b *Builder) Scalar(v float32) Tensor {
	t := b.vector([]float32{v})
	b.SetSpread(t, Spread{float64(v), 0})
	return t
}
