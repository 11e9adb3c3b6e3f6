package export

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Padding schemes of the format.
const (
	paddingSame  = 0
	paddingValid = 1
)

// Codes of operators that are put before others.
const (
	padCode      = 34
	padV2Code    = 60
	quantizeCode = 114
)

// window writes stride and padding. Padding that is neither scheme becomes a separate operator before this one, which
// pads with value.
func (c *call) window(value []byte) opspec.Window {
	w := try.V(c.view.Window(c.op))
	c.option("stride_w", w.StrideW)
	c.option("stride_h", w.StrideH)
	switch {
	case w.Top|w.Bottom|w.Left|w.Right == 0:
		c.option("padding", paddingValid)
	case isSame(w.H, w.KH, w.StrideH, w.DilationH, w.Top, w.Bottom) && isSame(w.W, w.KW, w.StrideW, w.DilationW, w.Left, w.Right):
		c.option("padding", paddingSame)
	default:
		c.option("padding", paddingValid)
		c.o.Inputs[0] = c.padded(c.o.Inputs[0], &w, value)
	}
	return w
}

// isSame reports whether padding of one dimension is that of the scheme SAME.
func isSame(n, kernel, stride, dilation, before, after int) bool {
	out := (n + stride - 1) / stride
	total := max((out-1)*stride+(kernel-1)*dilation+1-n, 0)
	return before == total/2 && after == total-total/2
}

// padded is an image with the padding of a window around it: zeros, or value.
func (c *call) padded(image int32, w *opspec.Window, value []byte) int32 {
	from := c.out.Tensors[image]
	shape := []int32{from.Shape[0], from.Shape[1] + int32(w.Top+w.Bottom), from.Shape[2] + int32(w.Left+w.Right), from.Shape[3]}
	name := fmt.Sprintf("%s/padded%d", from.Name, len(c.out.Operators))
	y := c.like(image, name, shape, nil)
	sizes := c.ints(name+"/sizes", []int32{4, 2}, 0, 0, int32(w.Top), int32(w.Bottom), int32(w.Left), int32(w.Right), 0, 0)
	o := tflitefile.Operator{Code: padCode, Inputs: []int32{image, sizes}, Outputs: []int32{y}}
	if value != nil {
		o.Code = padV2Code
		o.Inputs = append(o.Inputs, c.like(image, name+"/value", []int32{1}, value))
	}
	if from.Type == typeInt8 {
		o.Version = 2
	}
	c.out.Operators = append(c.out.Operators, o)
	return y
}

func (c *call) activation() { c.option("activation", c.number("activation")) }

func conv(c *call) {
	if c.operand("filter").Channel != nil && c.operand("input").Type != nn.TensorQuant8AsymmSigned {
		failf("its weights have scales per channel, its input is %s; the format has them with signed inputs", c.operand("input").Type)
	}
	c.inputs("input", "filter")
	c.o.Inputs = append(c.o.Inputs, c.bias("filter", "bias"))
	w := c.window(nil)
	c.activation()
	c.option("dilation_w", w.DilationW)
	c.option("dilation_h", w.DilationH)
	if c.op.Type == nn.OpDepthwiseConv2D {
		c.option("depth_multiplier", c.number("depth_multiplier"))
		if w.DilationH > 1 || w.DilationW > 1 {
			c.o.Version = max(c.o.Version, 2)
		}
	}
}

func pool(c *call) {
	c.inputs("input")
	var lowest []byte // which the maximum never selects
	switch t := c.operand("input").Type; {
	case c.op.Type != nn.OpMaxPool2D:
	case t == nn.TensorFloat32:
		lowest = binary.LittleEndian.AppendUint32(nil, math.Float32bits(-math.MaxFloat32))
	case t == nn.TensorQuant8AsymmSigned:
		lowest = []byte{0x80}
	default:
		lowest = []byte{0}
	}
	before := len(c.out.Operators)
	w := c.window(lowest)
	if lowest == nil && len(c.out.Operators) > before {
		failf("padding of %d, %d rows and %d, %d columns is no scheme of the format, and an average does not count it", w.Top, w.Bottom, w.Left, w.Right)
	}
	c.activation()
	c.option("filter_w", w.KW)
	c.option("filter_h", w.KH)
}

// transposeConv states the shape of its output.
func transposeConv(c *call) {
	k := try.V(opspec.Read[opspec.TransposeConv](c.view, c.op))
	total := func(n, out, kernel, stride int) int { return max((n-1)*stride+kernel-out, 0) }
	th, tw := total(k.H, k.OutH, k.KH, k.StrideH), total(k.W, k.OutW, k.KW, k.StrideW)
	switch {
	case k.Top|k.Bottom|k.Left|k.Right == 0:
		c.option("padding", paddingValid)
	case k.Top == th/2 && k.Bottom == th-th/2 && k.Left == tw/2 && k.Right == tw-tw/2 &&
		k.H == (k.OutH+k.StrideH-1)/k.StrideH && k.W == (k.OutW+k.StrideW-1)/k.StrideW:
		c.option("padding", paddingSame)
	default:
		failf("padding of %d, %d rows and %d, %d columns is no scheme of the format", k.Top, k.Bottom, k.Left, k.Right)
	}
	shape := c.vector(fmt.Sprintf("%s/shape", c.out.Tensors[c.o.Outputs[0]].Name), int32(k.N), int32(k.OutH), int32(k.OutW), int32(k.K))
	c.o.Inputs = append(c.o.Inputs, shape)
	c.inputs("filter", "input")
	c.o.Inputs = append(c.o.Inputs, c.bias("filter", "bias"))
	c.o.Version = 4 // with bias and activation
	c.option("stride_w", k.StrideW)
	c.option("stride_h", k.StrideH)
	c.activation()
}

func fullyConnected(c *call) {
	c.inputs("input", "weights")
	c.o.Inputs = append(c.o.Inputs, c.bias("weights", "bias"))
	c.activation()
}
