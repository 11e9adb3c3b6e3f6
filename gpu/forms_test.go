package gpu

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestWGPForms: in WGP mode the waves of a work-group are in all compute units of a cluster, which have one LDS; else in one
// of them. 8 waves of chains on 2 units of 2 SIMDs of 2 waves.
func TestWGPForms(t *testing.T) {
	s := spec()
	fma, b := int64(s.Vector[ClassFMA32].Issue), int64(s.BarrierCycles)
	two := func(s *Spec) { s.CUsPerCluster, s.SIMDsPerCU, s.LDSPerCluster = 2, 2, true }
	mode := func(wgp bool) func(*Kernel) {
		return func(k *Kernel) { k.WGP, k.LDSBytes = wgp, 0 }
	}
	independent := lines(16, func(i int) string { return fmt.Sprintf("v_fma_f32 v%d, v0, v0, v0", 4+i) })
	for _, f := range []form{
		{name: "in one unit", kernel: mode(false), size: 128, body: independent, want: 2 * 16 * fma},
		{name: "in both", kernel: mode(true), size: 128, body: independent, want: 16 * fma},
		{name: "two groups, one in each unit", kernel: mode(false), groups: 2, size: 128, body: independent, want: 2 * 16 * fma},
		{name: "two groups, both in both", kernel: mode(true), groups: 2, size: 128, body: independent, want: 2 * 16 * fma},
		{name: "barrier across units", kernel: mode(true), size: 128, body: "s_barrier", want: b},
		// Four waves read one LDS, whichever unit they are in.
		{name: "one LDS", kernel: func(k *Kernel) { k.WGP = true }, size: 128, before: "v_lshlrev_b32 v1, 4, v0\ns_nop 0",
			body: lines(8, func(i int) string { return fmt.Sprintf("ds_read_b32 v%d, v1", 4+i) }), want: 4 * 8 * 4, tail: "s_waitcnt lgkmcnt(0)"},
		// Each unit has its own L0 and port, of one line per cycle.
		{name: "one L0", kernel: mode(false), size: 128, before: base + "v_and_b32 v1, 31, v0\nv_lshlrev_b32 v1, 6, v1",
			body: lines(4, func(i int) string { return fmt.Sprintf("global_load_dword v%d, v1, s[4:5]", 4+i) }), want: 4 * 4 * 32, tail: "s_waitcnt vmcnt(0)"},
		{name: "two L0", kernel: mode(true), size: 128, before: base + "v_and_b32 v1, 31, v0\nv_lshlrev_b32 v1, 6, v1",
			body: lines(4, func(i int) string { return fmt.Sprintf("global_load_dword v%d, v1, s[4:5]", 4+i) }), want: 2 * 4 * 32, tail: "s_waitcnt vmcnt(0)"},
	} {
		f.edit = two
		f.check(t)
	}
	// Clusters receive work-groups alternately.
	f := form{name: "two groups, one in each cluster", kernel: mode(true), groups: 2, size: 128, body: independent, want: 16 * fma,
		edit: func(s *Spec) { two(s); s.Clusters = 2 }}
	f.check(t)
	// A work-group of as many waves as a cluster has places runs in WGP mode only.
	c := newCore(t, func(s *Spec) { distinct(s); two(s); s.WavesPerSIMD = 2 })
	mem, _ := space(t, 64)
	for wgp, want := range map[bool]string{false: "does not fit a compute unit", true: ""} {
		k := kernelOf(t, 32, "s_nop 0")
		k.WGP, k.LDSBytes = wgp, 0
		_, err := c.Run(mem, []Dispatch{{Kernel: k, Grid: [3]int{256}, Workgroup: [3]int{256}}}, Options{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("WGP %v: %v", wgp, err)
		}
	}
}

// TestRegistersForms: a wave occupies the registers that its kernel declares, used or not: waves that find too few free
// wait until others have ended.
func TestRegistersForms(t *testing.T) {
	s := spec()
	chain := int64(s.Vector[ClassF32].Result)
	for registers, want := range map[int]int64{0: chain, s.VGPRRows / 2: chain, s.VGPRRows/2 + 1: 2 * chain} {
		f := form{name: fmt.Sprint("registers ", registers), groups: 2, body: "v_add_f32 v2, v2, v2", want: want,
			edit:   func(s *Spec) { s.Clusters, s.CUsPerCluster, s.SIMDsPerCU = 1, 1, 1 },
			kernel: func(k *Kernel) { k.Registers, k.LDSBytes = registers, 0 }}
		f.check(t)
	}
}

// TestScalarCacheForms: a scalar load returns after the latency of its cache, a miss after that and L2's share besides;
// loads of a line in flight wait for it.
func TestScalarCacheForms(t *testing.T) {
	s := spec()
	k := int64(s.Scalar.LatencyCycles)
	miss := k + int64(s.L2.LatencyCycles-s.L0.LatencyCycles) // latency that L2 adds to a level above
	small := func(s *Spec) { s.Scalar.Bytes, s.Scalar.Line, s.Scalar.Ways = 512, 64, 4 }
	load := func(n, stride int) string {
		return lines(n, func(i int) string { return fmt.Sprintf("s_load_dword s%d, s[4:5], 0x%x", 6+i, stride*i) })
	}
	for _, f := range []form{
		{name: "miss", before: base, body: "s_dcache_inv\n" + load(1, 64) + "s_waitcnt lgkmcnt(0)", want: 1 + miss + 1},
		{name: "two of a line that misses", before: base, body: "s_dcache_inv\n" + load(2, 4) + "s_waitcnt lgkmcnt(0)", want: 1 + miss + 1},
		{name: "four misses, one per cycle", before: base, body: "s_dcache_inv\n" + load(4, 64) + "s_waitcnt lgkmcnt(0)", want: 1 + miss + 3 + 1},
		{name: "eight lines that fit", edit: small, before: base, body: load(8, 64) + "s_waitcnt lgkmcnt(0)", want: 7 + k + 1},
		// Lines of one set evict each other, in the order of their reuse.
		{name: "twelve lines in sets of four", edit: small, before: base, body: load(12, 64) + "s_waitcnt lgkmcnt(0)", want: 11 + miss + 1},
		{name: "sixteen dwords take the port a line's time", before: base,
			body: "s_load_dwordx16 s[16:31], s[4:5], 0x0\ns_load_dword s6, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)",
			want: int64(64/s.Scalar.BytesPerCycle) + k + 1},
	} {
		f.kernel = func(k *Kernel) { k.LDSBytes = 0 }
		f.check(t)
	}
}

// TestAtomicForms: an atomic passes the caches above L2, whose bank reads and writes its line: two cycles of it. Its lanes
// are served line by line, the lanes of one together.
func TestAtomicForms(t *testing.T) {
	s := spec()
	l2 := int64(s.L2.LatencyCycles)
	atomic := func(n int) string {
		return lines(n, func(i int) string { return fmt.Sprintf("global_atomic_add v%d, v1, v0, s[4:5] glc", 4+i) }) + "s_waitcnt vmcnt(0)"
	}
	one := func(s *Spec) { s.L2.BytesPerCycle = 64 } // one bank
	for _, f := range []form{
		{name: "one address", before: base + "v_mov_b32 v1, 0", body: atomic(1), want: l2 + 1},
		{name: "one line", before: base + "v_lshlrev_b32 v1, 1, v0\nv_and_b32 v1, 60, v1", body: atomic(1), want: l2 + 1},
		{name: "eight lines", before: base + "v_lshlrev_b32 v1, 4, v0", body: atomic(1), want: l2 + 2*7 + 1},
		{name: "a line each", before: base + "v_lshlrev_b32 v1, 6, v0", body: atomic(1), want: l2 + 2*31 + 1},
		{name: "four of one address", before: base + "v_mov_b32 v1, 0", body: atomic(4), want: l2 + 2*3 + 1},
		{name: "in LDS", before: "v_mov_b32 v1, 0", body: "ds_add_rtn_u32 v4, v1, v0\ns_waitcnt lgkmcnt(0)", want: int64(s.LDSLatency) + 1},
	} {
		f.edit = one
		f.check(t)
	}
	two := form{name: "eight lines in two banks", edit: func(s *Spec) { s.L2.BytesPerCycle = 128 },
		before: base + "v_lshlrev_b32 v1, 4, v0", body: atomic(1), want: l2 + 2*3 + 1}
	two.check(t)
}

// TestDispatchForms: the dispatches of a queue follow each other. Each costs its launch and its cycles alone.
func TestDispatchForms(t *testing.T) {
	c := newCore(t, func(s *Spec) { distinct(s); s.LaunchCycles = 500; s.SIMDsPerCU = 4 })
	m, _ := space(t, 64)
	cycles := func(n, groups int) int64 {
		k := kernelOf(t, 32, repeat(40, "v_fma_f32 v2, v2, v2, v2"))
		k.LDSBytes = 0
		d := make([]Dispatch, n)
		for i := range d {
			d[i] = Dispatch{Kernel: k, Grid: [3]int{32 * groups}, Workgroup: [3]int{32}, Region: i}
		}
		r := require.V(c.Run(m, d, Options{}))(t)
		checkReport(t, r)
		return r.Cycles
	}
	s := spec()
	// Code arrives, a chain issues, and the wave ends.
	each := 500 + int64(s.ICache.LatencyCycles) + 39*int64(s.Vector[ClassFMA32].Result) + 1 + 1
	for _, groups := range []int{1, 4} { // one wave per SIMD
		if got := cycles(12, groups) - cycles(4, groups); got != 8*each {
			t.Errorf("%d groups: eight dispatches more take %d cycles, want 8 of %d", groups, got, each)
		}
	}
}
