package tflite

import (
	"fmt"
	"math"

	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/importer/tflite/schema"
)

func unary(t nn.OperationType) func(*conversion) error {
	return func(c *conversion) error { return c.emit(t, c.in[0]) }
}

func arithmetic(t nn.OperationType) func(*conversion) error {
	return func(c *conversion) error {
		var o schema.ArithmeticOptions
		c.load(o.Init)
		act, err := c.activation(o.Activation())
		if err != nil {
			return err
		}
		return c.emit(t, c.in[0], c.in[1], act)
	}
}

func pool(t nn.OperationType) func(*conversion) error {
	return func(c *conversion) error {
		var o schema.Pool2DOptions
		c.load(o.Init)
		padding, act, err := c.window(o.Padding(), o.Activation())
		if err != nil {
			return err
		}
		im := c.im
		return c.emit(t, c.in[0], padding, im.int32Of(o.StrideW()), im.int32Of(o.StrideH()),
			im.int32Of(o.FilterW()), im.int32Of(o.FilterH()), act)
	}
}

// bias is the operand of an optional bias; NNAPI has no omitted one, so zeros
// stand in. filterChannels is the dimension of the filter that counts outputs.
func (c *conversion) bias(filterChannels int) (uint32, error) {
	input, filter := c.operand(c.in[0]), c.operand(c.in[1])
	if filterChannels >= len(filter.Dimensions) {
		return 0, fmt.Errorf("filter of rank %d", len(filter.Dimensions))
	}
	if len(c.in) == 3 && c.in[2] != omitted {
		b := c.operand(c.in[2])
		if b.Type == nn.TensorInt32 && b.Scale == 0 && filter.Channel == nil {
			b.Scale = input.Scale * filter.Scale
		}
		if filter.Channel != nil {
			b.Scale = 0
		}
		return c.in[2], nil
	}
	b := nn.Operand{
		Type: nn.TensorInt32, Scale: input.Scale * filter.Scale, Lifetime: nn.ConstantCopy,
		Dimensions: []uint32{filter.Dimensions[filterChannels]},
	}
	if !input.Type.IsQuant8() {
		b.Type, b.Scale = input.Type, 0
	}
	b.Data = make([]byte, b.Bytes()) // as many elements as the filter has, so bounded by the file
	return c.im.add(b), nil
}

func conv(c *conversion) error {
	var o schema.Conv2DOptions
	c.load(o.Init)
	bias, err := c.bias(0)
	if err != nil {
		return err
	}
	padding, act, err := c.window(o.Padding(), o.Activation())
	if err != nil {
		return err
	}
	im := c.im
	in := []uint32{c.in[0], c.in[1], bias, padding, im.int32Of(o.StrideW()), im.int32Of(o.StrideH()), act}
	return c.emit(nn.OpConv2D, c.dilated(in, o.DilationW(), o.DilationH())...)
}

func depthwise(c *conversion) error {
	var o schema.DepthwiseConv2DOptions
	c.load(o.Init)
	bias, err := c.bias(3)
	if err != nil {
		return err
	}
	padding, act, err := c.window(o.Padding(), o.Activation())
	if err != nil {
		return err
	}
	input, filter := c.operand(c.in[0]), c.operand(c.in[1])
	if len(input.Dimensions) != 4 || filter.Dimensions[3]%input.Dimensions[3] != 0 {
		return fmt.Errorf("filter %v does not fit input %v", filter.Dimensions, input.Dimensions)
	}
	im := c.im
	in := []uint32{
		c.in[0], c.in[1], bias, padding, im.int32Of(o.StrideW()), im.int32Of(o.StrideH()),
		im.int32Of(int32(filter.Dimensions[3] / input.Dimensions[3])), act,
	}
	return c.emit(nn.OpDepthwiseConv2D, c.dilated(in, o.DilationW(), o.DilationH())...)
}

// dilated appends layout and dilation where they are not the defaults, so
// that a plain convolution stays one of HAL 1.0.
func (c *conversion) dilated(in []uint32, w, h int32) []uint32 {
	if w == 1 && h == 1 {
		return in
	}
	nhwc := c.im.scalarOf(nn.Bool, 0)
	return append(in, nhwc, c.im.int32Of(w), c.im.int32Of(h))
}

func fullyConnected(c *conversion) error {
	var o schema.FullyConnectedOptions
	c.load(o.Init)
	if o.WeightsFormat() != 0 {
		return fmt.Errorf("weights format %d is not supported", o.WeightsFormat())
	}
	if o.KeepNumDims() && len(c.operand(c.out[0]).Dimensions) != 2 {
		return fmt.Errorf("keep_num_dims with rank %d is not supported", len(c.operand(c.out[0]).Dimensions))
	}
	bias, err := c.bias(0)
	if err != nil {
		return err
	}
	act, err := c.activation(o.Activation())
	if err != nil {
		return err
	}
	return c.emit(nn.OpFullyConnected, c.in[0], c.in[1], bias, act)
}

func concatenation(c *conversion) error {
	var o schema.ConcatenationOptions
	c.load(o.Init)
	if o.Activation() != 0 {
		return fmt.Errorf("fused activation %d is not supported", o.Activation())
	}
	axis := o.Axis()
	if rank := int32(len(c.operand(c.out[0]).Dimensions)); axis < 0 {
		axis += rank
	}
	for i, x := range c.in {
		if x == omitted {
			return fmt.Errorf("input %d is missing", i)
		}
	}
	return c.emit(nn.OpConcatenation, append(c.in, c.im.int32Of(axis))...)
}

// reshape takes the shape of the output tensor: the file may give it as an
// input, as an option or as both.
func reshape(c *conversion) error {
	dims := c.operand(c.out[0]).Dimensions
	shape := make([]int32, len(dims))
	for i, d := range dims {
		shape[i] = int32(d)
	}
	return c.emit(nn.OpReshape, c.in[0], c.im.int32s(shape))
}

func softmax(c *conversion) error {
	var o schema.SoftmaxOptions
	c.load(o.Init)
	beta := c.im.scalarOf(nn.Float32, math.Float32bits(o.Beta()))
	if c.operand(c.in[0]).Type == nn.TensorFloat16 {
		beta = c.im.scalarOf(nn.Float16, uint32(float16.Fromfloat32(o.Beta()).Bits()))
	}
	return c.emit(nn.OpSoftmax, c.in[0], beta)
}

func pad(c *conversion) error { return c.emit(nn.OpPad, c.in[0], c.in[1]) }

func mean(c *conversion) error {
	var o schema.ReducerOptions
	c.load(o.Init)
	keep := int32(0)
	if o.KeepDims() {
		keep = 1
	}
	in, out := c.operand(c.in[0]), c.operand(c.out[0])
	if !in.Type.IsQuant8() || in.Scale == out.Scale && in.ZeroPoint == out.ZeroPoint {
		return c.emit(nn.OpMean, c.in[0], c.in[1], c.im.int32Of(keep))
	}
	// NNAPI's MEAN keeps the quantization; a change of it follows.
	tmp := c.im.add(nn.Operand{
		Type: in.Type, Dimensions: out.Dimensions, Scale: in.Scale, ZeroPoint: in.ZeroPoint, Name: out.Name + "/mean",
	})
	dst := c.out
	c.out = []uint32{tmp}
	if err := c.emit(nn.OpMean, c.in[0], c.in[1], c.im.int32Of(keep)); err != nil {
		return err
	}
	c.in, c.out = []uint32{tmp}, dst
	return quantize(c)
}

func squeeze(c *conversion) error {
	var o schema.SqueezeOptions
	c.load(o.Init)
	if o.SqueezeDimsLength() > 8 {
		return fmt.Errorf("%d dimensions to squeeze", o.SqueezeDimsLength())
	}
	dims := make([]int32, o.SqueezeDimsLength())
	for i := range dims {
		dims[i] = o.SqueezeDims(i)
	}
	if len(dims) == 0 {
		return reshape(c)
	}
	return c.emit(nn.OpSqueeze, c.in[0], c.im.int32s(dims))
}

// quantize converts from float, or between two quantizations by way of float.
func quantize(c *conversion) error {
	in := c.operand(c.in[0])
	if !in.Type.IsQuant8() {
		return c.emit(nn.OpQuantize, c.in[0])
	}
	tmp := c.im.add(nn.Operand{
		Type: nn.TensorFloat32, Dimensions: in.Dimensions, Name: in.Name + "/dequantized",
	})
	out := c.out
	c.out = []uint32{tmp}
	if err := c.emit(nn.OpDequantize, c.in[0]); err != nil {
		return err
	}
	c.out = out
	return c.emit(nn.OpQuantize, tmp)
}
