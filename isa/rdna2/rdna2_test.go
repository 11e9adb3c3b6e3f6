package rdna2

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func words(b []byte) []uint32 {
	w := make([]uint32, len(b)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w
}

// TestRoundTrip: every form survives encode, decode, print and assemble.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for op := Op(1); op < NumOps; op++ {
		f := op.Form()
		for i := range 24 {
			wave64 := i&1 == 1
			in := randomInst(f, r, wave64)
			b, err := in.Encode(nil)
			if err != nil {
				t.Fatalf("%s: encode %+v: %v", f.Name, in, err)
			}
			got, n, err := Decode(words(b))
			if err != nil || n*4 != len(b) || got != in {
				t.Fatalf("%s: % x decodes to %+v, %d words, %v; want %+v", f.Name, b, got, n, err, in)
			}
			text := in.Text(wave64)
			back := require.V(Assemble(text, wave64))(t, f.Name)
			if f.Format == SMEM && f.NumOps > 1 {
				back.Op = in.Op // forms of equal text
			}
			if back != in {
				t.Fatalf("%s: %q assembles to\n%+v, want\n%+v", f.Name, text, back, in)
			}
			if len(b) > 4 {
				if _, _, err := Decode(words(b[:len(b)-4])); !errors.Is(err, ErrTruncated) {
					t.Fatalf("%s: truncated: %v", f.Name, err)
				}
			}
		}
	}
}

// TestText holds texts and words that llvm-mc produced.
func TestText(t *testing.T) {
	for _, c := range []struct {
		text   string
		wave64 bool
		words  []uint32
	}{
		{"s_waitcnt vmcnt(0) lgkmcnt(0)", false, []uint32{0xBF8C0070}},
		{"s_waitcnt_vscnt null, 0x0", false, []uint32{0xBBFD0000}},
		{"s_getreg_b32 s0, hwreg(HW_REG_MODE, 2, 4)", false, []uint32{0xB9001881}},
		{"s_load_dwordx4 s[4:7], s[0:1], null", false, []uint32{0xF4080100, 0xFA000000}},
		{"s_load_dwordx4 s[4:7], s[0:1], -0x10", false, []uint32{0xF4080100, 0xFA1FFFF0}},
		{"v_add_f32_e32 v1, 0x3e8, v2", false, []uint32{0x060204FF, 0x3E8}},
		{"v_add_f32_e64 v1, -|v2|, -s3 div:2", false, []uint32{0xD5030101, 0x78000702}},
		{"v_fma_f64 v[0:1], v[2:3], 0.5, 0x40490fdb", false, []uint32{0xD54C0000, 0x03FDE102, 0x40490FDB}},
		{"v_cmp_lt_f32_e32 vcc, v1, v2", true, []uint32{0x7C020501}},
		{"v_cmpx_lt_f32_e64 v1, v2", false, []uint32{0xD411007E, 0x00020501}},
		{"v_add_co_ci_u32_e32 v1, vcc_lo, v2, v3, vcc_lo", false, []uint32{0x50020702}},
		{"v_pk_fma_f16 v1, v2, s3, v4 op_sel:[1,0,1] op_sel_hi:[0,1,1] neg_lo:[1,0,0] neg_hi:[0,0,1] clamp", false, []uint32{0xCC0EEC01, 0x34100702}},
		{"v_fma_mix_f32 v1, -v2, |v3|, v4 op_sel:[1,0,0] op_sel_hi:[1,1,0]", false, []uint32{0xCC200A01, 0x3C120702}},
		{"v_mov_b32_dpp v1, v2 row_shl:1 row_mask:0xa bank_mask:0x1 bound_ctrl:1", false, []uint32{0x7E0202FA, 0xA1090102}},
		{`ds_swizzle_b32 v1, v2 offset:swizzle(BITMASK_PERM,"01pip")`, false, []uint32{0xD8D40907, 0x01000002}},
		{"global_load_dword v1, v2, s[4:5] offset:-4 glc slc dlc", false, []uint32{0xDC339FFC, 0x01040002}},
		{"scratch_load_dword v1, off, off offset:4", false, []uint32{0xDC304004, 0x017F0000}},
		{"v_fmamk_f32 v1, v2, 0x1234567, v3", false, []uint32{0x58020702, 0x01234567}},
	} {
		in, n, err := Decode(c.words)
		if err != nil || n != len(c.words) {
			t.Errorf("%q: decode: %d words, %v", c.text, n, err)
			continue
		}
		if got := in.Text(c.wave64); got != c.text {
			t.Errorf("%08x prints %q, want %q", c.words, got, c.text)
		}
		in, err = Assemble(c.text, c.wave64)
		if err != nil {
			t.Error(err)
			continue
		}
		if b, err := in.Encode(nil); err != nil || !slices.Equal(words(b), c.words) {
			t.Errorf("%q assembles to %08x, %v; want %08x", c.text, words(b), err, c.words)
		}
	}
}

// TestSuffix: bare mnemonics select the shortest encoding.
func TestSuffix(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"v_add_f32 v1, s2, v3", "v_add_f32_e32 v1, s2, v3"},
		{"v_add_f32 v1, v3, s2", "v_add_f32_e64 v1, v3, s2"},
		{"v_add_f32 v1, v3, 1.0 clamp // comment", "v_add_f32_e64 v1, v3, 1.0 clamp"},
		{"v_cmp_lt_f32 s7, v3, v4", "v_cmp_lt_f32_e64 s7, v3, v4"},
		{"s_waitcnt 0", "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)"},
	} {
		in, err := Assemble(c.text, false)
		if err != nil || in.String() != c.want {
			t.Errorf("%q is %q, %v; want %q", c.text, in.String(), err, c.want)
		}
	}
}

// TestErrors: errors are refused and named.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"v_frob v1", "unknown mnemonic"},
		{"v_add_f32_e32 v1, v2", "operands"},
		{"v_add_f32_e32 v1, v2, s3", "s3"},
		{"v_add_f32_e32 v1, v256, v3", "v256"},
		{"s_load_dwordx4 s[5:8], s[0:1], 0x0", "code 5"},
		{"s_load_dwordx4 s[4:7], s[0:1], 0x100000", "0x100000"},
		{"global_load_dword v1, v2, s[4:5] offset:2048", "offset 2048"},
		{"v_add_nc_u32_e64 v1, -v2, v3", "neg"},
		{"v_mov_b32_dpp v1, v2 row_shl:0 row_mask:0xf bank_mask:0xf", "dpp control"},
		{"v_fma_f32 v1, 0x11111111, 0x22222222, v3", "literal"},
		{"v_add_f32_e64 v1, v2, v3 offset:4", "offset:4"},
		{"ds_swizzle_b32 v1, v2 offset:swizzle(SWAP,3)", "swizzle"},
		{"s_waitcnt vmcnt(64)", "vmcnt(64)"},
		{"s_add_u32 s0, |1|, s1", "neg and abs"},
		{"v_pk_add_u16 v1, -v2, v3", "neg and abs"},
		{"v_add_f32_e64 v1, v2, v3 neg_lo:[1,0]", "neg_lo"},
		{"v_mov_b32_dpp v1, v2", "needs dpp8"},
		{"v_med3_f32 v1, s1, s2, s3", "at most 2"},
		{"s_add_u32 s0, s1, s2 noclamp", "noclamp"},
		{"s_load_dword s0, s[2:3], 0x10 offset:4", "offset:4"},
	} {
		in, err := Assemble(c.text, false)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v (%s), want %q", c.text, err, in.String(), c.want)
		}
	}
	for _, w := range [][]uint32{
		{0xffffffff}, {0x7e0002f9, 0x01000000}, {0x7c0000e9, 0}, {0xdc300000, 0}, {0xd7640001, 0x04020501},
	} {
		if in, _, err := Decode(w); err == nil {
			t.Errorf("%08x decodes to %q", w, in.String())
		}
	}
}

// TestOmitted: instructions that are left out are named.
func TestOmitted(t *testing.T) {
	for _, c := range []struct {
		words []uint32
		want  string
	}{
		{[]uint32{0xF0800F08, 0x00010204}, "image_sample"}, // image_sample v[2:5], v[4:5], s[4:11], s[0:3] dmask:0xf dim:2D
		{[]uint32{0xBF900003}, "s_sendmsg"},
		{[]uint32{0xE0311000, 0x80000100}, "buffer_load_dword with lds"},
		{[]uint32{0xD575FFFF, 0}, "unknown instruction"},
	} {
		_, _, err := Decode(c.words)
		if err == nil || !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%08x: %v, want %q", c.words, err, c.want)
		}
	}
	for _, r := range omitted() {
		if r.match&^r.mask != 0 || r.name == "" || r.mask == 0 {
			t.Errorf("row %+v", r)
		}
	}
	if n := len(omitted()); n < 200 {
		t.Errorf("%d rows", n)
	}
}

// TestTableComplete: the forms our drivers and compilers use are all there.
func TestTableComplete(t *testing.T) {
	have := map[string]bool{}
	for op := Op(1); op < NumOps; op++ {
		f := op.Form()
		have[f.Mnemonic.String()] = true
		if f.Op != op || f.Name == "" || f.Mnemonic.Meaning() == "" || f.Sched == NoSched {
			t.Errorf("row %d (%s) is incomplete", op, f.Name)
		}
	}
	for _, m := range strings.Fields(`v_fmac_f32 v_fma_mix_f32 v_dot2_f32_f16 v_pk_fma_f16 v_dot4_i32_i8 v_dot4c_i32_i8
		ds_read2_b32 ds_write_b128 global_load_dwordx4 scratch_load_dword s_load_dwordx8 v_permlanex16_b32 buffer_gl0_inv`) {
		if !have[m] {
			t.Errorf("no form of %s", m)
		}
	}
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for op := Op(1); op < NumOps; op += 7 {
		in := randomInst(op.Form(), r, false)
		b, _ := in.Encode(nil)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in, n, err := Decode(words(b))
		if err != nil {
			return
		}
		back, err := in.Encode(nil)
		if err != nil {
			return // more permissive than the encoder: register ranges
		}
		if string(back) != string(b[:4*n]) {
			t.Fatalf("%s: % x encodes to % x", in.String(), b[:4*n], back)
		}
		in.Text(true)
	})
}

func FuzzAssemble(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for op := Op(1); op < NumOps; op += 5 {
		in := randomInst(op.Form(), r, false)
		f.Add(in.String())
	}
	f.Fuzz(func(t *testing.T, s string) {
		in, err := Assemble(s, false)
		if err != nil {
			return
		}
		require.NoError(t, require.Err(in.Encode(nil)), s, "assembles but does not encode")
	})
}

func BenchmarkDecode(b *testing.B) {
	in, _ := Assemble("v_fmac_f32_e32 v1, v2, v3", false)
	code, _ := in.Encode(nil)
	w := words(code)
	b.ReportAllocs()
	for b.Loop() {
		require.V2(Decode(w))(b)
	}
}
