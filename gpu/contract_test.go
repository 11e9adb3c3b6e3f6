package gpu

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/coretest"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Each work-item adds its element of 4 KiB as often as the third argument states and stores the sum after them.
const sumRounds = `
	s_load_dwordx4 s[4:7], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 2, v0
	v_mov_b32 v2, 0
	s_waitcnt lgkmcnt(0)
again:
	global_load_dword v3, v1, s[4:5]
	s_waitcnt vmcnt(0)
	v_add_nc_u32 v2, v2, v3
	s_sub_i32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 again
	global_store_dword v1, v2, s[4:5] offset:2040
	s_endpgm`

// TestContract: the GPU keeps the contract of all cores.
func TestContract(t *testing.T) {
	core := require.V(New(DefaultSpec()))(t)
	other := require.V(New(DefaultSpec()))(t)
	kernel := func(name, text string) *Kernel {
		return &Kernel{Name: name, Code: assemble(t, false, text), WaveSize: 32, VGPRs: 8}
	}
	sum, endless := kernel("sum", sumRounds), kernel("endless", "again:\ns_nop 0\ns_branch again\ns_endpgm")
	options := func(r coretest.Run[*State]) Options {
		return Options{Functional: r.Functional, Memory: r.Memory, State: r.State, Profile: r.Profile}
	}
	suite := coretest.Suite[*State]{
		NewState: core.NewState, OtherState: other.NewState, Reset: (*State).Reset, Waits: "instruction limit reached",
		Run: func(r coretest.Run[*State]) (*sim.Report, []byte, error) {
			s, data := space(t, 8192)
			for i := range data[:4096] {
				data[i] = byte(i*7 + 1)
			}
			d := Dispatch{Kernel: sum, Grid: [3]int{512}, Workgroup: [3]int{64}, Kernarg: args(dataBase, uint64(r.Rounds))}
			last := d
			last.Region = 1
			rep, err := core.Run(s, []Dispatch{d, last}, options(r))
			return rep, slices.Clone(data[4096-2048:]), err
		},
		Deadlock: func(r coretest.Run[*State]) error {
			o := options(r)
			o.MaxInstructions = 10_000
			_, err := core.Run(&mem.Space{}, []Dispatch{{Kernel: endless, Grid: [3]int{64}, Workgroup: [3]int{64}}}, o)
			return err
		},
	}
	suite.Test(t)
}
