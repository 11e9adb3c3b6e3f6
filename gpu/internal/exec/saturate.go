package exec

import "math"

// saturated are the functions of integers that clamp selects, where they can leave the range of their result: the exact
// value, limited to the range. Those that cannot are the same with clamp.
var saturated = map[string]any{
	"v_mul_u32_u24":   lane2(func(a, b uint32) uint32 { return satU32(uint64(a&0xFFFFFF) * uint64(b&0xFFFFFF)) }),
	"v_mul_i32_i24":   lane2(func(a, b uint32) uint32 { return sat32(int64(sext24(a)) * int64(sext24(b))) }),
	"v_mad_u32_u24":   lane3(func(a, b, c uint32) uint32 { return satU32(uint64(a&0xFFFFFF)*uint64(b&0xFFFFFF) + uint64(c)) }),
	"v_mad_i32_i24":   lane3(func(a, b, c uint32) uint32 { return sat32(int64(sext24(a))*int64(sext24(b)) + int64(int32(c))) }),
	"v_mad_u32_u16":   lane3(func(a, b, c uint32) uint32 { return satU32(uint64(a&0xFFFF)*uint64(b&0xFFFF) + uint64(c)) }),
	"v_mad_i32_i16":   lane3(func(a, b, c uint32) uint32 { return sat32(int64(int16(a))*int64(int16(b)) + int64(int32(c))) }),
	"v_mad_u16":       lane3(madSatU16),
	"v_mad_i16":       lane3(madSatI16),
	"v_pk_mad_u16":    lane3(func(a, b, c uint32) uint32 { return pack16(madSatU16(a, b, c), madSatU16(a>>16, b>>16, c>>16)) }),
	"v_pk_mad_i16":    lane3(func(a, b, c uint32) uint32 { return pack16(madSatI16(a, b, c), madSatI16(a>>16, b>>16, c>>16)) }),
	"v_pk_mul_lo_u16": lane2(func(a, b uint32) uint32 { return pack16(madSatU16(a, b, 0), madSatU16(a>>16, b>>16, 0)) }),
	"v_sad_u32":       lane3(func(a, b, c uint32) uint32 { return addSatU32(max(a, b)-min(a, b), c) }),
	"v_sad_u8":        lane3(func(a, b, c uint32) uint32 { return addSatU32(sadU8(a, b, 0), c) }),
	"v_sad_hi_u8":     lane3(func(a, b, c uint32) uint32 { return addSatU32(sadU8(a, b, 0)<<16, c) }),
	"v_msad_u8":       lane3(func(a, b, c uint32) uint32 { return addSatU32(msadU8(a, b, 0), c) }),
	"v_sad_u16":       lane3(func(a, b, c uint32) uint32 { return addSatU32(sadU16(a, b), c) }),
	"v_dot2_u32_u16": lane3(func(a, b, c uint32) uint32 {
		return satU32(uint64(a&0xFFFF)*uint64(b&0xFFFF) + uint64(a>>16)*uint64(b>>16) + uint64(c))
	}),
}

// saturatedWide is saturated of results of 64 bits.
var saturatedWide = map[string]func(a, b, c uint64) uint64{
	"v_qsad_pk_u16_u8":  quadSAD(sadU8, true),
	"v_mqsad_pk_u16_u8": quadSAD(msadU8, true),
}

func satU32(v uint64) uint32 { return uint32(min(v, math.MaxUint32)) }

func madSatU16(a, b, c uint32) uint32 {
	return uint32(min(uint64(a&0xFFFF)*uint64(b&0xFFFF)+uint64(c&0xFFFF), math.MaxUint16))
}

func madSatI16(a, b, c uint32) uint32 {
	v := int64(int16(a))*int64(int16(b)) + int64(int16(c))
	return uint32(min(max(v, math.MinInt16), math.MaxInt16)) & 0xFFFF
}

// sadU16 is the sum of the distances of two pairs of halves.
func sadU16(a, b uint32) uint32 {
	return max(a&0xFFFF, b&0xFFFF) - min(a&0xFFFF, b&0xFFFF) + max(a>>16, b>>16) - min(a>>16, b>>16)
}

// quadSAD sums distances of the four bytes of b to those of a from byte 0, 1, 2 and 3 on, each added to 16 bits of c.
func quadSAD(sum func(a, b, c uint32) uint32, saturate bool) func(a, b, c uint64) uint64 {
	return func(a, b, c uint64) uint64 {
		var r uint64
		for i := range 4 {
			v := sum(uint32(a>>(8*i)), uint32(b), uint32(c>>(16*i)&math.MaxUint16))
			if saturate {
				v = min(v, math.MaxUint16)
			}
			r |= uint64(v&math.MaxUint16) << (16 * i)
		}
		return r
	}
}
