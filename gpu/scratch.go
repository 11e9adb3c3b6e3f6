package gpu

import (
	"encoding/binary"
	"fmt"
)

// Scratch: the private memory of a wave's lanes. The bytes of a lane are
// interleaved with those of its neighbours: dword 0 of all lanes, then dword 1.
// A wave takes a slot of the scratch segment while it is resident; its offset
// in the segment is what the register of Kernel.ScratchOffset holds.
//
// Programs reach it in three ways: buffer instructions with the descriptor of
// UserSegmentBuffer, which swizzles; scratch instructions and generic addresses
// in the private aperture, which take byte offsets of the lane and add
// FLAT_SCRATCH.

// scratchGranule is the unit of a wave's scratch in bytes.
const scratchGranule = 1024

// scratchDescriptor describes the segment to buffer instructions: swizzled by
// lane in dwords, no bound.
func scratchDescriptor(lanes int) [4]uint32 {
	const (
		swizzle = 1 << 31
		addLane = 1 << 23
		raw     = 3 << 28
	)
	stride := uint32(2) // 32 lanes beside each other
	if lanes == 64 {
		stride = 3
	}
	return [4]uint32{scratchWindow & 0xFFFFFFFF, scratchWindow>>32 | swizzle, ^uint32(0), stride<<21 | addLane | raw}
}

// scratchDwords is the size of a lane's scratch, rounded up.
func (k *Kernel) scratchDwords() int { return (k.ScratchBytes + 3) / 4 }

// newScratch gives the wave zeroed scratch in the lowest free slot.
func (w *wave) newScratch() {
	m, k := w.m, w.m.p.k
	w.scratchBase, w.flat = scratchWindow, 0
	bytes := 4 * k.scratchDwords() * w.n
	if cap(w.scratch) < bytes {
		w.scratch = make([]byte, bytes)
	} else {
		w.scratch = w.scratch[:bytes]
		clear(w.scratch)
	}
	if bytes == 0 {
		return
	}
	slot := 0
	for slot < len(m.slots) && m.slots[slot] {
		slot++
	}
	if slot == len(m.slots) {
		m.slots = append(m.slots, false)
	}
	m.slots[slot] = true
	w.scratchBase += uint64(slot) * uint64((bytes+scratchGranule-1)&^(scratchGranule-1))
	if user := k.User; user&(UserFlatScratch|UserSegmentBuffer) == 0 {
		// Programs of our own builder do not set FLAT_SCRATCH.
		w.flat = w.scratchBase
	}
}

// freeScratch gives the slot back.
func (w *wave) freeScratch() {
	if bytes := len(w.scratch); bytes > 0 {
		w.m.slots[(w.scratchBase-scratchWindow)/uint64((bytes+scratchGranule-1)&^(scratchGranule-1))] = false
	}
}

// inScratch reports whether an address is in the scratch segment of any wave.
func inScratch(addr uint64) bool { return addr-scratchWindow < 1<<32 }

// scratchReady reports whether FLAT_SCRATCH points to the wave's own scratch.
func (w *wave) scratchReady() bool {
	switch {
	case len(w.scratch) == 0:
		w.m.fail(w, fmt.Errorf("private access in a kernel without scratch"))
	case w.flat != w.scratchBase:
		w.m.fail(w, fmt.Errorf("FLAT_SCRATCH is %#x, the wave's scratch is at %#x", w.flat, w.scratchBase))
	default:
		return true
	}
	return false
}

// private moves op's bytes between the registers of lane l and its scratch from
// byte off on, and notes the address for timing.
func (w *wave) private(u *uop, op *memOp, l int, off int64) bool {
	if size := int64(w.m.p.k.ScratchBytes); off < 0 || off+int64(op.size) > size {
		w.m.fail(w, fmt.Errorf("lane %d: %d bytes at scratch offset %d, the lane has %d bytes", l, op.size, off, size))
		return false
	}
	stride := 4 * w.n
	at := func(o int64) int { return int(o>>2)*stride + 4*l + int(o&3) }
	addr := &w.m.addr[l]
	switch {
	case op.size == 4 && off&3 == 0:
		*addr = 0
		w.access(u, op, 1<<l, w.scratch[at(off):], 0)
	default:
		var t [16]byte
		for i := range op.size {
			t[i] = w.scratch[at(off+int64(i))]
		}
		*addr = 0
		w.access(u, op, 1<<l, t[:], 0)
		if op.store || op.atomic != nil {
			for i := range op.size {
				w.scratch[at(off+int64(i))] = t[i]
			}
		}
	}
	*addr = w.scratchBase + uint64(at(off))
	w.m.swizzled = true
	return true
}

// privateRow is private for all lanes at one offset of whole dwords.
func (w *wave) privateRow(u *uop, op *memOp, m uint64, off int64) {
	base := int(off>>2) * 4 * w.n
	for j := range op.size / 4 {
		b := w.scratch[base+4*j*w.n:][:4*w.n]
		reg := u.b
		if !op.store {
			reg = u.dst
		}
		d := w.at(reg + uint32(j*w.n))
		for k := m; k != 0; k &= k - 1 {
			l := firstLane(k)
			if op.store {
				binary.LittleEndian.PutUint32(b[4*l:], d[l])
			} else {
				d[l] = binary.LittleEndian.Uint32(b[4*l:])
			}
		}
	}
	for k := m; k != 0; k &= k - 1 {
		l := firstLane(k)
		w.m.addr[l] = w.scratchBase + uint64(base+4*l)
	}
	w.m.swizzled = true
}

// execScratch: the address is the lane's byte offset.
func execScratch(w *wave, u *uop) {
	m := w.mask()
	if m == 0 || !w.scratchReady() {
		return
	}
	op := u.x.mem
	off := int64(u.imm)
	if u.ck == srcS && u.c != sNull {
		off += int64(w.s[u.c])
	}
	if u.ak != srcV && op.plainDwords() && off >= 0 && off&3 == 0 && off+int64(op.size) <= int64(w.m.p.k.ScratchBytes) {
		w.privateRow(u, op, m, off)
		return
	}
	base := off
	var a *row
	if u.ak == srcV {
		t := *w.at(u.a) // a load may overwrite its address
		a = &t
	}
	for k := m; k != 0; k &= k - 1 {
		l := firstLane(k)
		if off = base; a != nil {
			off += int64(int32(a[l]))
		}
		if !w.private(u, op, l, off) {
			return
		}
	}
}

// plainDwords reports a load or store of whole registers.
func (op *memOp) plainDwords() bool { return op.atomic == nil && op.size >= 4 }
