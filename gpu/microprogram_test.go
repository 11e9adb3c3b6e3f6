package gpu

import (
	"fmt"
	"strings"
	"testing"
)

// The microprograms below cost a number of cycles that is a formula of the machine's parameters: want is that formula.
// All parameters of the machine differ, so that one in the place of another shows.
func distinct(s *Spec) {
	quiet(s)
	s.Clusters, s.CUsPerCluster, s.SIMDsPerCU = 1, 1, 1
	s.SALULatency, s.BranchCycles, s.BarrierCycles, s.LDSLatency = 3, 7, 11, 23
	for c, l := range map[Class]Latency{
		ClassMove: {5, 1}, ClassInt: {6, 1}, ClassF32: {7, 1}, ClassFMA32: {8, 1}, ClassF16: {9, 2}, ClassDot: {10, 2},
		ClassIntMul: {13, 4}, ClassInt64: {12, 3}, ClassTrans: {14, 6}, ClassF64: {19, 9},
	} {
		s.Vector[c] = l
	}
	s.L0 = CacheSpec{Bytes: 8 << 10, Line: 64, Ways: 4, LatencyCycles: 29, BytesPerCycle: 64, MSHRs: 64}
	s.Scalar.LatencyCycles = 31
	s.L2.LatencyCycles = 61
}

// form is a program whose body, repeated n more times, costs n*want more cycles.
type form struct {
	name   string
	wave   int // 0: 32
	size   int // work-items, 0: one wave
	groups int // 0: 1
	edit   func(*Spec)
	kernel func(*Kernel)
	before string
	body   string // # is a distinct number in every copy, for labels
	want   int64  // cycles of one copy
	tail   string // once after the copies
}

func (f *form) check(t *testing.T) {
	t.Helper()
	const few, more = 4, 12
	run := func(n int) int64 {
		c := newCore(t, func(s *Spec) {
			distinct(s)
			if f.edit != nil {
				f.edit(s)
			}
		})
		text := f.before + "\n" + lines(n, func(i int) string { return strings.ReplaceAll(f.body, "#", fmt.Sprint("at", i)) }) + f.tail
		wave := max(f.wave, 32)
		k := kernelOf(t, wave, text)
		k.VGPRs = 24
		if f.kernel != nil {
			f.kernel(k)
		}
		return warm(t, c, k, max(f.groups, 1), max(f.size, wave))
	}
	if got, want := run(more)-run(few), f.want*(more-few); got != want {
		t.Errorf("%s: %d cycles for %d more, want %d", f.name, got, more-few, want)
	}
}

// repeat is a line n times, with %d the number of a register from 2 on.
func repeat(n int, line string) string {
	return lines(n, func(i int) string { return strings.ReplaceAll(line, "%d", fmt.Sprint(2+i%16)) })
}

func spec() Spec {
	s := DefaultSpec()
	distinct(&s)
	return s
}

// TestResultAndIssue: instructions of a dependent chain cost the result latency each, independent ones the cycles for
// which they occupy the unit; the halves of a wave64 occupy it one after the other.
func TestResultAndIssue(t *testing.T) {
	s := spec()
	for _, c := range []struct {
		class       Class
		chain, free string
	}{
		{ClassMove, "v_not_b32 v2, v2", "v_not_b32 v%d, v0"},
		{ClassInt, "v_add_nc_u32 v2, v2, v2", "v_add_nc_u32 v%d, v0, v0"},
		{ClassIntMul, "v_mul_hi_u32 v2, v2, v2", "v_mul_hi_u32 v%d, v0, v0"},
		{ClassInt64, "v_lshlrev_b64 v[2:3], 1, v[2:3]", "v_lshlrev_b64 v[%d:18], 1, v[0:1]"},
		{ClassF32, "v_add_f32 v2, v2, v2", "v_add_f32 v%d, v0, v0"},
		{ClassFMA32, "v_fma_f32 v2, v2, v2, v2", "v_fma_f32 v%d, v0, v0, v0"},
		{ClassF16, "v_pk_add_f16 v2, v2, v2", "v_pk_add_f16 v%d, v0, v0"},
		{ClassDot, "v_dot4_i32_i8 v2, v2, v2, v2", "v_dot4_i32_i8 v%d, v0, v0, v0"},
		{ClassTrans, "v_exp_f32 v2, v2", "v_exp_f32 v%d, v0"},
		{ClassF64, "v_add_f64 v[2:3], v[2:3], v[2:3]", "v_add_f64 v[%d:18], v[0:1], v[0:1]"},
	} {
		l := s.Vector[c.class]
		free := repeat(8, c.free)
		if strings.Contains(c.free, "[%d:18]") {
			free = lines(8, func(i int) string { return strings.ReplaceAll(c.free, "%d:18", fmt.Sprintf("%d:%d", 2+2*i, 3+2*i)) })
		}
		for _, f := range []form{
			{name: "chain", body: repeat(8, c.chain), want: 8 * int64(l.Result)},
			{name: "chain of wave64", wave: 64, body: repeat(8, c.chain), want: 8 * int64(max(l.Result, 2*l.Issue))},
			{name: "independent", body: free, want: 8 * int64(l.Issue)},
			{name: "independent of wave64", wave: 64, body: free, want: 8 * int64(2*l.Issue)},
			{name: "independent of wave64 on 64 lanes", wave: 64, edit: func(s *Spec) { s.Lanes = 64 }, body: free, want: 8 * int64(l.Issue)},
		} {
			f.name = fmt.Sprintf("class %d, %s", c.class, f.name)
			f.check(t)
		}
	}
}

// TestScalarAndBranch: scalar results, branches taken and not, and waits of vector and scalar unit for each other.
func TestScalarAndBranch(t *testing.T) {
	s := spec()
	salu, taken := int64(s.SALULatency), int64(s.BranchCycles)
	exp := int64(s.Vector[ClassTrans].Issue)
	move, integer := int64(s.Vector[ClassMove].Result), int64(s.Vector[ClassInt].Result)
	for _, f := range []form{
		{name: "scalar chain", body: "s_mul_i32 s6, s6, s6", want: salu},
		{name: "independent scalar", body: "s_mov_b32 s6, s0\ns_mov_b32 s7, s0\ns_mov_b32 s8, s0\ns_mov_b32 s9, s0", want: 4},
		{name: "writes of SCC stay in order", body: "s_add_u32 s6, s0, s0\ns_add_u32 s7, s0, s0", want: 2 * salu},
		{name: "branch", body: "s_branch #\ns_nop 0\n#:", want: taken},
		{name: "branch farther", body: "s_branch #\ns_nop 0\ns_nop 0\n#:", want: taken},
		{name: "branch not taken", before: "s_cmp_lg_u32 s0, s0", body: "s_cbranch_scc1 #\n#:", want: 1},
		{name: "branch taken", before: "s_cmp_eq_u32 s0, s0", body: "s_cbranch_scc1 #\ns_nop 0\n#:", want: taken},
		{name: "compare, branch not taken", body: "s_cmp_lg_u32 s0, s0\ns_cbranch_scc1 #\n#:", want: salu + 1},
		{name: "compare, branch taken", body: "s_cmp_eq_u32 s0, s0\ns_cbranch_scc1 #\ns_nop 0\n#:", want: salu + taken},
		{name: "vector compare, branch not taken", body: "v_cmp_ne_u32 vcc_lo, v0, v0\ns_cbranch_vccnz #\n#:", want: integer + 1},
		{name: "vector compare, branch taken", body: "v_cmp_eq_u32 vcc_lo, v0, v0\ns_cbranch_vccnz #\ns_nop 0\n#:", want: integer + taken},
		{name: "v_cmpx, vector instruction", body: "v_cmpx_eq_u32 v0, v0\nv_mov_b32 v2, v0", want: integer + 1},
		{name: "EXEC of the scalar unit", body: "s_mov_b32 exec_lo, -1\nv_mov_b32 v2, v0", want: max(salu+1, move)},
		{name: "scalar operand", body: "s_mov_b32 s6, s0\nv_mov_b32 v2, s6", want: max(salu+1, move)},
		{name: "v_readfirstlane to scalar", body: "v_readfirstlane_b32 s6, v0\ns_mov_b32 s7, s6", want: move + 1},
		{name: "condition of a wide select", body: "s_cmp_eq_u32 s0, s0\ns_cselect_b64 s[6:7], s[8:9], s[10:11]", want: salu + 1},
		{name: "call and return", body: "s_getpc_b64 s[6:7]\ns_add_u32 s6, s6, 16\ns_addc_u32 s7, s7, 0\ns_setpc_b64 s[6:7]\ns_nop 0", want: 3*salu + taken},
		{name: "idle", body: "s_nop 5", want: 6},
		{name: "sleep", body: "s_sleep 2", want: 129},
		{name: "exp beside three moves", body: lines(4, func(i int) string { return fmt.Sprintf("v_exp_f32 v%d, v0\n", 10+i) + repeat(3, "v_mov_b32 v%d, v1") }), want: 4 * exp},
		{name: "exp beside ten moves", body: lines(4, func(i int) string {
			return fmt.Sprintf("v_exp_f32 v%d, v0\n", 20+i) + repeat(10, "v_mov_b32 v%d, v1")
		}), want: 4 * 11},
	} {
		f.check(t)
	}
}

// TestLDSForms: reads of n cycles each pass through the LDS one after the other; the last returns LDSLatency cycles
// after its start, plus its bank conflicts.
func TestLDSForms(t *testing.T) {
	const n = 8
	s := spec()
	for _, c := range []struct {
		name         string
		wave         int
		before, read string
		each         int64 // cycles of the banks
	}{
		{"neighbours", 32, "v_lshlrev_b32 v1, 2, v0", "ds_read_b32 v%d, v1", 1},
		{"neighbours of wave64", 64, "v_lshlrev_b32 v1, 2, v0", "ds_read_b32 v%d, v1", 2},
		{"one word for all", 32, "v_mov_b32 v1, 0", "ds_read_b32 v%d, v1", 1},
		{"stride 2", 32, "v_lshlrev_b32 v1, 3, v0", "ds_read_b32 v%d, v1", 2},
		{"stride 3", 32, "v_mul_u32_u24 v1, 12, v0", "ds_read_b32 v%d, v1", 1},
		{"stride 4", 32, "v_lshlrev_b32 v1, 4, v0", "ds_read_b32 v%d, v1", 4},
		{"stride 6", 32, "v_mul_u32_u24 v1, 24, v0", "ds_read_b32 v%d, v1", 2},
		{"stride 32", 32, "v_lshlrev_b32 v1, 7, v0", "ds_read_b32 v%d, v1", 32},
		{"stride 33", 32, "v_mul_u32_u24 v1, 0x84, v0", "ds_read_b32 v%d, v1", 1},
		{"bytes of a word", 32, "v_mov_b32 v1, v0", "ds_read_u8 v%d, v1", 1},
		{"two words", 32, "v_lshlrev_b32 v1, 3, v0", "ds_read_b64 v[%d:1], v1", 2},
		{"two words, stride 4", 32, "v_lshlrev_b32 v1, 4, v0", "ds_read_b64 v[%d:1], v1", 4},
		{"four words", 32, "v_lshlrev_b32 v1, 4, v0", "ds_read_b128 v[%d:3], v1", 4},
		{"four words, one for all", 32, "v_mov_b32 v1, 0", "ds_read_b128 v[%d:3], v1", 4},
		{"two reads", 32, "v_lshlrev_b32 v1, 2, v0", "ds_read2_b32 v[%d:1], v1 offset1:32", 2},
		{"permutation", 32, "v_lshlrev_b32 v1, 2, v0", "ds_bpermute_b32 v%d, v1, v0", 1},
		{"permutation of wave64", 64, "v_lshlrev_b32 v1, 2, v0", "ds_bpermute_b32 v%d, v1, v0", 2},
		{"half of the lanes, stride 2", 32, "v_lshlrev_b32 v1, 3, v0\ns_mov_b32 exec_lo, 0xffff", "ds_read_b32 v%d, v1", 1},
		{"no lane", 32, "v_lshlrev_b32 v1, 3, v0\ns_mov_b32 exec_lo, 0", "ds_read_b32 v%d, v1", 1},
	} {
		read := lines(n, func(i int) string {
			r := c.read
			for k := range 4 {
				r = strings.ReplaceAll(r, fmt.Sprintf("[%%d:%d]", k), fmt.Sprintf("[%d:%d]", 2+2*i, 2+2*i+k))
			}
			return strings.ReplaceAll(r, "%d", fmt.Sprint(2+i))
		})
		f := form{name: c.name, wave: c.wave, before: c.before, body: read + "s_waitcnt lgkmcnt(0)", want: n*c.each + int64(s.LDSLatency)}
		f.check(t)
	}
	// Waves of two SIMDs share the port.
	f := form{name: "two SIMDs", size: 64, edit: func(s *Spec) { s.SIMDsPerCU = 2 }, before: "v_lshlrev_b32 v1, 4, v0\ns_nop 0",
		body: lines(n, func(i int) string { return fmt.Sprintf("ds_read_b32 v%d, v1", 2+i) }), want: 2 * n * 4, tail: "s_waitcnt lgkmcnt(0)"}
	f.check(t)
}

// base is where kernels find their memory in s[4:5], warm in L0.
const base = "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"

// TestCoalescing: an access occupies L0 for one cycle per line that its lanes touch, whichever lanes they are; a hit
// returns after the latency of L0.
func TestCoalescing(t *testing.T) {
	const n = 8
	s := spec()
	for _, c := range []struct {
		name         string
		wave         int
		before, load string
		lines        int64
	}{
		{"dwords", 32, "v_lshlrev_b32 v1, 2, v0", "global_load_dword v%d, v1, s[4:5]", 2},
		{"dwords of wave64", 64, "v_lshlrev_b32 v1, 2, v0", "global_load_dword v%d, v1, s[4:5]", 4},
		{"dwords from the middle of a line", 32, "v_lshlrev_b32 v1, 2, v0", "global_load_dword v%d, v1, s[4:5] offset:32", 3},
		{"bytes", 32, "v_mov_b32 v1, v0", "global_load_ubyte v%d, v1, s[4:5]", 1},
		{"one dword for all", 32, "v_mov_b32 v1, 0", "global_load_dword v%d, v1, s[4:5]", 1},
		{"backwards", 32, "v_sub_nc_u32 v1, 31, v0\nv_lshlrev_b32 v1, 2, v1", "global_load_dword v%d, v1, s[4:5]", 2},
		{"every fourth dword", 32, "v_lshlrev_b32 v1, 4, v0", "global_load_dword v%d, v1, s[4:5]", 8},
		{"a line each", 32, "v_lshlrev_b32 v1, 6, v0", "global_load_dword v%d, v1, s[4:5]", 32},
		{"quads", 32, "v_lshlrev_b32 v1, 4, v0", "global_load_dwordx4 v[%d:3], v1, s[4:5]", 8},
		{"dwords across lines", 32, "v_lshlrev_b32 v1, 6, v0\ns_mov_b32 exec_lo, 15", "global_load_dword v%d, v1, s[4:5] offset:62", 5},
		{"eight lanes", 32, "v_lshlrev_b32 v1, 4, v0\ns_mov_b32 exec_lo, 0xff", "global_load_dword v%d, v1, s[4:5]", 2},
	} {
		load := lines(n, func(i int) string {
			r := strings.ReplaceAll(c.load, "[%d:3]", fmt.Sprintf("[%d:%d]", 2+2*i, 5+2*i))
			return strings.ReplaceAll(r, "%d", fmt.Sprint(2+i))
		})
		f := form{name: c.name, wave: c.wave, before: base + c.before, body: load + "s_waitcnt vmcnt(0)", want: n*c.lines + int64(s.L0.LatencyCycles)}
		f.check(t)
	}
}

// TestAddressPort: a compute unit accepts a few lanes' addresses of an access per cycle, more where quads of lanes
// share one, and an LDS so many bytes per cycle.
func TestAddressPort(t *testing.T) {
	const n = 8
	s := spec()
	for _, c := range []struct {
		name         string
		before, load string
		each         int64
	}{
		{"neighbours", "v_lshlrev_b32 v1, 2, v0", "global_load_dword v%d, v1, s[4:5]", 32 / 4},
		{"one address", "v_mov_b32 v1, 0", "global_load_dword v%d, v1, s[4:5]", 5},  // 32 / 7, whole cycles
		{"quads", "v_and_b32 v1, 0x7c, v0", "global_load_dword v%d, v1, s[4:5]", 5}, // of one address each
		{"pairs", "v_and_b32 v1, 0x7e, v0\nv_lshlrev_b32 v1, 2, v1", "global_load_dword v%d, v1, s[4:5]", 8},
		{"half of the lanes", "v_lshlrev_b32 v1, 2, v0\ns_mov_b32 exec_lo, 0xffff", "global_load_dword v%d, v1, s[4:5]", 4},
		{"half of the quads", "v_and_b32 v1, 0x7c, v0\nv_lshlrev_b32 v2, 2, v0\nv_cmp_gt_u32 vcc_lo, 16, v0\nv_cndmask_b32 v1, v1, v2, vcc_lo",
			"global_load_dword v%d, v1, s[4:5]", 7}, // 16/4 + 16/7
		{"three lanes", "v_lshlrev_b32 v1, 2, v0\ns_mov_b32 exec_lo, 7", "global_load_dword v%d, v1, s[4:5]", 1},
	} {
		load := lines(n, func(i int) string { return strings.ReplaceAll(c.load, "%d", fmt.Sprint(4+i)) })
		f := form{name: c.name, before: base + c.before, edit: func(s *Spec) { s.AddressLanes, s.BroadcastLanes = 4, 7 }, body: load + "s_waitcnt vmcnt(0)", want: n*c.each + int64(s.L0.LatencyCycles)}
		f.check(t)
	}
	for rate, want := range map[int]int64{128: 1, 88: 2, 64: 2, 32: 4} {
		f := form{name: fmt.Sprintf("%d bytes of LDS per cycle", rate), before: "v_lshlrev_b32 v1, 2, v0", edit: func(s *Spec) { s.LDSRate = rate },
			body: lines(n, func(i int) string { return fmt.Sprintf("ds_read_b32 v%d, v1", 2+i) }) + "s_waitcnt lgkmcnt(0)", want: n*want + int64(s.LDSLatency)}
		f.check(t)
	}
}

// TestMemoryForms: waits, counters and the levels that serve an access.
func TestMemoryForms(t *testing.T) {
	s := spec()
	l0, l2, k := int64(s.L0.LatencyCycles), int64(s.L2.LatencyCycles), int64(s.Scalar.LatencyCycles)
	lds := int64(s.LDSLatency)
	one := base + "v_mov_b32 v1, 0\n"
	for _, f := range []form{
		{name: "load to use", before: one, body: "global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_mov_b32 v3, v2", want: l0 + 2},
		{name: "all but the last load", before: one, body: "global_load_dword v2, v1, s[4:5]\nglobal_load_dword v3, v1, s[4:5]\ns_waitcnt vmcnt(1)", want: l0 + 1},
		{name: "wait for nothing", before: one, body: "s_waitcnt vmcnt(0)", want: 1},
		{name: "scalar load to use", before: base, body: "s_load_dword s6, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s7, s6", want: k + 2},
		{name: "two scalar loads", before: base, body: "s_load_dword s6, s[4:5], 0x0\ns_load_dword s7, s[4:5], 0x4\ns_waitcnt lgkmcnt(0)", want: k + 2},
		{name: "store to wait", before: one, body: "global_store_dword v1, v0, s[4:5]\ns_waitcnt_vscnt null, 0x0", want: l2 + 1},
		{name: "two stores, wait for the first, then for both", before: one,
			body: "global_store_dword v1, v0, s[4:5]\ns_nop 9\nglobal_store_dword v1, v0, s[4:5]\ns_waitcnt_vscnt null, 0x1\ns_waitcnt_vscnt null, 0x0", want: 11 + l2 + 1},
		{name: "generic load of LDS", before: "v_mov_b32 v4, 0\nv_mov_b32 v5, 0x10000", body: "flat_load_dword v2, v[4:5]\ns_waitcnt lgkmcnt(0)", want: lds + 1},
		{name: "atomic that returns", before: one, body: "global_atomic_add v2, v1, v0, s[4:5] glc\ns_waitcnt vmcnt(0)", want: l2 + 1},
		{name: "four outstanding", edit: func(s *Spec) { s.MaxOutstanding = 4 }, before: one, body: repeat(4, "global_load_dword v%d, v1, s[4:5]"), want: l0, tail: "s_waitcnt vmcnt(0)"},
		{name: "four outstanding stores", edit: func(s *Spec) { s.MaxOutstanding = 4 }, before: one, body: strings.Repeat("global_store_dword v1, v0, s[4:5]\n", 4), want: l2, tail: "s_waitcnt_vscnt null, 0x0"},
		// The dwords of 32 lanes at one offset of scratch are two lines.
		{name: "scratch", kernel: func(k *Kernel) { k.ScratchBytes = 64 }, body: repeat(8, "scratch_load_dword v%d, off, off offset:4") + "s_waitcnt vmcnt(0)", want: 8*2 + l0},
		{name: "beyond L0", edit: func(s *Spec) { s.L0.Bytes = 1 << 10 },
			before: base + "v_lshlrev_b32 v1, 6, v0", body: "global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)", want: l2 + 32},
	} {
		f.check(t)
	}
}

// TestBarrierForms: a barrier costs BarrierCycles from the last arrival; the work of a wave before it delays all.
func TestBarrierForms(t *testing.T) {
	s := spec()
	b, fma := int64(s.BarrierCycles), int64(s.Vector[ClassFMA32].Result)
	late := "s_cbranch_scc1 #\n" + repeat(10, "v_fma_f32 v2, v2, v2, v2") + "#:\ns_barrier"
	for _, f := range []form{
		{name: "one wave", body: "s_barrier", want: b},
		{name: "four waves", size: 128, body: "s_barrier", want: b},
		{name: "four waves on four SIMDs", size: 128, edit: func(s *Spec) { s.SIMDsPerCU = 4 }, body: "s_barrier", want: b},
		// Wave 0 falls through with its chain of ten; the others wait for it.
		{name: "late wave", size: 128, edit: func(s *Spec) { s.SIMDsPerCU = 4 },
			before: "v_readfirstlane_b32 s6, v0\ns_cmp_lg_u32 s6, 0", body: late, want: 1 + 9*fma + 1 + b},
	} {
		f.check(t)
	}
}

// TestPartitionForms: the waves of 128 lanes of a work-group share the SIMDs of one partition, so
// that they issue half as often on two SIMDs as on four; a second work-group has the other one.
func TestPartitionForms(t *testing.T) {
	const n = 10
	body := repeat(n, "v_fma_f32 v%d, v1, v1, v1")
	four := func(s *Spec) { s.SIMDsPerCU = 4 }
	halves := func(s *Spec) { s.SIMDsPerCU, s.PartitionSIMDs, s.PartitionLanes = 4, 2, 128 }
	for _, f := range []form{
		{name: "four waves on four SIMDs", size: 128, edit: four, want: n},
		{name: "four waves in a partition", size: 128, edit: halves, want: 2 * n},
		{name: "two groups in two partitions", size: 128, groups: 2, edit: halves, want: 2 * n},
		{name: "a group that is two", size: 256, edit: halves, want: 2 * n},
		{name: "three groups", size: 128, groups: 3, edit: halves, want: 4 * n},
	} {
		f.body = body
		f.check(t)
	}
}

// TestOccupancyForms: of eight work-groups of one wave, as many run at once as registers, LDS, wave slots and barrier
// resources allow; each is a dependent chain. Waves start WaveLaunch cycles after each other.
func TestOccupancyForms(t *testing.T) {
	s := spec()
	chain := int64(s.Vector[ClassFMA32].Result)
	body := "v_fma_f32 v2, v2, v2, v2"
	for _, f := range []form{
		{name: "all at once", kernel: func(k *Kernel) { k.VGPRs, k.LDSBytes = 8, 0 }, want: chain},
		{name: "two by registers", kernel: func(k *Kernel) { k.VGPRs, k.LDSBytes = 192, 0 }, want: 4 * chain},
		{name: "two by registers, in granules", kernel: func(k *Kernel) { k.VGPRs, k.LDSBytes = 129, 0 }, want: 4 * chain},
		{name: "three by registers", kernel: func(k *Kernel) { k.VGPRs, k.LDSBytes = 128, 0 }, want: 3 * chain},
		{name: "two by registers in granules of 8", edit: func(s *Spec) { s.VGPRRows = 300 }, kernel: func(k *Kernel) { k.VGPRs, k.LDSBytes = 100, 0 }, want: 4 * chain},
		{name: "three of wave64 by registers in granules of 4", wave: 64, edit: func(s *Spec) { s.VGPRRows = 600 }, kernel: func(k *Kernel) { k.VGPRs, k.LDSBytes = 100, 0 }, want: 3 * chain},
		{name: "two by LDS", kernel: func(k *Kernel) { k.VGPRs, k.LDSBytes = 8, 16<<10 }, want: 4 * chain},
		{name: "one by LDS", kernel: func(k *Kernel) { k.VGPRs, k.LDSBytes = 8, 16<<10+4 }, want: 8 * chain},
		{name: "two by slots", edit: func(s *Spec) { s.WavesPerSIMD = 2 }, kernel: func(k *Kernel) { k.LDSBytes = 0 }, want: 4 * chain},
		{name: "all at once: a group of one wave needs no barrier", edit: func(s *Spec) { s.WorkgroupsMax = 4 }, kernel: func(k *Kernel) { k.LDSBytes = 0 }, want: chain},
		{name: "two by work-groups of two waves", edit: func(s *Spec) { s.WorkgroupsMax = 2 }, kernel: func(k *Kernel) { k.LDSBytes = 0 }, size: 64, want: 4 * chain},
		{name: "two SIMDs, two each", edit: func(s *Spec) { s.SIMDsPerCU, s.WavesPerSIMD = 2, 2 }, kernel: func(k *Kernel) { k.LDSBytes = 0 }, want: 2 * chain},
	} {
		f.groups, f.body = 8, body
		f.check(t)
	}
	at := func(size int, edit func(*Spec)) int64 {
		k := kernelOf(t, 32, repeat(40, "v_fma_f32 v2, v2, v2, v2"))
		return warm(t, newCore(t, func(s *Spec) { distinct(s); s.SIMDsPerCU = 4; edit(s) }), k, 1, size)
	}
	none := func(*Spec) {}
	launch := func(s *Spec) { s.WaveLaunch = 17 }
	// The first wave alone waits for its code.
	if got, want := at(128, launch)-at(32, launch), int64(3*17-s.ICache.LatencyCycles); got != want {
		t.Errorf("four waves end %d cycles after one, want %d", got, want)
	}
	if got := at(32, func(s *Spec) { s.LaunchCycles = 500 }) - at(32, none); got != 500 {
		t.Errorf("a launch of 500 cycles costs %d", got)
	}
	if got := at(32, func(s *Spec) { s.WaveLaunch = 1000 }) - at(32, none); got != 0 {
		t.Errorf("a wave waits %d cycles for the launches of the dispatch before", got)
	}
}

// TestCodeForms: code that exceeds the instruction cache is fetched line by line from L2, or is there in time when
// prefetched.
func TestCodeForms(t *testing.T) {
	s := spec()
	small := func(prefetch int) func(*Spec) {
		return func(s *Spec) {
			s.Prefetch = prefetch
			s.ICache = CacheSpec{Bytes: 256, Line: 64, Ways: 4, LatencyCycles: 9, BytesPerCycle: 64, MSHRs: 8}
		}
	}
	line := repeat(16, "s_nop 0") // 64 bytes
	fetch := int64(9 + s.L2.LatencyCycles - s.L0.LatencyCycles)
	for _, f := range []form{
		{name: "line by line", edit: small(0), body: line, want: 16 + fetch},
		{name: "ahead", edit: small(2), body: repeat(16, "s_nop 3"), want: 16 * 4},
		{name: "code that fits", body: line, want: 16},
		// A loop over two lines of code that does not fit waits for each of them once.
		{name: "loop", edit: small(0), body: "s_mov_b32 s6, 4\n#:\n" + repeat(27, "s_nop 0") + "s_sub_u32 s6, s6, 1\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 #\ns_nop 0",
			want: 1 + 4*(27+2*int64(s.SALULatency)) + 3*int64(s.BranchCycles) + 2 + 2*fetch},
	} {
		f.kernel = func(k *Kernel) { k.LDSBytes = 0 }
		f.check(t)
	}
	k := kernelOf(t, 32, repeat(63, "s_nop 0")) // 256 bytes
	at := func(bytes int) int64 {
		return warm(t, newCore(t, func(s *Spec) { distinct(s); small(0)(s); s.ICache.Bytes = bytes }), k, 3, 64)
	}
	if got, want := at(len(k.Code)), at(2*len(k.Code)); got != want {
		t.Errorf("code of %d bytes takes %d cycles where it just fits, %d where there is room", len(k.Code), got, want)
	}
}
