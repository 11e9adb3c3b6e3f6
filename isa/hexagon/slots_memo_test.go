package hexagon

import (
	"math/rand/v2"
	"testing"
)

// TestSlotMemo adds random instructions to packets: the memo finds space exactly where SlotsOK does.
func TestSlotMemo(t *testing.T) {
	ops := []Op{A2_add, A2_addi, A2_tfrsi, L2_loadri_io, S2_storeri_io, M2_mpyi, J2_jump, V6_vL32b_ai, V6_vL32b_tmp_ai, V6_vS32b_ai,
		V6_vrmpyub_acc, V6_vaddw, V6_vshuffvdd, V6_vmpabus, S2_asl_i_r, J2_loop0r, V6_valignb}
	r := rand.New(rand.NewPCG(1, 2))
	var m SlotMemo
	fit, full := 0, 0
	for range 20000 {
		var state int32
		var insts []Inst
		for range 5 {
			in := Inst{Op: ops[r.IntN(len(ops))], Ext: r.IntN(8) == 0}
			alone := r.IntN(20) == 0
			next, ok := m.Add(state, m.Class([]Inst{in}, alone))
			if want := len(insts) < 4 && !(alone && len(insts) > 0) && SlotsOK(append(insts[:len(insts):len(insts)], in)); ok != want {
				t.Fatalf("%v with %v, alone %t: %t, want %t", insts, in, alone, ok, want)
			}
			if !ok {
				full++
				continue
			}
			fit++
			if state, insts = next, append(insts, in); alone {
				break
			}
		}
	}
	if fit < 1000 || full < 1000 {
		t.Errorf("%d fit, %d did not", fit, full)
	}
}
