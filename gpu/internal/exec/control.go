package exec

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// conditions are the predicates of conditional branches.
var conditions = map[rdna2.Mnemonic]func(w *state.Wave) bool{
	rdna2.M_S_BRANCH:         func(*state.Wave) bool { return true },
	rdna2.M_S_CBRANCH_SCC0:   func(w *state.Wave) bool { return w.S[state.SCC] == 0 },
	rdna2.M_S_CBRANCH_SCC1:   func(w *state.Wave) bool { return w.S[state.SCC] != 0 },
	rdna2.M_S_CBRANCH_VCCZ:   func(w *state.Wave) bool { return w.Mask(state.VCC) == 0 },
	rdna2.M_S_CBRANCH_VCCNZ:  func(w *state.Wave) bool { return w.Mask(state.VCC) != 0 },
	rdna2.M_S_CBRANCH_EXECZ:  func(w *state.Wave) bool { return w.Exec() == 0 },
	rdna2.M_S_CBRANCH_EXECNZ: func(w *state.Wave) bool { return w.Exec() != 0 },
}

func bindControl(u *state.Op, simm uint32) error {
	x := u.Details
	in := &x.Inst
	u.Unit, u.Handler = state.UnitControl, execNop
	k := uint32(in.Simm16)
	if taken := conditions[x.Form.Mnemonic]; taken != nil {
		u.Unit, u.Handler, x.Func = state.UnitBranch, execBranch, taken
		return nil
	}
	switch x.Form.Mnemonic {
	case rdna2.M_S_NOP, rdna2.M_S_SLEEP, rdna2.M_S_SETPRIO, rdna2.M_S_CLAUSE, rdna2.M_S_INST_PREFETCH,
		rdna2.M_S_WAKEUP, rdna2.M_S_ICACHE_INV, rdna2.M_S_WAITCNT_EXPCNT:
		// Only s_nop and s_sleep have a cost beyond their issue.
		if x.Form.Mnemonic == rdna2.M_S_NOP {
			u.Imm = int32(k & 15)
		} else if x.Form.Mnemonic == rdna2.M_S_SLEEP {
			u.Imm = int32(k&127) * 64
		}
	case rdna2.M_S_CODE_END:
		return state.ErrNoEnd
	case rdna2.M_S_ENDPGM:
		u.Control = state.ControlEnd
	case rdna2.M_S_BARRIER:
		u.Control = state.ControlBarrier
	case rdna2.M_S_WAITCNT:
		u.Control = state.ControlWait
		u.A, u.B, u.C = k&15|k>>10&0x30, k>>8&63, state.NoWait
	case rdna2.M_S_WAITCNT_VSCNT, rdna2.M_S_WAITCNT_VMCNT, rdna2.M_S_WAITCNT_LGKMCNT:
		return bindWait(u, x.Form.Mnemonic, min(k, state.NoWait))
	case rdna2.M_S_ROUND_MODE:
		u.Handler = func(w *state.Wave, u *state.Op) { w.Mode = w.Mode&^state.ModeRounding | k&state.ModeRounding }
	case rdna2.M_S_DENORM_MODE:
		u.Handler = func(w *state.Wave, u *state.Op) { w.Mode = w.Mode&^0xF0 | ^k&0xF<<4 }
	case rdna2.M_S_TRAP:
		u.Handler = func(w *state.Wave, u *state.Op) { w.Fail(fmt.Errorf("the kernel trapped: s_trap %d", k)) }
	case rdna2.M_S_GETPC_B64:
		u.Unit = state.UnitSALU
		u.Handler = func(w *state.Wave, u *state.Op) {
			w.SetS64(u.Dst, w.Machine.CodeBase+uint64(w.Machine.Program.Offsets[w.PC]))
		}
	case rdna2.M_S_SETPC_B64, rdna2.M_S_SWAPPC_B64:
		u.Unit = state.UnitBranch
		link := x.Form.Mnemonic == rdna2.M_S_SWAPPC_B64
		u.Handler = func(w *state.Wave, u *state.Op) {
			to := readScalar64(w, u, 0) - w.Machine.CodeBase
			if link {
				w.SetS64(u.Dst, w.Machine.CodeBase+uint64(w.Machine.Program.Offsets[w.PC]))
			}
			jump(w, w.Machine.Program.IndexOf(int64(to)), int64(to))
		}
	case rdna2.M_S_CALL_B64:
		u.Unit = state.UnitBranch
		u.Handler = func(w *state.Wave, u *state.Op) {
			w.SetS64(u.Dst, w.Machine.CodeBase+uint64(w.Machine.Program.Offsets[w.PC]))
			jump(w, u.Target, int64(u.Imm))
		}
	case rdna2.M_S_SETREG_B32, rdna2.M_S_SETREG_IMM32_B32, rdna2.M_S_GETREG_B32:
		return bindHardwareRegister(u, x.Form.Mnemonic)
	default:
		return fmt.Errorf("%s is not modelled", x.Form.Mnemonic)
	}
	return nil
}

// bindWait has a wave wait until at most k accesses of one counter are left.
func bindWait(u *state.Op, counter rdna2.Mnemonic, k uint32) error {
	if u.AFrom != state.SourceSGPR || u.A != state.Null {
		return fmt.Errorf("a register operand of %s is not modelled", counter)
	}
	u.AFrom = state.SourceNone
	u.Control = state.ControlWait
	u.A, u.B, u.C = state.NoWait, state.NoWait, state.NoWait
	switch counter {
	case rdna2.M_S_WAITCNT_VSCNT:
		u.C = k
	case rdna2.M_S_WAITCNT_VMCNT:
		u.A = k
	default:
		u.B = k
	}
	return nil
}

// Hardware registers that s_getreg and s_setreg reach.
const (
	hwMode   = 1
	hwFlatLo = 20
	hwFlatHi = 21
	hwBases  = 15
	hwCycles = 29
)

func bindHardwareRegister(u *state.Op, m rdna2.Mnemonic) error {
	k := uint32(u.Details.Inst.Simm16)
	id, off, size := k&63, k>>6&31, k>>11&31+1
	field := func(v uint32) uint32 { return v >> off & uint32(1<<size-1) }
	u.Unit = state.UnitSALU
	set := func(u *state.Op, w *state.Wave) uint32 {
		if m == rdna2.M_S_SETREG_IMM32_B32 {
			return u.Details.Inst.Literal
		}
		return w.Scalar(u.AFrom, u.A)
	}
	switch {
	case m == rdna2.M_S_GETREG_B32 && id == hwMode:
		u.Handler = func(w *state.Wave, u *state.Op) { w.S[u.Dst] = field(state.DefaultMode ^ w.Mode) }
	case m == rdna2.M_S_GETREG_B32 && (id == hwFlatLo || id == hwFlatHi):
		u.Handler = func(w *state.Wave, u *state.Op) { w.S[u.Dst] = field(uint32(w.FlatScratch >> (32 * (id - hwFlatLo)))) }
	case m == rdna2.M_S_GETREG_B32 && id == hwBases:
		u.Handler = func(w *state.Wave, u *state.Op) {
			w.S[u.Dst] = field(state.PrivateAperture>>48 | state.SharedAperture>>48<<16)
		}
	case m == rdna2.M_S_GETREG_B32 && id == hwCycles: // 20 bits
		u.Details.Clock = true
		u.Handler = func(w *state.Wave, u *state.Op) { w.S[u.Dst] = field(uint32(w.Machine.Cycle) & 0xFFFFF) }
	case m != rdna2.M_S_GETREG_B32 && id == hwMode:
		u.Handler = func(w *state.Wave, u *state.Op) {
			mask := uint32(1<<size-1) << off
			next := state.DefaultMode ^ w.Mode&^mask ^ mask&state.DefaultMode ^ set(u, w)<<off&mask
			if diff := next ^ state.DefaultMode; diff&^state.ModeFloats == 0 {
				w.Mode = diff
				return
			}
			w.Fail(fmt.Errorf("mode bits %d:%d set to %#x: only rounding, denormals, IEEE and DX10_CLAMP are modelled", off+size-1, off, field(next)))
		}
	case m != rdna2.M_S_GETREG_B32 && (id == hwFlatLo || id == hwFlatHi) && off == 0 && size == 32:
		u.Handler = func(w *state.Wave, u *state.Op) {
			sh := 32 * (id - hwFlatLo)
			w.FlatScratch = w.FlatScratch&^(math.MaxUint32<<sh) | uint64(set(u, w))<<sh
		}
	default:
		return fmt.Errorf("%s of hardware register %d, bits %d:%d, is not modelled", m, id, off+size-1, off)
	}
	return nil
}

func execBranch(w *state.Wave, u *state.Op) {
	if u.Details.Func.(func(*state.Wave) bool)(w) {
		jump(w, u.Target, int64(u.Imm))
	}
}

func jump(w *state.Wave, to int32, off int64) {
	if to < 0 {
		w.Fail(fmt.Errorf("jump to %#x, where no instruction begins", off))
		return
	}
	w.PC = to
}
