package memory

import (
	"fmt"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// execFlat: every lane's 64-bit address is in the shared aperture, in the
// private one, or in global memory.
func execFlat(w *state.Wave, u *state.Op) {
	mask := w.Exec()
	if mask == 0 {
		return
	}
	m, op := w.Machine, u.Details.Access
	lo, hi := *w.Row(u.A), *w.Row(u.A + uint32(w.Lanes)) // a load may overwrite its address
	write := op.Store || op.Atomic != nil
	for k := mask; k != 0; k &= k - 1 {
		l := state.FirstLane(k)
		addr := uint64(lo[l]) | uint64(hi[l])<<32
		off := addr&0xFFFFFFFF + uint64(int64(u.Imm))
		switch addr >> 32 {
		case state.SharedAperture >> 32:
			if off+uint64(op.Size) > uint64(len(w.Group.LDS)) {
				w.Fail(fmt.Errorf("lane %d: %d bytes at LDS offset %d through a generic address, the work-group has %d bytes", l, op.Size, off, len(w.Group.LDS)))
				return
			}
			m.Addr[l] = off
			access(w, u, op, 1<<l, w.Group.LDS[off:], off)
			m.InLDS |= 1 << l
		case state.PrivateAperture >> 32:
			if !scratchReady(w) || !accessPrivate(w, u, op, l, int64(off)) {
				return
			}
		default:
			addr += uint64(int64(u.Imm))
			b := m.Bytes(addr, op.Size, write)
			if b == nil {
				badAccess(w, l, op, addr)
				return
			}
			m.Addr[l] = addr
			access(w, u, op, 1<<l, b, addr)
		}
	}
}

// badAccess reports an access to memory that is not there.
func badAccess(w *state.Wave, l int, op *state.Access, addr uint64) {
	verb := "load"
	if op.Store || op.Atomic != nil {
		verb = "store"
	}
	w.Fail(fmt.Errorf("lane %d: %s of %d bytes at %#x: %s", l, verb, op.Size, addr, w.Machine.Explain(addr, op.Size)))
}
