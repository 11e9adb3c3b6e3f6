package gpu

import "testing"

// TestAllocations: in steady state a run allocates its report, and nothing by work-group, wave or instruction.
func TestAllocations(t *testing.T) {
	c := newCore(t, nil)
	k := kernelOf(t, 32, base+`v_lshlrev_b32 v1, 2, v0
		s_mov_b32 s6, 20
		loop:
		global_load_dword v2, v1, s[4:5]
		s_waitcnt vmcnt(0)
		v_add_f32 v3, v2, v2
		ds_write_b32 v1, v3
		s_barrier
		s_sub_u32 s6, s6, 1
		s_cmp_lg_u32 s6, 0
		s_cbranch_scc1 loop
		global_store_dword v1, v3, s[4:5]`)
	s, _ := space(t, 1<<16)
	for _, functional := range []bool{false, true} {
		run := func(groups int) float64 {
			d := []Dispatch{{Kernel: k, Grid: [3]int{64 * groups}, Workgroup: [3]int{64}, Kernarg: args(dataBase)}}
			return testing.AllocsPerRun(3, func() {
				if _, err := c.Run(s, d, Options{Functional: functional}); err != nil {
					t.Fatal(err)
				}
			})
		}
		run(500)
		few, many := run(1), run(500)
		if many != few || many > 200 {
			t.Errorf("functional %v: %.0f allocations for 500 work-groups, %.0f for one", functional, many, few)
		}
	}
}
