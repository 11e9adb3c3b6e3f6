package layout

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/x448/float16"
)

// Constants collects the read-only region.
type Constants struct{ Data []byte }

// Expect makes room for constants of so many bytes as the model has them, and for what padding
// adds to most, so that large ones are not copied as more come.
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

// Floats adds float32 values in room for n of them and a number of bytes behind.
func (c *Constants) Floats(v []float32, n, behind int) uint32 {
	off := c.Reserve(4*n + behind)
	for i, x := range v {
		binary.LittleEndian.PutUint32(c.Data[int(off)+4*i:], math.Float32bits(x))
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
