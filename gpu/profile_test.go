package gpu

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// poweredFlat draws so many picojoules for an access.
type poweredFlat struct {
	*flat
	each, pj float64
}

func (p *poweredFlat) Access(t sim.Time, addr uint64, bytes int, k mem.Kind) (sim.Time, sim.Reason) {
	p.pj += p.each
	return p.flat.Access(t, addr, bytes, k)
}

func (p *poweredFlat) Energy() (float64, float64) { return p.pj, 0 }

// TestProfileDRAM: each instruction that misses is charged with the memory energy of its lines, fetches with the rest.
func TestProfileDRAM(t *testing.T) {
	const each = 1e6
	k := kernelOf(t, 32, base+"v_lshlrev_b32 v1, 2, v0\nglobal_load_dword v2, v1, s[4:5]\nglobal_load_dword v3, v1, s[4:5] offset:256\ns_waitcnt vmcnt(0)\nv_add_nc_u32 v2, v2, v3")
	run := func(each float64) (map[int64]float64, float64) {
		c := newCore(t, func(s *Spec) { s.V *= 2 }) // which the memory has nothing of
		s, _ := space(t, 1<<12)
		m := &poweredFlat{flat: c.memory, each: each}
		state, err := c.NewState(m)
		require.NoError(t, err)
		var p sim.Profile
		_, err = c.Core.Run(s, []Dispatch{{Kernel: k, Grid: [3]int{32}, Workgroup: [3]int{32}, Kernarg: args(dataBase)}}, Options{State: state, Profile: &p})
		require.NoError(t, err)
		rows := map[int64]float64{}
		for _, x := range p.Samples {
			rows[x.At] += x.EnergyPJ
		}
		return rows, m.pj
	}
	without, _ := run(0)
	with, all := run(each)
	loads, sum := 0, 0.0
	for at, pj := range with {
		d := pj - without[at]
		if d < -1 {
			t.Errorf("at %d: %g pJ less where memory draws", at, -d)
		}
		if at != sim.NoInstruction && d > each/2 {
			loads++
		}
		sum += d
	}
	if loads != 3 || sum < all-1 || sum > all+1 {
		t.Errorf("memory draws %g pJ, the profile has %g, at %d instructions", all, sum, loads)
	}
}
