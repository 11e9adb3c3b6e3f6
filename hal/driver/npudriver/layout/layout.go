// Package layout is the NPU's view of memory: regions behind base pointers, feature maps
// with strides, and values that are assigned an address when the graph has been lowered.
package layout

// kinds of memory of a program. Until it is planned they are the regions of buffers and
// maps; a Map makes base pointers of them.
const (
	RegionConst = iota // constants, off chip
	RegionArena        // activations and buffers of weights, on chip
	RegionIO           // inputs and outputs of the model, off chip
	RegionSpill        // activations that do not fit on chip
	kinds
)

// Map is the base pointer of each kind of memory. Kinds with the same one follow each other
// in the order IO, arena, spill.
type Map [kinds]int

// order is the order of kinds behind one base pointer.
var order = [...]int{RegionIO, RegionArena, RegionSpill}

// Sizes are the bytes of each kind of memory, but for constants.
type Sizes [kinds]int

// Base is where a kind begins in its region.
func (m *Map) Base(kind int, s *Sizes) int {
	at := 0
	for _, k := range order {
		if k == kind {
			break
		}
		if m[k] == m[kind] {
			at += Align(s[k])
		}
	}
	return at
}

// Size is the bytes of a region that holds no constants.
func (m *Map) Size(region int, s *Sizes) int {
	n := 0
	for _, k := range order {
		if m[k] == region {
			n = m.Base(k, s) + s[k]
		}
	}
	return n
}

// Alignment of buffers: what copies and 32-bit elements need.
const Alignment = 16

// Align rounds up to Alignment.
func Align(n int) int { return (n + Alignment - 1) &^ (Alignment - 1) }

// Buffer is a range of bytes of a region.
type Buffer struct {
	Region, Addr, Bytes int
}

// Overlaps reports whether two buffers share bytes.
func (b *Buffer) Overlaps(o *Buffer) bool {
	return b.Region == o.Region && b.Addr < o.Addr+o.Bytes && o.Addr < b.Addr+b.Bytes
}

// Value is an activation and its life, in positions of the list of steps, both ends
// included.
type Value struct {
	Bytes       int
	First, Last int // First is -1 while no step uses it
	At          Buffer
	// Client marks an input or output of the model that is read and written in place, in memory
	// that the client can reach. Fixed marks a value whose At is given.
	Client, Fixed bool
}

// FeatureMap is a feature map as commands see it: height, width and channels with byte
// strides, in a region. Channels are dense (NHWC), or in bricks of 16 of a row each (NHCWB16).
type FeatureMap struct {
	Region, Addr     int
	H, W, C          int
	StrideY, StrideX int
	StrideC          int // between bricks; 0: there are none
	Bytes            int // per element: 1 or 4
	Signed           bool
	OffChip          bool // off chip, as far as a plan has found
	Zero             int  // subtracted from, or added to, elements
	// Ring is the rows of a rolling buffer, in which row y of a larger map is at y mod Ring, and
	// Row the index of the first row of this part; 0: the map is contiguous.
	Ring, Row int
}

// Tile is the rows of a map before the end of its rolling buffer; the others are at its beginning.
func (f *FeatureMap) Tile() int {
	if f.Ring == 0 {
		return f.H
	}
	return min(f.H, f.Ring-f.Row)
}

// Rows is rows [lo,hi) of a contiguous map.
func (f FeatureMap) Rows(lo, hi int) FeatureMap {
	f.Addr += lo * f.StrideY
	f.H = hi - lo
	return f
}

// Rolled is rows [lo,hi) of a map in a rolling buffer of so many rows.
func (f FeatureMap) Rolled(ring, lo, hi int) FeatureMap {
	f.Ring, f.Row, f.H = ring, lo%ring, hi-lo
	return f
}

// Dense is a map of h x w x c elements without gaps at an offset of a value.
func Dense(at, h, w, c, bytes int, signed bool) FeatureMap {
	return FeatureMap{Addr: at, H: h, W: w, C: c, StrideY: w * c * bytes, StrideX: c * bytes, Bytes: bytes, Signed: signed}
}

// BrickDepth is the channels of a brick.
const BrickDepth = 16

// Bricks is a dense map of the same extents in bricks: 16 channels of a row of pixels, then the next 16, then
// the next row.
func (f FeatureMap) Bricks() FeatureMap {
	f.StrideX = BrickDepth * f.Bytes
	f.StrideC = f.W * f.StrideX
	f.StrideY = (f.C + BrickDepth - 1) / BrickDepth * f.StrideC
	return f
}

// RowBytes is the bytes from the first to the last element of a row.
func (f *FeatureMap) RowBytes() int {
	if f.StrideC > 0 {
		return f.StrideY
	}
	return (f.W-1)*f.StrideX + f.C*f.Bytes
}

// End is the address after the last byte, for a rolling buffer that of the buffer.
func (f *FeatureMap) End() int { return f.Addr + (max(f.H, f.Ring)-1)*f.StrideY + f.RowBytes() }

// Buffer is the range of its bytes.
func (f *FeatureMap) Buffer() Buffer { return Buffer{f.Region, f.Addr, f.End() - f.Addr} }

// Overlaps reports whether two maps share bytes.
func (f *FeatureMap) Overlaps(o *FeatureMap) bool {
	return f.Region == o.Region && f.Addr < o.End() && o.Addr < f.End()
}

// Ref is a feature map inside a value that gets its address later. With the value
// placed, region and address of the map are final.
type Ref struct {
	Value int
	FeatureMap
}

// Placed is the value of a Ref whose region and address are final already.
const Placed = -1

// Limits are the activation registers for an output type without activation.
func Limits(signed bool) (lo, hi int) {
	if signed {
		return -128, 127
	}
	return 0, 255
}

// Constants collects region 0.
type Constants struct{ Data []byte }

// Add appends bytes at an aligned address.
func (c *Constants) Add(b []byte) int {
	at := Align(len(c.Data))
	c.Data = append(append(c.Data, make([]byte, at-len(c.Data))...), b...)
	return at
}

// Pad makes the size a multiple of Alignment.
func (c *Constants) Pad() { c.Data = append(c.Data, make([]byte, Align(len(c.Data))-len(c.Data))...) }
