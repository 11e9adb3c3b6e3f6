package exec_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/decode"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// TestOutputModifiers: every instruction that has clamp or output modifiers executes with them.
func TestOutputModifiers(t *testing.T) {
	n := 0
	for op := rdna2.Op(1); op < rdna2.NumOps; op++ {
		f := op.Form()
		for _, in := range []rdna2.Inst{{Clamp: true}, {OMod: 1}} {
			if in.Clamp && !f.Has(rdna2.FlagClamp) || in.OMod != 0 && !f.Has(rdna2.FlagOMod) {
				continue
			}
			in.Op, in.Dst, in.SDst = op, rdna2.V(8), rdna2.VCC
			for _, o := range f.Operands() {
				switch i := o.Slot(); {
				case i < 0:
				case o.Class == rdna2.ClassMask:
					in.Src[i] = rdna2.VCC
				default:
					in.Src[i] = rdna2.V(2 + 2*i)
				}
			}
			if f.Format == rdna2.VOPC || f.Format == rdna2.SDWAC {
				in.Dst, in.SDst = 0, 0
			}
			if f.Format == rdna2.VOP3P && !f.Has(rdna2.FlagNegAbs) {
				in.OpSelHi = 7
			}
			if f.Format == rdna2.DPP1 || f.Format == rdna2.DPP2 {
				in.Rows, in.Banks = 15, 15
			}
			code, err := in.Encode(nil)
			require.NoError(t, err, f.Name)
			var p state.Program
			p.WaveSize, p.VGPRs = 32, 32
			require.NoError(t, decode.Program(&p, append(code, 0, 0, 0x81, 0xBF), 0))
			if x := p.Ops[0].Details; x != nil && x.Err != nil {
				t.Errorf("%s: %v", f.Name, x.Err)
			}
			n++
		}
	}
	require.Check(t, n > 300, "only %d", n)
}

// TestModes: what the float modes do to sources and results. The modes are the bits that differ from those of compiled
// kernels: 0x3 rounds floats and 0xC halves (up 1, down 2, toward zero 3), 0x10 and 0x20 flush floats in and out, 0x40 and 0x80 halves, 0x100 is without DX10_CLAMP, 0x200 without IEEE.
func TestModes(t *testing.T) {
	const (
		tiny, least, nan = 0x00400000, 0x00800000, 0x7FC00000 // a denormal, the least normal number
		one, two         = 0x3F800000, 0x40000000
	)
	for _, c := range []struct {
		text    string
		mode    uint32
		a, b, d uint32 // v2, v3, and v8 before
		want    uint32 // v8 after, or s4
	}{
		{"v_add_f32_e32 v8, v2, v3", 0x1, one, 1, 0, one + 1},
		{"v_add_f32_e32 v8, v2, v3", 0x2, one, 1, 0, one},
		{"v_add_f32_e32 v8, v2, v3", 0x3, one, 0x80000001, 0, one - 1},
		{"v_add_f32_e32 v8, v2, v3", 0xC, one, 0x80000001, 0, one}, // the field of halves and doubles
		{"v_sub_f32_e64 v8, v2, -v3", 0x1, one, 1, 0, one + 1},
		{"v_sub_f32_e32 v8, v2, v3", 0x2, one, one, 0, 0x80000000},
		{"v_sub_f32_e32 v8, v2, v3", 0x1, one, one, 0, 0},
		{"v_add_f32_e32 v8, v2, v3", 0x3, 0x7F7FFFFF, 0x7F7FFFFF, 0, 0x7F7FFFFF},
		{"v_add_f32_e32 v8, v2, v3", 0x2, 0xFF7FFFFF, 0xFF7FFFFF, 0, 0xFF800000},
		{"v_add_f32_e32 v8, v2, v3", 0x3, 0x7F800000, 0x7F7FFFFF, 0, 0x7F800000},
		{"v_mul_f32_e32 v8, v2, v3", 0x1, 1, 1, 0, 1},
		{"v_mul_f32_e32 v8, v2, v3", 0x1, 1, 0x80000001, 0, 0x80000000},
		{"v_mul_f32_e32 v8, v2, v3", 0x2, 1, 0x80000001, 0, 0x80000001},
		{"v_mul_f32_e32 v8, v2, v3", 0x1, nan | 1, two, 0, nan | 1},
		{"v_fmac_f32_e32 v8, v2, v3", 0x1, 1, 1, one, one + 1},
		{"v_subrev_f32_dpp v8, v2, v3 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf", 0x2, one, 1, 0, 0xBF800000},
		{"v_cvt_f32_i32_e32 v8, v2", 0x1, 0x01000001, 0, 0, 0x4B800001},
		{"v_cvt_f32_i32_e32 v8, v2", 0x2, 0xFEFFFFFF, 0, 0, 0xCB800001},
		{"v_cvt_f32_u32_e32 v8, v2", 0x3, 0xFFFFFFFF, 0, 0, 0x4F7FFFFF},
		{"v_ldexp_f32 v8, v2, v3", 0x1, one, 0xFFFFFF00, 0, 1},
		{"v_cvt_f16_f32_e32 v8, v2", 0x4, one + 1, 0, 0, 0x3C01},
		{"v_cvt_f16_f32_e32 v8, v2", 0xC, 0x477FFFFF, 0, 0, 0x7BFF},
		{"v_cvt_f16_f32_e32 v8, v2", 0x1, one + 1, 0, 0, 0x3C00}, // the field of floats
		{"v_add_f16_e32 v8, v2, v3", 0x4, 0x3C00, 1, 0xABCD0000, 0xABCD3C01},
		{"v_mul_f16_e32 v8, v2, v3", 0x8, 1, 0x8001, 0, 0x8001},
		{"v_pk_add_f16 v8, v2, v3", 0x8, 0x3C003C00, 0x80010001, 0, 0x3BFF3C00},
		{"v_fma_mixlo_f16 v8, v2, v3, 0", 0x4, one, one + 1, 0, 0x3C01},
		{"v_fma_mix_f32 v8, v2, v3, v3", 0x1, 1, 1, 0, 2},
		{"v_mul_f32_e32 v8, v2, v3", 0x00, least, 0x3F000000, 0, tiny},
		{"v_mul_f32_e32 v8, v2, v3", 0x20, least, 0x3F000000, 0, 0},
		{"v_mul_f32_e32 v8, v2, v3", 0x20, least, 0xBF000000, 0, 0x80000000},
		{"v_mul_f32_e32 v8, v2, v3", 0x20, tiny, two, 0, least},
		{"v_mul_f32_e32 v8, v2, v3", 0x10, tiny, two, 0, 0},
		{"v_mul_f32_e32 v8, v2, v3", 0x10, least, 0x3F000000, 0, tiny},
		{"v_mul_f32_e32 v8, 1, v3", 0x10, 0, 0x7F000000, 0, 0}, // the inline constant 1 is a denormal
		{"v_max_f32_e32 v8, v2, v3", 0x30, tiny, 0xBF800000, 0, 0},
		{"v_mov_b32_e32 v8, v2", 0x30, tiny, 0, 0, tiny},
		{"v_and_b32_e32 v8, v2, v3", 0x30, tiny, 0xFFFFFFFF, 0, tiny},
		{"v_add_nc_u32_e32 v8, v2, v3", 0x30, tiny, 1, 0, tiny + 1},
		{"v_cndmask_b32_e64 v8, v2, v2, s6", 0x30, tiny, 0, 0, tiny},
		{"v_fmac_f32_e32 v8, v2, v3", 0x10, 0, one, tiny, 0},
		{"v_fmac_f32_e32 v8, v2, v3", 0x00, 0, one, tiny, tiny},
		{"v_sub_f32_dpp v8, v2, v3 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf", 0x10, tiny, tiny, 7, 0},
		{"v_add_f32_sdwa v8, v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", 0x20, tiny, 0, 7, 0},
		{"v_cmp_lt_f32_e64 s4, v2, v3", 0x00, 0, tiny, 0, 0xFFFFFFFF},
		{"v_cmp_lt_f32_e64 s4, v2, v3", 0x10, 0, tiny, 0, 0},
		{"v_cmp_class_f32_e64 s4, v2, v3", 0x10, tiny, 0x80, 0, 0xFFFFFFFF},
		{"v_add_f16_e32 v8, v2, v3", 0x30, 0x0001, 0x0001, 0xABCD0000, 0xABCD0002},
		{"v_add_f16_e32 v8, v2, v3", 0x40, 0x0001, 0x0001, 0xABCD0000, 0xABCD0000},
		{"v_fma_f16 v8, v2, v3, 0 op_sel:[0,0,0,1]", 0x80, 0x0001, 0x3C00, 0x00010001, 0x00000001},
		{"v_pk_add_f16 v8, v2, v3", 0x80, 0x00013C00, 0x00010001, 0, 0x00003C00},
		{"v_cvt_i32_f32_e32 v8, v2", 0x30, 0x40A00000, 0, 0, 5},
		{"v_cvt_u16_f16_e32 v8, v2", 0xF0, 0x4500, 0, 0, 5},
		{"v_cvt_f16_f32_e32 v8, v2", 0x30, 0x33800000, 0, 0, 1}, // 2^-24
		{"v_cvt_f16_f32_e32 v8, v2", 0x80, 0x33800000, 0, 0, 0},
		{"v_cvt_f32_f16_e32 v8, v2", 0x40, 1, 0, 0, 0},
		{"v_fma_mix_f32 v8, v2, v3, 0", 0x10, tiny, two, 0, 0},
		{"v_add_f32_e64 v8, v2, v3 mul:2", 0x000, one, two, 0, 0x40400000}, // IEEE
		{"v_add_f32_e64 v8, v2, v3 mul:2", 0x200, one, two, 0, 0x40400000}, // denormals
		{"v_add_f32_e64 v8, v2, v3 mul:2", 0x220, one, two, 0, 0x40C00000},
		{"v_add_f32_e64 v8, v2, v3 div:2", 0x220, one, two, 0, 0x3FC00000},
		{"v_add_f32_e64 v8, v2, v3 clamp mul:4", 0x220, 0x3E800000, 0x3E800000, 0, one},
		{"v_mul_f32_e64 v8, v2, v3 mul:2", 0x220, 0x80000000, one, 0, 0},
		{"v_mul_f32_e64 v8, v2, v3 div:2", 0x220, least, one, 0, 0},
		{"v_mul_f16_e64 v8, v2, v3 mul:4", 0x280, 0x3C00, 0x3C00, 0, 0x4400},
		{"v_add_f32_e64 v8, v2, v3 clamp", 0x000, nan, one, 0, 0},
		{"v_add_f32_e64 v8, v2, v3 clamp", 0x100, nan, one, 0, nan},
		{"v_cvt_f32_u32_e64 v8, v2 clamp", 0, 5, 0, 0, one},
		{"v_mad_u32_u24 v8, v2, v3, v3 clamp", 0, 0xFFFFFF, 0xFFFFFF, 0, 0xFFFFFFFF},
		{"v_mad_i32_i24 v8, v2, v3, v3 clamp", 0, 0x800000, 0x7FFFFF, 0, 0x80000000},
		{"v_mul_i32_i24_e64 v8, v2, v3 clamp", 0, 0x800000, 0x800000, 0, 0x7FFFFFFF},
		{"v_mad_u16 v8, v2, v3, v3 clamp", 0, 0x1000, 0x10, 0, 0xFFFF},
		{"v_mad_i16 v8, v2, v3, v3 clamp", 0, 0x8000, 2, 0, 0x8000},
		{"v_pk_mad_i16 v8, v2, v3, v3 clamp", 0, 0x00028000, 0x00030002, 0, 0x00098000},
		{"v_sad_u8 v8, v2, v3, v2 clamp", 0, 0xFFFFFFFF, 0, 0, 0xFFFFFFFF},
		{"v_msad_u8 v8, v2, v3, v3 clamp", 0, 0, 0xFFFFFFFF, 0, 0xFFFFFFFF},
		{"v_qsad_pk_u16_u8 v[8:9], 0, v3, v[2:3]", 0, 0xFFFFFFFF, 0xFFFFFFFF, 0, 0x03FB03FB},
		{"v_qsad_pk_u16_u8 v[8:9], 0, v3, v[2:3] clamp", 0, 0xFFFFFFFF, 0xFFFFFFFF, 0, 0xFFFFFFFF},
		{"v_mqsad_pk_u16_u8 v[8:9], 0, v3, v[2:3] clamp", 0, 0x00010002, 0, 0, 0x00010002},
		{"v_dot2_u32_u16 v8, v2, v3, v2 clamp", 0, 0xFFFFFFFF, 0xFFFFFFFF, 0, 0xFFFFFFFF},
		{"v_and_b32_sdwa v8, v2, v3 clamp dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", 0, 0xF0, 0x3C, 0, 0x30},
		{"v_add_co_u32 v8, s4, v2, v3 clamp", 0, 0xFFFFFFFF, 2, 0, 0xFFFFFFFF},
		{"v_sub_co_u32 v8, s4, v2, v3 clamp", 0, 1, 2, 0, 0},
		{"v_mad_u64_u32 v[8:9], s4, v2, v3, -1 clamp", 0, 2, 3, 0, 0xFFFFFFFF},
	} {
		in := require.V(rdna2.Assemble(c.text, false))(t)
		b := newRegisters(32)
		b.p.Mode, b.p.Moded, b.w.Mode = c.mode, c.mode != 0, c.mode
		u, _ := decode.Op(&b.p, &in, nil)
		require.NoError(t, u.Details.Err, c.text)
		b.w.Machine.Program = &b.p
		for r, v := range map[int]uint32{2: c.a, 3: c.b, 8: c.d} {
			for l := range 32 {
				b.w.Reg(r)[l] = v
			}
		}
		u.Handler(&b.w, &u)
		got := b.w.Reg(8)[5]
		if in.Form().Name[:5] == "V_CMP" {
			got = b.w.S[4]
		}
		require.Check(t, got == c.want, "%s in mode %#x: %#08x, want %#08x", c.text, c.mode, got, c.want)
	}
}
