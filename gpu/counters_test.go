package gpu

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestEventForms: each copy of a program's body adds known events to the counters and the energy of a run. Without
// static power and memory energy, the energy is the sum over events of count times energy in the table.
func TestEventForms(t *testing.T) {
	e := EnergySpec{Vref: 0.8, InstrPJ: 1, LDSBytePJ: 1 << 10, L0BytePJ: 1 << 14, ScalarBytePJ: 1 << 18}
	for i := range e.LanePJ {
		e.LanePJ[i] = 0.25 * float64(i)
	}
	for _, c := range []struct {
		name     string
		before   string
		body     string
		counters map[string]int64
	}{
		{"vector", "", "v_add_f32 v2, v0, v0", map[string]int64{"lane_instructions": 32, "lanes_f32": 32}},
		{"half of the lanes", "s_mov_b32 exec_lo, 0xffff", "v_mul_lo_u32 v2, v0, v0", map[string]int64{"lane_instructions": 32, "lanes_int_mul": 16}},
		{"every class", "", "v_mov_b32 v2, v0\nv_add_nc_u32 v3, v0, v0\nv_lshlrev_b64 v[4:5], 1, v[0:1]\nv_fma_f32 v6, v0, v0, v0\nv_pk_add_f16 v7, v0, v0\n" +
			"v_dot4_i32_i8 v8, v0, v0, v0\nv_exp_f32 v9, v0\nv_add_f64 v[10:11], v[0:1], v[0:1]\ns_mov_b32 s6, 0\ns_nop 0",
			map[string]int64{"lane_instructions": 320, "lanes_move": 32, "lanes_int": 32, "lanes_int64": 32, "lanes_fma32": 32, "lanes_f16": 32, "lanes_dot": 32,
				"lanes_special": 32, "lanes_f64": 32, "lanes_salu": 32, "lanes_branch": 32}},
		{"LDS", "v_lshlrev_b32 v1, 2, v0", "ds_read_b32 v2, v1", map[string]int64{"lane_instructions": 32, "lanes_lds": 32, "lds_bytes": 128, "lds_cycles": 1}},
		{"LDS, two reads", "v_lshlrev_b32 v1, 3, v0", "ds_read2_b32 v[2:3], v1 offset1:1", map[string]int64{"lane_instructions": 32, "lanes_lds": 32, "lds_bytes": 256, "lds_cycles": 4}},
		{"LDS, conflicts", "v_lshlrev_b32 v1, 4, v0", "ds_write_b64 v1, v[2:3]", map[string]int64{"lane_instructions": 32, "lanes_lds": 32, "lds_bytes": 256, "lds_cycles": 4}},
		{"generic, in LDS", "v_mov_b32 v4, 0\nv_mov_b32 v5, 0x10000", "flat_load_dword v2, v[4:5]\ns_waitcnt vmcnt(0) lgkmcnt(0)",
			map[string]int64{"lane_instructions": 64, "lanes_vmem": 32, "lanes_branch": 32, "lds_bytes": 128, "lds_cycles": 1}},
		{"load", base + "v_lshlrev_b32 v1, 2, v0", "global_load_dword v2, v1, s[4:5]", map[string]int64{"lane_instructions": 32, "lanes_vmem": 32, "vector_lines": 2, "l0_bytes": 128}},
		{"load of a dword", base + "v_mov_b32 v1, 0", "global_load_dword v2, v1, s[4:5]", map[string]int64{"lane_instructions": 32, "lanes_vmem": 32, "vector_lines": 1, "l0_bytes": 64}},
		{"store", base + "v_lshlrev_b32 v1, 2, v0", "global_store_dword v1, v0, s[4:5]", map[string]int64{"lane_instructions": 32, "lanes_vmem": 32, "vector_lines": 2, "l0_bytes": 128}},
		{"scalar load", base, "s_load_dwordx4 s[8:11], s[4:5], 0x0\ns_waitcnt lgkmcnt(0)", map[string]int64{"lane_instructions": 64, "lanes_smem": 32, "lanes_branch": 32, "scalar_bytes": 16}},
	} {
		run := func(n int) (map[string]int64, float64) {
			core := newCore(t, func(s *Spec) { distinct(s); s.Energy = e; s.V = 0.8 })
			k := kernelOf(t, 32, c.before+"\n"+lines(n, func(int) string { return c.body })+"s_waitcnt vmcnt(0) lgkmcnt(0)\n")
			k.VGPRs = 24
			r := cyclesOf(t, core, k, 1, 32)
			got := map[string]int64{}
			for _, x := range r.Counters {
				got[x.Name] = x.Value
			}
			return got, r.EnergyPJ
		}
		one, pj1 := run(4)
		two, pj2 := run(8)
		want := 0.0
		for name, v := range two {
			d, known := v-one[name], c.counters[name]
			if d != 4*known && (known != 0 || countsEvents(name)) {
				t.Errorf("%s: %s grows by %d, want %d", c.name, name, d, 4*known)
			}
		}
		for i, name := range classNames {
			want += 4 * float64(c.counters["lanes_"+name]) * e.LanePJ[i]
		}
		want += 4 * float64(c.counters["lane_instructions"]/32) * e.InstrPJ
		want += 4 * (float64(c.counters["lds_bytes"])*e.LDSBytePJ + float64(c.counters["l0_bytes"])*e.L0BytePJ + float64(c.counters["scalar_bytes"])*e.ScalarBytePJ)
		if got := pj2 - pj1; !(math.Abs(got-want) <= 1e-6*want) {
			t.Errorf("%s: %g pJ more, want %g", c.name, got, want)
		}
	}
}

// countsEvents reports whether a counter is of the core itself: those of the caches depend on the code as well.
func countsEvents(name string) bool {
	for _, n := range append(countNames[:], "lane_instructions") {
		if n == name {
			return true
		}
	}
	return slices.ContainsFunc(classNames[:], func(n string) bool { return fmt.Sprint("lanes_", n) == name })
}
