package decode

import (
	"math"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// output decodes the output stage of o.
func output(s *state.Output, o *state.Op, m *state.Machine) {
	r := &m.Registers
	p := r.U(ethosu.SetOFMPrecision)
	*s = state.Output{Round: p >> 14 & 3, Global: p>>8&1 != 0, ElemSize: o.OFM.ElemSize, Signed: o.OFM.Signed}
	if s.Round == 3 {
		fail("reserved rounding mode 3")
	}
	s.Scale, s.Shift = r.Scale(ethosu.SetOFMScale)
	a := r.U(ethosu.SetActivation)
	s.Activation = a & 31
	clip := a >> 12 & 7
	s.ZeroPoint = int64(o.OFM.ZeroPoint)
	if s.ElemSize == 4 {
		s.ZeroPoint = int64(r.S(ethosu.SetOFMZeroPoint))
	}
	switch clip {
	case ethosu.ClipOFM:
		s.Min, s.Max = state.TypeRange(s.ElemSize, s.Signed)
	case ethosu.ClipUint8:
		s.Min, s.Max = 0, 255
	case ethosu.ClipInt8:
		s.Min, s.Max = -128, 127
	case ethosu.ClipInt16:
		s.Min, s.Max = -32768, 32767
	default:
		fail("reserved clip range %d", clip)
	}
	if s.ElemSize == 4 && clip == ethosu.ClipOFM {
		s.ZeroPoint = 0 // 32-bit results bypass zero point and clamp
		s.Min, s.Max = math.MinInt32, math.MaxInt32
	} else {
		lo, hi := int64(r.S(ethosu.SetActivationMin)), int64(r.S(ethosu.SetActivationMax))
		s.Min, s.Max = min(hi, max(lo, s.Min)), min(hi, max(lo, s.Max))
	}
	switch {
	case s.Activation == ethosu.ActNone:
	case s.Activation == ethosu.ActTanh || s.Activation == ethosu.ActSigmoid:
		if s.ElemSize != 2 {
			fail("tanh or sigmoid with %d-bit output", 8*s.ElemSize)
		}
		// The activation receives the scaled value unchanged.
		s.ZeroPoint, s.Min, s.Max = 0, math.MinInt64, math.MaxInt64
	case s.Activation >= ethosu.ActTable && s.Activation < ethosu.ActTable+8:
		at := (s.Activation - ethosu.ActTable) * 256
		size := 256
		switch s.ElemSize {
		case 2:
			size = 2048
		case 4:
			size = 1024
			if clip != ethosu.ClipInt8 {
				fail("32-bit lookup table with clip range %d", clip)
			}
		}
		if at+size > state.LUTBytes {
			fail("lookup table of %d bytes at slot %d", size, s.Activation-ethosu.ActTable)
		}
		if s.Signed || clip == ethosu.ClipInt8 {
			s.TableBias = 128
		}
		s.Table = m.SHRAM[m.LUTBase()+at:][:size]
	default:
		fail("reserved activation %d", s.Activation)
	}
}
