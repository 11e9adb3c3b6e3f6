package randgraph

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// property restricts the values of an operand.
type property uint8

const (
	anyValue property = iota
	nonZero
	positive
	index // TENSOR_INT32 in [0, limit)
	sorted
)

// filler makes the values of a tensor.
type filler struct {
	prop   property
	limit  int32 // exclusive, of an index; the magnitude of a bias
	signed bool  // TENSOR_INT32 in [-limit, limit]
	lo, hi float64
}

// fill returns the bytes of an operand. Seed 0 gives the simplest values.
func (f filler) fill(o *nn.Operand, seed int) []byte {
	r := rand.New(rand.NewPCG(uint64(seed), 0x76616c756573))
	n := int(o.Elements())
	size := o.Type.ElementBytes()
	out := make([]byte, n*size)
	for i := range n {
		b := out[i*size:]
		switch o.Type {
		case nn.TensorFloat32:
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(f.float(r, seed))))
		case nn.TensorFloat16:
			binary.LittleEndian.PutUint16(b, opspec.Float32ToFloat16(float32(f.float(r, seed))))
		case nn.TensorInt32:
			binary.LittleEndian.PutUint32(b, uint32(f.int32(r, seed)))
		case nn.TensorBool8:
			if seed != 0 {
				b[0] = byte(r.IntN(2))
			}
		case nn.TensorQuant16Asymm, nn.TensorQuant16Symm:
			v := uint16(o.ZeroPoint)
			if seed != 0 {
				v = uint16(r.Uint32())
			}
			binary.LittleEndian.PutUint16(b, v)
		default:
			b[0] = byte(o.ZeroPoint)
			if seed != 0 {
				b[0] = byte(r.Uint32())
			}
			if o.Type == nn.TensorQuant8SymmPerChannel || o.Type == nn.TensorQuant8Symm {
				if b[0] == 0x80 { // symmetric: -127 to 127
					b[0] = 0x81
				}
			}
		}
	}
	return out
}

func (f filler) float(r *rand.Rand, seed int) float64 {
	if seed == 0 {
		if f.prop == nonZero || f.prop == positive {
			return 1
		}
		return max(f.lo, 0)
	}
	lo, hi := f.lo, f.hi
	if lo == hi {
		lo, hi = -2, 2
	}
	v := lo + (hi-lo)*r.Float64()
	switch f.prop {
	case positive:
		v = max(math.Abs(v), 1./64)
	case nonZero:
		v = math.Copysign(max(math.Abs(v), 1./64), v)
	}
	return v
}

func (f filler) int32(r *rand.Rand, seed int) int32 {
	if seed == 0 {
		if f.prop == nonZero || f.prop == positive {
			return 1
		}
		return 0
	}
	switch {
	case f.signed:
		return int32(r.IntN(int(2*f.limit+1))) - f.limit
	case f.prop == index:
		return int32(r.IntN(int(f.limit)))
	case f.prop == nonZero || f.prop == positive:
		return 1 + int32(r.IntN(255))
	}
	return int32(r.IntN(256))
}
