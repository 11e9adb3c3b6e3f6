package opspec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// Conv is a CONV_2D or DEPTHWISE_CONV_2D. The filter is [K, KH, KW, C] for
// CONV_2D and [1, KH, KW, K] with K = C * Multiplier for DEPTHWISE_CONV_2D,
// in either layout of the image.
type Conv struct {
	Input, Filter, Bias, Output uint32 // operand indexes
	Type                        nn.OperandType
	N, C, K                     int // batches, input and output channels
	Window
	Act        nn.FusedActivation
	NCHW       bool
	Depthwise  bool
	Multiplier int // DEPTHWISE_CONV_2D: output channels per input channel
}

// Conv reads a CONV_2D or DEPTHWISE_CONV_2D.
func (v View) Conv(op *nn.Operation) (Conv, error) {
	a, err := v.bindAs(op, nn.OpConv2D, nn.OpDepthwiseConv2D)
	if err != nil {
		return Conv{}, err
	}
	c := Conv{Input: a.In("input"), Filter: a.In("filter"), Bias: a.In("bias"), Output: op.Outputs[0], Type: a.Key,
		Depthwise: op.Type == nn.OpDepthwiseConv2D}
	if c.NCHW, err = a.BoolOr("nchw", false); err != nil {
		return c, err
	}
	n, h, w, ch, err := a.image("input", c.NCHW)
	if err != nil {
		return c, err
	}
	f, err := a.Dims("filter")
	if err != nil {
		return c, err
	}
	if len(f) != 4 {
		return c, a.errorf("filter", "rank %d, 4 needed", len(f))
	}
	for _, d := range f {
		if d == 0 {
			return c, a.errorf("filter", "shape %v is empty", f)
		}
	}
	c.N, c.C = n, ch
	if c.Depthwise {
		m, err := a.Int32("depth_multiplier")
		if err != nil {
			return c, err
		}
		c.K, c.Multiplier = int(f[3]), int(m)
		if f[0] != 1 {
			return c, a.errorf("filter", "dimension 0 is %d, 1 needed", f[0])
		}
		if m < 1 || int64(m)*int64(ch) != int64(f[3]) {
			return c, a.errorf("depth_multiplier", "%d channels times %d are not the filter's %d", ch, m, f[3])
		}
	} else {
		c.K = int(f[0])
		if int(f[3]) != ch {
			return c, a.errorf("filter", "depth %d, the input's is %d", f[3], ch)
		}
	}
	b, err := a.Dims("bias")
	if err != nil {
		return c, err
	}
	if len(b) != 1 || int(b[0]) != c.K {
		return c, a.errorf("bias", "shape %v, [%d] needed", b, c.K)
	}
	if c.Window, err = a.window(h, w, int(f[1]), int(f[2])); err != nil {
		return c, err
	}
	c.Act, err = a.activation()
	return c, err
}

// OutputDims is the shape of the result.
func (c *Conv) OutputDims() []uint32 { return imageDims(c.N, c.OutH, c.OutW, c.K, c.NCHW) }

// MACs counts the multiply-accumulates as the operation defines them: every
// output element times the filter's taps, padding included.
func (c *Conv) MACs() int64 {
	depth := int64(c.C)
	if c.Depthwise {
		depth = 1
	}
	return int64(c.N) * int64(c.OutH) * int64(c.OutW) * int64(c.K) * int64(c.KH) * int64(c.KW) * depth
}

// Quant returns the requantization of a quantized convolution.
func (c *Conv) Quant(v View) (GEMMQuant, error) {
	dim := uint32(0)
	if c.Depthwise {
		dim = 3
	}
	return v.gemmQuant(c.Input, c.Filter, c.Bias, c.Output, c.Act, c.K, dim)
}

// FullyConnected is a FULLY_CONNECTED. The input is taken as [Batch, Depth],
// the weights are [Units, Depth].
type FullyConnected struct {
	Input, Weights, Bias, Output uint32 // operand indexes
	Type                         nn.OperandType
	Batch, Depth, Units          int
	Act                          nn.FusedActivation
}

// FullyConnected reads a FULLY_CONNECTED.
func (v View) FullyConnected(op *nn.Operation) (FullyConnected, error) {
	a, err := v.bindAs(op, nn.OpFullyConnected)
	if err != nil {
		return FullyConnected{}, err
	}
	f := FullyConnected{Input: a.In("input"), Weights: a.In("weights"), Bias: a.In("bias"), Output: op.Outputs[0], Type: a.Key}
	in, err := a.Dims("input")
	if err != nil {
		return f, err
	}
	w, err := a.Dims("weights")
	if err != nil {
		return f, err
	}
	b, err := a.Dims("bias")
	if err != nil {
		return f, err
	}
	if len(in) < 2 || len(in) > 4 {
		return f, a.errorf("input", "rank %d, 2 to 4 needed", len(in))
	}
	if len(w) != 2 || w[0] == 0 || w[1] == 0 {
		return f, a.errorf("weights", "shape %v, [units, depth] needed", w)
	}
	f.Units, f.Depth = int(w[0]), int(w[1])
	n := nn.Elements(in)
	if n%int64(f.Depth) != 0 {
		return f, a.errorf("input", "shape %v is no multiple of the depth %d", in, f.Depth)
	}
	f.Batch = int(n / int64(f.Depth))
	if len(b) != 1 || int(b[0]) != f.Units {
		return f, a.errorf("bias", "shape %v, [%d] needed", b, f.Units)
	}
	f.Act, err = a.activation()
	return f, err
}

// OutputDims is the shape of the result.
func (f *FullyConnected) OutputDims() []uint32 { return []uint32{uint32(f.Batch), uint32(f.Units)} }

// MACs counts the multiply-accumulates.
func (f *FullyConnected) MACs() int64 { return int64(f.Batch) * int64(f.Units) * int64(f.Depth) }

// Quant returns the requantization of a quantized operation.
func (f *FullyConnected) Quant(v View) (GEMMQuant, error) {
	return v.gemmQuant(f.Input, f.Weights, f.Bias, f.Output, f.Act, f.Units, 0)
}

// bindAs binds an operation that must be one of the given types.
func (v View) bindAs(op *nn.Operation, types ...nn.OperationType) (Args, error) {
	for _, t := range types {
		if op.Type == t {
			return v.Bind(op)
		}
	}
	return Args{}, fmt.Errorf("opspec: %s is not %s", op.Type, types[0])
}
