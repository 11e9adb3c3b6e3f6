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
