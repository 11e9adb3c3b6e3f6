package gpu

import (
	"testing"

	"github.com/nnsoc/nnsoc/sim"
)

// TestEvents: the events of one wave in a region, by hand: instructions of 40 active lanes of 64, the floating-point
// operations of each, bytes of memory, and how long the wave was resident.
func TestEvents(t *testing.T) {
	core := newCore(t, nil)
	k := kernelOf(t, 64, base+`
		v_lshlrev_b32 v1, 2, v0
		v_fma_f32 v2, v0, v0, v0
		v_add_f32 v3, v0, v0
		v_pk_fma_f16 v4, v0, v0, v0
		v_dot4_i32_i8 v5, v0, v0, v0
		v_cmp_lt_f32 vcc, v0, v0
		s_mov_b32 s9, 0
		global_load_dword v6, v1, s[4:5]
		s_waitcnt vmcnt(0)
`)
	k.VGPRs = 24
	one := cyclesOf(t, core, k, 1, 40)
	two := cyclesOf(t, core, k, 2, 40)
	events := func(r *sim.Report) map[string]int64 {
		m := map[string]int64{}
		for _, c := range r.Regions[0].Counters {
			m[c.Name] = c.Value
		}
		return m
	}
	got, twice := events(one), events(two)
	const lanes = 40
	want := map[string]int64{"lanes": 7 * lanes, "lane_slots": 7 * 64, "flops": (2 + 1 + 4 + 8) * lanes, "lds_bytes": 0}
	for name, n := range want {
		if got[name] != n || twice[name] != 2*n {
			t.Errorf("%s: %d, and %d of two waves; want %d and %d", name, got[name], twice[name], n, 2*n)
		}
	}
	if got["l0_bytes"] == 0 || got["l2_bytes"] == 0 || got["scalar_bytes"] == 0 {
		t.Errorf("bytes %v", got)
	}
	// The wave is there from its launch to its end, the machine for the whole dispatch.
	s := core.Spec()
	if n := got["wave_cycles"]; n <= 0 || n > one.Cycles-int64(s.LaunchCycles) || twice["wave_cycles"] < 2*n*9/10 {
		t.Errorf("resident for %d of %d cycles, two waves for %d", n, one.Cycles, twice["wave_cycles"])
	}
	if n := got["wave_slots"]; n%int64(s.Clusters*s.CUsPerCluster*s.SIMDsPerCU*s.WavesPerSIMD) != 0 || n <= 0 {
		t.Errorf("%d slots", n)
	}
}
