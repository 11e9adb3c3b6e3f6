package gpu

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// lanesOf runs text on one wave with v2 = lane index, v3 = 100 + lane.
func lanesOf(t *testing.T, wave int, text string) [3][]uint32 {
	t.Helper()
	var in [5][]uint32
	for i := range in {
		for l := range wave {
			in[i] = append(in[i], uint32(100*i+l))
		}
	}
	var got [2][3][]uint32
	for i, functional := range []bool{true, false} {
		var err error
		if got[i], err = runLanes(t, wave, text, in, functional); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(got[0]) != fmt.Sprint(got[1]) {
		t.Errorf("functional and timed results differ for %s", text)
	}
	return got[0]
}

func wantLanes(t *testing.T, what string, got []uint32, f func(l int) uint32) {
	t.Helper()
	for l, v := range got {
		if w := f(l); v != w {
			t.Errorf("%s: lane %d is %#x, want %#x", what, l, v, w)
			return
		}
	}
}

func TestCrossLane(t *testing.T) {
	for _, c := range []struct {
		text string
		wave int
		f    func(l int) uint32
	}{
		{"v_readlane_b32 s20, v2, 7\nv_mov_b32 v5, s20", 32, func(int) uint32 { return 7 }},
		{"v_writelane_b32 v5, 9, 3", 32, func(l int) uint32 {
			if l == 3 {
				return 9
			}
			return uint32(300 + l)
		}},
		{"s_mov_b32 exec_lo, 0xff00\nv_readfirstlane_b32 s20, v2\ns_mov_b32 exec_lo, -1\nv_mov_b32 v5, s20", 32, func(int) uint32 { return 8 }},
		{"v_mbcnt_lo_u32_b32 v5, -1, 0", 32, func(l int) uint32 { return uint32(l) }},
		{"v_mbcnt_lo_u32_b32 v5, -1, 0\nv_mbcnt_hi_u32_b32 v5, -1, v5", 64, func(l int) uint32 { return uint32(l) }},
		{"v_mov_b32_dpp v5, v2 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf", 32, func(l int) uint32 { return uint32(l ^ 3) }},
		{"v_mov_b32_dpp v5, v2 row_shr:1 row_mask:0xf bank_mask:0xf", 32, func(l int) uint32 {
			if l%16 == 0 {
				return uint32(300 + l)
			}
			return uint32(l - 1)
		}},
		{"v_mov_b32_dpp v5, v2 row_shl:2 row_mask:0xf bank_mask:0xf bound_ctrl:1", 32, func(l int) uint32 {
			if l%16 >= 14 {
				return 0
			}
			return uint32(l + 2)
		}},
		{"v_mov_b32_dpp v5, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", 32, func(l int) uint32 {
			if l%16 == 0 {
				return 0
			}
			return uint32(l - 1)
		}},
		{"s_mov_b32 m0, -1\nv_movrels_b32 v5, v3", 32, func(l int) uint32 { return uint32(l) }},
		{"v_mov_b32 v6, v0\nv_mov_b32 v0, 9\ns_movk_i32 m0, 0x100\nv_movrels_b32 v5, v3\nv_mov_b32 v0, v6", 32, func(int) uint32 { return 9 }},
		{"s_movk_i32 m0, 0x100\nv_movreld_b32 v5, v2", 32, func(l int) uint32 { return uint32(300 + l) }},
		{"s_mov_b32 m0, -2\nv_movreld_b32 v7, v2", 32, func(l int) uint32 { return uint32(l) }},
		{"s_mov_b32 s0, 8\ns_mov_b32 m0, -9\ns_movrels_b32 s20, s4\nv_mov_b32 v5, s20", 32, func(int) uint32 { return 8 }},
		{"s_mov_b32 s20, 6\ns_movk_i32 m0, 0x100\ns_movreld_b32 s20, 3\nv_mov_b32 v5, s20", 32, func(int) uint32 { return 6 }},
		{"s_mov_b32 s20, 6\ns_mov_b32 m0, -1\ns_movreld_b32 s21, 3\nv_mov_b32 v5, s20", 32, func(int) uint32 { return 3 }},
		{"v_add_nc_u32_dpp v2, v2, v2 row_ror:4 row_mask:0xf bank_mask:0xf\nv_mov_b32 v5, v2", 32, func(l int) uint32 {
			return uint32(l&16|(l-4)&15+0) + uint32(l)
		}},
		{"v_mov_b32_dpp v5, v2 row_xmask:5 row_mask:0xa bank_mask:0xf", 64, func(l int) uint32 {
			if l/16%2 == 0 {
				return uint32(300 + l)
			}
			return uint32(l ^ 5)
		}},
		{"s_mov_b32 s22, 0x76543210\ns_mov_b32 s23, 0xfedcba98\nv_permlanex16_b32 v5, v2, s22, s23", 32, func(l int) uint32 { return uint32(l ^ 16) }},
		{"ds_swizzle_b32 v5, v2 offset:0x041f\ns_waitcnt lgkmcnt(0)", 32, func(l int) uint32 { return uint32(l ^ 1) }},
		{"v_lshlrev_b32 v6, 2, v2\nv_xor_b32 v6, 64, v6\nds_bpermute_b32 v5, v6, v3\ns_waitcnt lgkmcnt(0)", 64, func(l int) uint32 { return uint32(100 + l ^ 16 - 100 + 100) }},
		{"v_cmp_gt_u32 vcc_lo, 10, v2\nv_cndmask_b32 v5, 1, v2, vcc_lo", 32, func(l int) uint32 {
			if l < 10 {
				return uint32(l)
			}
			return 1
		}},
		{"v_cmpx_gt_u32 10, v2\nv_mov_b32 v5, 77", 32, func(l int) uint32 {
			if l < 10 {
				return 77
			}
			return uint32(300 + l)
		}},
		{"v_add_co_u32 v6, vcc_lo, v2, -1\nv_add_co_ci_u32 v5, vcc_lo, 0, 0, vcc_lo", 32, func(l int) uint32 {
			if l > 0 {
				return 1
			}
			return 0
		}},
		{"v_mov_b32 v6, 0\nv_mad_u64_u32 v[5:6], s20, v3, v3, v[5:6]", 32, func(l int) uint32 {
			return uint32(100+l)*uint32(100+l) + uint32(300+l)
		}},
	} {
		got := lanesOf(t, c.wave, c.text)
		f := c.f
		if strings.Contains(c.text, "ds_bpermute") {
			f = func(l int) uint32 { return 100 + uint32(l^16) }
		}
		wantLanes(t, c.text, got[0], f)
	}
}

// TestDivergence: nested branches by EXEC, as a compiler emits them.
func TestDivergence(t *testing.T) {
	text := `
	v_cmp_gt_u32 vcc_lo, 20, v2
	s_and_saveexec_b32 s22, vcc_lo
	s_cbranch_execz out
	v_mov_b32 v5, 1
	v_cmp_gt_u32 vcc_lo, 5, v2
	s_and_saveexec_b32 s23, vcc_lo
	s_cbranch_execz inner
	v_mov_b32 v5, 2
inner:
	s_or_b32 exec_lo, exec_lo, s23
	v_add_nc_u32 v5, 10, v5
out:
	s_or_b32 exec_lo, exec_lo, s22
	s_mov_b32 s20, exec_lo`
	got := lanesOf(t, 32, text)
	wantLanes(t, "divergence", got[0], func(l int) uint32 {
		switch {
		case l < 5:
			return 12
		case l < 20:
			return 11
		}
		return uint32(300 + l)
	})
	wantLanes(t, "exec", got[2], func(int) uint32 { return 0xFFFFFFFF })
	// A loop whose trip count differs by lane.
	loop := `
	v_mov_b32 v5, 0
	v_mov_b32 v6, v2
	s_mov_b32 s22, exec_lo
again:
	v_cmpx_lt_u32 0, v6
	s_cbranch_execz out
	v_add_nc_u32 v5, 3, v5
	v_add_nc_u32 v6, -1, v6
	s_branch again
out:
	s_mov_b32 exec_lo, s22`
	wantLanes(t, "loop", lanesOf(t, 32, loop)[0], func(l int) uint32 { return uint32(3 * l) })
}

func TestLDS(t *testing.T) {
	for _, c := range []struct {
		text string
		f    func(l int) uint32
	}{
		{`v_lshlrev_b32 v6, 2, v2
		ds_write_b32 v6, v3
		v_sub_nc_u32 v6, 0x7c, v6
		s_waitcnt lgkmcnt(0)
		ds_read_b32 v5, v6
		s_waitcnt lgkmcnt(0)`, func(l int) uint32 { return uint32(100 + 31 - l) }},
		{`v_lshlrev_b32 v6, 3, v2
		ds_write2_b32 v6, v3, v2 offset0:1 offset1:0
		s_waitcnt lgkmcnt(0)
		ds_read2_b32 v[6:7], v6 offset1:1
		s_waitcnt lgkmcnt(0)
		v_sub_nc_u32 v5, v7, v6`, func(l int) uint32 { return 100 }},
		{`v_mov_b32 v6, 0
		ds_write_b32 v6, v6
		s_waitcnt lgkmcnt(0)
		ds_add_u32 v6, v2
		s_waitcnt lgkmcnt(0)
		ds_read_b32 v5, v6
		s_waitcnt lgkmcnt(0)`, func(l int) uint32 { return 31 * 32 / 2 }},
		{`v_mov_b32 v6, 0
		ds_write_b32 v6, v6
		s_waitcnt lgkmcnt(0)
		ds_add_rtn_u32 v5, v6, v2
		s_waitcnt lgkmcnt(0)`, func(l int) uint32 { return uint32(l * (l - 1) / 2) }},
		{`v_lshlrev_b32 v6, 1, v2
		ds_write_b16 v6, v3
		s_waitcnt lgkmcnt(0)
		ds_read_u16_d16_hi v5, v6
		s_waitcnt lgkmcnt(0)
		v_lshrrev_b32 v5, 16, v5`, func(l int) uint32 { return uint32(100 + l) }},
		{`v_mov_b32 v6, 0x2000
		ds_write_b32 v6, v2
		s_waitcnt lgkmcnt(0)
		ds_read_b32 v5, v6
		s_waitcnt lgkmcnt(0)`, func(l int) uint32 { return 0 }}, // beyond the end
	} {
		wantLanes(t, c.text, lanesOf(t, 32, c.text)[0], c.f)
	}
}

// TestMemoryWidths: each width reads back data written by another.
func TestMemoryWidths(t *testing.T) {
	const pre = "v_add_nc_u32 v9, 0x800, v1\n"
	for _, c := range []struct {
		text string
		f    func(l int) uint32
	}{
		{pre + "global_store_byte v9, v3, s[4:5]\nglobal_load_sbyte v5, v9, s[4:5]\ns_waitcnt vmcnt(0)",
			func(l int) uint32 { return uint32(int32(int8(100 + l))) }},
		{pre + "global_store_byte v9, v3, s[4:5]\nglobal_load_ubyte v5, v9, s[4:5]\ns_waitcnt vmcnt(0)",
			func(l int) uint32 { return uint32(uint8(100 + l)) }},
		{pre + "global_store_short v9, v3, s[4:5]\nglobal_load_ushort v5, v9, s[4:5]\ns_waitcnt vmcnt(0)",
			func(l int) uint32 { return uint32(100 + l) }},
		{"v_lshlrev_b32 v9, 4, v2\nv_add_nc_u32 v9, 0x800, v9\nglobal_store_dwordx4 v9, v[2:5], s[4:5]\n" +
			"global_load_dwordx4 v[12:15], v9, s[4:5]\ns_waitcnt vmcnt(0)\nv_add3_u32 v5, v12, v13, v14\nv_add_nc_u32 v5, v5, v15",
			func(l int) uint32 { return uint32(600 + 4*l) }},
		{"v_mov_b32 v9, 0x900\nglobal_atomic_add v5, v9, v2, s[4:5] glc\ns_waitcnt vmcnt(0)",
			func(l int) uint32 { return uint32(l * (l - 1) / 2) }},
		{"v_add_co_u32 v12, vcc_lo, s4, v1\nv_add_co_ci_u32 v13, vcc_lo, s5, 0, vcc_lo\n" +
			"global_load_dword v5, v[12:13], off offset:512\ns_waitcnt vmcnt(0)",
			func(l int) uint32 { return uint32(200 + l) }},
	} {
		text := c.text
		if strings.HasPrefix(c.text, "v_add_co") {
			text = strings.Replace(text, "v_add_co_ci_u32 v13, vcc_lo, s5, 0, vcc_lo", "v_mov_b32 v14, s5\nv_add_co_ci_u32 v13, vcc_lo, 0, v14, vcc_lo", 1)
		}
		wantLanes(t, c.text, lanesOf(t, 32, text)[0], c.f)
	}
}

// barrierSum adds up 256 values through LDS: every wave writes, then every wave reads the values of the others.
const barrierSum = `
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	v_lshlrev_b32 v1, 2, v0
	ds_write_b32 v1, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	v_mov_b32 v2, 0
	v_mov_b32 v3, 0
	s_movk_i32 s6, 0x100
again:
	ds_read_b32 v4, v3
	v_add_nc_u32 v3, 4, v3
	s_waitcnt lgkmcnt(0)
	v_add_nc_u32 v2, v4, v2
	s_sub_i32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 again
	v_lshl_add_u32 v1, s2, 10, v1
	global_store_dword v1, v2, s[4:5]
	s_endpgm`

func TestBarrier(t *testing.T) {
	for _, wave := range []int{32, 64} {
		k := &Kernel{Name: "sum", Code: assemble(t, wave == 64, barrierSum), WaveSize: wave, VGPRs: 8, LDSBytes: 1024}
		c := newCore(t, nil)
		for _, functional := range []bool{true, false} {
			s, b := space(t, 16<<10)
			r, err := c.Run(s, []Dispatch{{Kernel: k, Grid: [3]int{16 * 256}, Workgroup: [3]int{256}, Kernarg: args(dataBase)}},
				Options{Functional: functional})
			require.NoError(t, err)
			for i := range 16 * 256 {
				if word(b, i) != 255*256/2 {
					t.Fatalf("wave%d functional %v: item %d has %d", wave, functional, i, word(b, i))
				}
			}
			if !functional {
				checkReport(t, r)
			}
		}
	}
}

// TestWorkItemIDs: three dimensions, a grid that is no multiple of the
// work-group, user registers in descriptor order.
func TestWorkItemIDs(t *testing.T) {
	code := assemble(t, false, `
	s_load_dwordx2 s[10:11], s[2:3], 0x0
	s_load_dword s12, s[0:1], 0xc        // grid x of the dispatch packet
	v_lshl_add_u32 v3, s4, 2, v0         // x = 4*id + item
	v_lshl_add_u32 v4, s5, 1, v1         // y = 2*id + item
	v_add_nc_u32 v5, s6, v2
	s_waitcnt lgkmcnt(0)
	v_mul_u32_u24 v6, 3, v5
	v_add_nc_u32 v6, v4, v6
	v_mul_lo_u32 v6, s12, v6
	v_add_nc_u32 v6, v3, v6
	v_lshlrev_b32 v6, 2, v6
	v_lshl_or_b32 v7, v4, 8, v3
	v_lshl_or_b32 v7, v5, 16, v7
	global_store_dword v6, v7, s[10:11]
	s_endpgm`)
	k := &Kernel{Name: "ids", Code: code, WaveSize: 32, VGPRs: 8, WorkItemIDs: 2, User: UserDispatchPtr | UserKernargPtr}
	c := newCore(t, nil)
	s, b := space(t, 4096)
	for _, d := range []Dispatch{{Grid: [3]int{10, 3, 2}, Workgroup: [3]int{4, 2, 1}}, {Grid: [3]int{10, 1, 1}, Workgroup: [3]int{4, 2, 3}}} {
		d.Kernel, d.Kernarg = k, args(dataBase)
		clear(b)
		if _, err := c.Run(s, []Dispatch{d}, Options{}); err != nil {
			t.Fatal(err)
		}
		n := 0
		for z := range d.Grid[2] {
			for y := range d.Grid[1] {
				for x := range d.Grid[0] {
					if got, want := word(b, n), uint32(z<<16|y<<8|x); got != want {
						t.Errorf("item %d,%d,%d wrote %#x", x, y, z, got)
					}
					n++
				}
			}
		}
		if !bytes.Equal(b[4*n:], make([]byte, len(b)-4*n)) {
			t.Errorf("items outside the grid %v wrote", d.Grid)
		}
	}
}

// TestWorkItemNumbers: v0, v1 and v2 hold as many of a work-item's numbers as its kernel requests, the others 0.
func TestWorkItemNumbers(t *testing.T) {
	code := assemble(t, false, base+"v_mbcnt_lo_u32_b32 v3, -1, 0\nv_lshlrev_b32 v3, 2, v3\nv_lshl_or_b32 v0, v1, 8, v0\nv_lshl_or_b32 v0, v2, 16, v0\nglobal_store_dword v3, v0, s[4:5]\ns_endpgm")
	for ids, mask := range []int{0xff, 0xffff, 0xffffff} {
		k := &Kernel{Name: "ids", Code: code, WaveSize: 32, VGPRs: 4, WorkItemIDs: ids}
		s, b := space(t, 128)
		require.V(newCore(t, nil).Run(s, []Dispatch{{Kernel: k, Grid: [3]int{4, 3, 2}, Workgroup: [3]int{4, 3, 2}, Kernarg: args(dataBase)}}, Options{}))(t)
		for i := range 24 {
			if got, want := int(word(b, i)), (i%4|i/4%3<<8|i/12<<16)&mask; got != want {
				t.Errorf("%d numbers more: item %d has %#x, want %#x", ids, i, got, want)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	const load = "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_lshlrev_b32 v1, 2, v0\n"
	for _, c := range []struct {
		text, want string
	}{
		{load + "global_load_dword v2, v1, s[4:5]\nv_add_f32 v3, v2, v2\ns_endpgm", "pc 0x18 (v_add_f32_e32 v3, v2, v2) work-group 0,0,0 wave 0: v2 is the target of a load that was not waited for (vmcnt)"},
		{load + "global_load_dword v2, v1, s[4:5]\nglobal_load_dword v3, v1, s[4:5]\ns_waitcnt vmcnt(1)\nv_mov_b32 v4, v2\nv_mov_b32 v4, v3\ns_endpgm", "v3 is the target"},
		{load + "global_load_dword v2, v1, s[4:5]\nglobal_store_dword v1, v2, s[4:5]\ns_endpgm", "v2 is the target"},
		// Of two loads to a register the first is back: the register is not.
		{load + "global_load_dword v2, v1, s[4:5]\nglobal_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(1)\nv_mov_b32 v4, v2\ns_endpgm", "v2 is the target"},
		{load + "global_load_dword v2, v1, s[4:5]\nglobal_load_dword v2, v1, s[4:5]\nds_read_b32 v3, v1\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, v2\nv_mov_b32 v4, v3\ns_endpgm", "v3 is the target"},
		{load + "global_load_dword v2, v1, s[4:5]\nv_mov_b32 v2, 0\ns_endpgm", "v2 is the target"},
		{load + "global_load_dword v2, v1, s[4:5]\nds_read_b32 v2, v1\ns_endpgm", "v2 is the target of a load that was not waited for (vmcnt)"},
		{load + "ds_read_b32 v2, v1\nv_mov_b32 v3, v2\ns_endpgm", "(lgkmcnt)"},
		{load + "ds_read_b32 v2, v1\nglobal_load_dword v3, v1, s[4:5]\nv_mov_b32 v4, v3\ns_endpgm", "(vmcnt)"},
		// Of more loads than a counter holds the oldest is back: registers of the others are not.
		{load + strings.Repeat("global_load_dword v0, v1, s[4:5]\n", 65) + "v_mov_b32 v4, v0\ns_endpgm", "v0 is the target of a load that was not waited for (vmcnt)"},
		{load + "v_mov_b32 v2, 0\nv_mov_b32 v3, 0x10000\n" + strings.Repeat("flat_load_dword v0, v[2:3]\n", 65) + "v_mov_b32 v4, v0\ns_endpgm", "v0 is the target of a load that was not waited for"},
		{load + strings.Repeat("ds_read_b32 v0, v1\n", 65) + "v_mov_b32 v4, v0\ns_endpgm", "v0 is the target of a load that was not waited for (lgkmcnt)"},
		{load + strings.Repeat("s_load_dword s0, s[4:5], 0x0\n", 65) + "s_mov_b32 s6, s0\ns_endpgm", "s0 is the target of a load that was not waited for (lgkmcnt)"},
		{"s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_add_u32 s6, s4, 1\ns_endpgm", "s4 is the target of a load that was not waited for (lgkmcnt)"},
		// Scalar loads return out of order: lgkmcnt(1) guarantees nothing.
		{"s_load_dword s4, s[0:1], 0x0\ns_load_dword s5, s[0:1], 0x4\ns_waitcnt lgkmcnt(1)\ns_mov_b32 s6, s4\ns_endpgm", "s4 is the target"},
		{load + "v_mov_b32 v1, 0x100000\nglobal_load_dword v2, v1, s[4:5]\ns_endpgm", "lane 0: load of 4 bytes at 0x110000: not mapped"},
		{load + "global_store_dword v1, v0, s[0:1]\ns_endpgm", "store of 4 bytes"},
		{load + "global_load_dwordx4 v[4:7], v1, s[4:5] offset:2040\ns_endpgm", "runs past the end of segment data"},
		{"v_mov_b32 v1, 2\nds_read_b32 v2, v1\ns_endpgm", "LDS address 0x2 is not aligned to 4 bytes"},
		{"v_mov_b32 v1, 8\nds_read_b128 v[2:5], v1\ns_endpgm", "not aligned to 16 bytes"},
		{"v_mov_b32 v1, 2", "s_endpgm is missing"},
		{"s_mov_b32 s4, 0x1000\ns_mov_b32 s5, 0\ns_setpc_b64 s[4:5]\ns_endpgm", "where no instruction begins"},
		{"again:\ns_nop 0\ns_branch again\ns_endpgm", "instruction limit"},
		{"v_mov_b32 v9, 0\ns_endpgm", "writes v9, the kernel has 8 registers"},
	} {
		for _, functional := range []bool{true, false} {
			k := &Kernel{Name: "bad", Code: assemble(t, false, c.text), WaveSize: 32, VGPRs: 8, LDSBytes: 256}
			s, _ := space(t, 2048)
			_, err := newCore(t, nil).Run(s, []Dispatch{{Kernel: k, Grid: [3]int{32}, Workgroup: [3]int{32}, Kernarg: args(dataBase)}},
				Options{Functional: functional, MaxInstructions: 10000})
			var f *Fault
			if !errors.As(err, &f) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "gpu: kernel bad pc ") {
				t.Errorf("functional %v: %q gave %v, want ...%s...", functional, c.text, err, c.want)
			}
		}
	}
	// Every register is watched.
	for r := 2; r < 256; r += 23 {
		text := fmt.Sprintf(load+"global_load_dword v%d, v1, s[4:5]\nv_mov_b32 v0, v%d\ns_endpgm", r, r)
		k := &Kernel{Name: "bad", Code: assemble(t, false, text), WaveSize: 32, VGPRs: 256}
		s, _ := space(t, 2048)
		_, err := newCore(t, nil).Run(s, []Dispatch{{Kernel: k, Grid: [3]int{32}, Workgroup: [3]int{32}, Kernarg: args(dataBase)}}, Options{})
		if want := fmt.Sprintf(": v%d is the target of a load", r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want ...%s...", err, want)
		}
	}
	// One wave of four never reaches the barrier.
	stuck := &Kernel{Name: "stuck", WaveSize: 32, VGPRs: 8, Code: assemble(t, false,
		"v_readfirstlane_b32 s6, v0\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 wait\nagain:\ns_branch again\nwait:\ns_barrier\ns_endpgm")}
	for _, functional := range []bool{true, false} {
		s, _ := space(t, 2048)
		_, err := newCore(t, nil).Run(s, []Dispatch{{Kernel: stuck, Grid: [3]int{128}, Workgroup: [3]int{128}}},
			Options{Functional: functional, MaxInstructions: 10000})
		// Run one by one, the first wave of the group never lets the others go.
		want := "3 waves of its work-group wait for it at the barrier at pc 0x10"
		if functional {
			want = "instruction limit reached"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("functional %v: %v, want ...%s", functional, err, want)
		}
	}
	// After a fault the core runs the next program.
	c := newCore(t, nil)
	s, _ := space(t, 2048)
	bad := &Kernel{Name: "bad", Code: assemble(t, false, "v_mov_b32 v1, 2\nds_read_b32 v2, v1\ns_endpgm"), WaveSize: 32, VGPRs: 8, LDSBytes: 64}
	good := &Kernel{Name: "good", Code: assemble(t, false, "s_endpgm"), WaveSize: 32, VGPRs: 8}
	if _, err := c.Run(s, []Dispatch{{Kernel: bad, Grid: [3]int{4096}, Workgroup: [3]int{32}}}, Options{}); err == nil {
		t.Error("no fault")
	}
	if _, err := c.Run(s, []Dispatch{{Kernel: good, Grid: [3]int{4096}, Workgroup: [3]int{32}}}, Options{}); err != nil {
		t.Error(err)
	}
}

func TestKernelErrors(t *testing.T) {
	end := assemble(t, false, "s_endpgm")
	for _, k := range []*Kernel{
		{WaveSize: 16, VGPRs: 8, Code: end},
		{WaveSize: 32, VGPRs: 0, Code: end},
		{WaveSize: 32, VGPRs: 257, Code: end},
		{WaveSize: 32, VGPRs: 8, Code: end[:3]},
		{WaveSize: 32, VGPRs: 8},
		{WaveSize: 32, VGPRs: 8, Code: end, Entry: 4},
		{WaveSize: 32, VGPRs: 8, Code: end, LDSBytes: 1 << 20},
		{WaveSize: 32, VGPRs: 8, Code: end, ScratchBytes: -1},
		{WaveSize: 32, VGPRs: 1, Code: end, WorkItemIDs: 2},
	} {
		k.Name = "k"
		if _, err := newCore(t, nil).Run(&mem.Space{}, []Dispatch{{Kernel: k}}, Options{}); err == nil || !strings.HasPrefix(err.Error(), "gpu: kernel k: ") {
			t.Errorf("%+v: %v", k, err)
		}
	}
	for _, d := range []Dispatch{
		{Grid: [3]int{-1}, Workgroup: [3]int{32}},
		{Grid: [3]int{64}, Workgroup: [3]int{2048}},
		{Grid: [3]int{64, 64}, Workgroup: [3]int{64, 64}},
		{Grid: [3]int{1 << 31, 1, 1}, Workgroup: [3]int{1}},
		{Grid: [3]int{1, -1, 1}, Workgroup: [3]int{1}},
		{Grid: [3]int{64}, Workgroup: [3]int{-1}},
		{Grid: [3]int{1 << 14, 1 << 14, 1<<12 + 1}, Workgroup: [3]int{1}}, // more than 2^40 work-groups
	} {
		d.Kernel = &Kernel{Name: "k", WaveSize: 32, VGPRs: 8, Code: end}
		if _, err := newCore(t, nil).Run(&mem.Space{}, []Dispatch{d}, Options{}); err == nil {
			t.Errorf("grid %v of %v accepted", d.Grid, d.Workgroup)
		}
	}
}

// TestInitialRegisters: a wave begins with the values that its kernel requests, consecutive and in the order of the
// descriptor, and its work-items have their numbers.
func TestInitialRegisters(t *testing.T) {
	text := "s_mov_b32 s40, 0x10000\ns_mov_b32 s41, 0\nv_lshlrev_b32 v3, 7, v0\n" + lines(24, func(i int) string {
		return fmt.Sprintf("v_mov_b32 v4, s%d\nglobal_store_dword v3, v4, s[40:41] offset:%d", i, 4*i)
	}) + "s_endpgm"
	for _, wave := range []int{32, 64} {
		code := assemble(t, wave == 64, text)
		for n := range 1 << 11 {
			if n%7 > 0 && n >= 128 {
				continue
			}
			k := &Kernel{Name: "registers", Code: code, WaveSize: wave, VGPRs: 8, ScratchBytes: 52, User: UserSGPRs(n & 127)}
			k.GroupInfo, k.ScratchOffset = n>>7&1 != 0, n>>8&1 != 0
			ids := [3]bool{n>>9&1 != 0, n>>10&1 != 0, n&1 != 0}
			k.WorkgroupID, k.NoWorkgroupID = ids, n>>9&1 == 0
			items := 64 + 16*(n&1) // of a work-group: whole waves of 32 and not
			s, b := space(t, 80*128)
			var args uint64
			if n&2 != 0 {
				args = dataBase
			}
			d := Dispatch{Kernel: k, Grid: [3]int{2 * items, 3, 2}, Workgroup: [3]int{items}, KernargAddr: args}
			require.V(newCore(t, nil).Run(s, []Dispatch{d}, Options{Functional: true}))(t)
			packet := uint64(QueueAddress + 256)
			if args == 0 {
				args = packet + 64
			}
			scratch := uint64(state.ScratchWindow)
			descriptor := [2]uint64{scratch | 1<<63, math.MaxUint32 | uint64(3)<<60 | 1<<55 | uint64(wave/32+1)<<53}
			for item := 0; item < items; item += items - 1 {
				var want []uint32
				add := func(on bool, v uint64, words int) {
					for ; on && words > 0; words-- {
						want = append(want, uint32(v))
						v >>= 32
					}
				}
				user := k.User
				if user == 0 {
					user = UserKernargPtr
				}
				add(user&UserSegmentBuffer != 0, descriptor[0], 2)
				add(user&UserSegmentBuffer != 0, descriptor[1], 2)
				add(user&UserDispatchPtr != 0, packet, 2)
				add(user&UserQueuePtr != 0, QueueAddress, 2)
				add(user&UserKernargPtr != 0, args, 2)
				add(user&UserDispatchID != 0, 0, 2)
				add(user&UserFlatScratch != 0, scratch, 2)
				add(user&UserSegmentSize != 0, 52, 1)
				all := ids == [3]bool{} && !k.NoWorkgroupID
				for i, id := range []uint64{1, 2, 1} { // the last work-group has written last
					add(ids[i] || all, id, 1)
				}
				w, first := uint64(item/wave), uint64(0)
				if w == 0 {
					first = 1 << 31
				}
				add(k.GroupInfo, first|w<<6|uint64((items+wave-1)/wave), 1)
				add(k.ScratchOffset, w*uint64((52*wave+1023)/1024*1024), 1)
				for i, v := range want {
					if got := word(b, item*32+i); got != v {
						t.Fatalf("wave of %d, %+v: item %d begins with %#x in s%d, want %#x", wave, k, item, got, i, v)
					}
				}
			}
		}
	}
}

// TestFromDescriptor: a kernel is as its descriptor states, unless that requests features that are not modelled.
func TestFromDescriptor(t *testing.T) {
	end := assemble(t, false, "s_nop 0\ns_endpgm")
	good := rdna2.DefaultDescriptor()
	k, err := FromDescriptor("k", &good, end, 0x1000, 0x1004)
	require.NoError(t, err)
	if k.Name != "k" || k.Base != 0x1000 || k.Entry != 4 || k.WaveSize != 32 || k.VGPRs != good.VGPRs || k.User != UserKernargPtr || k.WorkgroupID != good.WorkgroupID || k.NoWorkgroupID {
		t.Errorf("%+v", k)
	}
	all := good
	all.LDSBytes, all.ScratchBytes, all.WorkItemIDs, all.Info, all.Scratch, all.WGPMode, all.WorkgroupID = 11, 12, 2, true, true, true, [3]bool{}
	all.Properties, all.UserSGPRs = 0x7f, 15 // of 64 lanes
	if k, err = FromDescriptor("k", &all, end, 0x1000, 0x1000); err != nil || k.LDSBytes != 11 || k.ScratchBytes != 12 || k.WorkItemIDs != 2 || !k.GroupInfo || !k.ScratchOffset || !k.WGP ||
		!k.NoWorkgroupID || k.User != 0x7f || k.WaveSize != 64 || k.Entry != 0 {
		t.Errorf("%+v, %v", k, err)
	}
	rounds := good
	rounds.Round32, rounds.Round16 = 1, 3
	k, err = FromDescriptor("k", &rounds, end, 0x1000, 0x1000)
	require.NoError(t, err)
	require.Equal(t, uint32(0xD), k.Mode)
	for _, c := range []struct {
		edit  func(*rdna2.Descriptor)
		entry uint64
		want  string
	}{
		{func(*rdna2.Descriptor) {}, 0xffc, "entry 0xffc outside the code at 0x1000"},
		{func(*rdna2.Descriptor) {}, 0x1008, "entry 0x1008 outside the code at 0x1000"},
		{func(d *rdna2.Descriptor) { d.FP16Ovfl = true }, 0x1000, "FP16_OVFL"},
		{func(d *rdna2.Descriptor) { d.UserSGPRs = 3 }, 0x1000, "descriptor has 3 user registers, its properties make 2"},
	} {
		d := rdna2.DefaultDescriptor()
		c.edit(&d)
		if _, err := FromDescriptor("k", &d, end, 0x1000, c.entry); err == nil || !strings.HasPrefix(err.Error(), "gpu: kernel k: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestDeterminism: two runs of one core and one of another yield the same report and bytes, at any GOMAXPROCS.
func TestDeterminism(t *testing.T) {
	const n = 128
	k := gemmKernel(t)
	var first string
	shared := newCore(t, nil)
	for i := range 3 {
		c := shared
		if i == 2 {
			c = newCore(t, nil)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		}
		s, b := space(t, 12*n*n)
		for i := range 2 * n * n {
			setFloat(b, i, float32(i%13)-6)
		}
		r := require.V(c.Run(s, []Dispatch{gemmDispatch(k, n), gemmDispatch(k, n)}, Options{}))(t)
		got := fmt.Sprintf("%+v", *r)
		if i == 0 {
			first = got
		} else if got != first {
			t.Errorf("run %d:\n%s\nwant\n%s", i, got, first)
		}
	}
}

// TestMachines: the same program on other machines computes the same bytes, and a report that adds up.
func TestMachines(t *testing.T) {
	const n = 128
	k := gemmKernel(t)
	var want []byte
	for _, m := range []struct {
		name string
		edit func(*Spec)
	}{
		{"adreno", func(*Spec) {}},
		{"three work-group processors, as in Xclipse 920", func(s *Spec) {
			s.Name, s.Hz = "rdna2", 1_306_000_000
			s.Clusters, s.CUsPerCluster, s.SIMDsPerCU, s.Lanes = 3, 2, 2, 32
			s.WavesPerSIMD, s.VGPRRows, s.VGPRGranule = 16, 1024, 16
			s.LDSBytes, s.LDSPerCluster = 64<<10, false
			s.L0 = CacheSpec{Bytes: 16 << 10, Line: 128, Ways: 4, LatencyCycles: 30, BytesPerCycle: 128, MSHRs: 32}
			s.GL1 = CacheSpec{Bytes: 128 << 10, Line: 128, Ways: 4, LatencyCycles: 60, BytesPerCycle: 128, MSHRs: 64}
			s.L2 = CacheSpec{Bytes: 1 << 20, Line: 128, Ways: 16, LatencyCycles: 120, BytesPerCycle: 512, MSHRs: 128}
		}},
		{"small instruction cache", func(s *Spec) { s.ICache.Bytes = 512 }},
		{"one lane group", func(s *Spec) { s.Clusters, s.CUsPerCluster, s.SIMDsPerCU, s.Lanes, s.WavesPerSIMD = 1, 1, 1, 64, 8 }},
	} {
		c := newCore(t, m.edit)
		s, b := space(t, 12*n*n)
		for i := range 2 * n * n {
			setFloat(b, i, float32(i%17)-8)
		}
		r, err := c.Run(s, []Dispatch{gemmDispatch(k, n)}, Options{})
		if err != nil {
			t.Fatal(m.name, err)
		}
		checkReport(t, r)
		if m.name == "small instruction cache" && r.Stalls[sim.StallFetch] == 0 {
			t.Error("no fetch stalls although the code does not fit")
		}
		if want == nil {
			want = b
		} else if !bytes.Equal(want, b) {
			t.Errorf("%s: other bytes", m.name)
		}
	}
}

// TestFromSoC: every preset with a GPU makes a valid machine.
func TestFromSoC(t *testing.T) {
	for _, name := range soc.Names() {
		c := require.V(soc.Load(name))(t)
		if c.GPU == nil {
			continue
		}
		for _, p := range []sim.Preference{sim.LowPower, sim.FastSingleAnswer, sim.SustainedSpeed} {
			s, err := FromSoC(c, p)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if s.Energy.LanePJ[ClassFMA32] <= 0 || s.Vector[ClassFMA32].Result == 0 {
				t.Errorf("%s: %+v", name, s)
			}
			if _, err := New(s); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestDispatchPacket: the packet has the sizes of the grid and the address of the arguments where AQL puts them.
func TestDispatchPacket(t *testing.T) {
	text := "s_load_dwordx2 s[4:5], s[0:1], 0x28\ns_load_dwordx4 s[8:11], s[0:1], 0x4\ns_load_dwordx2 s[12:13], s[0:1], 0x18\ns_load_dword s14, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_lshr_b32 s14, s14, 16\n"
	for i, c := range []string{
		"s_cmp_eq_u64 s[4:5], s[2:3]", // the arguments
		"s_cmp_eq_u32 s8, 0x20020",    // a work-group of 32 x 2
		"s_cmp_eq_u32 s10, 64",        // a grid of 64 x 4
		"s_cmp_eq_u32 s11, 4",         //
		"s_cmp_eq_u32 s12, 48",        // bytes of scratch
		"s_cmp_eq_u32 s13, 0x400",     // and of LDS
		"s_cmp_eq_u32 s14, 2",         // dimensions
	} {
		text += fmt.Sprintf("%s\ns_cbranch_scc1 ok%d\ns_trap %d\nok%d:\n", c, i, i+1, i)
	}
	k := &Kernel{Name: "test", Code: assemble(t, false, text+"s_endpgm"), WaveSize: 32, VGPRs: 4, LDSBytes: 1024, ScratchBytes: 48, User: UserDispatchPtr | UserKernargPtr}
	s, _ := space(t, 64)
	d := Dispatch{Kernel: k, Grid: [3]int{64, 4, 1}, Workgroup: [3]int{32, 2, 1}, Kernarg: args(dataBase)}
	for _, functional := range []bool{true, false} {
		if _, err := newCore(t, nil).Run(s, []Dispatch{d}, Options{Functional: functional}); err != nil {
			t.Error(err)
		}
	}
	queue := "s_load_dwordx2 s[4:5], s[0:1], 0x40\ns_waitcnt lgkmcnt(0)\ns_cmp_eq_u32 s4, 1\ns_cbranch_scc1 shared\ns_trap 1\nshared:\ns_cmp_eq_u32 s5, 2\ns_cbranch_scc1 private\ns_trap 2\nprivate:\ns_endpgm"
	queue = strings.Replace(strings.Replace(queue, "s4, 1", fmt.Sprintf("s4, %#x", uint64(SharedAperture)>>32), 1), "s5, 2", fmt.Sprintf("s5, %#x", uint64(PrivateAperture)>>32), 1)
	if _, err := newCore(t, nil).Run(s, []Dispatch{{Kernel: &Kernel{Name: "queue", Code: assemble(t, false, queue), WaveSize: 32, VGPRs: 4, User: UserQueuePtr}}}, Options{}); err != nil {
		t.Errorf("the apertures of the queue: %v", err)
	}
	k = &Kernel{Name: "test", Code: k.Code, WaveSize: 32, VGPRs: 4, LDSBytes: DefaultSpec().LDSBytes + 4}
	d.Kernel = k
	if _, err := newCore(t, nil).Run(s, []Dispatch{d}, Options{}); err == nil || !strings.Contains(err.Error(), "32772 bytes of LDS, the machine has 32768") {
		t.Errorf("too much LDS: %v", err)
	}
}
