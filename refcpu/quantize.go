package refcpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// quantizeKernels change the type of a tensor.
var quantizeKernels = []operation{
	{op: nn.OpQuantize, prepare: read(prepareQuantize)},
	{op: nn.OpDequantize, prepare: read(prepareDequantize)},
	{op: nn.OpRequantize, prepare: read(prepareTable)},
	{op: nn.OpQuantize16, prepare: read(prepareQuantize16)},
	{op: nn.OpDequantize16, prepare: read(prepareDequantize16)},
	{op: nn.OpCast, prepare: read(prepareCast)},
}

// prepareQuantize is QUANTIZE: round(x / scale) + zero point, clamped.
func prepareQuantize(v opspec.View, _ *nn.Operation, u opspec.Unary) (Kernel, error) {
	o := &v.Operands[u.Output]
	lo, hi := quantized.Limits(o.Type)
	scale, zero := o.Scale, o.ZeroPoint
	return func(x *Run) error {
		in, out := x.floats(u.Input, &x.shared), x.Bytes(u.Output)
		x.Parallel(len(in), 4096, func(_, from, to int) {
			for i := from; i < to; i++ {
				out[i] = byte(quantized.Value(in[i], scale, zero, lo, hi))
			}
		})
		return nil
	}, nil
}

// prepareDequantize is DEQUANTIZE: scale * (q - zero point), with one scale
// per channel for TENSOR_QUANT8_SYMM_PER_CHANNEL.
func prepareDequantize(v opspec.View, _ *nn.Operation, u opspec.Unary) (Kernel, error) {
	o := v.Operands[u.Input]
	if o.Type == nn.TensorQuant8SymmPerChannel {
		return dequantizeChannels(u, &o)
	}
	var t [256]float32
	for i := range t {
		t[i] = o.Scale * float32(quantOf(o.Type, byte(i))-o.ZeroPoint)
	}
	return func(x *Run) error {
		in := x.Bytes(u.Input)
		out, done := x.floatsOut(u.Output, &x.shared)
		for i, b := range in {
			out[i] = t[b]
		}
		done()
		return nil
	}, nil
}

func dequantizeChannels(u opspec.Unary, o *nn.Operand) (Kernel, error) {
	c := o.Channel
	if c == nil || int64(c.Dim) >= int64(len(u.Dims)) || len(c.Scales) != int(u.Dims[c.Dim]) {
		return nil, fmt.Errorf("DEQUANTIZE: operand %d has no scale for each channel", u.Input)
	}
	stride := int(nn.Elements(u.Dims[c.Dim+1:]))
	return func(x *Run) error {
		in := x.Bytes(u.Input)
		out, done := x.floatsOut(u.Output, &x.shared)
		for i, b := range in {
			out[i] = c.Scales[i/stride%len(c.Scales)] * float32(int8(b))
		}
		done()
		return nil
	}, nil
}

// prepareQuantize16 is QUANTIZE to 16 bits without a sign.
func prepareQuantize16(v opspec.View, _ *nn.Operation, u opspec.Unary) (Kernel, error) {
	o := &v.Operands[u.Output]
	scale, zero := o.Scale, o.ZeroPoint
	return func(x *Run) error {
		in, out := x.floats(u.Input, &x.shared), x.Bytes(u.Output)
		for i, r := range in {
			binary.LittleEndian.PutUint16(out[2*i:], uint16(quantized.Value(r, scale, zero, 0, math.MaxUint16)))
		}
		return nil
	}, nil
}

// prepareDequantize16 is DEQUANTIZE of 16 bits without a sign.
func prepareDequantize16(v opspec.View, _ *nn.Operation, u opspec.Unary) (Kernel, error) {
	o := v.Operands[u.Input]
	return func(x *Run) error {
		in := x.Bytes(u.Input)
		out, done := x.floatsOut(u.Output, &x.shared)
		for i := range out {
			out[i] = o.Scale * float32(int32(binary.LittleEndian.Uint16(in[2*i:]))-o.ZeroPoint)
		}
		done()
		return nil
	}, nil
}

// codeKernels are the operations of extensions that have codes.
func codeKernels() (list []operation) {
	for _, e := range nn.CodeExtensions() {
		list = append(list, operation{op: e.Decode(), prepare: read(prepareDecode)})
	}
	return list
}

// prepareDecode is QUANTIZE of the number that each code represents.
func prepareDecode(v opspec.View, _ *nn.Operation, d opspec.Decode) (Kernel, error) {
	return unaryTable(opspec.Unary{Input: d.Input, Output: d.Output, Dims: d.Dims}, d.Table(v)), nil
}
