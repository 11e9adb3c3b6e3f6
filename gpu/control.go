package gpu

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// What the sequencer does with a control instruction.
const (
	ctlNone = iota
	ctlEnd
	ctlBarrier
	ctlWait
)

const noWait = 63

func (d *decoder) control(u *uop, simm uint32) error {
	x := u.x
	in := &x.in
	u.unit, u.class, u.fn = unitControl, ClassBranch, execNop
	branch := func(taken func(w *wave) bool) {
		u.unit = unitBranch
		x.f = taken
		u.fn = execBranch
	}
	k := uint32(in.Simm16)
	switch x.form.Mnemonic {
	case rdna2.M_S_NOP, rdna2.M_S_SLEEP, rdna2.M_S_SETPRIO, rdna2.M_S_CLAUSE, rdna2.M_S_INST_PREFETCH,
		rdna2.M_S_WAKEUP, rdna2.M_S_ICACHE_INV, rdna2.M_S_WAITCNT_EXPCNT:
		// Only s_nop and s_sleep have a cost beyond their issue.
		if x.form.Mnemonic == rdna2.M_S_NOP {
			u.imm = int32(k & 15)
		} else if x.form.Mnemonic == rdna2.M_S_SLEEP {
			u.imm = int32(k&127) * 64
		}
	case rdna2.M_S_CODE_END:
		return errNoEnd
	case rdna2.M_S_ENDPGM:
		u.ctl = ctlEnd
	case rdna2.M_S_BARRIER:
		u.ctl = ctlBarrier
	case rdna2.M_S_WAITCNT:
		u.ctl = ctlWait
		u.a, u.b, u.c = k&15|k>>10&0x30, k>>8&63, noWait
	case rdna2.M_S_WAITCNT_VSCNT, rdna2.M_S_WAITCNT_VMCNT, rdna2.M_S_WAITCNT_LGKMCNT:
		if u.ak != srcS || u.a != sNull {
			return fmt.Errorf("a register operand of %s is not modelled", x.form.Mnemonic)
		}
		u.ak = srcNone
		u.ctl = ctlWait
		u.a, u.b, u.c = noWait, noWait, noWait
		switch x.form.Mnemonic {
		case rdna2.M_S_WAITCNT_VSCNT:
			u.c = min(k, noWait)
		case rdna2.M_S_WAITCNT_VMCNT:
			u.a = min(k, noWait)
		default:
			u.b = min(k, noWait)
		}
	case rdna2.M_S_ROUND_MODE:
		if k != 0 {
			return fmt.Errorf("round mode %d is not modelled, only nearest even", k)
		}
	case rdna2.M_S_DENORM_MODE:
		if k != 15 {
			return fmt.Errorf("denormal mode %d is not modelled, only keep", k)
		}
	case rdna2.M_S_TRAP:
		u.fn = func(w *wave, u *uop) { w.m.fail(w, fmt.Errorf("the kernel trapped: s_trap %d", k)) }
	case rdna2.M_S_BRANCH:
		branch(func(*wave) bool { return true })
	case rdna2.M_S_CBRANCH_SCC0:
		branch(func(w *wave) bool { return w.s[sSCC] == 0 })
	case rdna2.M_S_CBRANCH_SCC1:
		branch(func(w *wave) bool { return w.s[sSCC] != 0 })
	case rdna2.M_S_CBRANCH_VCCZ:
		branch(func(w *wave) bool { return w.sMask(sVCC) == 0 })
	case rdna2.M_S_CBRANCH_VCCNZ:
		branch(func(w *wave) bool { return w.sMask(sVCC) != 0 })
	case rdna2.M_S_CBRANCH_EXECZ:
		branch(func(w *wave) bool { return w.mask() == 0 })
	case rdna2.M_S_CBRANCH_EXECNZ:
		branch(func(w *wave) bool { return w.mask() != 0 })
	case rdna2.M_S_GETPC_B64:
		u.unit, u.class = unitSALU, ClassSALU
		u.fn = func(w *wave, u *uop) { w.setS64(u.dst, w.m.base+uint64(w.m.p.offs[w.pc])) }
	case rdna2.M_S_SETPC_B64, rdna2.M_S_SWAPPC_B64:
		u.unit = unitBranch
		link := x.form.Mnemonic == rdna2.M_S_SWAPPC_B64
		u.fn = func(w *wave, u *uop) {
			to := w.wideScalar(u, 0) - w.m.base
			if link {
				w.setS64(u.dst, w.m.base+uint64(w.m.p.offs[w.pc]))
			}
			w.jump(w.m.p.indexOf(int64(to)), int64(to))
		}
	case rdna2.M_S_CALL_B64:
		u.unit = unitBranch
		u.fn = func(w *wave, u *uop) {
			w.setS64(u.dst, w.m.base+uint64(w.m.p.offs[w.pc]))
			w.jump(u.target, int64(u.imm))
		}
	case rdna2.M_S_SETREG_B32, rdna2.M_S_SETREG_IMM32_B32, rdna2.M_S_GETREG_B32:
		return d.hwreg(u, x.form.Mnemonic)
	default:
		return fmt.Errorf("%s is not modelled", x.form.Mnemonic)
	}
	return nil
}

// Hardware registers that s_getreg and s_setreg reach.
const (
	hwMode      = 1
	hwFlatLo    = 20
	hwFlatHi    = 21
	hwBases     = 15
	hwCycles    = 29
	modeDefault = 0xF0 | 1<<8 | 1<<9 // keep denormals, DX10 clamp, IEEE
)

func (d *decoder) hwreg(u *uop, m rdna2.Mnemonic) error {
	k := uint32(u.x.in.Simm16)
	id, off, size := k&63, k>>6&31, k>>11&31+1
	field := func(v uint32) uint32 { return v >> off & uint32(1<<size-1) }
	u.unit, u.class = unitSALU, ClassSALU
	set := func(u *uop, w *wave) uint32 {
		if m == rdna2.M_S_SETREG_IMM32_B32 {
			return u.x.in.Literal
		}
		return w.scalar(u.ak, u.a)
	}
	switch {
	case m == rdna2.M_S_GETREG_B32 && id == hwMode:
		u.fn = func(w *wave, u *uop) { w.s[u.dst] = field(modeDefault) }
	case m == rdna2.M_S_GETREG_B32 && (id == hwFlatLo || id == hwFlatHi):
		u.fn = func(w *wave, u *uop) { w.s[u.dst] = field(uint32(w.flat >> (32 * (id - hwFlatLo)))) }
	case m == rdna2.M_S_GETREG_B32 && id == hwBases:
		u.fn = func(w *wave, u *uop) { w.s[u.dst] = field(PrivateAperture>>48 | SharedAperture>>48<<16) }
	case m == rdna2.M_S_GETREG_B32 && id == hwCycles: // 20 bits
		u.fn = func(w *wave, u *uop) { w.s[u.dst] = field(uint32(w.m.ticks()) & 0xFFFFF) }
	case m != rdna2.M_S_GETREG_B32 && id == hwMode:
		u.fn = func(w *wave, u *uop) {
			if v := set(u, w) & uint32(1<<size-1); v != field(modeDefault) {
				w.m.fail(w, fmt.Errorf("mode bits %d:%d set to %#x: only nearest-even rounding with denormals is modelled", off+size-1, off, v))
			}
		}
	case m != rdna2.M_S_GETREG_B32 && (id == hwFlatLo || id == hwFlatHi) && off == 0 && size == 32:
		u.fn = func(w *wave, u *uop) {
			sh := 32 * (id - hwFlatLo)
			w.flat = w.flat&^(math.MaxUint32<<sh) | uint64(set(u, w))<<sh
		}
	default:
		return fmt.Errorf("%s of hardware register %d, bits %d:%d, is not modelled", m, id, off+size-1, off)
	}
	return nil
}

func execBranch(w *wave, u *uop) {
	if u.x.f.(func(*wave) bool)(w) {
		w.jump(u.target, int64(u.imm))
	}
}

func (w *wave) jump(to int32, off int64) {
	if to < 0 {
		w.m.fail(w, fmt.Errorf("jump to %#x, where no instruction begins", off))
		return
	}
	w.pc = to
}
