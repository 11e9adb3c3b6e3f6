package bench

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// GemmTypes are the element types of Gemm, by their names for users.
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
	zero := int32(128)
	if t == nn.TensorQuant8AsymmSigned {
		zero = 0
	}
	var qx, qw, qy builder.Quant
	weights := make([]byte, size*size*t.ElementBytes())
	bias := make([]byte, 4*size)
	biasType := nn.TensorInt32
	switch t {
	case nn.TensorFloat32:
		biasType = t
		for i := range size * size {
			binary.LittleEndian.PutUint32(weights[4*i:], math.Float32bits(coarse(&seed)))
		}
	case nn.TensorFloat16:
		biasType, bias = t, bias[:2*size]
		for i := range size * size {
			binary.LittleEndian.PutUint16(weights[2*i:], float16.Fromfloat32(coarse(&seed)).Bits())
		}
	default:
		qx, qw = builder.Quant{Scale: 1.0 / 128, ZeroPoint: zero}, builder.Quant{Scale: 1.0 / 128, ZeroPoint: zero}
		// Uniform operands: sqrt(size)*0.33 is the deviation of a sum.
		qy = builder.Quant{Scale: float32(size) / 4096, ZeroPoint: zero}
		for i := range weights {
			weights[i] = byte(seed.next() >> 24)
		}
	}
	b := builder.New(builder.Config{})
	x := b.Input(b.Operand(nn.Operand{Type: t, Dimensions: []uint32{n, n}, Scale: qx.Scale, ZeroPoint: qx.ZeroPoint}), "a")
	w := b.Constant("b", t, qw, weights, n, n)
	c := b.Constant("bias", biasType, builder.Quant{Scale: qx.Scale * qw.Scale}, bias, n)
	b.Output(b.Apply(nn.OpFullyConnected, t, qy, x, w, c, b.Int32(int32(nn.ActNone))), "c")
	return b.Model(fmt.Sprintf("gemm_%s_%d", typ, size))
}

// noise is xorshift32: small, and the same everywhere.
type noise uint32

func (n *noise) next() uint32 {
	x := *n
	x ^= x << 13
	x ^= x >> 17
	x ^= x << 5
	*n = x
	return uint32(x)
}

// coarse is one of -1, -7/8 .. 7/8: sums of its products are exact in float32, whatever the order of summation.
func coarse(n *noise) float32 { return float32(n.next()>>28)/8 - 1 }

// GemmInput is the left-hand side for a model that Gemm made.
func GemmInput(m *nn.Model) []byte {
	o := &m.Main.Operands[m.Main.Inputs[0]]
	seed := noise(777)
	data := make([]byte, 0, o.Bytes())
	for range o.Elements() {
		switch o.Type {
		case nn.TensorFloat32:
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(coarse(&seed)))
		case nn.TensorFloat16:
			data = binary.LittleEndian.AppendUint16(data, float16.Fromfloat32(coarse(&seed)).Bits())
		default:
			data = append(data, byte(seed.next()>>24))
		}
	}
	return data
}
