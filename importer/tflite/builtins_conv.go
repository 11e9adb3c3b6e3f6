package tflite

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/tflite/internal/schema"
	"github.com/nnsoc/nnsoc/nn"
)

// convBuiltins are the operators of convolution, matrix products and pooling.
var convBuiltins = []builtin{
	{code: 1, name: "AVERAGE_POOL_2D", version: 3, inputs: [2]int{1, 1}, options: "Pool2DOptions", convert: pool(nn.OpAveragePool2D)},
	{code: 3, name: "CONV_2D", version: 8, inputs: [2]int{2, 3}, options: "Conv2DOptions", convert: conv},
	{code: 4, name: "DEPTHWISE_CONV_2D", version: 7, inputs: [2]int{2, 3}, options: "DepthwiseConv2DOptions", convert: depthwise},
	{code: 9, name: "FULLY_CONNECTED", version: 14, inputs: [2]int{2, 3}, options: "FullyConnectedOptions", convert: fullyConnected},
	{code: 12, name: "L2_POOL_2D", version: 1, inputs: [2]int{1, 1}, options: "Pool2DOptions", convert: pool(nn.OpL2Pool2D)},
	{code: 17, name: "MAX_POOL_2D", version: 3, inputs: [2]int{1, 1}, options: "Pool2DOptions", convert: pool(nn.OpMaxPool2D)},
	{code: 67, name: "TRANSPOSE_CONV", version: 5, inputs: [2]int{3, 4}, options: "TransposeConvOptions", convert: transposeConv},
	{code: 126, name: "BATCH_MATMUL", version: 4, inputs: [2]int{2, 2}, options: "BatchMatMulOptions", convert: batchMatmul},
	{code: 132, name: "CONV_3D", lacks: "NNAPI has no convolution of three dimensions"},
	{code: 141, name: "CONV_3D_TRANSPOSE", lacks: "NNAPI has no convolution of three dimensions"},
}

func pool(op nn.OperationType) func(*conversion) {
	return func(c *conversion) {
		act, then := c.activation()
		c.define(0, then(c.Emit(op, c.out(0), c.x(0), c.padding(), c.option("stride_w"), c.option("stride_h"),
			c.option("filter_w"), c.option("filter_h"), act)))
	}
}

// product are the operands of a convolution or matrix product: input, weights and bias, all of types that one NNAPI
// operation accepts, and the output.
type product struct {
	x, w, bias uint32
	out        nn.Operand
}

// product reads input, weights (input 1) and bias. 8-bit quantized ones stay as they
// are. 16-bit inputs compute in float32. So do float inputs with 8-bit weights,
// after the dynamic quantization of the input that TensorFlow Lite applies over
// the given axes.
func (c *conversion) product(input, bias, channels int, rows []int64) product {
	p := product{x: c.x(input), w: c.x(1), out: c.out(0)}
	x, w := *c.Operand(p.x), *c.Operand(p.w)
	if channels >= len(w.Dimensions) {
		c.Failf("weights of rank %d", len(w.Dimensions))
	}
	outputs := w.Dimensions[channels]
	quantized := x.Type.IsQuant8() && p.out.Type == x.Type && (w.Type.IsQuant8() || w.Type == nn.TensorQuant8SymmPerChannel)
	if quantized {
		c.checkBias(bias, x.Scale, &w)
		p.bias = c.integerBias(bias, outputs, x.Scale*w.Scale, w.Channel != nil)
		return p
	}
	if x.Type == nn.TensorFloat32 && (w.Type.IsQuant8() || w.Channel != nil) {
		// DEPTHWISE_CONV_2D has the kernel for a scale per channel alone, also of one channel.
		asymmetric := (w.Channel != nil || channels == 3) && len(w.Dimensions) == 4 || c.options.T != nil && c.hasOption("asymmetric_quantize_inputs") && c.options.Bool("asymmetric_quantize_inputs")
		p.x = c.dynamicQuantization(p.x, rows, asymmetric)
	}
	p.bias = c.realBias(bias, outputs, &x, &w)
	if x.Type != nn.TensorFloat16 {
		p.x, p.w = c.As(p.x, nn.TensorFloat32), c.As(p.w, nn.TensorFloat32)
		p.bias, p.out = c.As(p.bias, nn.TensorFloat32), nn.Operand{Type: nn.TensorFloat32, Dimensions: p.out.Dimensions}
	}
	return p
}

func (c *conversion) hasOption(name string) bool {
	return slices.ContainsFunc(c.options.T.Fields, func(f schema.Field) bool { return f.Name == name })
}

// integerBias is the bias of an 8-bit product; NNAPI requires one, so zeros replace an omitted one. Its scale is that
// of the products.
func (c *conversion) integerBias(k int, outputs uint32, scale float32, perChannel bool) uint32 {
	if perChannel {
		scale = 0
	}
	b := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{outputs}, Scale: scale}
	if !c.has(k) {
		b.Data = make([]byte, 4*outputs) // as many as the weights have rows, so bounded by the file
		return c.Constant(b)
	}
	x := c.x(k)
	given := c.Operand(x)
	if given.Type != nn.TensorInt32 {
		c.Refusef("its bias is %v", given.Type)
	}
	if !given.IsConst() {
		given.Scale = scale
		return x
	}
	b = *given
	b.Scale = scale
	return c.Add(b)
}

// realBias is the bias of a product that computes in floats.
func (c *conversion) realBias(k int, outputs uint32, x, w *nn.Operand) uint32 {
	if !c.has(k) {
		zero := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{outputs}, Data: make([]byte, 4*outputs)}
		if x.Type == nn.TensorFloat16 {
			zero.Type, zero.Data = nn.TensorFloat16, zero.Data[:2*outputs]
		}
		return c.Constant(zero)
	}
	if c.Operand(c.in[k]).Type != nn.TensorInt32 {
		return c.x(k)
	}
	c.checkBias(k, x.Scale, w)
	reals := make([]float32, 0, outputs)
	for i, v := range c.list(k) { // also 64 bits wide, with 16-bit inputs
		s := w.Scale
		if w.Channel != nil {
			if i >= len(w.Channel.Scales) {
				c.Failf("a bias of more than %d channels", len(w.Channel.Scales))
			}
			s = w.Channel.Scales[i]
		}
		reals = append(reals, float32(float64(v)*float64(x.Scale)*float64(s)))
	}
	return c.FloatTensor([]uint32{uint32(len(reals))}, reals)
}

func conv(c *conversion) {
	p := c.product(0, 2, 0, []int64{1, 2, 3})
	act, then := c.activation()
	in := []uint32{p.x, p.w, p.bias, c.padding(), c.option("stride_w"), c.option("stride_h")}
	depth, w := c.depth(p.x), c.Dims(p.w)
	if len(w) == 4 && depth != w[3] && depth%w[3] == 0 {
		if c.options.Int("dilation_w") != 1 || c.options.Int("dilation_h") != 1 {
			c.Refusef("it has both groups and dilation")
		}
		in = append(in, c.Int32Scalar(int64(depth/w[3])), act, c.BoolScalar(false))
		c.define(0, then(c.Emit(nn.OpGroupedConv2D, p.out, in...)))
		return
	}
	c.define(0, then(c.Emit(nn.OpConv2D, p.out, c.dilated(append(in, act))...)))
}

// depth is the number of channels of an image, the file's where execution
// decides its shape.
func (c *conversion) depth(x uint32) uint32 {
	d := c.Operand(x).Dimensions
	if n := c.fileShape(c.inTensors[0]); len(n) == 4 && (len(d) != 4 || d[3] == 0) {
		d = n
	}
	if len(d) != 4 || d[3] == 0 {
		c.Failf("input of shape %v, four dimensions needed", d)
	}
	return d[3]
}

func depthwise(c *conversion) {
	p := c.product(0, 2, 3, []int64{1, 2, 3})
	act, then := c.activation()
	depth, w := c.depth(p.x), c.Dims(p.w)
	if len(w) != 4 || w[3]%depth != 0 {
		c.Failf("filter %v does not fit an input of %d channels", w, depth)
	}
	in := []uint32{
		p.x, p.w, p.bias, c.padding(), c.option("stride_w"), c.option("stride_h"),
		c.Int32Scalar(int64(w[3] / depth)), act,
	}
	c.define(0, then(c.Emit(nn.OpDepthwiseConv2D, p.out, c.dilated(in)...)))
}

// dilated appends layout and dilation where they are not the defaults, so
// that a plain convolution stays one of HAL 1.0.
func (c *conversion) dilated(in []uint32) []uint32 {
	if c.options.Int("dilation_w") == 1 && c.options.Int("dilation_h") == 1 {
		return in
	}
	return append(in, c.BoolScalar(false), c.option("dilation_w"), c.option("dilation_h"))
}

func transposeConv(c *conversion) {
	p := c.product(2, 3, 0, []int64{1, 2, 3})
	act, then := c.activation()
	if c.options.Int("padding") == 1 {
		if end, ok := c.validEnd(&p); ok {
			c.define(0, then(c.Emit(nn.OpTransposeConv2D, p.out, p.x, p.w, p.bias, c.Int32Scalar(0), c.Int32Scalar(end[1]), c.Int32Scalar(0), c.Int32Scalar(end[0]),
				c.option("stride_w"), c.option("stride_h"), act, c.BoolScalar(false))))
			return
		}
	}
	c.define(0, then(c.Emit(nn.OpTransposeConv2D, p.out, p.x, p.w, p.bias, c.x(0), c.padding(), c.option("stride_w"), c.option("stride_h"),
		act, c.BoolScalar(false))))
}

// validEnd returns the rows and columns to leave out at the end of a transposed convolution without padding, so that the
// output has the file's height and width, where these are known and are not the natural (input-1)*stride + window. For
// an output that is larger the input is extended by zeros, which add nothing: of width 2, with a window and a stride
// of 2, to width 5: one column of zeros gives 6, of which the last is left out.
func (c *conversion) validEnd(p *product) (end [2]int64, ok bool) {
	want, known := c.Ints(c.x(0))
	x, w := c.Dims(p.x), c.Dims(p.w)
	if !known || len(want) != 4 || len(x) != 4 || len(w) != 4 {
		return end, false
	}
	pads := make([][2]int64, 4)
	for i, stride := range []int64{int64(c.options.Int("stride_h")), int64(c.options.Int("stride_w"))} {
		if x[1+i] == 0 || stride < 1 || want[1+i] < 1 || want[1+i] > math.MaxInt32 {
			return end, false // open, or for NNAPI to refuse
		}
		end[i] = (int64(x[1+i])-1)*stride + int64(w[1+i]) - want[1+i]
		if end[i] < 0 {
			pads[1+i][1] = (-end[i] + stride - 1) / stride
			end[i] += pads[1+i][1] * stride
		}
		ok = ok || end[i] != 0 || pads[1+i][1] != 0
	}
	if pads[1][1] != 0 || pads[2][1] != 0 {
		p.x = c.Pad(*c.Operand(p.x), p.x, pads, none)
	}
	return end, ok
}

// fullyConnected accepts inputs of any rank: TensorFlow Lite reads them as rows of as many elements as the weights have
// columns.
func fullyConnected(c *conversion) {
	if f := c.options.Int("weights_format"); f != 0 {
		c.Refusef("its weights have the shuffled format %d", f)
	}
	w := c.Dims(c.x(1))
	if len(w) != 2 {
		c.Failf("weights of rank %d", len(w))
	}
	x := c.x(0)
	var shape []uint32 // of the output, where it is not a matrix
	if c.options.Bool("keep_num_dims") {
		if d := c.Dims(x); len(d) > 0 && len(d) != 2 {
			shape = append(slices.Clone(d[:len(d)-1]), w[0])
		}
	}
	perChannel := c.Operand(c.x(1)).Channel != nil && c.Operand(x).Type.IsQuant8()
	if n := len(c.Operand(x).Dimensions); n < 2 || perChannel || c.Operand(x).Dimensions[n-1] != w[1] {
		c.in[0] = c.Emit(nn.OpReshape, *c.Operand(x), x, c.Int32Tensor(-1, int64(w[1])))
	}
	rank := c.Rank(c.in[0])
	p := c.product(0, 2, 0, []int64{int64(rank - 1)})
	act, then := c.activation()
	var y uint32
	if perChannel {
		y = c.pointwise(p, w, act)
	} else {
		y = c.Emit(nn.OpFullyConnected, p.out, p.x, p.w, p.bias, act)
	}
	y = then(y)
	if shape != nil {
		y = c.Reshape(y, shape)
	}
	c.define(0, y)
}

// pointwise is a FULLY_CONNECTED with weights quantized per channel, which
// NNAPI has for convolutions only: one of 1x1 pixels.
func (c *conversion) pointwise(p product, w []uint32, act uint32) uint32 {
	x := c.Emit(nn.OpReshape, *c.Operand(p.x), p.x, c.Int32Tensor(-1, 1, 1, int64(w[1])))
	filter := *c.Operand(p.w)
	filter.Dimensions = []uint32{w[0], 1, 1, w[1]}
	if filter.Channel == nil || filter.Channel.Dim != 0 {
		c.Refusef("its weights are quantized along dimension %d, NNAPI has 0", 1)
	}
	y := c.Emit(nn.OpConv2D, p.out, x, c.Add(filter), p.bias, c.Int32Scalar(nn.PaddingValid), c.Int32Scalar(1), c.Int32Scalar(1), act)
	return c.Emit(nn.OpReshape, p.out, y, c.Int32Tensor(-1, int64(w[0])))
}

// batchMatmul broadcasts the batches of both matrices, which NNAPI has equal.
func batchMatmul(c *conversion) {
	a, b := c.x(0), c.x(1)
	da, db := c.Dims(a), c.Dims(b)
	if len(da) < 2 || len(db) < 2 {
		c.Failf("shapes %v and %v", da, db)
	}
	out := c.out(0)
	o, t := c.Operand(a), c.Operand(b)
	switch {
	case o.Type == nn.TensorFloat32 && t.Type.IsQuant8():
		if !c.options.Bool("adj_x") {
			a = c.dynamicQuantization(a, []int64{int64(len(c.Operand(a).Dimensions)) - 1}, c.options.Bool("asymmetric_quantize_inputs"))
		}
		b = c.As(b, nn.TensorFloat32)
	case o.Type != t.Type || o.Type != out.Type:
		a, b, out = c.As(a, nn.TensorFloat32), c.As(b, nn.TensorFloat32), nn.Operand{Type: nn.TensorFloat32}
	}
	c.define(0, c.BatchMatmul(out, a, b, c.options.Bool("adj_x"), c.options.Bool("adj_y")))
}
