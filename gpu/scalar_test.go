package gpu

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// scalarCases define scalar instructions on s[22:23] = a, s[24:25] = b, with
// the old destination s[20:21] = d; they return the destination and SCC (-1:
// unchanged, which is 1 before).
var scalarCases = []struct {
	text string
	wide bool
	f    func(a, b, d uint64) (uint64, int)
}{
	{"s_add_u32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { return a&m32 + b&m32, int((a&m32 + b&m32) >> 32) }},
	{"s_sub_u32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { return a - b, flag(uint32(a) < uint32(b)) }},
	{"s_addc_u32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { return a&m32 + b&m32 + 1, int((a&m32 + b&m32 + 1) >> 32) }},
	{"s_subb_u32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { return a - b - 1, flag(a&m32 < b&m32+1) }},
	{"s_add_i32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { s := i32(a) + i32(b); return uint64(s), flag(s != int64(int32(s))) }},
	{"s_sub_i32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { s := i32(a) - i32(b); return uint64(s), flag(s != int64(int32(s))) }},
	{"s_min_i32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { return uint64(min(i32(a), i32(b))), flag(i32(a) < i32(b)) }},
	{"s_max_u32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { return max(a&m32, b&m32), flag(uint32(a) > uint32(b)) }},
	{"s_mul_i32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { return a * b, -1 }},
	{"s_mul_hi_u32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { return (a & m32) * (b & m32) >> 32, -1 }},
	{"s_mul_hi_i32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { return uint64(i32(a) * i32(b) >> 32), -1 }},
	{"s_and_b32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { return a & b, flag(uint32(a&b) != 0) }},
	{"s_and_b64 s[20:21], s[22:23], s[24:25]", true, func(a, b, d uint64) (uint64, int) { return a & b, flag(a&b != 0) }},
	{"s_andn2_b64 s[20:21], s[22:23], s[24:25]", true, func(a, b, d uint64) (uint64, int) { return a &^ b, flag(a&^b != 0) }},
	{"s_xnor_b64 s[20:21], s[22:23], s[24:25]", true, func(a, b, d uint64) (uint64, int) { return ^(a ^ b), flag(^(a ^ b) != 0) }},
	{"s_nor_b32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { return ^(a | b), flag(^uint32(a|b) != 0) }},
	{"s_lshl_b32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { r := uint32(a) << (b % 32); return uint64(r), flag(r != 0) }},
	{"s_ashr_i32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { r := i32(a) >> (b % 32); return uint64(r), flag(r != 0) }},
	{"s_lshl_b64 s[20:21], s[22:23], s24", true, func(a, b, d uint64) (uint64, int) { return a << (b % 64), flag(a<<(b%64) != 0) }},
	{"s_ashr_i64 s[20:21], s[22:23], s24", true, func(a, b, d uint64) (uint64, int) {
		return uint64(int64(a) >> (b % 64)), flag(int64(a)>>(b%64) != 0)
	}},
	{"s_bfe_u32 s20, s22, 0x80004", false, func(a, b, d uint64) (uint64, int) { return a >> 4 & 255, flag(a>>4&255 != 0) }},
	{"s_bfe_i32 s20, s22, 0x80004", false, func(a, b, d uint64) (uint64, int) {
		return uint64(int64(int8(a >> 4))), flag(int8(a>>4) != 0)
	}},
	{"s_bfm_b32 s20, 5, 3", false, func(a, b, d uint64) (uint64, int) { return 31 << 3, -1 }},
	{"s_lshl3_add_u32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) {
		s := (a&m32)<<3 + b&m32
		return s, flag(s>>32 != 0)
	}},
	{"s_pack_lh_b32_b16 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { return a&0xFFFF | b&0xFFFF0000, -1 }},
	{"s_absdiff_i32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) {
		r := int32(a) - int32(b)
		if r < 0 {
			r = -r
		}
		return uint64(r), flag(r != 0)
	}},
	{"s_movk_i32 s20, 0x8001", false, func(a, b, d uint64) (uint64, int) { return 0xFFFF8001, -1 }},
	{"s_addk_i32 s20, 0x7fff", false, func(a, b, d uint64) (uint64, int) { s := i32(d) + 0x7FFF; return uint64(s), flag(s != int64(int32(s))) }},
	{"s_mulk_i32 s20, 0xfffd", false, func(a, b, d uint64) (uint64, int) { return uint64(i32(d) * -3), -1 }},
	{"s_cmpk_lt_i32 s22, 0xfff0", false, func(a, b, d uint64) (uint64, int) { return d, flag(int32(a) < -16) }},
	{"s_cmpk_gt_u32 s22, 0xfff0", false, func(a, b, d uint64) (uint64, int) { return d, flag(uint32(a) > 0xFFF0) }},
	{"s_cmp_ge_i32 s22, s24", false, func(a, b, d uint64) (uint64, int) { return d, flag(int32(a) >= int32(b)) }},
	{"s_cmp_le_u32 s22, s24", false, func(a, b, d uint64) (uint64, int) { return d, flag(uint32(a) <= uint32(b)) }},
	{"s_cmp_lg_u64 s[22:23], s[24:25]", false, func(a, b, d uint64) (uint64, int) { return d, flag(a != b) }},
	{"s_bitcmp1_b32 s22, 7", false, func(a, b, d uint64) (uint64, int) { return d, int(a >> 7 & 1) }},
	{"s_cselect_b32 s20, s22, s24", false, func(a, b, d uint64) (uint64, int) { return a, -1 }},
	{"s_cselect_b64 s[20:21], s[22:23], s[24:25]", true, func(a, b, d uint64) (uint64, int) { return a, -1 }},
	{"s_mov_b64 s[20:21], s[22:23]", true, func(a, b, d uint64) (uint64, int) { return a, -1 }},
	{"s_mov_b64 s[20:21], -7", true, func(a, b, d uint64) (uint64, int) { return ^uint64(6), -1 }},
	{"s_not_b32 s20, s22", false, func(a, b, d uint64) (uint64, int) { return ^a, flag(^uint32(a) != 0) }},
	{"s_brev_b32 s20, s22", false, func(a, b, d uint64) (uint64, int) { return uint64(bits.Reverse32(uint32(a))), -1 }},
	{"s_bcnt1_i32_b64 s20, s[22:23]", false, func(a, b, d uint64) (uint64, int) { return uint64(bits.OnesCount64(a)), flag(a != 0) }},
	{"s_ff1_i32_b32 s20, s22", false, func(a, b, d uint64) (uint64, int) {
		if uint32(a) == 0 {
			return m32, -1
		}
		return uint64(bits.TrailingZeros32(uint32(a))), -1
	}},
	{"s_flbit_i32_b64 s20, s[22:23]", false, func(a, b, d uint64) (uint64, int) {
		if a == 0 {
			return m32, -1
		}
		return uint64(bits.LeadingZeros64(a)), -1
	}},
	{"s_sext_i32_i8 s20, s22", false, func(a, b, d uint64) (uint64, int) { return uint64(int64(int8(a))), -1 }},
	{"s_abs_i32 s20, s22", false, func(a, b, d uint64) (uint64, int) {
		return uint64(max(i32(a), -i32(a))), flag(uint32(a) != 0)
	}},
	{"s_bitset1_b32 s20, 5", false, func(a, b, d uint64) (uint64, int) { return d | 32, -1 }},
}

const m32 = math.MaxUint32

func i32(a uint64) int64 { return int64(int32(a)) }

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestScalarSemantics(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for _, c := range scalarCases {
		for round := range 6 {
			v := func() uint64 { return uint64(testValues(r)) | uint64(testValues(r))<<32 }
			a, b, d := v(), v(), v()
			switch round {
			case 0:
				b = a
			case 1:
				a = 0
			}
			set := func(reg int, v uint64) string {
				return fmt.Sprintf("s_mov_b32 s%d, 0x%x\ns_mov_b32 s%d, 0x%x\n", reg, uint32(v), reg+1, uint32(v>>32))
			}
			text := set(22, a) + set(24, b) + set(20, d) + "s_cmp_eq_u32 s22, s22\n" + c.text + `
	s_cselect_b32 s26, 1, 0
	v_mov_b32 v5, s26
	v_mov_b32 v6, s21`
			out, err := runLanes(t, 32, text, [5][]uint32{}, round&1 == 0)
			require.NoError(t, err, c.text)
			want, scc := c.f(a, b, d)
			if scc < 0 {
				scc = 1
			}
			got := uint64(out[2][0]) | uint64(out[1][0])<<32
			if !c.wide {
				got, want = got&m32, want&m32
			}
			if got != want || int(out[0][0]) != scc {
				t.Errorf("%s of %#x, %#x, old %#x: %#x scc %d, want %#x scc %d", c.text, a, b, d, got, out[0][0], want, scc)
				break
			}
		}
	}
}

// wideCases define 64-bit vector instructions on v[2:3] and v[4:5]; the result is in v[6:7], both halves of which they
// return.
var wideCases = []struct {
	text string
	f    func(a, b uint64) uint64
	nan  bool
}{
	{"v_lshlrev_b64 v[6:7], 5, v[2:3]", func(a, b uint64) uint64 { return a << 5 }, false},
	{"v_lshrrev_b64 v[6:7], v4, v[2:3]", func(a, b uint64) uint64 { return a >> (b & 63) }, false},
	{"v_ashrrev_i64 v[6:7], v4, v[2:3]", func(a, b uint64) uint64 { return uint64(int64(a) >> (b & 63)) }, false},
	{"v_mad_u64_u32 v[6:7], vcc_lo, v2, v3, v[4:5]", func(a, b uint64) uint64 { return (a&m32)*(a>>32) + b }, false},
	{"v_mad_i64_i32 v[6:7], vcc_lo, v2, v3, v[4:5]", func(a, b uint64) uint64 { return uint64(i32(a)*i32(a>>32)) + b }, false},
	{"v_add_f64 v[6:7], v[2:3], v[4:5]", func(a, b uint64) uint64 { return math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b)) }, true},
	{"v_mul_f64 v[6:7], -v[2:3], v[4:5]", func(a, b uint64) uint64 { return math.Float64bits(-math.Float64frombits(a) * math.Float64frombits(b)) }, true},
	{"v_fma_f64 v[6:7], v[2:3], v[4:5], 1.0", func(a, b uint64) uint64 {
		return math.Float64bits(math.FMA(math.Float64frombits(a), math.Float64frombits(b), 1))
	}, true},
	{"v_sqrt_f64 v[6:7], |v[2:3]|", func(a, b uint64) uint64 { return math.Float64bits(math.Sqrt(math.Abs(math.Float64frombits(a)))) }, true},
	{"v_floor_f64 v[6:7], v[2:3]", func(a, b uint64) uint64 { return math.Float64bits(math.Floor(math.Float64frombits(a))) }, true},
	{"v_cvt_f64_i32 v[6:7], v2", func(a, b uint64) uint64 { return math.Float64bits(float64(int32(a))) }, false},
	{"v_cvt_f64_f32 v[6:7], v2", func(a, b uint64) uint64 { return math.Float64bits(float64(floatOf(uint32(a)))) }, true},
	{"v_mov_b32 v7, 0\nv_cvt_i32_f64 v6, v[2:3]", func(a, b uint64) uint64 {
		x := math.Float64frombits(a)
		if x != x {
			return 0
		}
		return uint64(uint32(int32(max(math.MinInt32, min(math.MaxInt32, math.Trunc(x))))))
	}, false},
	{"v_mov_b32 v7, 0\nv_cmp_lt_i64 vcc_lo, v[2:3], v[4:5]\nv_cndmask_b32 v6, 0, 1, vcc_lo", func(a, b uint64) uint64 {
		return uint64(flag(int64(a) < int64(b)))
	}, false},
	{"v_mov_b32 v7, 0\nv_cmp_nle_f64 vcc_lo, v[2:3], v[4:5]\nv_cndmask_b32 v6, 0, 1, vcc_lo", func(a, b uint64) uint64 {
		return uint64(flag(!(math.Float64frombits(a) <= math.Float64frombits(b))))
	}, false},
	{"v_mov_b32 v7, 0\nv_cmp_class_f32 vcc_lo, v2, 0x264\nv_cndmask_b32 v6, 0, 1, vcc_lo", func(a, b uint64) uint64 {
		x := float64(floatOf(uint32(a))) // -inf, -0, +0, +inf
		return uint64(flag(math.IsInf(x, 0) || x == 0))
	}, false},
}

func TestWideSemantics(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	for _, c := range wideCases {
		var in [5][]uint32
		for range 32 {
			a, b := uint64(testValues(r))|uint64(testValues(r))<<32, uint64(testValues(r))|uint64(testValues(r))<<32
			if r.IntN(2) == 0 {
				a, b = math.Float64bits(r.NormFloat64()*1e6), math.Float64bits(r.NormFloat64())
			}
			for i, v := range []uint32{uint32(a), uint32(a >> 32), uint32(b), uint32(b >> 32)} {
				in[i] = append(in[i], v)
			}
		}
		out, err := runLanes(t, 32, c.text+"\nv_mov_b32 v5, v7", in, false)
		require.NoError(t, err, c.text)
		for l := range 32 {
			a, b := uint64(in[0][l])|uint64(in[1][l])<<32, uint64(in[2][l])|uint64(in[3][l])<<32
			got, want := uint64(out[1][l])|uint64(out[0][l])<<32, c.f(a, b)
			if got != want && !(c.nan && math.IsNaN(math.Float64frombits(got)) && math.IsNaN(math.Float64frombits(want))) {
				t.Errorf("%s of %#x, %#x: %#x, want %#x", c.text, a, b, got, want)
				break
			}
		}
	}
}
