package memory

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/nnsoc/nnsoc/gpu/internal/asm"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

func execSLoad(w *state.Wave, u *state.Op) {
	base := w.S64(u.A)
	off := int64(u.Details.Inst.Offset)
	if u.BFrom == state.SourceSGPR && u.B != state.Null {
		off += int64(w.S[u.B])
	}
	addr := (base + uint64(off)) &^ 3
	n := u.Details.Access.Size
	b := w.Machine.Bytes(addr, n, false)
	if b == nil {
		w.Fail(fmt.Errorf("scalar load of %d bytes at %#x: %s", n, addr, w.Machine.Explain(addr, n)))
		return
	}
	loadWords(w.S[u.Dst:u.Dst+uint32(n/4)], b)
	w.Machine.ScalarAddr = addr
}

// execGlobal computes the lane addresses into the machine's address row, where
// timing finds them, and moves the bytes.
func execGlobal(w *state.Wave, u *state.Op) {
	m := w.Exec()
	if m == 0 {
		return
	}
	addr := &w.Machine.Addr
	lo := w.Row(u.A)
	imm := uint64(int64(u.Imm))
	n := w.Lanes
	op := u.Details.Access
	var first, last uint64
	if u.CFrom == state.SourceSGPR {
		base := w.S64(u.C) + imm
		if m == w.Full() && block(w, u, op, base) {
			return
		}
		low, high := ^uint32(0), uint32(0)
		if m == w.Full() {
			low, high = asm.Addresses(addr, lo, base, n)
			if gather(w, u, op, base, low, high) {
				return
			}
		} else {
			for k := m; k != 0; k &= k - 1 {
				l := state.FirstLane(k)
				v := lo[l]
				addr[l] = base + uint64(v)
				low, high = min(low, v), max(high, v)
			}
		}
		first, last = base+uint64(low), base+uint64(high)
	} else {
		hi := w.Row(u.A + uint32(n))
		first, last = ^uint64(0), 0
		for k := m; k != 0; k &= k - 1 {
			l := state.FirstLane(k)
			a := uint64(lo[l]) | uint64(hi[l])<<32
			a += imm
			addr[l] = a
			first, last = min(first, a), max(last, a)
		}
	}
	write := op.Store || op.Atomic != nil
	size := op.Size
	if last-first < 1<<40 {
		if b := w.Machine.Bytes(first, int(last-first)+size, write); b != nil {
			access(w, u, op, m, b, first)
			return
		}
	}
	// Lanes in different segments, or an address that is not mapped.
	for k := m; k != 0; k &= k - 1 {
		l := state.FirstLane(k)
		b := w.Machine.Bytes(addr[l], size, write)
		if b == nil {
			badAccess(w, l, op, addr[l])
			return
		}
		access(w, u, op, 1<<l, b, addr[l])
	}
}

// gather loads whole registers for all lanes, from offsets between low and high from base. It reports whether the access
// is one that it does; if not, nothing has happened.
func gather(w *state.Wave, u *state.Op, op *state.Access, base uint64, low, high uint32) bool {
	if op.Store || !op.PlainDwords() {
		return false
	}
	b := w.Machine.Bytes(base+uint64(low), int(high-low)+op.Size, false)
	if b == nil {
		return false
	}
	words := op.Size / 4
	asm.Gather(unsafe.Slice(&w.Row(u.Dst)[0], words*w.Lanes), b, w.Row(u.A), low, words, w.Lanes)
	return true
}

// access moves the bytes of the lanes of m; b begins at address base.
func access(w *state.Wave, u *state.Op, op *state.Access, m uint64, b []byte, base uint64) {
	addr := &w.Machine.Addr
	n := uint32(w.Lanes)
	switch {
	case op.Atomic != nil:
		atomics(w, u, op, m, b, base)
	case op.Store && op.Size >= 4:
		for j := uint32(0); j < uint32(op.Size)/4; j++ {
			d := w.Row(u.B + j*n)
			for k := m; k != 0; k &= k - 1 {
				l := state.FirstLane(k)
				binary.LittleEndian.PutUint32(b[addr[l]-base+uint64(4*j):], d[l])
			}
		}
	case op.Store:
		d := w.Row(u.B)
		for k := m; k != 0; k &= k - 1 {
			l := state.FirstLane(k)
			v := d[l]
			if op.D16 == 2 {
				v >>= 16
			}
			o := addr[l] - base
			b[o] = byte(v)
			if op.Size == 2 {
				b[o+1] = byte(v >> 8)
			}
		}
	case op.Size >= 4:
		for j := uint32(0); j < uint32(op.Size)/4; j++ {
			d := w.Row(u.Dst + j*n)
			for k := m; k != 0; k &= k - 1 {
				l := state.FirstLane(k)
				d[l] = binary.LittleEndian.Uint32(b[addr[l]-base+uint64(4*j):])
			}
		}
	default:
		d := w.Row(u.Dst)
		for k := m; k != 0; k &= k - 1 {
			l := state.FirstLane(k)
			o := addr[l] - base
			v := uint32(b[o])
			if op.Size == 2 {
				v |= uint32(b[o+1]) << 8
			}
			d[l] = op.Extend(v, d[l])
		}
	}
}

// swizzleLane is the lane of a group of 32 that lane i reads by a pattern of
// ds_swizzle.
func swizzleLane(i, pattern uint32) uint32 {
	mask := pattern & 31
	switch {
	case pattern >= 0xE000: // FFT: the bits above mask in reverse
		return bits.Reverse32(i)>>27>>bits.OnesCount32(mask) | i&mask
	case pattern >= 0xC000: // rotation in the bits outside mask
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
func execPermute(w *state.Wave, u *state.Op) {
	m := w.Exec()
	op := u.Details.Access
	d := w.Row(u.Dst)
	var out [64]uint32
	switch op.Mode {
	case state.AccessSwizzle:
		a := w.Row(u.A)
		for l := range w.Lanes {
			if src := l&32 | int(swizzleLane(uint32(l&31), uint32(u.Imm))); m>>src&1 != 0 {
				out[l] = a[src]
			}
		}
	case state.AccessBpermute:
		a, b := w.Row(u.A), w.Row(u.B)
		for l := range w.Lanes {
			if src := l&32 | int((a[l]+uint32(u.Imm))>>2&31); m>>src&1 != 0 {
				out[l] = b[src]
			}
		}
	case state.AccessPermute:
		a, b := w.Row(u.A), w.Row(u.B)
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros64(k)
			out[l&32|int((a[l]+uint32(u.Imm))>>2&31)] = b[l]
		}
	}
	for ; m != 0; m &= m - 1 {
		l := state.FirstLane(m)
		d[l] = out[l]
	}
}
