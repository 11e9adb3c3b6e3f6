package refcpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/buffer"
	"github.com/x448/float16"
)

// alignConstants copies constants to aligned storage with slack after them.
func alignConstants(g *nn.Subgraph) {
	for i := range g.Operands {
		alignConstant(&g.Operands[i])
	}
}

func alignConstant(o *nn.Operand) {
	if o.IsConst() && len(o.Data) > 0 {
		b := buffer.Aligned(len(o.Data) + buffer.Slack)
		copy(b, o.Data)
		o.Data = b[:len(o.Data)]
	}
}

// floats is the value of a float operand as float32: the buffer itself, or for
// TENSOR_FLOAT16 a widened copy in a.
func (x *Run) floats(i uint32, a *buffer.Arena) []float32 {
	o := &x.view.Operands[i]
	if o.Type == nn.TensorFloat32 {
		return buffer.Values[float32](x.Bytes(i))
	}
	b := x.Bytes(i)
	f := a.Floats(len(b) / 2)
	for k := range f {
		f[k] = float16.Frombits(binary.LittleEndian.Uint16(b[2*k:])).Float32()
	}
	return f
}

// floatsOut is where to write a float output; done puts it into the operand.
func (x *Run) floatsOut(i uint32, a *buffer.Arena) (f []float32, done func()) {
	o := &x.view.Operands[i]
	b := x.Bytes(i)
	if o.Type == nn.TensorFloat32 {
		return buffer.Values[float32](b), func() {}
	}
	f = a.Floats(len(b) / 2)
	return f, func() {
		for k, v := range f {
			binary.LittleEndian.PutUint16(b[2*k:], float16.Fromfloat32(v).Bits())
		}
	}
}

// int32s is the value of a TENSOR_INT32 operand.
func (x *Run) int32s(i uint32) []int32 { return buffer.Values[int32](x.Bytes(i)) }

// quantOf reads 8-bit quantized elements as int32 regardless of signedness.
func quantOf(t nn.OperandType, b byte) int32 {
	if t == nn.TensorQuant8Asymm {
		return int32(b)
	}
	return int32(int8(b))
}

// isFloat reports a float tensor type.
func isFloat(t nn.OperandType) bool { return t == nn.TensorFloat32 || t == nn.TensorFloat16 }

// errType is the error for a type that validation should have refused.
func errType(op nn.OperationType, t nn.OperandType) error {
	return fmt.Errorf("%s: type %s is not supported", op, t)
}

// clampF clamps like the reference: NaN stays NaN.
func clampF(v, lo, hi float32) float32 {
	if v < lo {
		return lo
	}
	if v > hi {
		return hi
	}
	return v
}

var inf32 = float32(math.Inf(1))

// floatValues reads a known float operand as float32.
func floatValues(v opspec.View, i uint32) ([]float32, error) {
	b, err := v.Data(i)
	if err != nil {
		return nil, err
	}
	if v.Operands[i].Type == nn.TensorFloat16 {
		f := make([]float32, len(b)/2)
		for k := range f {
			f[k] = float16.Frombits(binary.LittleEndian.Uint16(b[2*k:])).Float32()
		}
		return f, nil
	}
	f := make([]float32, len(b)/4)
	for k := range f {
		f[k] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*k:]))
	}
	return f, nil
}

// int32Values reads a known TENSOR_INT32 operand.
func int32Values(v opspec.View, i uint32) ([]int32, error) {
	b, err := v.Data(i)
	if err != nil {
		return nil, err
	}
	out := make([]int32, len(b)/4)
	for k := range out {
		out[k] = int32(binary.LittleEndian.Uint32(b[4*k:]))
	}
	return out, nil
}
