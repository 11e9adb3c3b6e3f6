package gpu

import (
	"encoding/binary"
	"fmt"
	"sort"
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

// planArena gives the tensors offsets from start on such that tensors whose
// lifetimes overlap do not overlap; it answers the size of the arena. Largest
// first, lowest free place.
func planArena(tensors []*tensor, start int) (int, error) {
	order := append([]*tensor(nil), tensors...)
	sort.SliceStable(order, func(i, j int) bool { return order[i].bytes() > order[j].bytes() })
	const align = 256
	span := func(t *tensor) int { return (t.bytes() + guard + align - 1) / align * align }
	var placed []*tensor // by offset
	size := start
	for _, t := range order {
		at := start
		for _, o := range placed {
			if o.last < t.first || t.last < o.first {
				continue
			}
			if at+span(t) <= int(o.off) {
				break
			}
			at = max(at, int(o.off)+span(o))
		}
		if at+span(t) > maxRegion {
			return 0, fmt.Errorf("gpu: tensors need more than %d bytes", maxRegion)
		}
		t.off = uint32(at)
		i := sort.Search(len(placed), func(i int) bool { return int(placed[i].off) > at })
		placed = append(placed, nil)
		copy(placed[i+1:], placed[i:])
		placed[i] = t
		size = max(size, at+span(t))
	}
	return size, nil
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
