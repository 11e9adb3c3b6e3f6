package bench

import (
	"encoding/binary"
	"fmt"

	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// GemmTypes are the element types of Gemm, by the name users give.
var GemmTypes = map[string]nn.OperandType{
	"u8": nn.TensorQuant8Asymm, "i8": nn.TensorQuant8AsymmSigned, "f32": nn.TensorFloat32, "f16": nn.TensorFloat16,
}

// MaxGemm bounds the size of a matrix multiplication: three matrices of 4096^2.
const MaxGemm = 4096

// Gemm is the product of two size x size matrices as one FULLY_CONNECTED with
// a constant right-hand side, requantized to the operand type: size^3
// multiply-accumulates.
func Gemm(typ string, size int) (*nn.Model, error) {
	t, ok := GemmTypes[typ]
	if !ok {
		return nil, fmt.Errorf("bench: unknown type %q; there are u8, i8, f32, f16", typ)
	}
	if size < 1 || size > MaxGemm {
		return nil, fmt.Errorf("bench: size %d is not in 1..%d", size, MaxGemm)
	}
	n := uint32(size)
	seed := noise(12345)
	g := &graph{}
	zero := int32(128)
	if t == nn.TensorQuant8AsymmSigned {
		zero = 0
	}
	var qx, qw, qy quant
	weights := make([]byte, size*size*t.ElementBytes())
	bias := make([]byte, 4*size)
	biasType := nn.TensorInt32
	switch t {
	case nn.TensorFloat32:
		biasType = t
		for i := range size * size {
			copy(weights[4*i:], floats(coarse(&seed)))
		}
	case nn.TensorFloat16:
		biasType, bias = t, bias[:2*size]
		for i := range size * size {
			binary.LittleEndian.PutUint16(weights[2*i:], float16.Fromfloat32(coarse(&seed)).Bits())
		}
	default:
		qx, qw = quant{1.0 / 128, zero}, quant{1.0 / 128, zero}
		// Uniform operands: sqrt(size)*0.33 is the deviation of a sum.
		qy = quant{float32(size) / 4096, zero}
		for i := range weights {
			weights[i] = byte(seed.next() >> 24)
		}
	}
	x := g.tensor("a", t, qx, n, n)
	w := g.constant("b", t, qw, weights, n, n)
	c := g.constant("bias", biasType, quant{qx.scale * qw.scale, 0}, bias, n)
	y := g.tensor("c", t, qy, n, n)
	g.op(nn.OpFullyConnected, y, x, w, c, g.int32(int32(nn.ActNone)))
	return g.model(fmt.Sprintf("gemm_%s_%d", typ, size), x, y), nil
}

// coarse is one of -1, -7/8 .. 7/8: sums of its products are exact in float32,
// so that every order of summation gives the same result.
func coarse(n *noise) float32 { return float32(n.next()>>28)/8 - 1 }

// GemmInput is the left-hand side for a model that Gemm made.
func GemmInput(m *nn.Model) []byte {
	o := &m.Main.Operands[m.Main.Inputs[0]]
	seed := noise(777)
	data := make([]byte, 0, o.Bytes())
	for range o.Elements() {
		switch o.Type {
		case nn.TensorFloat32:
			data = append(data, floats(coarse(&seed))...)
		case nn.TensorFloat16:
			data = binary.LittleEndian.AppendUint16(data, float16.Fromfloat32(coarse(&seed)).Bits())
		default:
			data = append(data, byte(seed.next()>>24))
		}
	}
	return data
}
