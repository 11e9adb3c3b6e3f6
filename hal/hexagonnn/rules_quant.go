package hexagonnn

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// conv reads input, filter, the ranges of both, and the stride.
func conv(a *args) []value {
	x, qx := a.codes(0)
	qf := a.quant(1)
	c := a.constant(1, 1, -1)
	s := a.convSums(c, 1)
	filter := a.l.b.Constant("", nn.TensorQuant8Asymm, qf, s.filter, s.dims...)
	s.inputs, s.scale = []builder.Tensor{x, filter}, float64(qx.Scale)*float64(qf.Scale)
	return []value{{kind: valueSums, sums: s.sums}, {}, {}}
}

// convolution is the sums of a convolution with its filter in NNAPI's order.
type convolution struct {
	*sums
	filter []byte
	dims   []uint32
}

// convSums is what float and 8-bit convolutions share. The filter is height, width,
// input depth, output depth; that of a depthwise one has the multiplier last.
func (a *args) convSums(filter *node, size int) convolution {
	const stride = 2 // of floats; behind the ranges otherwise
	at := stride
	if size == 1 {
		at = 6
	}
	h, w := a.window(at)
	pad := a.padding()
	d, n := filter.dims, int(elements(filter.dims))
	s := &sums{node: a.n, options: []builder.Tensor{pad, w, h}}
	if strings.HasPrefix(strings.TrimPrefix(a.n.op.base(), "Quantized"), "Depthwise") {
		s.op, s.units = nn.OpDepthwiseConv2D, int(d[2])*int(d[3])
		s.options = append(s.options, a.l.b.Int32(int32(d[3])))
		return convolution{s, filter.data[:n*size], []uint32{1, d[0], d[1], d[2] * d[3]}}
	}
	s.op, s.units = nn.OpConv2D, int(d[3])
	return convolution{s, transposed(filter.data[:n*size], n/int(d[3]), int(d[3]), size), []uint32{d[3], d[0], d[1], d[2]}}
}

// matMul reads input, weights and the ranges of both.
func matMul(a *args) []value {
	x, qx := a.codes(0)
	qw := a.quant(1)
	c := a.constant(1, 1, -1)
	in, out := int(elements(c.dims))/int(c.dims[3]), int(c.dims[3])
	w := a.l.b.Constant("", nn.TensorQuant8Asymm, qw, transposed(c.data[:in*out], in, out, 1), uint32(out), uint32(in))
	s := &sums{node: a.n, op: nn.OpFullyConnected, inputs: []builder.Tensor{x, w}, units: out, scale: float64(qx.Scale) * float64(qw.Scale)}
	return []value{{kind: valueSums, sums: s}, {}, {}}
}

// pending is input i as sums that have no operation yet.
func (a *args) pending(i int) *sums {
	_, v := a.source(i)
	if v.kind != valueSums {
		panic(refuse("input %d is no result in 32 bits", i))
	}
	s := *v.sums
	return &s
}

// addBias reads sums, a bias of 32 bits, and the ranges of both.
func addBias(a *args) []value {
	s := a.pending(0)
	a.bias(s, 1, 4, 5, 4)
	return []value{{kind: valueSums, sums: s}, {}, {}}
}

// bias gives sums the constant at input i, in elements of size bytes with the range at
// low and high. It is brought to the step of the sums.
func (a *args) bias(s *sums, i, low, high, size int) {
	if s.units == 0 || s.bias != nil {
		panic(refuse("input %d: the sums of %s have no bias, or already one", i, s.node.op))
	}
	c := a.constant(i, size, s.units)
	if elements(c.dims) != uint64(s.units) {
		panic(refuse("input %d has %d elements, the sums have %d channels", i, elements(c.dims), s.units))
	}
	from := a.real(low)
	to := a.real(high)
	step, zero := (float64(to)-float64(from))/(1<<32), 0.0
	if size == 1 {
		q, err := quantOf(from, to)
		if err != nil {
			panic(refuse("inputs %d and %d: %w", low, high, err))
		}
		step, zero = float64(q.Scale), float64(q.ZeroPoint)
	}
	if !(step > 0) {
		panic(refuse("inputs %d and %d: range %v to %v", low, high, from, to))
	}
	ratio := step / s.scale
	if math.Abs(ratio-1) < 1e-5 {
		ratio = 1 // the same step but for rounding of its range
	}
	data := make([]byte, 4*s.units)
	for k := range s.units {
		x := float64(int32(binary.LittleEndian.Uint32(append(c.data[k*size:k*size+size:k*size+size], 0, 0, 0))))
		x = math.Round((x - zero) * ratio)
		if x < math.MinInt32 || x > math.MaxInt32 {
			panic(refuse("input %d: element %d is %g steps of the sums, beyond 32 bits", i, k, x))
		}
		binary.LittleEndian.PutUint32(data[4*k:], uint32(int32(x)))
	}
	t := a.l.b.Constant("", nn.TensorInt32, builder.Quant{Scale: float32(s.scale)}, data, uint32(s.units))
	s.bias = &t
}

// requantize reads sums, their range, and the range to bring them to.
func requantize(a *args) []value {
	s := a.pending(0)
	return a.requantized(s, 3, 4)
}

// requantized makes the operation of sums with an output of the range at low and high.
func (a *args) requantized(s *sums, low, high int) []value {
	if s.scale == 0 && s.units > 0 {
		panic(refuse("%s computes floats", s.node.op))
	}
	q := a.between(low, high)
	return quantized(a.l.finish(s, q), q)
}

// supernode is convolution, bias and requantization in one node.
func supernode(a *args) []value {
	values := conv(a)
	size := 4
	if strings.Contains(a.n.op.base(), "8x8p8to8") {
		size = 1
	}
	s := values[0].sums
	a.bias(s, 7, 8, 9, size)
	return a.requantized(s, 10, 11)
}

// twoCodes are 8-bit inputs 0 and 1.
func (a *args) twoCodes() []builder.Tensor {
	x, _ := a.codes(0)
	y, _ := a.codes(1)
	return []builder.Tensor{x, y}
}

// binarySums is an elementwise operation whose result a Requantize_32to8 brings to 8 bits.
func binarySums(op nn.OperationType) func(*args) []value {
	return func(a *args) []value {
		in := a.twoCodes()
		return []value{{kind: valueSums, sums: &sums{node: a.n, op: op, inputs: in}}, {}, {}}
	}
}

// binary8 is one with the range of its output at inputs 6 and 7.
func binary8(op nn.OperationType) func(*args) []value {
	return func(a *args) []value {
		in := a.twoCodes()
		return a.requantized(&sums{node: a.n, op: op, inputs: in}, 6, 7)
	}
}

// pool8 reads input, its range, window and stride.
func pool8(op nn.OperationType) func(*args) []value {
	return func(a *args) []value {
		x, q := a.codes(0)
		in := a.poolOptions(x, 3, 4)
		return quantized(a.l.apply(a.n, op, nn.TensorQuant8Asymm, q, in...), q)
	}
}

// poolOptions are the inputs of a pool in NNAPI's order.
func (a *args) poolOptions(x builder.Tensor, window, stride int) []builder.Tensor {
	pad := a.padding()
	h, w := a.window(window)
	sh, sw := a.window(stride)
	return []builder.Tensor{x, pad, sw, sh, w, h, a.l.b.Int32(int32(nn.ActNone))}
}

// clampOp is the NNAPI operation that clamps to the bounds at input first and behind it.
func (a *args) clampOp(first int) nn.OperationType {
	bounds := make([]float32, len(a.n.inputs)-first)
	for i := range bounds {
		x := a.real(first + i)
		bounds[i] = x
	}
	switch {
	case len(bounds) == 0:
		return nn.OpRelu
	case len(bounds) == 1 && bounds[0] == 6:
		return nn.OpRelu6
	case len(bounds) == 2 && bounds[0] == -1 && bounds[1] == 1:
		return nn.OpRelu1
	}
	panic(refuse("bounds %v, want 6, or -1 with 1", bounds))
}

func clamp8(a *args) []value {
	x, q := a.codes(0)
	op := a.clampOp(3)
	return quantized(a.l.apply(a.n, op, nn.TensorQuant8Asymm, q, x), q)
}

// fixedRange is a function whose output has one quantization in NNAPI.
func fixedRange(op nn.OperationType, q builder.Quant) func(*args) []value {
	return func(a *args) []value {
		x, _ := a.codes(0)
		return quantized(a.l.apply(a.n, op, nn.TensorQuant8Asymm, q, x), q)
	}
}

func softmax8(a *args) []value {
	x, _ := a.codes(0)
	beta := a.beta(3)
	return quantized(a.l.apply(a.n, nn.OpSoftmax, nn.TensorQuant8Asymm, unitQuant, x, beta), unitQuant)
}

// beta is the number at input i, 1 without it.
func (a *args) beta(i int) builder.Tensor {
	if i >= len(a.n.inputs) {
		return a.l.b.Float32(1)
	}
	return a.l.b.Float32(a.real(i))
}

// concat8 joins tensors in the range that holds all of theirs.
func concat8(a *args) []value {
	n := (len(a.n.inputs) - 1) / 3
	if len(a.n.inputs) != 3*n+1 {
		panic(refuse("%d inputs are no axis with tensors and their ranges", len(a.n.inputs)))
	}
	var in []builder.Tensor
	low, high := float32(0), float32(0)
	for i := 1; i <= n; i++ {
		t, q := a.codes(i)
		in = append(in, t)
		l, h := rangeOf(q)
		low, high = min(low, l), max(high, h)
	}
	q := try.V(quantOf(low, high))
	axis := a.axis(in)
	return quantized(a.l.apply(a.n, nn.OpConcatenation, nn.TensorQuant8Asymm, q, append(in, axis)...), q)
}

// axis is the axis at input 0, which counts four dimensions, for tensors in.
func (a *args) axis(in []builder.Tensor) builder.Tensor {
	list := a.integers(0)
	axis := list[0] - 4 + int32(len(a.l.b.Dims(in[0])))
	if axis < 0 || list[0] > 3 {
		panic(refuse("axis %d of a tensor of %d dimensions", list[0], len(a.l.b.Dims(in[0]))))
	}
	return a.l.b.Int32(axis)
}

func reshape8(a *args) []value {
	x, q := a.codes(0)
	dims := a.newShape(x)
	return quantized(a.l.apply(a.n, nn.OpReshape, nn.TensorQuant8Asymm, q, x, dims), q)
}

// newShape reads the shape that a reshaping node makes; Flatten puts all elements into the depth.
func (a *args) newShape(x builder.Tensor) builder.Tensor {
	if strings.HasSuffix(a.n.op.base(), "Flatten") {
		return a.l.b.Ints(1, 1, 1, int32(elements(aligned(a.l.b.Dims(x)))))
	}
	list := a.integers(1)
	if len(list) > 4 {
		panic(refuse("input 1 has %d dimensions, at most 4", len(list)))
	}
	return a.l.b.Ints(list...)
}

func resize8(a *args) []value {
	x, q := a.codes(0)
	in := a.resizeOptions(x)
	return quantized(a.l.apply(a.n, nn.OpResizeBilinear, nn.TensorQuant8Asymm, q, in...), q)
}

// resizeOptions are the inputs of RESIZE_BILINEAR: input 1 is height and width.
func (a *args) resizeOptions(x builder.Tensor) []builder.Tensor {
	size := a.integers(1)
	if len(size) != 2 {
		panic(refuse("input 1 has %d elements, want height and width", len(size)))
	}
	return []builder.Tensor{x, a.l.b.Int32(size[1]), a.l.b.Int32(size[0])}
}

// quantize reads floats and the range of the codes.
func quantize(a *args) []value {
	x := a.floats(0)
	low := a.real(1)
	high := a.real(2)
	q := try.V(quantOf(low, high))
	return quantized(a.l.apply(a.n, nn.OpQuantize, nn.TensorQuant8Asymm, q, x), q)
}

func dequantize(a *args) []value {
	x, _ := a.codes(0)
	return a.float(nn.OpDequantize, x)
}
