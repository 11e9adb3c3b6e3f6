package npu

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// outputStage is what happens to a result on its way to the output: rounding
// scale, zero point, clamp, activation.
type outputStage struct {
	round  int
	global bool // scale and shift are OFM_SCALE's
	scale  uint32
	shift  uint8
	zp     int64
	lo, hi int64
	act    int
	table  []byte // lookup table, by activation
	bias   int64  // added to a value to index an 8-bit table
	esz    int
	signed bool
}

func (s *outputStage) decode(r *regFile, o *op, spec *Spec, shram []byte) error {
	p := r.u(ethosu.SetOFMPrecision)
	*s = outputStage{round: p >> 14 & 3, global: p>>8&1 != 0, esz: o.ofm.esz, signed: o.ofm.signed}
	if s.round == 3 {
		return fmt.Errorf("reserved rounding mode 3")
	}
	s.scale, s.shift = r.scale(ethosu.SetOFMScale)
	a := r.u(ethosu.SetActivation)
	s.act = a & 31
	clip := a >> 12 & 7
	s.zp = int64(o.ofm.zp)
	if s.esz == 4 {
		s.zp = int64(r.s(ethosu.SetOFMZeroPoint))
	}
	switch clip {
	case ethosu.ClipOFM:
		s.lo, s.hi = typeRange(s.esz, s.signed)
	case ethosu.ClipUint8:
		s.lo, s.hi = 0, 255
	case ethosu.ClipInt8:
		s.lo, s.hi = -128, 127
	case ethosu.ClipInt16:
		s.lo, s.hi = -32768, 32767
	default:
		return fmt.Errorf("reserved clip range %d", clip)
	}
	if s.esz == 4 && clip == ethosu.ClipOFM {
		s.zp = 0 // 32-bit results bypass zero point and clamp
		s.lo, s.hi = math.MinInt32, math.MaxInt32
	} else {
		lo, hi := int64(r.s(ethosu.SetActivationMin)), int64(r.s(ethosu.SetActivationMax))
		s.lo, s.hi = clamp64(s.lo, lo, hi), clamp64(s.hi, lo, hi)
	}
	switch {
	case s.act == ethosu.ActNone:
	case s.act == ethosu.ActTanh || s.act == ethosu.ActSigmoid:
		if s.esz != 2 {
			return fmt.Errorf("tanh or sigmoid with %d-bit output", 8*s.esz)
		}
		// The activation takes the scaled value as it is.
		s.zp, s.lo, s.hi = 0, math.MinInt64, math.MaxInt64
	case s.act >= ethosu.ActTable && s.act < ethosu.ActTable+8:
		at := (s.act - ethosu.ActTable) * 256
		size := 256
		switch s.esz {
		case 2:
			size = 2048
		case 4:
			size = 1024
			if clip != ethosu.ClipInt8 {
				return fmt.Errorf("32-bit lookup table with clip range %d", clip)
			}
		}
		if at+size > lutBytes {
			return fmt.Errorf("lookup table of %d bytes at slot %d", size, s.act-ethosu.ActTable)
		}
		if s.signed || clip == ethosu.ClipInt8 {
			s.bias = 128
		}
		s.table = shram[spec.LUTBase()+at:][:size]
	default:
		return fmt.Errorf("reserved activation %d", s.act)
	}
	return nil
}

func typeRange(esz int, signed bool) (lo, hi int64) {
	bits := uint(8 * esz)
	if signed {
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	return 0, 1<<bits - 1
}

// finish turns a scaled value into the element to write.
func (s *outputStage) finish(v int64) int32 {
	v = clamp64(v+s.zp, s.lo, s.hi)
	switch {
	case s.act == ethosu.ActNone:
	case s.table != nil:
		switch s.esz {
		case 1:
			return int32(s.table[uint8(v+s.bias)])
		case 2:
			return int32(table16(s.table, clamp64(v, -32768, 32767)))
		default:
			return int32(binary.LittleEndian.Uint32(s.table[4*int(uint8(v+s.bias)):]))
		}
	default:
		return int32(tanhSigmoid(v, s.act == ethosu.ActTanh))
	}
	return int32(v)
}

// scaled is finish after OFM_SCALE.
func (s *outputStage) scaled(v int64) int32 {
	return s.finish(rescale(v, s.scale, s.shift, s.round))
}
