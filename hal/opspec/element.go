package opspec

import (
	"encoding/binary"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// Element is the first element of b as a number without quantization; a
// boolean is 0 or 1.
func Element(t nn.OperandType, b []byte) float64 {
	switch t {
	case nn.TensorFloat32, nn.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case nn.TensorFloat16, nn.Float16:
		return float64(Float16ToFloat32(binary.LittleEndian.Uint16(b)))
	case nn.TensorInt32, nn.Int32:
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case nn.Uint32:
		return float64(binary.LittleEndian.Uint32(b))
	case nn.TensorQuant8Asymm:
		return float64(b[0])
	case nn.TensorQuant16Asymm:
		return float64(binary.LittleEndian.Uint16(b))
	case nn.TensorQuant16Symm:
		return float64(int16(binary.LittleEndian.Uint16(b)))
	case nn.TensorBool8, nn.Bool:
		if b[0] != 0 {
			return 1
		}
		return 0
	}
	return float64(int8(b[0]))
}
