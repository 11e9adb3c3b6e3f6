package gpu

import (
	"encoding/binary"
	"fmt"

	place "github.com/nnsoc/nnsoc/hal/driver/arena"
)

// region is one of the two memory regions of a kernel.
type region uint8

const (
	arena  region = iota // tensors
	consts               // packed weights, tables
)

// Addresses of the regions. Offsets in them are unsigned 32-bit values.
const (
	arenaBase  = 0x2_0000_0000
	constsBase = 0x1_0000_0000
	codeBase   = 0x4000_0000
	maxRegion  = 1 << 31
)

// guard is kept free behind every tensor: scalar loads fetch whole tuples.
const guard = 64

// tensor is a value in memory.
type tensor struct {
	region region
	off    uint32
	elem   element
	n      int // elements

	first, last int // steps between which it must be kept
}

func (t *tensor) bytes() int { return t.n * t.elem.bytes() }

// placeTensors gives the tensors offsets from start on and returns the end of the
// arena.
func placeTensors(tensors []*tensor, start int) (int, error) {
	lives := make([]place.Interval, len(tensors))
	for i, t := range tensors {
		lives[i] = place.Interval{Bytes: t.bytes(), First: t.first, Last: t.last}
	}
	offsets, end := place.Place(lives, place.Options{Align: 256, Guard: guard, Start: start, Limit: place.Unlimited})
	if end > maxRegion {
		return 0, fmt.Errorf("gpu: tensors need %d bytes, at most %d", end, maxRegion)
	}
	for i, t := range tensors {
		t.off = uint32(offsets[i])
	}
	return end, nil
}

// constants collects the read-only region.
type constants struct{ data []byte }

// reserve adds n bytes and answers their offset.
func (c *constants) reserve(n int) uint32 {
	const align = 256
	for len(c.data)%align != 0 {
		c.data = append(c.data, 0)
	}
	off := len(c.data)
	c.data = append(c.data, make([]byte, n)...)
	return uint32(off)
}

// words adds a table of 32-bit values.
func (c *constants) words(w []uint32) uint32 {
	off := c.reserve(4 * len(w))
	for i, x := range w {
		binary.LittleEndian.PutUint32(c.data[int(off)+4*i:], x)
	}
	return off
}

// The arena begins with pages that padding reads: zeros, and minus infinity in
// each precision that needs it.

// pageBytes is the size of each page.
func (l *lowering) pageBytes() int { return (l.zero + guard + 255) / 256 * 256 }

// lowestPage is the offset of the page of minus infinity.
func (l *lowering) lowestPage(e element) uint32 {
	n := 1
	if e == f16 && l.lowest[f32] {
		n++
	}
	return uint32(n * l.pageBytes())
}

// pages is the content of all pages.
func (l *lowering) pages() []byte {
	b := make([]byte, l.pageBytes())
	for _, e := range []element{f32, f16} {
		for i := 0; l.lowest[e] && i < l.pageBytes(); i += e.bytes() {
			if e == f16 {
				b = binary.LittleEndian.AppendUint16(b, 0xfc00)
			} else {
				b = binary.LittleEndian.AppendUint32(b, 0xff800000)
			}
		}
	}
	return b
}
