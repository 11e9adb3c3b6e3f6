package gpu

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/decode"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// sample is an instruction of a form with registers in every operand.
func sample(op rdna2.Op) rdna2.Inst {
	f := op.Form()
	in := rdna2.Inst{Op: op}
	for _, o := range f.Operands() {
		reg := uint16(8)
		if o.Class == rdna2.ClassVGPR || o.Class == rdna2.ClassVSrc {
			reg = rdna2.V(8)
		}
		switch {
		case o.Role == rdna2.RoleVDst || o.Role == rdna2.RoleSDst && o.Class != rdna2.ClassMask:
			in.Dst = reg
		case o.Role == rdna2.RoleSDst:
			in.SDst = reg
		case o.Slot() >= 0:
			in.Src[o.Slot()] = reg
		}
	}
	switch op.Mnemonic() {
	case rdna2.M_S_DENORM_MODE:
		in.Simm16 = 15
	case rdna2.M_S_GETREG_B32, rdna2.M_S_SETREG_B32, rdna2.M_S_SETREG_IMM32_B32:
		in.Simm16 = rdna2.Hwreg(1, 0, 8) // MODE
	case rdna2.M_S_WAITCNT_VSCNT, rdna2.M_S_WAITCNT_VMCNT, rdna2.M_S_WAITCNT_LGKMCNT, rdna2.M_S_WAITCNT_EXPCNT:
		in.Src[0] = rdna2.Null
	}
	if f.Format == rdna2.VOP3P {
		in.OpSelHi = 7
	}
	return in
}

// TestEveryForm: each form of the instruction set decodes to something that
// executes.
func TestEveryForm(t *testing.T) {
	modelled := map[string]bool{}
	for op := rdna2.Op(1); op < rdna2.NumOps; op++ {
		in := sample(op)
		f := op.Form()
		p := &state.Program{Name: "k", WaveSize: 32, VGPRs: 64, ScratchBytes: 16}
		u, _ := decode.Op(p, &in, nil)
		name := f.Mnemonic.String()
		ok := u.Details.Err == nil && u.Handler != nil
		if errors.Is(u.Details.Err, state.ErrNoEnd) { // s_code_end: a fault by design
			ok = true
		}
		if ok {
			modelled[name] = true
		}
		if !ok {
			t.Errorf("%s: %v", f.Name, u.Details.Err)
		}
	}
	for _, file := range []string{"handlist.txt", "cover99.txt"} {
		b := require.File(t, filepath.Join("testdata", file))
		for _, name := range strings.Fields(string(b)) {
			if !modelled[name] {
				t.Errorf("%s: %s is not modelled", file, name)
			}
		}
	}
}
