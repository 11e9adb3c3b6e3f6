package layout

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/x448/float16"
)

// Constants collects the read-only region.
type Constants struct{ Data []byte }

// Expect allocates memory for constants of so many bytes in the model, and for their usual padding,
// so that large ones are not copied when more are added.
func (c *Constants) Expect(n int) { c.Data = slices.Grow(c.Data, min(n+n/16, MaxRegion)) }

// Reserve adds n bytes of zeros and returns their offset.
func (c *Constants) Reserve(n int) uint32 {
	const align = 256
	for len(c.Data)%align != 0 {
		c.Data = append(c.Data, 0)
	}
	off := len(c.Data)
	c.Data = append(c.Data, make([]byte, n)...)
	return uint32(off)
}

// Bytes adds bytes.
func (c *Constants) Bytes(b []byte) uint32 {
	off := c.Reserve(len(b))
	copy(c.Data[off:], b)
	return off
}

// Words adds a table of 32-bit values.
func (c *Constants) Words(w []uint32) uint32 {
	off := c.Reserve(4 * len(w))
	for i, x := range w {
		binary.LittleEndian.PutUint32(c.Data[int(off)+4*i:], x)
	}
	return off
}

// Floats adds float32 values, padded to n of them and a number of bytes.
func (c *Constants) Floats(v []float32, n, behind int) uint32 {
	off := c.Reserve(4*n + behind)
	for i, x := range v {
		F32.PutFloat(c.Data[int(off)+4*i:], x)
	}
	return off
}

// PutFloat stores v at b as a float element.
func (e Element) PutFloat(b []byte, v float32) {
	if e == F16 {
		binary.LittleEndian.PutUint16(b, float16.Fromfloat32(v).Bits())
	} else {
		binary.LittleEndian.PutUint32(b, math.Float32bits(v))
	}
}

// Float is a float element at b.
func (e Element) Float(b []byte) float32 {
	if e == F16 {
		return float16.Frombits(binary.LittleEndian.Uint16(b)).Float32()
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(b))
}

// Pages are the first bytes of the arena, which padding reads: a page of zeros, and one
// for every other word of padding. Nothing writes them.
type Pages struct {
	bytes int      // that padding reads of a page
	words []uint32 // of the pages behind that of zeros
}

// minZero is the size of the page of zeros that every model has.
const minZero = 256

// Need provides for n bytes of a word.
func (p *Pages) Need(word uint32, n int) {
	p.bytes = max(p.bytes, n+Guard)
	if word != 0 && !slices.Contains(p.words, word) {
		p.words = append(p.words, word)
	}
}

// size is the size of each page.
func (p *Pages) size() int { return (max(p.bytes, minZero) + Guard + 255) / 256 * 256 }

// At is the offset of the page of a word that was requested.
func (p *Pages) At(word uint32) uint32 { return uint32((slices.Index(p.words, word) + 1) * p.size()) }

// Bytes is the content of all pages.
func (p *Pages) Bytes() []byte {
	b := make([]byte, p.size())
	for _, w := range p.words {
		for range p.size() / 4 {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
	}
	return b
}

// Fill is the word of elements that all have the low bits of v.
func (e Element) Fill(v uint32) uint32 {
	switch e.Bytes() {
	case 1:
		return v & 0xff * 0x01010101
	case 2:
		return v & 0xffff * 0x00010001
	}
	return v
}

// Lowest is the word of elements that no maximum keeps: minus infinity, or the least integer.
func (e Element) Lowest() uint32 {
	switch e {
	case F32:
		return 0xff800000
	case F16:
		return e.Fill(0xfc00)
	}
	lo, _ := e.Limits()
	return e.Fill(uint32(lo))
}

// Padding is the word of elements that represent zero, as they are stored: for unsigned bytes,
// whose zero point is given less 128, and for signed ones.
func (e Element) Padding(zero int32) uint32 {
	switch e {
	case U8:
		return e.Fill(uint32(zero + 128))
	case I8:
		return e.Fill(uint32(zero))
	}
	return 0
}
