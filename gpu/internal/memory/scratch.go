package memory

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// Scratch: the private memory of a wave's lanes. The bytes of a lane are
// interleaved with those of its neighbours: dword 0 of all lanes, then dword 1.
// A wave occupies a slot of the scratch segment while it is resident; the register of Kernel.ScratchOffset holds its
// offset in the segment.
//
// Programs reach it in three ways: buffer instructions with the descriptor of UserSegmentBuffer, which swizzles;
// scratch instructions and generic addresses in the private aperture, which have byte offsets within the lane and add
// FLAT_SCRATCH.

// scratchReady reports whether FLAT_SCRATCH points to the wave's own scratch.
func scratchReady(w *state.Wave) bool {
	switch {
	case len(w.Scratch) == 0:
		w.Fail(fmt.Errorf("private access in a kernel without scratch"))
	case w.FlatScratch != w.ScratchBase:
		w.Fail(fmt.Errorf("FLAT_SCRATCH is %#x, the wave's scratch is at %#x", w.FlatScratch, w.ScratchBase))
	default:
		return true
	}
	return false
}

// accessPrivate moves op's bytes between the registers of lane l and its scratch from
// byte off on, and notes the address for timing.
func accessPrivate(w *state.Wave, u *state.Op, op *state.Access, l int, off int64) bool {
	if size := int64(w.Machine.Program.ScratchBytes); off < 0 || off+int64(op.Size) > size {
		w.Fail(&state.ScratchError{Lane: l, Bytes: op.Size, Offset: off, Have: size})
		return false
	}
	stride := 4 * w.Lanes
	at := func(o int64) int { return int(o>>2)*stride + 4*l + int(o&3) }
	addr := &w.Machine.Addr[l]
	switch {
	case op.Size == 4 && off&3 == 0:
		*addr = 0
		access(w, u, op, 1<<l, w.Scratch[at(off):], 0)
	default:
		var t [16]byte
		for i := range op.Size {
			t[i] = w.Scratch[at(off+int64(i))]
		}
		*addr = 0
		access(w, u, op, 1<<l, t[:], 0)
		if op.Store || op.Atomic != nil {
			for i := range op.Size {
				w.Scratch[at(off+int64(i))] = t[i]
			}
		}
	}
	*addr = w.ScratchBase + uint64(at(off))
	w.Machine.Swizzled = true
	return true
}

// accessPrivateRow is accessPrivate for all lanes at one offset of whole dwords.
func accessPrivateRow(w *state.Wave, u *state.Op, op *state.Access, m uint64, off int64) {
	base := int(off>>2) * 4 * w.Lanes
	for j := range op.Size / 4 {
		b := w.Scratch[base+4*j*w.Lanes:][:4*w.Lanes]
		reg := u.B
		if !op.Store {
			reg = u.Dst
		}
		d := w.Row(reg + uint32(j*w.Lanes))
		for k := m; k != 0; k &= k - 1 {
			l := state.FirstLane(k)
			if op.Store {
				binary.LittleEndian.PutUint32(b[4*l:], d[l])
			} else {
				d[l] = binary.LittleEndian.Uint32(b[4*l:])
			}
		}
	}
	for k := m; k != 0; k &= k - 1 {
		l := state.FirstLane(k)
		w.Machine.Addr[l] = w.ScratchBase + uint64(base+4*l)
	}
	w.Machine.Swizzled = true
}

// execScratch: the address is the lane's byte offset.
func execScratch(w *state.Wave, u *state.Op) {
	m := w.Exec()
	if m == 0 || !scratchReady(w) {
		return
	}
	op := u.Details.Access
	off := int64(u.Imm)
	if u.CFrom == state.SourceSGPR && u.C != state.Null {
		off += int64(w.S[u.C])
	}
	if u.AFrom != state.SourceVGPR && op.PlainDwords() && off >= 0 && off&3 == 0 && off+int64(op.Size) <= int64(w.Machine.Program.ScratchBytes) {
		accessPrivateRow(w, u, op, m, off)
		return
	}
	base := off
	var a *state.Row
	if u.AFrom == state.SourceVGPR {
		t := *w.Row(u.A) // a load may overwrite its address
		a = &t
	}
	for k := m; k != 0; k &= k - 1 {
		l := state.FirstLane(k)
		if off = base; a != nil {
			off += int64(int32(a[l]))
		}
		if !accessPrivate(w, u, op, l, off) {
			return
		}
	}
}
