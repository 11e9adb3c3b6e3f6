package dsp

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/sim/mem"
)

// A DMA descriptor is 16 bytes, or 32 for a box (LLVM hexagon_types.h, Apache TVM
// hexagon_user_dma_descriptors.h):
//
//	word 0  address of the next descriptor, a multiple of 16; 0 ends the chain; the low four bits are not part of it
//	word 1  31 done, 30 order, 29 source and 28 destination bypass L2, 27 26 compression, 25:24 kind, 23:0 bytes
//	word 2  source
//	word 3  destination
//	word 4  31:28 padding
//	word 5  31:16 rows, 15:0 bytes of a row
//	word 6  31:16 destination and 15:0 source stride
//	word 7  31:16 destination and 15:0 source offset in the row

// Bits of descriptor word 1 and of the status that dmpoll returns.
const (
	dmaDone      = 1 << 31
	dmaBypassSrc = 1 << 29
	dmaBypassDst = 1 << 28
	dmaCompress  = 3 << 26
	dmaKindShift = 24
	dmaLength    = 1<<24 - 1
	dmaRunning   = 1
	dmaAddress   = ^uint32(15)
)

// descriptor is one transfer as the engine has read it.
type descriptor struct {
	addr, next           uint32
	src, dst             uint32
	width, rows          uint32
	srcStride, dstStride uint32
	bypassSrc, bypassDst bool
	ticket               mem.Ticket
}

func (d *descriptor) bytes() int64 { return int64(d.width) * int64(d.rows) }

// writable is the mapped memory at [addr, addr+n), nil when there is none that can be written.
func (t *thread) writable(addr, n uint32) []byte {
	base, data, readOnly := t.Memory.Lookup(addr, n)
	if data == nil || readOnly {
		return nil
	}
	return data[addr-base:][:n]
}

// descriptor reads and checks the descriptor at addr.
func (t *thread) descriptor(addr uint32) (descriptor, error) {
	fail := func(format string, a ...any) (descriptor, error) {
		return descriptor{}, fmt.Errorf("DMA descriptor at %#x: %s", addr, fmt.Sprintf(format, a...))
	}
	m := t.writable(addr, 16)
	if m == nil {
		return fail("not in writable memory")
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(m[4*i:]) }
	w1 := word(1)
	d := descriptor{addr: addr, next: word(0) & dmaAddress, src: word(2), dst: word(3),
		width: w1 & dmaLength, rows: 1, bypassSrc: w1&dmaBypassSrc != 0, bypassDst: w1&dmaBypassDst != 0}
	if w1&dmaCompress != 0 {
		return fail("bandwidth compression is not supported")
	}
	switch kind := w1 >> dmaKindShift & 3; kind {
	case 0:
	case 1:
		if addr&31 != 0 {
			return fail("a box is aligned to 32 bytes")
		}
		if m = t.writable(addr, 32); m == nil {
			return fail("not in writable memory")
		}
		if word(4)>>28 != 0 {
			return fail("padding mode %d is not supported", word(4)>>28)
		}
		if word(7) != 0 {
			return fail("offsets in a row are not supported")
		}
		d.width, d.rows = word(5)&0xffff, word(5)>>16
		d.srcStride, d.dstStride = word(6)&0xffff, word(6)>>16
		if d.width > d.srcStride || d.width > d.dstStride {
			return fail("rows of %d bytes, but strides of %d and %d", d.width, d.srcStride, d.dstStride)
		}
	default:
		return fail("unknown kind %d", kind)
	}
	r := t.run
	if r.packets -= d.bytes()/int64(r.spec.DMA.BurstBytes) + int64(d.rows) + 1; r.packets < 0 {
		return fail("packet limit reached, the chain does not end")
	}
	return d, t.reachable(&d)
}

// reachable checks that every row of d is mapped, so that moving cannot fail.
func (t *thread) reachable(d *descriptor) error {
	if d.bytes() == 0 {
		return nil
	}
	for i := range d.rows {
		if src := d.src + i*d.srcStride; t.readable(src, d.width) == nil {
			return fmt.Errorf("DMA descriptor at %#x: source of %d bytes at %#x is not mapped", d.addr, d.width, src)
		}
		if dst := d.dst + i*d.dstStride; t.writable(dst, d.width) == nil {
			return fmt.Errorf("DMA descriptor at %#x: destination of %d bytes at %#x is not writable memory", d.addr, d.width, dst)
		}
	}
	return nil
}

func (t *thread) readable(addr, n uint32) []byte {
	base, data, _ := t.Memory.Lookup(addr, n)
	if data == nil {
		return nil
	}
	return data[addr-base:][:n]
}

// move copies the bytes of d and marks it done.
func (t *thread) move(d *descriptor) {
	if d.bytes() > 0 {
		for i := range d.rows {
			copy(t.writable(d.dst+i*d.dstStride, d.width), t.readable(d.src+i*d.srcStride, d.width))
		}
	}
	m := t.writable(d.addr, 16)
	binary.LittleEndian.PutUint32(m[4:], binary.LittleEndian.Uint32(m[4:])|dmaDone)
}
