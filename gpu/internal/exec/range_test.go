package exec_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/decode"
	"github.com/nnsoc/nnsoc/gpu/internal/exec"
	"github.com/nnsoc/nnsoc/gpu/internal/float/floattest"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// TestRange: a range of operations leaves the registers that it leaves one by one, NaNs among them, in runs of up to
// more alike than a batch counts, with some lanes or none.
func TestRange(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for round := range 120 {
		lanes := 32 << (round & 1)
		b := newRegisters(lanes)
		var code []byte
		n, text := 0, ""
		for range 1 + r.IntN(6) {
			a, v := "v%d", func() int { return r.IntN(16) }
			if r.IntN(2) == 0 {
				a = "s%d"
			}
			form := []string{"v_fma_f32 v%d, " + a + ", v%d, v%d", "v_fmac_f32 v%d, " + a + ", v%d", "v_dot2_f32_f16 v%d, " + a + ", v%d, v%d", "v_add_f32 v%d, " + a + ", v%d"}[r.IntN(4)]
			count := 1 + r.IntN(4)
			if round%40 == 0 {
				count = 300
			}
			for range count {
				args := []any{v(), v(), v(), v()}
				text = fmt.Sprintf(form, args[:strings.Count(form, "%d")]...)
				in, err := rdna2.Assemble(text, lanes == 64)
				require.NoError(t, err, text)
				code, err = in.Encode(code)
				require.NoError(t, err, text)
				n++
			}
		}
		require.NoError(t, decode.Program(&b.p, append(code, 0, 0, 0x81, 0xBF), 0)) // s_endpgm
		for i := range b.regs {
			if b.regs[i] = floattest.Value(r); round&2 == 0 {
				b.regs[i] &= 0xBFFFBFFF // few results are NaN
			}
		}
		for i := range 16 {
			b.w.S[i] = floattest.Value(r)
		}
		if round%3 == 0 {
			b.w.S[state.EXEC], b.w.S[state.EXEC+1] = r.Uint32()&r.Uint32(), r.Uint32()
		}
		if round%20 == 9 {
			b.w.S[state.EXEC], b.w.S[state.EXEC+1] = 0, 0
		}
		before := slices.Clone(b.regs)
		for i := range n {
			u := &b.p.Ops[i]
			u.Handler(&b.w, u)
		}
		want := slices.Clone(b.regs)
		copy(b.regs, before)
		exec.Range(&b.w, 0, int32(n))
		if !slices.Equal(b.regs, want) {
			t.Fatalf("round %d: %d operations, the last is %s: registers differ", round, n, text)
		}
	}
}

// TestData: a word that is no instruction fails when it is reached; a program begins with a whole instruction.
func TestData(t *testing.T) {
	code := []byte{0, 0, 0x80, 0xBF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2, 2, 0x7E, 1, 2, 3, 4, 0, 0, 0x81, 0xBF} // s_nop 0, data, v_mov_b32 v1, 0x4030201, s_endpgm
	p := state.Program{WaveSize: 32, VGPRs: 8}
	require.NoError(t, decode.Program(&p, code, 16))
	if want := []int32{0, 1, 2, -1, 3}; !slices.Equal(p.Index, want) || p.Entry != 3 || len(p.Ops) != 5 || p.Ops[1].Details.Err == nil || p.Ops[2].Details.Err != nil {
		t.Errorf("operations of words %d, want %d; the program begins with %d of %d", p.Index, want, p.Entry, len(p.Ops))
	}
	if err := decode.Program(&state.Program{WaveSize: 32, VGPRs: 8}, code, 12); err == nil || err.Error() != "entry 0xc is inside an instruction" {
		t.Error(err)
	}
}

// TestRefused: unmodelled features of an instruction are refused by name.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		text string
		edit func(*rdna2.Inst)
		want string
	}{
		{"v_add_f32_e64 v1, v2, v3", func(in *rdna2.Inst) { in.OpSel = 2 }, "op_sel 2 on an instruction without halves"},
		{"v_dot4_i32_i8 v1, v2, v3, v4", func(in *rdna2.Inst) { in.Neg = 1 }, "on v_dot4_i32_i8 is not modelled"},
		{"v_dot4_i32_i8 v1, v2, v3, v4", func(in *rdna2.Inst) { in.OpSel = 1 }, "op_sel 1 on v_dot4_i32_i8 is not modelled"},
		{"v_readlane_b32 s1, v2, s3", func(in *rdna2.Inst) { in.Neg = 1 }, "source modifiers on v_readlane_b32 are not modelled"},
		{"v_readlane_b32 s1, v2, s3", func(in *rdna2.Inst) { in.Abs = 1 }, "source modifiers on v_readlane_b32 are not modelled"},
		{"s_waitcnt_vscnt null, 0x0", func(in *rdna2.Inst) { in.Src[0] = 4 }, "a register operand of s_waitcnt_vscnt is not modelled"},
		{"s_load_dwordx4 s[100:103], s[0:1], 0x0", func(in *rdna2.Inst) { in.Dst = 104 }, ""},
		{"s_load_dwordx4 s[100:103], s[0:1], 0x0", func(in *rdna2.Inst) { in.Dst = 105 }, "loads s105..s108 beyond the scalar file"},
		{"s_mov_b64 exec, s[0:1]", func(in *rdna2.Inst) { in.Dst = 127 }, "writes 2 scalar registers from 127 on"},
		{"v_mov_b32 v1, v2", func(in *rdna2.Inst) { in.Dst = rdna2.VGPR0 + testVGPRs }, fmt.Sprintf("writes v%d, the kernel has %d registers", testVGPRs, testVGPRs)},
		{"v_mov_b32 v1, v2", func(in *rdna2.Inst) { in.Dst = rdna2.VGPR0 + testVGPRs - 1 }, ""},
		{"global_load_dwordx4 v[4:7], v[0:1], off", func(in *rdna2.Inst) { in.Dst = rdna2.VGPR0 + testVGPRs - 3 }, fmt.Sprintf("writes v%d, the kernel has %d registers", testVGPRs, testVGPRs)},
	} {
		in, err := rdna2.Assemble(c.text, true)
		require.NoError(t, err, c.text)
		c.edit(&in)
		b := newRegisters(64)
		u, _ := decode.Op(&b.p, &in, nil)
		if err := u.Details.Err; (err == nil) != (c.want == "") || err != nil && !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
	in := require.V(rdna2.Assemble("scratch_load_dword v0, off, off", true))(t)
	b := newRegisters(64)
	b.p.ScratchBytes = 0
	if u, _ := decode.Op(&b.p, &in, nil); u.Details.Err == nil || !strings.HasSuffix(u.Details.Err.Error(), "scratch access in a kernel without scratch") {
		t.Error(u.Details.Err)
	}
}
