package gpu

import (
	"math/bits"
	"strings"
	"testing"
)

// TestPreparedSources: DPP8 and SDWA take their sources from other lanes and
// parts of registers, and put results into parts; relative moves pick registers
// by M0; ds_swizzle has all its patterns. v2 to v6 hold 0, 100, 200, 300 and 400
// plus the lane.
func TestPreparedSources(t *testing.T) {
	const constant = "v_mov_b32 v6, 0x8182f384\n"
	lane := func(l int) uint32 { return uint32(l) }
	for _, c := range []struct {
		text string
		wave int
		f    func(l int) uint32
	}{
		{"v_mov_b32_dpp v5, v2 dpp8:[7,6,5,4,3,2,1,0]", 32, func(l int) uint32 { return lane(l ^ 7) }},
		{"v_add_nc_u32_dpp v5, v2, v3 dpp8:[0,0,0,0,1,1,1,1]", 64, func(l int) uint32 { return lane(l&^7+l>>2&1) + 100 + lane(l) }},
		{"v_cmpx_gt_u32 8, v2\nv_mov_b32_dpp v5, v2 dpp8:[1,1,1,1,1,1,1,1]\ns_mov_b32 exec_lo, 0xff00\nv_mov_b32_dpp v5, v2 dpp8:[0,0,0,0,0,0,0,0] fi:1", 32, func(l int) uint32 {
			switch {
			case l < 8:
				return 1
			case l < 16:
				return 8
			}
			return 300 + lane(l)
		}},
		{"v_add_co_u32 v6, vcc_lo, -1, v2\nv_add_co_ci_u32_dpp v5, vcc_lo, v2, v3, vcc_lo quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", 32, func(l int) uint32 {
			carry := uint32(0)
			if l > 0 {
				carry = 1
			}
			return lane(l^1) + 100 + lane(l) + carry
		}},
		{constant + "v_mov_b32_sdwa v5, v6 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1", 32, func(int) uint32 { return 0xF3 }},
		{constant + "v_mov_b32_sdwa v5, sext(v6) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", 64, func(int) uint32 { return 0xFFFF8182 }},
		{constant + "v_mov_b32_sdwa v5, v6 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0", 32, func(l int) uint32 { return 0x840000 | 300 + lane(l) }},
		{constant + "v_mov_b32_sdwa v5, v6 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_0", 32, func(int) uint32 { return 0xFFFF8400 }},
		{constant + "v_mov_b32_sdwa v5, v6 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD", 32, func(int) uint32 { return 0xF3840000 }},
		{"s_mov_b32 s20, 0x0700\nv_add_nc_u32_sdwa v5, s20, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD", 32, func(l int) uint32 { return 107 + lane(l) }},
		{"v_mov_b32 v6, 0x41200000\nv_add_f32_sdwa v5, -v6, |v6| dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", 32, func(int) uint32 { return 0 }},
		{"v_cmp_lt_u32_sdwa s20, v2, v3 src0_sel:DWORD src1_sel:BYTE_1\nv_mov_b32 v5, s20", 32, func(int) uint32 { return 0 }},
		{"v_cmp_gt_u32_sdwa vcc_lo, v4, v2 src0_sel:BYTE_1 src1_sel:DWORD\nv_cndmask_b32 v5, v3, v4, vcc_lo", 32, func(l int) uint32 { return 100 + lane(l) }},
		{"s_mov_b32 m0, 2\nv_movrels_b32 v5, v2", 64, func(l int) uint32 { return 200 + lane(l) }},
		{"s_mov_b32 m0, 1\nv_movreld_b32 v4, v2", 32, lane},
		{"s_mov_b32 m0, 1\nv_movrelsd_b32 v4, v2", 32, func(l int) uint32 { return 100 + lane(l) }},
		{"s_mov_b32 m0, 0x20001\nv_movrelsd_2_b32 v3, v2", 32, func(l int) uint32 { return 100 + lane(l) }},
		{"v_swap_b32 v5, v2", 32, lane},
		{"v_swap_b32 v5, v2\nv_mov_b32 v5, v2", 64, func(l int) uint32 { return 300 + lane(l) }},
		{"s_mov_b32 m0, 4\ns_mov_b32 s24, 9\ns_movrels_b32 s21, s20\nv_mov_b32 v5, s21", 32, func(int) uint32 { return 9 }},
		{"s_mov_b32 m0, 2\ns_mov_b64 s[8:9], 5\ns_movreld_b64 s[20:21], s[8:9]\nv_mov_b32 v5, s22", 32, func(int) uint32 { return 5 }},
		{"ds_swizzle_b32 v5, v2 offset:0xc060\ns_waitcnt lgkmcnt(0)", 64, func(l int) uint32 { return lane(l&32 | (l+3)&31) }},
		{"ds_swizzle_b32 v5, v2 offset:0xc460\ns_waitcnt lgkmcnt(0)", 32, func(l int) uint32 { return lane((l - 3) & 31) }},
		{"ds_swizzle_b32 v5, v2 offset:0xc027\ns_waitcnt lgkmcnt(0)", 32, func(l int) uint32 { return lane(l&7 | (l+1)&24) }},
		{"ds_swizzle_b32 v5, v2 offset:0xe000\ns_waitcnt lgkmcnt(0)", 64, func(l int) uint32 { return lane(l&32) | bits.Reverse32(uint32(l))>>27 }},
		{"ds_swizzle_b32 v5, v2 offset:0xe001\ns_waitcnt lgkmcnt(0)", 32, func(l int) uint32 { return bits.Reverse32(uint32(l))>>28 | lane(l&1) }},
		{"ds_swizzle_b32 v5, v2 offset:0x801b\ns_waitcnt lgkmcnt(0)", 32, func(l int) uint32 { return lane(l ^ 3) }},
	} {
		got := lanesOf(t, c.wave, c.text)
		wantLanes(t, c.text, got[0], c.f)
	}
}

// TestRelativeErrors: a register that M0 picks and whose load was not waited for is a fault.
func TestRelativeErrors(t *testing.T) {
	var in [5][]uint32
	for i := range in {
		in[i] = make([]uint32, 32)
	}
	for _, c := range []struct{ text, want string }{
		{"s_mov_b32 m0, 3\nv_mov_b32 v9, 0\nds_read_b32 v8, v9\nv_movrels_b32 v5, v5", "(v_movrels_b32_e32 v5, v5) work-group 0,0,0 wave 0: v8 is the target of a load that was not waited for"},
	} {
		if _, err := runLanes(t, 32, c.text, in, true); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}
