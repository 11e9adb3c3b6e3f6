package memory

import "testing"

// TestDescriptorAddress: addresses and bounds of buffers of 16-byte records from 0x1000 on, by hand. Swizzled, eight
// records are interleaved by dwords: record 10 is the third of the second eight, which begin at offset 128.
func TestDescriptorAddress(t *testing.T) {
	plain := func(bounds uint8, records uint64) descriptor {
		return descriptor{base: 0x1000, stride: 16, records: records, inner: 8, bounds: bounds}
	}
	swizzled := func(bounds uint8, records uint64) descriptor {
		d := plain(bounds, records)
		d.swizzle = true
		return d
	}
	byLane := func(records uint64) descriptor {
		d := swizzled(boundsRaw, records)
		d.addLane = true
		return d
	}
	flat := func(d descriptor) descriptor { d.stride = 0; return d }
	const all = 1<<32 - 1
	for i, c := range []struct {
		d                descriptor
		index, off, soff uint64
		n                int
		at               uint64
		inside           bool
	}{
		{plain(boundsStructured, 10), 9, 5, 3, 4, 0x1000 + 3 + 5 + 144, true},
		{plain(boundsStructured, 10), 10, 5, 3, 4, 0x1000 + 3 + 5 + 160, false},
		{plain(boundsStructured, 10), 9, 100, 0, 4, 0x1000 + 100 + 144, true}, // records are not held to their stride
		{swizzled(boundsStructured, 11), 10, 5, 3, 4, 0x1000 + 3 + 128 + 32 + 8 + 1, true},
		{swizzled(boundsStructured, 10), 10, 5, 3, 4, 0x1000 + 3 + 128 + 32 + 8 + 1, false},
		{swizzled(boundsStructured, 11), 10, 12, 0, 4, 0x1000 + 128 + 96 + 8, true},
		{swizzled(boundsStructured, 11), 10, 13, 0, 4, 0x1000 + 128 + 96 + 8 + 1, false},
		{swizzled(boundsStructured, 11), 10, 12, 0, 5, 0x1000 + 128 + 96 + 8, false},
		{flat(swizzled(boundsStructured, 11)), 10, 13, 0, 4, 0x1000 + 96 + 8 + 1, true},
		{flat(plain(boundsStructured, 11)), 10, 13, 0, 4, 0x1000 + 13, true},
		{plain(boundsIndex, 10), 9, 100, 0, 4, 0x1000 + 100 + 144, true},
		{plain(boundsIndex, 10), 10, 0, 0, 4, 0x1000 + 160, false},
		{swizzled(boundsIndex, 11), 10, 13, 0, 4, 0x1000 + 128 + 96 + 8 + 1, true},
		{plain(boundsEmpty, 0), 0, 0, 0, 1, 0x1000, false},
		{plain(boundsEmpty, 1), 7, 0, 0, 16, 0x1000 + 112, true},
		{plain(boundsRaw, 64), 3, 8, 4, 4, 0x1000 + 4 + 8 + 48, true},
		{plain(boundsRaw, 63), 3, 8, 4, 4, 0x1000 + 4 + 8 + 48, false},
		{plain(boundsRaw, all), 1 << 28, 8, 4, 4, 0x1000 + 4 + 8 + 1<<32, true},
		{plain(boundsRaw, all-1), 1 << 28, 8, 4, 4, 0x1000 + 4 + 8 + 1<<32, false},
		{swizzled(boundsRaw, 64), 3, 8, 4, 4, 0x1000 + 4 + 64 + 12, true},
		{swizzled(boundsRaw, 63), 3, 8, 4, 4, 0x1000 + 4 + 64 + 12, false},
		{byLane(16), 3, 8, 4, 4, 0x1000 + 4 + 64 + 12, true},
		{byLane(15), 3, 8, 4, 4, 0x1000 + 4 + 64 + 12, false},
	} {
		if at, inside := c.d.address(c.index, c.off, c.soff, c.n); at != c.at || inside != c.inside {
			t.Errorf("row %d: %#x, %v, want %#x, %v", i, at, inside, c.at, c.inside)
		}
	}
}
