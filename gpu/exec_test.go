package gpu

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/float/floattest"
	"github.com/nnsoc/nnsoc/internal/require"
)

// runLanes executes lines of assembly on one wave whose v2, v3, v4, v5, v6 hold
// in[0..4], and returns v5, v6 and s20, s21 (as seen by lane 0, 1 of row 2).
func runLanes(t testing.TB, wave int, text string, in [5][]uint32, functional bool) ([3][]uint32, error) {
	t.Helper()
	code := assemble(t, wave == 64, `
		s_load_dwordx2 s[4:5], s[0:1], 0x0
		v_lshlrev_b32 v1, 2, v0
		s_waitcnt lgkmcnt(0)
		global_load_dword v2, v1, s[4:5]
		global_load_dword v3, v1, s[4:5] offset:256
		global_load_dword v4, v1, s[4:5] offset:512
		global_load_dword v5, v1, s[4:5] offset:768
		global_load_dword v6, v1, s[4:5] offset:1024
		s_waitcnt vmcnt(0)
		s_mov_b32 s20, 0
		s_mov_b32 s21, 0
`+text+`
		s_mov_b32 exec_lo, -1
		s_mov_b32 exec_hi, -1
		v_mov_b32 v7, s20
		v_mov_b32 v8, s21
		global_store_dword v1, v5, s[4:5] offset:1280
		global_store_dword v1, v6, s[4:5] offset:1536
		global_store_dword v1, v7, s[4:5] offset:1792
		v_add_nc_u32 v1, 0x700, v1
		s_waitcnt vmcnt(0)
		s_endpgm`)
	s, b := space(t, 4096)
	for i := range in {
		for l, v := range in[i] {
			setWord(b, 64*i+l, v)
		}
	}
	k := &Kernel{Name: "test", Code: code, WaveSize: wave, VGPRs: 32, LDSBytes: 1024}
	c := newCore(t, nil)
	r, err := c.Run(s, []Dispatch{{Kernel: k, Grid: [3]int{wave}, Workgroup: [3]int{wave}, Kernarg: args(dataBase)}},
		Options{Functional: functional})
	var out [3][]uint32
	if err != nil {
		return out, err
	}
	if !functional {
		checkReport(t, r)
	}
	for i := range out {
		for l := range wave {
			out[i] = append(out[i], word(b, 320+64*i+l))
		}
	}
	return out, nil
}

func bitsOf(f float32) uint32  { return math.Float32bits(f) }
func floatOf(u uint32) float32 { return math.Float32frombits(u) }
func halfOf(u uint32) float64  { return floattest.FromHalf(u & 0xFFFF) }

var (
	fma32, half, truncHalf = floattest.FMA, floattest.Half, floattest.TruncHalf
	testValues             = floattest.Value
)

// laneCases define instructions by plain Go expressions. a, b, c are v2, v3,
// v4; d is the old v5. NaN results compare as NaN.
var laneCases = []struct {
	text string
	f    func(a, b, c, d uint32) uint32
	kind string // "f32": any NaN equals any NaN; "f16" likewise
}{
	{"v_mov_b32 v5, v2", func(a, b, c, d uint32) uint32 { return a }, ""},
	{"v_mov_b32 v5, 0x12345678", func(a, b, c, d uint32) uint32 { return 0x12345678 }, ""},
	{"v_mov_b32 v5, -5", func(a, b, c, d uint32) uint32 { return 0xFFFFFFFB }, ""},
	{"v_mov_b32 v5, 0.5", func(a, b, c, d uint32) uint32 { return 0x3F000000 }, ""},
	{"v_not_b32 v5, v2", func(a, b, c, d uint32) uint32 { return ^a }, ""},
	{"v_add_nc_u32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return a + b }, ""},
	{"v_sub_nc_u32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return a - b }, ""},
	{"v_subrev_nc_u32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return b - a }, ""},
	{"v_add3_u32 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 { return a + b + c }, ""},
	{"v_lshl_add_u32 v5, v2, 3, v4", func(a, b, c, d uint32) uint32 { return a*8 + c }, ""},
	{"v_lshl_or_b32 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 { return a<<(b%32) | c }, ""},
	{"v_and_or_b32 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 { return (a & b) | c }, ""},
	{"v_or3_b32 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 { return a | b | c }, ""},
	{"v_lshlrev_b32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return b << (a % 32) }, ""},
	{"v_lshrrev_b32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return b >> (a % 32) }, ""},
	{"v_ashrrev_i32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return uint32(int32(b) >> (a % 32)) }, ""},
	{"v_and_b32 v5, 0xff00ff, v3", func(a, b, c, d uint32) uint32 { return b & 0xFF00FF }, ""},
	{"v_or_b32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return a | b }, ""},
	{"v_xor_b32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return a ^ b }, ""},
	{"v_bfe_u32 v5, v2, 5, 9", func(a, b, c, d uint32) uint32 { return a >> 5 & 511 }, ""},
	{"v_bfe_i32 v5, v2, 8, 8", func(a, b, c, d uint32) uint32 { return uint32(int32(int8(a >> 8))) }, ""},
	{"v_bfi_b32 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 { return (a & b) | (^a & c) }, ""},
	{"v_alignbit_b32 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 {
		return uint32((uint64(a)*0x100000000 + uint64(b)) >> (c % 32))
	}, ""},
	{"v_perm_b32 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 {
		in := []byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24), byte(a), byte(a >> 8), byte(a >> 16), byte(a >> 24)}
		var r uint32
		for i := range 4 {
			s, v := byte(c>>(8*i)), byte(0)
			switch {
			case s <= 7:
				v = in[s]
			case s <= 11:
				v = byte(int8(in[2*(s-8)+1]) >> 7)
			case s >= 13:
				v = 0xFF
			}
			r |= uint32(v) << (8 * i)
		}
		return r
	}, ""},
	{"v_mul_lo_u32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return a * b }, ""},
	{"v_mul_hi_u32 v5, v2, v3", func(a, b, c, d uint32) uint32 { h, _ := bits.Mul32(a, b); return h }, ""},
	{"v_mul_hi_i32 v5, v2, v3", func(a, b, c, d uint32) uint32 {
		return uint32((int64(int32(a)) * int64(int32(b))) >> 32)
	}, ""},
	{"v_mul_u32_u24 v5, v2, v3", func(a, b, c, d uint32) uint32 { return a << 8 >> 8 * (b << 8 >> 8) }, ""},
	{"v_mad_u32_u24 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 { return (a%(1<<24))*(b%(1<<24)) + c }, ""},
	{"v_mad_i32_i24 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 {
		return uint32((int32(a<<8)>>8)*(int32(b<<8)>>8)) + c
	}, ""},
	{"v_max_i32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return uint32(max(int32(a), int32(b))) }, ""},
	{"v_min_i32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return uint32(min(int32(a), int32(b))) }, ""},
	{"v_max_u32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return max(a, b) }, ""},
	{"v_min_u32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return min(a, b) }, ""},
	{"v_med3_i32 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 {
		x, y, z := int32(a), int32(b), int32(c)
		return uint32(x ^ y ^ z ^ min(x, y, z) ^ max(x, y, z))
	}, ""},
	{"v_sad_u8 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 {
		for i := range 4 {
			x, y := int(a>>(8*i)&255), int(b>>(8*i)&255)
			c += uint32(max(x-y, y-x))
		}
		return c
	}, ""},
	{"v_bcnt_u32_b32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return uint32(bits.OnesCount32(a)) + b }, ""},
	{"v_ffbh_u32 v5, v2", func(a, b, c, d uint32) uint32 {
		if a == 0 {
			return math.MaxUint32
		}
		return uint32(bits.LeadingZeros32(a))
	}, ""},
	{"v_bfrev_b32 v5, v2", func(a, b, c, d uint32) uint32 { return bits.Reverse32(a) }, ""},
	{"v_add_nc_u16 v5, v2, v3", func(a, b, c, d uint32) uint32 { return d&0xFFFF0000 | (a+b)&0xFFFF }, ""},
	{"v_lshlrev_b16 v5, v2, v3", func(a, b, c, d uint32) uint32 { return d&0xFFFF0000 | uint32(uint16(b)<<(a%16)) }, ""},
	{"v_max_u16 v5, v2, v3", func(a, b, c, d uint32) uint32 { return d&0xFFFF0000 | uint32(max(uint16(a), uint16(b))) }, ""},
	{"v_max3_u16 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 {
		return d&0xFFFF0000 | uint32(max(uint16(a), uint16(b), uint16(c)))
	}, ""},
	{"v_pk_add_u16 v5, v2, v3", func(a, b, c, d uint32) uint32 {
		return uint32(uint16(a)+uint16(b)) | uint32(uint16(a>>16)+uint16(b>>16))<<16
	}, ""},
	{"v_pk_max_i16 v5, v2, v3", func(a, b, c, d uint32) uint32 {
		return uint32(uint16(max(int16(a), int16(b)))) | uint32(uint16(max(int16(a>>16), int16(b>>16))))<<16
	}, ""},
	{"v_pk_mul_lo_u16 v5, v2, v3 op_sel:[1,0] op_sel_hi:[0,1]", func(a, b, c, d uint32) uint32 {
		return uint32(uint16(a>>16)*uint16(b)) | uint32(uint16(a)*uint16(b>>16))<<16
	}, ""},
	{"v_dot4_i32_i8 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 {
		s := int32(c)
		for i := range 4 {
			s += int32(int8(a>>(8*i))) * int32(int8(b>>(8*i)))
		}
		return uint32(s)
	}, ""},
	{"v_dot4c_i32_i8 v5, v2, v3", func(a, b, c, d uint32) uint32 {
		s := int32(d)
		for i := range 4 {
			s += int32(int8(a>>(8*i))) * int32(int8(b>>(8*i)))
		}
		return uint32(s)
	}, ""},
	{"v_dot4_i32_i8 v5, v2, v3, v4 clamp", func(a, b, c, d uint32) uint32 {
		s := int64(int32(c))
		for i := range 4 {
			s += int64(int8(a>>(8*i))) * int64(int8(b>>(8*i)))
		}
		return uint32(max(min(s, math.MaxInt32), math.MinInt32))
	}, ""},
	{"v_dot4_u32_u8 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 {
		for i := range 4 {
			c += a >> (8 * i) & 255 * (b >> (8 * i) & 255)
		}
		return c
	}, ""},
	{"v_add_f32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return bitsOf(floatOf(a) + floatOf(b)) }, "f32"},
	{"v_sub_f32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return bitsOf(floatOf(a) - floatOf(b)) }, "f32"},
	{"v_subrev_f32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return bitsOf(floatOf(b) - floatOf(a)) }, "f32"},
	{"v_mul_f32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return bitsOf(floatOf(a) * floatOf(b)) }, "f32"},
	{"v_mul_f32 v5, -|v2|, v3", func(a, b, c, d uint32) uint32 {
		return bitsOf(float32(-math.Abs(float64(floatOf(a)))) * floatOf(b))
	}, "f32"},
	{"v_add_f32 v5, v2, v3 clamp", func(a, b, c, d uint32) uint32 {
		v := floatOf(a) + floatOf(b)
		if !(v > 0) {
			return 0
		}
		return bitsOf(min(v, 1))
	}, ""},
	{"v_mul_f32 v5, 2.0, v3", func(a, b, c, d uint32) uint32 { return bitsOf(2 * floatOf(b)) }, "f32"},
	{"v_fma_f32 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 { return bitsOf(fma32(floatOf(a), floatOf(b), floatOf(c))) }, "f32"},
	{"v_fma_f32 v5, v2, v3, -v4", func(a, b, c, d uint32) uint32 { return bitsOf(fma32(floatOf(a), floatOf(b), -floatOf(c))) }, "f32"},
	{"v_fmac_f32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return bitsOf(fma32(floatOf(a), floatOf(b), floatOf(d))) }, "f32"},
	{"v_fmaak_f32 v5, v2, v3, 0x3fc00000", func(a, b, c, d uint32) uint32 { return bitsOf(fma32(floatOf(a), floatOf(b), 1.5)) }, "f32"},
	{"v_fmamk_f32 v5, v2, 0x3fc00000, v3", func(a, b, c, d uint32) uint32 { return bitsOf(fma32(floatOf(a), 1.5, floatOf(b))) }, "f32"},
	{"v_max_f32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return maxNum(a, b) }, "f32"},
	{"v_min_f32 v5, v2, v3", func(a, b, c, d uint32) uint32 {
		return maxNum(a^1<<31, b^1<<31) ^ 1<<31
	}, "f32"},
	{"v_max_f32 v5, 0, v3", func(a, b, c, d uint32) uint32 { return maxNum(0, b) }, "f32"},
	{"v_med3_f32 v5, v2, 0, 1.0", func(a, b, c, d uint32) uint32 {
		x := floatOf(a)
		if x != x || x <= 0 {
			return 0
		}
		return bitsOf(min(x, 1))
	}, ""},
	{"v_rndne_f32 v5, v2", func(a, b, c, d uint32) uint32 { return bitsOf(float32(math.RoundToEven(float64(floatOf(a))))) }, "f32"},
	{"v_floor_f32 v5, v2", func(a, b, c, d uint32) uint32 { return bitsOf(float32(math.Floor(float64(floatOf(a))))) }, "f32"},
	{"v_trunc_f32 v5, v2", func(a, b, c, d uint32) uint32 { return bitsOf(float32(math.Trunc(float64(floatOf(a))))) }, "f32"},
	{"v_rcp_f32 v5, v2", func(a, b, c, d uint32) uint32 { return bitsOf(float32(1 / float64(floatOf(a)))) }, "f32"},
	{"v_sqrt_f32 v5, v2", func(a, b, c, d uint32) uint32 { return bitsOf(float32(math.Sqrt(float64(floatOf(a))))) }, "f32"},
	{"v_rsq_f32 v5, v2", func(a, b, c, d uint32) uint32 { return bitsOf(float32(1 / math.Sqrt(float64(floatOf(a))))) }, "f32"},
	{"v_ldexp_f32 v5, v2, 3", func(a, b, c, d uint32) uint32 { return bitsOf(floatOf(a) * 8) }, "f32"},
	{"v_cvt_f32_i32 v5, v2", func(a, b, c, d uint32) uint32 { return bitsOf(float32(int32(a))) }, ""},
	{"v_cvt_f32_u32 v5, v2", func(a, b, c, d uint32) uint32 { return bitsOf(float32(a)) }, ""},
	{"v_cvt_i32_f32 v5, v2", func(a, b, c, d uint32) uint32 {
		x := float64(floatOf(a))
		if x != x {
			return 0
		}
		return uint32(int32(max(math.MinInt32, min(math.MaxInt32, math.Trunc(x)))))
	}, ""},
	{"v_cvt_u32_f32 v5, v2", func(a, b, c, d uint32) uint32 {
		x := float64(floatOf(a))
		if x != x {
			return 0
		}
		return uint32(max(0, min(math.MaxUint32, math.Trunc(x))))
	}, ""},
	{"v_cvt_f32_ubyte2 v5, v2", func(a, b, c, d uint32) uint32 { return bitsOf(float32(byte(a >> 16))) }, ""},
	{"v_cvt_pk_u8_f32 v5, v2, 1, v4", func(a, b, c, d uint32) uint32 {
		x := math.RoundToEven(float64(floatOf(a)))
		v := uint32(0)
		if x > 0 {
			v = uint32(min(x, 255))
		}
		return c&0xFFFF00FF | v<<8
	}, ""},
	{"v_cvt_f32_f16 v5, v2", func(a, b, c, d uint32) uint32 { return bitsOf(float32(halfOf(a))) }, "f32"},
	{"v_cvt_f16_f32 v5, v2", func(a, b, c, d uint32) uint32 { return d&0xFFFF0000 | half(float64(floatOf(a))) }, "f16"},
	{"v_pk_mul_f16 v5, v2, v3", func(a, b, c, d uint32) uint32 {
		return half(halfOf(a)*halfOf(b)) | half(halfOf(a>>16)*halfOf(b>>16))<<16
	}, "f16"},
	{"v_pk_add_f16 v5, v2, v3", func(a, b, c, d uint32) uint32 {
		return half(halfOf(a)+halfOf(b)) | half(halfOf(a>>16)+halfOf(b>>16))<<16
	}, "f16"},
	{"v_pk_fma_f16 v5, v2, v3, v4 op_sel_hi:[0,1,1]", func(a, b, c, d uint32) uint32 {
		return half(math.FMA(halfOf(a), halfOf(b), halfOf(c))) | half(math.FMA(halfOf(a), halfOf(b>>16), halfOf(c>>16)))<<16
	}, "f16"},
	{"v_add_f16 v5, v2, v3", func(a, b, c, d uint32) uint32 { return d&0xFFFF0000 | half(halfOf(a)+halfOf(b)) }, "f16"},
	{"v_fma_mix_f32 v5, v2, v3, v4 op_sel:[0,1,0] op_sel_hi:[1,1,0]", func(a, b, c, d uint32) uint32 {
		return bitsOf(fma32(float32(halfOf(a)), float32(halfOf(b>>16)), floatOf(c)))
	}, "f32"},
	{"v_fma_mix_f32 v5, -v2, |v3|, 0.5 op_sel_hi:[1,0,0]", func(a, b, c, d uint32) uint32 {
		return bitsOf(fma32(-float32(halfOf(a)), floatOf(b&0x7FFFFFFF), 0.5))
	}, "f32"},
	{"v_fma_mixlo_f16 v5, v2, v3, v4 op_sel_hi:[1,1,1]", func(a, b, c, d uint32) uint32 {
		return d&0xFFFF0000 | half(float64(fma32(float32(halfOf(a)), float32(halfOf(b)), float32(halfOf(c)))))
	}, "f16"},
	{"v_fma_mixhi_f16 v5, v2, v3, v4", func(a, b, c, d uint32) uint32 {
		return d&0xFFFF | half(float64(fma32(floatOf(a), floatOf(b), floatOf(c))))<<16
	}, "f16"},
	{"v_cvt_pkrtz_f16_f32 v5, v2, v3", func(a, b, c, d uint32) uint32 { return truncHalf(a) | truncHalf(b)<<16 }, "f16"},
	{"v_cmp_lt_i32 vcc_lo, v2, v3\nv_cndmask_b32 v5, v3, v4, vcc_lo", func(a, b, c, d uint32) uint32 {
		if int32(a) < int32(b) {
			return c
		}
		return b
	}, ""},
}

func maxNum(a, b uint32) uint32 {
	x, y := floatOf(a), floatOf(b)
	signalling := func(u uint32) bool { return u&0x7FFFFFFF > 0x7F800000 && u>>22&1 == 0 }
	switch {
	case signalling(a):
		return a | 1<<22
	case signalling(b):
		return b | 1<<22
	case x != x:
		return b
	case y != y, x > y, x == y && a>>31 == 0:
		return a
	}
	return b
}

func sameLane(kind string, got, want uint32) bool {
	nan16 := func(h uint32) bool { return h&0x7FFF > 0x7C00 }
	switch kind {
	case "f32":
		return got == want || floatOf(got) != floatOf(got) && floatOf(want) != floatOf(want)
	case "f16":
		for sh := 0; sh < 32; sh += 16 {
			g, w := got>>sh&0xFFFF, want>>sh&0xFFFF
			if g != w && !(nan16(g) && nan16(w)) {
				return false
			}
		}
		return true
	}
	return got == want
}

func TestLaneSemantics(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, c := range laneCases {
		for _, wave := range []int{32, 64} {
			text := c.text
			if wave == 64 {
				text = strings.ReplaceAll(text, "vcc_lo", "vcc")
			}
			for _, partial := range []bool{false, true} {
				var in [5][]uint32
				for i := range in {
					for range wave {
						in[i] = append(in[i], testValues(r))
					}
				}
				mask := ^uint64(0)
				body := text
				if partial {
					mask = 0x5A5A00FF_0F0F3CA5
					body = fmt.Sprintf("s_mov_b32 exec_lo, 0x%x\ns_mov_b32 exec_hi, 0x%x\n%s", uint32(mask), uint32(mask>>32), text)
				}
				out, err := runLanes(t, wave, body, in, partial)
				require.NoError(t, err, c.text)
				for l := range wave {
					want := in[3][l]
					if mask>>l&1 != 0 {
						want = c.f(in[0][l], in[1][l], in[2][l], in[3][l])
					}
					if !sameLane(c.kind, out[0][l], want) {
						t.Errorf("%s wave%d lane %d of (%#x, %#x, %#x, old %#x): %#x, want %#x",
							c.text, wave, l, in[0][l], in[1][l], in[2][l], in[3][l], out[0][l], want)
						break
					}
				}
			}
		}
	}
}
