package asm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// section is the content of a section after assembling.
func section(t *testing.T, src, name string) []byte {
	t.Helper()
	u, err := Assemble(src)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	for _, s := range u.Sections {
		if s.Name == name {
			return s.Data
		}
	}
	t.Fatalf("no section %s", name)
	return nil
}

// TestData: data directives, expressions and symbols.
func TestData(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []byte
	}{
		{".byte 1, 2+3*4, -1, 'a'", []byte{1, 14, 255, 'a'}},
		{".short 0x1234\n.byte (1<<4)|3, 7 % 4, ~0 & 15", []byte{0x34, 0x12, 0x13, 3, 15}},
		{".long end-start\nstart: .byte 9\nend:", []byte{1, 0, 0, 0, 9}},
		{".set n, 3\n.byte n\nn = n + 1\n.byte n", []byte{3, 4}},
		{".asciz \"a\\n\"\n.p2align 2", []byte{'a', '\n', 0, 0}},
		{".zero 2\n.fill 2, 2, 0x0102", []byte{0, 0, 2, 1, 2, 1}},
		{".float 1\n.double 0.5", []byte{0, 0, 0x80, 0x3F, 0, 0, 0, 0, 0, 0, 0xE0, 0x3F}},
		{".macro twice x, y=5\n.byte \\x, \\y\n.endm\ntwice 1\ntwice 2, 3 ; comment\ntwice y=9, x=8", []byte{1, 5, 2, 3, 8, 9}},
		{".rept 2\n.irp v, 1, 2\n.byte \\v\n.endr\n.endr", []byte{1, 2, 1, 2}},
		{".set n, 2\n.if n == 1\n.byte 1\n.elseif n == 2\n.byte 2\n.if 0\n.byte 9\n.endif\n.else\n.byte 3\n.endif", []byte{2}},
		{"1: .byte 1\n.long 2f-1b\n2: .byte 7", []byte{1, 5, 0, 0, 0, 7}},
		{".byte 1 /* two\nlines */\n.byte 2 // end\n# whole line\n.byte 3", []byte{1, 2, 3}},
		{".byte max(3, 7, 5), alignto(5, 4)", []byte{7, 8}},
	} {
		require.Equal(t, c.want, section(t, ".data\n"+c.src, ".data"), c.src)
	}
}

// TestCode: branches, literals of symbols, and the alignment of code.
func TestCode(t *testing.T) {
	code := section(t, `
	.set size, 64
	.set big, 0x12345
k:	s_branch .Lend
1:	s_mov_b32 s0, size
	s_mov_b32 s1, big
	s_cbranch_scc1 1b
.Lend:
	s_branch -size/4+1
	v_mov_b32 v0, (1<<4)|3
	s_endpgm
	.p2align 5
`, ".text")
	var got []string
	for i := 0; i < len(code); i += 4 {
		got = append(got, fmt.Sprintf("%08x", binary.LittleEndian.Uint32(code[i:])))
	}
	want := []string{"bf820004", "be8003c0", "be8103ff", "00012345", "bf85fffc", "bf82fff1", "7e000293", "bf810000"}
	require.Equal(t, want, got)
}

// TestSpellings: operands are lists of tokens, as LLVM reads them; its encodings are expected.
func TestSpellings(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []uint32
	}{
		{"v_add_f32 v1, abs(v2), v3", []uint32{0xd5030101, 0x00020702}},
		{"v_add_f32 v1, neg(v2), v3", []uint32{0xd5030001, 0x20020702}},
		{"V_ADD_F32 v1, neg( abs(v2) ),v3", []uint32{0xd5030101, 0x20020702}},
		{"v_add_f32 v1, neg(|v2|), v3", []uint32{0xd5030101, 0x20020702}},
		{"v_add_f32 v1, - | v2 |, v3", []uint32{0xd5030101, 0x20020702}},
		{"v_add_f32 v1, -abs(-1.0), v3", []uint32{0x060206f3}},
		{"v_add_f32 v1, neg(1), v3", []uint32{0x060206ff, 0x80000001}},
		{"v_add_f32 v1, .5, v3", []uint32{0x060206f0}},
		{"s_mov_b32 s0, 1e3", []uint32{0xbe8003ff, 0x447a0000}},
		{"s_mov_b32 s0, 'a'", []uint32{0xbe8003ff, 0x61}},
		{"s_mov_b32 s[0], 010", []uint32{0xbe800388}},
		{"v_add_f64 v[0:1], 1.1, v[2:3]", []uint32{0xd5640000, 0x000204ff, 0x3ff19999}},
		{"v_add_f16 v1, 1.5, v2", []uint32{0x640204ff, 0x3e00}},
		{"v_add_f16 v1, 0.0, v2", []uint32{0x64020480}},
		{".set N, 1\nv_add_f64 v[N : N+1], [v1,v2], [v3, v4]", []uint32{0xd5640001, 0x00020701}},
		{"s_mov_b64 [s0,s1], [vcc_lo, vcc_hi]", []uint32{0xbe80046a}},
		{"v_mov_b32 v1, vccz", []uint32{0x7e0202fb}},
		{"s_waitcnt vmcnt(0) & lgkmcnt(0)", []uint32{0xbf8c0070}},
		{"s_waitcnt vmcnt ( 0 ), lgkmcnt(0x1)", []uint32{0xbf8c0170}},
		{"s_waitcnt vmcnt_sat(100)&expcnt_sat(9)", []uint32{0xbf8cff7f}},
		{"s_waitcnt vmcnt(1+1)", []uint32{0xbf8c3f72}},
		{"s_waitcnt 0x1+1", []uint32{0xbf8c0002}},
		{"ds_swizzle_b32 v1, v2 offset:swizzle(QUAD_PERM, 0, 1, 2, 3)", []uint32{0xd8d480e4, 0x01000002}},
		{"ds_swizzle_b32 v1, v2 offset : swizzle ( BITMASK_PERM , \"01pip\" )", []uint32{0xd8d40907, 0x01000002}},
		{"ds_swizzle_b32 v1, v2 offset:swizzle(BROADCAST,32,1+1)", []uint32{0xd8d40040, 0x01000002}},
		{"v_mov_b32 v1, v2 quad_perm : [ 0 , 1,2, 3 ], row_mask : 0xf bound_ctrl:0", []uint32{0x7e0202fa, 0xff08e402}},
		{"v_mov_b32 v1, v2 dpp8:[7, 6,5,4,3,2,1,0] fi:0", []uint32{0x7e0202e9, 0x05397702}},
		{"global_load_dword v1, v2, s[4:5] offset:4*2, glc", []uint32{0xdc318008, 0x01040002}},
		{"s_getreg_b32 s0, {size: 3, id: 1}", []uint32{0xb9001001}},
		{"v_pk_add_f16 v1, v2, v3 op_sel:[1, 0]", []uint32{0xcc0f4801, 0x18020702}},
		{"v_fma_mix_f32 v1, abs(v2), neg(v3), v4", []uint32{0xcc200101, 0x44120702}},
		// A modifier that is left off chooses an encoding that has it, also one of parts of registers.
		{"v_sub_f32 v80, v1, v2 mul:1", []uint32{0xd5040050, 0x00020501}},
		{"v_min_u32 v69, v213, v158 noclamp", []uint32{0x268b3cf9, 0x060616d5}},
		{"v_add_f32 v1, 42, v3 src0_sel:BYTE_0", []uint32{0x060206f9, 0x068016aa}},
		// Operands of packed integers have the floats of 32 bits.
		{"v_pk_mul_lo_u16 v1, v2, -3.25", []uint32{0xcc014001, 0x1801ff02, 0xc0500000}},
		{"v_pk_mul_lo_u16 v1, 0.15915494, v3", []uint32{0xcc014001, 0x180206f8}},
		{"v_trunc_f64 v[2:3], -abs(2)", []uint32{0xd5970102, 0x20000082}},
		{"v_fmaak_f16 v1, v2, v3, 0.5", []uint32{0x70020702, 0x00003800}},
		{"v_writelane_b32 v76, 1.5, s17", []uint32{0xd761004c, 0x000022ff, 0x3fc00000}},
		{"v_mul_f32 v1, v2, -private_limit", []uint32{0xd5080001, 0x4001dd02}},
		{"v_cmp_lt_f32 ttmp3, v2, v3", []uint32{0xd401006f, 0x00020702}},
		{"s_getreg_b32 s0, 0x1001", []uint32{0xb9001001}},
	} {
		code := section(t, c.src, ".text")
		var got []uint32
		for i := 0; i < len(code); i += 4 {
			got = append(got, binary.LittleEndian.Uint32(code[i:]))
		}
		require.Same(t, fmt.Sprintf("%08x", c.want), fmt.Sprintf("%08x", got), c.src)
	}
}

// TestErrors: a mistake is reported with its line.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		src  string
		line int
		want string
	}{
		{"\nv_frob v1", 2, "unknown mnemonic"},
		{".text\ns_branch nowhere", 2, "nowhere"},
		{"\n\n.frob 1", 3, "unknown directive .frob"},
		{"a:\na:", 2, "defined twice"},
		{".byte 256", 1, "256 does not fit 1 bytes"},
		{".byte 1 +", 1, "ends early"},
		{".byte (1", 1, "parenthesis"},
		{".byte 1/0", 1, "1 / 0"},
		{".data\nv_mov_b32 v0, v1", 2, "holds no code"},
		{".amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"", 1, "gfx1030"},
		{".amdhsa_kernel k\n.amdhsa_frob 1", 2, "unknown directive .amdhsa_frob"},
		{".amdhsa_kernel k\n.amdhsa_next_free_vgpr 300", 2, "want 0 to 256"},
		{".amdhsa_kernel k", 1, "no .end_amdhsa_kernel"},
		{".macro m\nm\n.endm\nm", 4, "nested too deeply"},
		{".rept 1", 1, "no .endr"},
		{".if 1", 1, "no .endif"},
		{".ascii \"x", 1, "not closed"},
		{"x: .byte 1\ns_mov_b32 s0, x-y\ny:", 2, "multiple of 4"},
		{".amdgpu_metadata\namdhsa.kernels: 5\n.end_amdgpu_metadata", 3, "amdhsa.kernels"},
		{"v_add_f32 v1, |-v2|, v3", 1, "written -|x|"},
		{"v_add_f32 v1, abs(-v2), v3", 1, "written -|x|"},
		{"v_add_f32 v1, v2,", 1, "missing"},
		{"v_mov_b32 v[N], 0", 1, "N is no number of a register"},
		{"v_add_f64 v[0:1], [v2,v4], v[0:1]", 1, "consecutive"},
		{"s_waitcnt vmcnt(0) &", 1, "want a counter"},
		{"s_mov_b32 s0, (1", 1, "the operands end early"},
		{"\n.amdgpu_metadata\na: 1\n b: [\n.end_amdgpu_metadata", 4, "metadata: mapping values"},
		{".amdgpu_metadata\na: 1.5\n.end_amdgpu_metadata", 3, "metadata has 1.5, which is float64"},
	} {
		_, err := Assemble(c.src)
		var e *Error
		if !errors.As(err, &e) || e.Line != c.line || !strings.Contains(e.Msg, c.want) {
			t.Errorf("%q: %v, want line %d: %s", c.src, err, c.line, c.want)
		}
	}
}

// FuzzAssemble: no source makes the assembler panic or grow without bound, and an accepted source links or is refused.
func FuzzAssemble(f *testing.F) {
	f.Add(".macro m x\n.byte \\x\n.endm\n.rept 3\nm 2\n.endr\nk: s_branch k\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 8\n.end_amdhsa_kernel")
	f.Add(".amdgpu_metadata\n---\namdhsa.kernels:\n  - .args:\n      - .offset: 0\n        .size: 8\n    .name: k\n...\n.end_amdgpu_metadata")
	f.Add("s_add_u32 s4, s4, f@rel32@lo+4\nf: v_mov_b32_e32 v0, 1f-f\n1:")
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 1<<14 {
			return
		}
		u, err := Assemble(src)
		if err != nil {
			return
		}
		file, err := u.Link()
		if err != nil {
			return
		}
		require.V(file.ELF())(t)
	})
}
