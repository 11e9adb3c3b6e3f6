package randgraph

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/x448/float16"
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
	finite bool // no infinities, and nothing that is no number
	exact  bool // no result of an operation, of whose rounding a function makes anything
	ends   bool // values at the ends of the type's range
	sums   bool // but none beside which others vanish in a sum
}

// unrestricted reports whether any value will do.
func (f filler) unrestricted() bool { return f == filler{finite: f.finite, exact: f.exact} }

// fill returns the bytes of an operand. Seed 0 selects the simplest values.
func (f filler) fill(o *nn.Operand, seed int) []byte {
	r := rand.New(rand.NewPCG(uint64(seed), 0x76616c756573))
	n := int(o.Elements())
	size := o.Type.ElementBytes()
	out := make([]byte, n*size)
	for i := range n {
		b := out[i*size:]
		if f.ends && seed != 0 && o.Type != nn.TensorBool8 {
			f.end(o, b, r)
			continue
		}
		switch o.Type {
		case nn.TensorFloat32:
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(f.float(r, seed))))
		case nn.TensorFloat16:
			binary.LittleEndian.PutUint16(b, float16.Fromfloat32(float32(f.float(r, seed))).Bits())
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

// ends are the corner cases of a type's arithmetic, non-finite numbers first. There are none so large that a sum of
// finite numbers is infinite in one order of adding only; beside the last of float32, small ones vanish in some orders.
var ends = map[nn.OperandType][]uint32{
	nn.TensorFloat32: {0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000,
		0xbf800000, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0xc0200000, 0x42b17218, 0xc2d00000, 0x4b000001, 0x4f000000, 0xcf000000},
	nn.TensorFloat16: {0x7c00, 0xfc00, 0x7e00, 0xfe01, 0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3800, 0xb800, 0x3e00, 0x6400, 0x6401},
	nn.TensorInt32:   {0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0x80000001, 255, 256, 0x01000001, 0xff000000, 65536, 46341, 0xffff4afb},
}

// vanish is how many of the ends of float32 others vanish beside.
const vanish = 3

// end writes an element at an end of its type, or now and then a usual one.
func (f filler) end(o *nn.Operand, b []byte, r *rand.Rand) {
	v, list := r.Uint32(), ends[o.Type]
	if f.finite && isFloat(o.Type) {
		list = list[4:]
	}
	if f.sums && o.Type == nn.TensorFloat32 {
		list = list[:len(list)-vanish]
	}
	switch {
	case list == nil:
		v = []uint32{0, 0xffff, 0x7fff, 0x8000, 0x8080, 0x7f7f, 0x8181, 0x0101, uint32(o.ZeroPoint), v}[r.IntN(10)]
	case r.IntN(3) > 0:
		v = list[r.IntN(len(list))]
	case o.Type == nn.TensorFloat32:
		v = math.Float32bits(float32(4 * r.NormFloat64()))
	case o.Type == nn.TensorFloat16:
		v = uint32(float16.Fromfloat32(float32(4 * r.NormFloat64())).Bits())
	}
	switch o.Type.ElementBytes() {
	case 1:
		if b[0] = byte(v); b[0] == 0x80 && (o.Type == nn.TensorQuant8SymmPerChannel || o.Type == nn.TensorQuant8Symm) {
			b[0] = 0x81
		}
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, v)
	}
}
