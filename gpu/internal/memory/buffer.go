package memory

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// descriptor is a buffer descriptor, four scalar registers.
type descriptor struct {
	base    uint64
	stride  uint64 // bytes between records
	records uint64 // bytes, or records when stride is not 0
	inner   uint64 // swizzled: lanes beside each other
	swizzle bool
	addLane bool // the lane number is an index
	bounds  uint8
}

// How an access is checked against the number of records.
const (
	boundsStructured = iota // index and offset in the record
	boundsIndex             // index
	boundsEmpty             // nothing but whether there are records
	boundsRaw               // byte offset
)

func readDescriptor(w *state.Wave, reg uint32) descriptor {
	d := (*[4]uint32)(w.S[reg : reg+4])
	return descriptor{
		base: uint64(d[0]) | uint64(d[1]&0xFFFF)<<32, stride: uint64(d[1] >> 16 & 0x3FFF), records: uint64(d[2]),
		inner: 8 << (d[3] >> 21 & 3), swizzle: d[1]>>31 != 0, addLane: d[3]>>23&1 != 0, bounds: uint8(d[3] >> 28 & 3),
	}
}

// address returns where byte off of record index lies, and whether the n bytes from there are inside. soff is not part of the swizzle.
func (d *descriptor) address(index, off, soff uint64, n int) (uint64, bool) {
	ok := true
	switch d.bounds {
	case boundsStructured:
		ok = index < d.records && (!d.swizzle || d.stride == 0 || off+uint64(n) <= d.stride)
	case boundsIndex:
		ok = index < d.records
	case boundsEmpty:
		ok = d.records != 0
	case boundsRaw:
		at := off + d.stride*index
		if d.swizzle && d.addLane {
			at = off
		}
		ok = at+uint64(n)+soff <= d.records || d.records == 1<<32-1
	}
	if !d.swizzle {
		return d.base + soff + off + d.stride*index, ok
	}
	return d.base + soff + (index/d.inner*d.stride+off&^3)*d.inner + index%d.inner*4 + off&3, ok
}

// execBuffer: addresses are from a descriptor. Loads from outside the buffer return 0, stores to there
// are dropped.
func execBuffer(w *state.Wave, u *state.Op) {
	mask := w.Exec()
	if mask == 0 {
		return
	}
	op := u.Details.Access
	d := readDescriptor(w, u.C)
	soff := uint64(w.Scalar(u.Details.OffsetFrom, u.Details.Offset))
	imm := uint64(u.Imm)
	own := d.swizzle && d.addLane && d.stride == 0 && int(d.inner) == w.Lanes && state.InScratch(d.base) && len(w.Scratch) > 0
	if own && u.AFrom != state.SourceVGPR && op.PlainDwords() {
		// Scratch at the same offset of every lane, the way of the stack.
		first := d.base + soff - w.ScratchBase + imm&^3*uint64(w.Lanes)
		off := int64(first) / int64(w.Lanes)
		if first%uint64(4*w.Lanes) == 0 && imm&3 == 0 && first < 1<<32 && off+int64(op.Size) <= int64(w.Machine.Program.ScratchBytes) {
			accessPrivateRow(w, u, op, mask, off)
			return
		}
	}
	var idx, voff *state.Row
	if u.AFrom == state.SourceVGPR {
		t := *w.Row(u.A) // a load may overwrite its address
		switch {
		case op.OffEn && op.IdxEn:
			v := *w.Row(u.A + uint32(w.Lanes))
			idx, voff = &t, &v
		case op.IdxEn:
			idx = &t
		default:
			voff = &t
		}
	}
	for k := mask; k != 0; k &= k - 1 {
		l := state.FirstLane(k)
		index, off := uint64(0), imm
		if idx != nil {
			index = uint64(idx[l])
		}
		if d.addLane {
			index += uint64(l)
		}
		if voff != nil {
			off += uint64(voff[l])
		}
		if !d.access(w, u, op, l, index, off&0xFFFFFFFF, soff) {
			return
		}
	}
}

// access does the access of lane l to byte off of record index and reports whether it could. Of several dwords each is
// checked on its own.
func (d *descriptor) access(w *state.Wave, u *state.Op, op *state.Access, l int, index, off, soff uint64) bool {
	addr, ok := d.address(index, off, soff, op.Size)
	switch {
	case !ok && op.PlainDwords() && op.Size > 4:
		one, dword := *op, *u
		one.Size = 4
		for range op.Size / 4 {
			if !d.access(w, &dword, &one, l, index, off, soff) {
				return false
			}
			off += 4
			dword.Dst += uint32(w.Lanes)
			dword.B += uint32(w.Lanes)
		}
		w.Machine.Addr[l] = d.base
	case !ok:
		outside(w, u, op, l)
		w.Machine.Addr[l] = d.base
	case state.InScratch(addr):
		return scratchByAddress(w, u, op, l, addr)
	case d.swizzle:
		w.Fail(fmt.Errorf("a swizzled buffer outside scratch is not modelled"))
		return false
	default:
		b := w.Machine.Bytes(addr, op.Size, op.Store || op.Atomic != nil)
		if b == nil {
			badAccess(w, l, op, addr)
			return false
		}
		w.Machine.Addr[l] = addr
		access(w, u, op, 1<<l, b, addr)
	}
	return true
}

// scratchByAddress is accessPrivate for the address of a byte in the segment.
func scratchByAddress(w *state.Wave, u *state.Op, op *state.Access, l int, addr uint64) bool {
	rel := int64(addr - w.ScratchBase)
	stride := int64(4 * w.Lanes) // a power of two
	row := rel >> bits.TrailingZeros64(uint64(stride))
	lane := int(rel&(stride-1)) / 4
	if lane != l {
		w.Fail(fmt.Errorf("lane %d: the descriptor leads to the scratch of lane %d", l, lane))
		return false
	}
	return accessPrivate(w, u, op, l, 4*row+rel&3)
}

// outside is an access beyond a buffer: loads and atomics return 0.
func outside(w *state.Wave, u *state.Op, op *state.Access, l int) {
	if op.Store || op.Atomic != nil && !op.Returns {
		return
	}
	var zero [16]byte
	read := *op
	read.Atomic = nil
	w.Machine.Addr[l] = 0
	access(w, u, &read, 1<<l, zero[:], 0)
}

// execSBufferLoad: dwords outside the buffer read as 0.
func execSBufferLoad(w *state.Wave, u *state.Op) {
	d := readDescriptor(w, u.A)
	off := uint64(int64(u.Details.Inst.Offset))
	if u.BFrom == state.SourceSGPR && u.B != state.Null {
		off += uint64(w.S[u.B])
	}
	off &^= 3
	size := d.records
	if d.stride != 0 {
		size *= d.stride
	}
	for i := range uint64(u.Details.Access.Size / 4) {
		v := uint32(0)
		if at := off + 4*i; at+4 <= size {
			b := w.Machine.Bytes(d.base+at, 4, false)
			if b == nil {
				w.Fail(fmt.Errorf("scalar load of 4 bytes at %#x: %s", d.base+at, w.Machine.Explain(d.base+at, 4)))
				return
			}
			v = binary.LittleEndian.Uint32(b)
		}
		w.S[u.Dst+uint32(i)] = v
	}
	w.Machine.ScalarAddr = d.base + off
}

// execClock is s_memtime in cycles of the core, or s_memrealtime in ticks of the
// reference clock of hz. A functional run has no cycles: it counts instructions.
func execClock(hz int64) state.Handler {
	return func(w *state.Wave, u *state.Op) {
		t := w.Machine.Cycle
		if hz > 0 {
			t = int64(float64(t) * float64(hz) / float64(w.Machine.Hz))
		}
		w.SetS64(u.Dst, uint64(t))
	}
}
