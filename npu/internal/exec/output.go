package exec

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// finish converts a scaled value to the element to write.
func finish(s *state.Output, v int64) int32 {
	v = clamp64(v+s.ZeroPoint, s.Min, s.Max)
	switch {
	case s.Activation == ethosu.ActNone:
	case s.Table != nil:
		switch s.ElemSize {
		case 1:
			return int32(s.Table[uint8(v+s.TableBias)])
		case 2:
			return int32(table16(s.Table, clamp64(v, -32768, 32767)))
		default:
			return int32(binary.LittleEndian.Uint32(s.Table[4*int(uint8(v+s.TableBias)):]))
		}
	default:
		return int32(tanhSigmoid(v, s.Activation == ethosu.ActTanh))
	}
	return int32(v)
}

// scaled is finish after OFM_SCALE.
func scaled(s *state.Output, v int64) int32 {
	return finish(s, rescale(v, s.Scale, s.Shift, s.Round))
}
