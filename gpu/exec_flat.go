package gpu

import "fmt"

// execFlat: every lane's 64-bit address is in the shared aperture, in the
// private one, or in global memory.
func execFlat(w *wave, u *uop) {
	mask := w.mask()
	if mask == 0 {
		return
	}
	m, op := w.m, u.x.mem
	lo, hi := *w.at(u.a), *w.at(u.a + uint32(w.n)) // a load may overwrite its address
	write := op.store || op.atomic != nil
	for k := mask; k != 0; k &= k - 1 {
		l := firstLane(k)
		addr := uint64(lo[l]) | uint64(hi[l])<<32
		off := addr&0xFFFFFFFF + uint64(int64(u.imm))
		switch addr >> 32 {
		case SharedAperture >> 32:
			if off+uint64(op.size) > uint64(len(w.wg.lds)) {
				m.fail(w, fmt.Errorf("lane %d: %d bytes at LDS offset %d through a generic address, the work-group has %d bytes", l, op.size, off, len(w.wg.lds)))
				return
			}
			m.addr[l] = off
			w.access(u, op, 1<<l, w.wg.lds[off:], off)
			m.inLDS |= 1 << l
		case PrivateAperture >> 32:
			if !w.scratchReady() || !w.private(u, op, l, int64(off)) {
				return
			}
		default:
			addr += uint64(int64(u.imm))
			b := m.bytes(addr, op.size, write)
			if b == nil {
				w.badAccess(l, op, addr)
				return
			}
			m.addr[l] = addr
			w.access(u, op, 1<<l, b, addr)
		}
	}
}

// badAccess reports an access to memory that is not there.
func (w *wave) badAccess(l int, op *memOp, addr uint64) {
	verb := "load"
	if op.store || op.atomic != nil {
		verb = "store"
	}
	w.m.fail(w, fmt.Errorf("lane %d: %s of %d bytes at %#x: %s", l, verb, op.size, addr, w.m.why(addr, op.size)))
}
