package hexagonnn

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// valueKind is the kind of a node's output during lowering.
type valueKind uint8

const (
	valueOpen   valueKind = iota // a range that is not known, such as that of 32-bit sums
	valueTensor                  // an operand of the model
	valueReal                    // a known real number: one end of a range
	valueSums                    // a later node adds their operation
)

// value is an output of a node.
type value struct {
	kind   valueKind
	tensor builder.Tensor
	quant  builder.Quant // of an 8-bit tensor
	real   float32
	sums   *sums
}

// sums are the results of an operation in 32 bits, before bias and requantization, or
// those of a float operation before its bias.
type sums struct {
	node    *node
	op      nn.OperationType
	inputs  []builder.Tensor
	options []builder.Tensor // between the bias and the activation
	// Of operations with a bias:
	units int     // its elements; 0 is none
	scale float64 // of one step of the sums; 0 is float
	bias  *builder.Tensor
	made  *builder.Tensor // of floats: the operation's output, once it is there
}

// quantOf is the scale and zero point of 8-bit codes from 0 for low to 255 for high.
func quantOf(low, high float32) (builder.Quant, error) {
	if !(low < high) || math.IsInf(float64(high)-float64(low), 0) {
		return builder.Quant{}, fmt.Errorf("range %v to %v", low, high)
	}
	scale := (float64(high) - float64(low)) / 255
	zero := math.Round(-float64(low) / scale)
	if zero < 0 || zero > 255 {
		return builder.Quant{}, fmt.Errorf("range %v to %v does not contain 0", low, high)
	}
	if scale < math.SmallestNonzeroFloat32 || scale > math.MaxFloat32 {
		return builder.Quant{}, fmt.Errorf("range %v to %v", low, high)
	}
	return builder.Quant{Scale: float32(scale), ZeroPoint: int32(zero)}, nil
}

// rangeOf is the inverse of quantOf.
func rangeOf(q builder.Quant) (low, high float32) {
	return float32(0-q.ZeroPoint) * q.Scale, float32(255-q.ZeroPoint) * q.Scale
}

// same reports whether two quantizations differ by rounding of their ranges only.
func same(a, b builder.Quant) bool {
	d := math.Abs(float64(a.Scale) - float64(b.Scale))
	return a.ZeroPoint == b.ZeroPoint && d <= 1e-5*float64(a.Scale)
}

// quantized are the three outputs of a node that makes an 8-bit tensor.
func quantized(t builder.Tensor, q builder.Quant) []value {
	low, high := rangeOf(q)
	return []value{{kind: valueTensor, tensor: t, quant: q}, {kind: valueReal, real: low}, {kind: valueReal, real: high}}
}

// elements is the number of elements of a shape, 0 when it is beyond all bounds.
func elements(dims [4]uint32) uint64 {
	n := uint64(1)
	for _, d := range dims {
		if n *= uint64(d); n > maxBytes {
			return 0
		}
	}
	return n
}

// aligned is a shape of at most four dimensions with leading ones.
func aligned(dims []uint32) (four [4]uint32) {
	for i := range four {
		four[i] = 1
	}
	if len(dims) <= 4 {
		copy(four[4-len(dims):], dims)
	}
	return four
}

// transposed swaps the rows and columns of a matrix of elements of size bytes.
func transposed(data []byte, rows, columns, size int) []byte {
	out := make([]byte, len(data))
	for r := range rows {
		for c := range columns {
			copy(out[(c*rows+r)*size:][:size], data[(r*columns+c)*size:][:size])
		}
	}
	return out
}

func float32At(data []byte, i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
}
