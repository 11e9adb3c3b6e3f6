package gpu

import (
	"encoding/binary"
	"fmt"
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

func (w *wave) descriptor(reg uint32) descriptor {
	d := (*[4]uint32)(w.s[reg : reg+4])
	return descriptor{
		base: uint64(d[0]) | uint64(d[1]&0xFFFF)<<32, stride: uint64(d[1] >> 16 & 0x3FFF), records: uint64(d[2]),
		inner: 8 << (d[3] >> 21 & 3), swizzle: d[1]>>31 != 0, addLane: d[3]>>23&1 != 0, bounds: uint8(d[3] >> 28 & 3),
	}
}

// address is that of byte off of record index, and whether the n bytes are
// inside. soff is not part of what is swizzled.
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

// execBuffer: addresses come from a descriptor. Loads from outside the buffer
// give 0, stores to there are dropped.
func execBuffer(w *wave, u *uop) {
	mask := w.mask()
	if mask == 0 {
		return
	}
	op := u.x.mem
	d := w.descriptor(u.c)
	soff := uint64(w.scalar(u.x.off, u.x.offv))
	imm := uint64(u.imm)
	own := d.swizzle && d.addLane && d.stride == 0 && int(d.inner) == w.n && inScratch(d.base) && len(w.scratch) > 0
	if own && u.ak != srcV && op.plainDwords() {
		// Scratch at the same offset of every lane, the way of the stack.
		first := d.base + soff - w.scratchBase + imm&^3*uint64(w.n)
		off := int64(first) / int64(w.n)
		if first%uint64(4*w.n) == 0 && imm&3 == 0 && first < 1<<32 && off+int64(op.size) <= int64(w.m.p.k.ScratchBytes) {
			w.privateRow(u, op, mask, off)
			return
		}
	}
	var idx, voff *row
	if u.ak == srcV {
		t := *w.at(u.a) // a load may overwrite its address
		switch {
		case op.offen && op.idxen:
			v := *w.at(u.a + uint32(w.n))
			idx, voff = &t, &v
		case op.idxen:
			idx = &t
		default:
			voff = &t
		}
	}
	for k := mask; k != 0; k &= k - 1 {
		l := firstLane(k)
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
		addr, ok := d.address(index, off&0xFFFFFFFF, soff, op.size)
		switch {
		case !ok:
			w.outside(u, op, l)
			w.m.addr[l] = d.base
		case inScratch(addr):
			if !w.scratchByAddress(u, op, l, addr) {
				return
			}
		case d.swizzle:
			w.m.fail(w, fmt.Errorf("a swizzled buffer outside scratch is not modelled"))
			return
		default:
			b := w.m.bytes(addr, op.size, op.store || op.atomic != nil)
			if b == nil {
				w.badAccess(l, op, addr)
				return
			}
			w.m.addr[l] = addr
			w.access(u, op, 1<<l, b, addr)
		}
	}
}

// scratchByAddress is private for the address of a byte in the segment.
func (w *wave) scratchByAddress(u *uop, op *memOp, l int, addr uint64) bool {
	rel := int64(addr - w.scratchBase)
	stride := int64(4 * w.n)
	row := rel / stride
	if rel%stride < 0 {
		row--
	}
	lane := int(rel-row*stride) / 4
	if lane != l {
		w.m.fail(w, fmt.Errorf("lane %d: the descriptor leads to the scratch of lane %d", l, lane))
		return false
	}
	return w.private(u, op, l, 4*row+rel&3)
}

// outside is an access beyond a buffer: loads and atomics give 0.
func (w *wave) outside(u *uop, op *memOp, l int) {
	if op.store || op.atomic != nil && !op.ret {
		return
	}
	var zero [16]byte
	read := *op
	read.atomic = nil
	if op.cmp {
		read.size = max(op.size, 4)
	}
	w.m.addr[l] = 0
	w.access(u, &read, 1<<l, zero[:], 0)
}

// execSBufferLoad: dwords outside the buffer read as 0.
func execSBufferLoad(w *wave, u *uop) {
	d := w.descriptor(u.a)
	off := uint64(int64(u.x.in.Offset))
	if u.bk == srcS && u.b != sNull {
		off += uint64(w.s[u.b])
	}
	off &^= 3
	size := d.records
	if d.stride != 0 {
		size *= d.stride
	}
	for i := range uint64(u.x.mem.size / 4) {
		v := uint32(0)
		if at := off + 4*i; at+4 <= size {
			b := w.m.bytes(d.base+at, 4, false)
			if b == nil {
				w.m.fail(w, fmt.Errorf("scalar load of 4 bytes at %#x: %s", d.base+at, w.m.why(d.base+at, 4)))
				return
			}
			v = binary.LittleEndian.Uint32(b)
		}
		w.s[u.dst+uint32(i)] = v
	}
	w.m.scalarAddr = d.base + off
}

// execClock is s_memtime in cycles of the core, or s_memrealtime in ticks of the
// reference clock of hz. A functional run has no cycles: it counts instructions.
func execClock(hz int64) execFn {
	return func(w *wave, u *uop) {
		t := w.m.ticks()
		if hz > 0 {
			t = int64(float64(t) * float64(hz) / float64(w.m.point.Hz))
		}
		w.setS64(u.dst, uint64(t))
	}
}

// ticks is the current cycle, in a functional run the instructions so far.
func (m *State) ticks() int64 {
	if m.opt.Functional {
		return m.executed
	}
	return m.at
}
