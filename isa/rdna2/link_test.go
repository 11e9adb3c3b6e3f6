package rdna2

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/codegen"
)

// sumKernel adds n values that a lane loads one after the other.
func sumKernel(t *testing.T) *Program {
	t.Helper()
	k := NewKernel(NewTarget(), "sum")
	base := k.Reg(S4, "base")
	n := k.Reg(S1, "n")
	k.Emit(S_LOAD_DWORDX4_IMM, base, k.Args(), 0)
	k.Emit(S_LOAD_DWORD_IMM, n, k.Args(), 16)
	off, acc, x := k.Reg(V1, "off"), k.Reg(V1, "acc"), k.Reg(V2, "x")
	k.Emit(V_LSHLREV_B32_E32, off, 3, k.WorkItem(0))
	k.Emit(V_MOV_B32_E32, acc, 0)
	loop := k.F.Label("loop")
	k.F.Bind(loop)
	k.Emit(GLOBAL_LOAD_DWORDX2_SADDR, x, base.Sub(S2, 0), off, 0)
	k.Emit(V_ADD_F32_E32, acc, x.Sub(V1, 0), acc)
	k.Emit(V_FMAC_F32_E32, acc, float32(3.5), x.Sub(V1, 1))
	k.Emit(V_ADD_NC_U32_E32, off, 256, off)
	k.Emit(S_SUB_I32, n, n, 1)
	k.Emit(S_CMP_LG_U32, n, 0)
	k.Jump(S_CBRANCH_SCC1, loop)
	k.Emit(GLOBAL_STORE_DWORD_SADDR, off, acc, base.Sub(S2, 2), 0)
	p := require.V(k.Link())(t)
	return p
}

func TestLink(t *testing.T) {
	p := sumKernel(t)
	var b strings.Builder
	require.NoError(t, p.WriteListing(&b))
	text := b.String()
	t.Log("\n" + text)
	for _, want := range []string{"lgkmcnt(0)", "vmcnt(0)", "s_cbranch_scc1", "s_endpgm", "v_fmac_f32_e32", "0x40600000"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	w := words(p.Code)
	for i := 0; len(w) > 0; i++ {
		in, n, err := Decode(w)
		if err != nil || in != p.Insts[i] {
			t.Fatalf("instruction %d: %s, %v; want %s", i, in.String(), err, p.Insts[i].String())
		}
		w = w[n:]
	}
	if p.WorkItemIDs != 0 || p.VGPRs < 4 {
		t.Errorf("%d VGPRs, id mode %d", p.VGPRs, p.WorkItemIDs)
	}
}

// checkWaits walks straight-line code and reports registers that are read
// before the wait for them: an independent statement of the rule.
func checkWaits(insts []Inst) string {
	vm := map[uint16]int{} // register: loads issued since
	smem := map[uint16]bool{}
	for i := range insts {
		in := &insts[i]
		f := in.Form()
		if in.Op == S_WAITCNT {
			c := splitWaitcnt(in.Simm16)
			for r, age := range vm {
				if age >= c.VM {
					delete(vm, r)
				}
			}
			if c.LGKM == 0 {
				clear(smem)
			}
			continue
		}
		for _, o := range f.Operands() {
			if s := o.Slot(); s >= 0 {
				for u := range uint16(max(o.Regs, 1)) {
					if _, bad := vm[in.Src[s]+u]; bad || smem[in.Src[s]+u] {
						return in.String()
					}
				}
			}
		}
		for _, o := range f.Operands() {
			if o.Role != RoleVDst && o.Role != RoleSDst {
				continue
			}
			switch {
			case f.Counters&CntVM != 0:
				for r := range vm {
					vm[r]++
				}
				for u := range uint16(o.Regs) {
					vm[in.Dst+u] = 0
				}
			case f.Sched == SchedSMEM:
				for u := range uint16(o.Regs) {
					smem[in.Dst+u] = true
				}
			}
		}
	}
	return ""
}

// TestWaits: many loads in flight, used in another order; and the check notices when a wait is removed.
func TestWaits(t *testing.T) {
	k := NewKernel(NewTarget(), "waits")
	base := k.Reg(S4, "base")
	k.Emit(S_LOAD_DWORDX4_IMM, base, k.Args(), 0)
	off := k.Reg(V1, "off")
	k.Emit(V_LSHLREV_B32_E32, off, 2, k.WorkItem(0))
	var xs []codegen.Reg
	const n = 80 // more than the counter holds
	for i := range n {
		x := k.Reg(V1, "x")
		k.Emit(GLOBAL_LOAD_DWORD_SADDR, x, base.Sub(S2, 0), off, 16*i)
		xs = append(xs, x)
	}
	acc := k.Reg(V1, "acc")
	k.Emit(V_MOV_B32_E32, acc, xs[3])
	for i := 1; i < n; i++ {
		k.Emit(V_ADD_F32_E32, acc, xs[i^3], acc)
	}
	k.Emit(GLOBAL_STORE_DWORD_SADDR, off, acc, base.Sub(S2, 2), 0)
	p := require.V(k.Link())(t)
	require.Same(t, "", checkWaits(p.Insts), "unwaited read")
	partial, removed := false, 0
	for i := range p.Insts {
		if p.Insts[i].Op != S_WAITCNT {
			continue
		}
		if c := splitWaitcnt(p.Insts[i].Simm16); c.VM > 0 && c.VM < n {
			partial = true
		}
		without := append(append([]Inst(nil), p.Insts[:i]...), p.Insts[i+1:]...)
		if checkWaits(without) == "" {
			t.Errorf("wait %d (%s) is not needed", i, p.Insts[i].String())
		}
		removed++
	}
	if !partial || removed < 2 {
		t.Errorf("%d waits, partial %v", removed, partial)
	}
}

func TestKernelErrors(t *testing.T) {
	for name, f := range map[string]func(k *Kernel){
		"operands":       func(k *Kernel) { k.Emit(V_MOV_B32_E32, k.Reg(V1, "x")) },
		"does not fit":   func(k *Kernel) { k.Emit(V_MOV_B32_E32, k.Reg(S1, "x"), 0) },
		"no operand":     func(k *Kernel) { k.Emit(V_MOV_B32_E32, k.Reg(V1, "x"), "y") },
		"read before it": func(k *Kernel) { k.Emit(V_MOV_B32_E32, k.Reg(V1, "x"), k.Reg(V1, "y")) },
		"two literals": func(k *Kernel) {
			k.Emit(V_ADD_F32_E64, k.Reg(V1, "x"), float32(3.25), float32(4.25))
		},
	} {
		k := NewKernel(NewTarget(), "bad")
		f(k)
		require.ErrorContains(t, require.Err(k.Link()), name)
	}
}

// TestKeepsLanes: an instruction that moves between lanes reads D, unless no mask and no missing source keeps a lane of it.
func TestKeepsLanes(t *testing.T) {
	k := NewKernel(NewTarget(), "lanes")
	d, s := k.Reg(V1, "d"), k.Reg(V1, "s")
	for _, c := range []struct {
		op   Op
		m    Mods
		role codegen.Role
	}{
		{V_MOV_B32_DPP, Mods{Rows: 15, Banks: 15, Bound: true}, codegen.Def},
		{V_MOV_B32_DPP, Mods{Rows: 15, Banks: 15}, codegen.UseDef},
		{V_MOV_B32_DPP, Mods{Rows: 7, Banks: 15, Bound: true}, codegen.UseDef},
		{V_MOV_B32_DPP, Mods{Rows: 15, Banks: 11, Bound: true}, codegen.UseDef},
		{V_FMAC_F32_DPP, Mods{Rows: 15, Banks: 15, Bound: true}, codegen.UseDef},
	} {
		args := []any{d, s}
		if c.op == V_FMAC_F32_DPP {
			args = append(args, s)
		}
		if in := c.m.With(k.Emit(c.op, args...)); in.Args[0].Role != c.role {
			t.Errorf("%+v: role %d of D, want %d", c.m, in.Args[0].Role, c.role)
		}
	}
}
