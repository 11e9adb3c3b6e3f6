package gpu

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// execInvalidate: memory is coherent functionally; timing drops the lines.
func execInvalidate(w *wave, u *uop) {
	if w.simd != nil {
		w.simd.cu.invalidate(u.x.form.Mnemonic)
	}
}

func execSLoad(w *wave, u *uop) {
	base := w.s64(u.a)
	off := int64(u.x.in.Offset)
	if u.bk == srcS && u.b != sNull {
		off += int64(w.s[u.b])
	}
	addr := (base + uint64(off)) &^ 3
	n := u.x.mem.size
	b := w.m.bytes(addr, n, false)
	if b == nil {
		w.m.fail(w, fmt.Errorf("scalar load of %d bytes at %#x: not mapped", n, addr))
		return
	}
	for i := 0; i < n; i += 4 {
		w.s[u.dst+uint32(i/4)] = binary.LittleEndian.Uint32(b[i:])
	}
	w.m.scalarAddr = addr
}

// execGlobal computes the lane addresses into the machine's address row, where
// timing finds them, and moves the bytes.
func execGlobal(w *wave, u *uop) {
	m := w.mask()
	if m == 0 {
		return
	}
	addr := &w.m.addr
	lo := w.at(u.a)
	imm := uint64(int64(u.imm))
	n := w.n
	var first, last uint64
	if u.ck == srcS {
		base := w.s64(u.c) + imm
		low, high := ^uint32(0), uint32(0)
		if m == w.full() {
			for l := range n {
				v := lo[l&63]
				addr[l&63] = base + uint64(v)
				low, high = min(low, v), max(high, v)
			}
		} else {
			for k := m; k != 0; k &= k - 1 {
				l := firstLane(k)
				v := lo[l]
				addr[l] = base + uint64(v)
				low, high = min(low, v), max(high, v)
			}
		}
		first, last = base+uint64(low), base+uint64(high)
	} else {
		hi := w.at(u.a + uint32(n))
		first, last = ^uint64(0), 0
		for k := m; k != 0; k &= k - 1 {
			l := firstLane(k)
			a := uint64(lo[l]) | uint64(hi[l])<<32
			a += imm
			addr[l] = a
			first, last = min(first, a), max(last, a)
		}
	}
	op := u.x.mem
	write := op.store || op.atomic != nil
	size := op.size
	if last-first < 1<<40 {
		if b := w.m.bytes(first, int(last-first)+size, write); b != nil {
			w.access(u, op, m, b, first)
			return
		}
	}
	// Lanes in different segments, or an address that is not mapped.
	for k := m; k != 0; k &= k - 1 {
		l := firstLane(k)
		b := w.m.bytes(addr[l], size, write)
		if b == nil {
			w.badAccess(l, op, addr[l])
			return
		}
		w.access(u, op, 1<<l, b, addr[l])
	}
}

// access moves the bytes of the lanes of m; b begins at address base.
func (w *wave) access(u *uop, op *memOp, m uint64, b []byte, base uint64) {
	addr := &w.m.addr
	n := uint32(w.n)
	switch {
	case op.atomic != nil:
		w.atomics(u, op, m, b, base)
	case op.store && op.size >= 4:
		for j := uint32(0); j < uint32(op.size)/4; j++ {
			d := w.at(u.b + j*n)
			for k := m; k != 0; k &= k - 1 {
				l := firstLane(k)
				binary.LittleEndian.PutUint32(b[addr[l]-base+uint64(4*j):], d[l])
			}
		}
	case op.store:
		d := w.at(u.b)
		for k := m; k != 0; k &= k - 1 {
			l := firstLane(k)
			v := d[l]
			if op.d16 == 2 {
				v >>= 16
			}
			o := addr[l] - base
			b[o] = byte(v)
			if op.size == 2 {
				b[o+1] = byte(v >> 8)
			}
		}
	case op.size >= 4:
		full := m == w.full()
		for j := uint32(0); j < uint32(op.size)/4; j++ {
			d := w.at(u.dst + j*n)
			if full {
				for l := range w.n {
					d[l&63] = binary.LittleEndian.Uint32(b[addr[l&63]-base+uint64(4*j):])
				}
				continue
			}
			for k := m; k != 0; k &= k - 1 {
				l := firstLane(k)
				d[l] = binary.LittleEndian.Uint32(b[addr[l]-base+uint64(4*j):])
			}
		}
	default:
		d := w.at(u.dst)
		for k := m; k != 0; k &= k - 1 {
			l := firstLane(k)
			o := addr[l] - base
			v := uint32(b[o])
			if op.size == 2 {
				v |= uint32(b[o+1]) << 8
			}
			d[l] = op.extend(v, d[l])
		}
	}
}

// extend widens a loaded byte or half and places it in the register.
func (op *memOp) extend(v, old uint32) uint32 {
	if op.signed {
		sh := uint(32 - 8*op.size)
		v = uint32(int32(v<<sh) >> sh)
	}
	switch op.d16 {
	case 1:
		return old&^0xFFFF | v&0xFFFF
	case 2:
		return old&0xFFFF | v<<16
	}
	return v
}

// swizzleLane is the lane of a group of 32 that lane i reads by a pattern of
// ds_swizzle.
func swizzleLane(i, pattern uint32) uint32 {
	mask := pattern & 31
	switch {
	case pattern >= 0xE000: // FFT: the bits above those of mask in reverse
		return bits.Reverse32(i)>>27>>bits.OnesCount32(mask) | i&mask
	case pattern >= 0xC000: // rotation of what mask leaves
		n := pattern >> 5 & 31
		if pattern>>10&1 != 0 {
			n = -n
		}
		return i&mask | (i+n)&^mask&31
	case pattern >= 0x8000: // four lanes
		return i&^3 | pattern>>(2*(i&3))&3
	}
	return (i&mask | pattern>>5&31) ^ pattern>>10&31
}

// execPermute: ds_swizzle, ds_permute, ds_bpermute move data between lanes of
// a group of 32 without touching LDS.
func execPermute(w *wave, u *uop) {
	m := w.mask()
	op := u.x.mem
	d := w.at(u.dst)
	var out [64]uint32
	switch op.mode {
	case memSwizzle:
		a := w.at(u.a)
		for l := range w.n {
			if src := l&32 | int(swizzleLane(uint32(l&31), uint32(u.imm))); m>>src&1 != 0 {
				out[l] = a[src]
			}
		}
	case memBpermute:
		a, b := w.at(u.a), w.at(u.b)
		for l := range w.n {
			if src := l&32 | int((a[l]+uint32(u.imm))>>2&31); m>>src&1 != 0 {
				out[l] = b[src]
			}
		}
	case memPermute:
		a, b := w.at(u.a), w.at(u.b)
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros64(k)
			out[l&32|int((a[l]+uint32(u.imm))>>2&31)] = b[l]
		}
	}
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		d[l] = out[l]
	}
}
