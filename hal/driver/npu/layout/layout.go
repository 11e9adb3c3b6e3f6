// Package layout is how the NPU sees memory: regions behind base pointers, feature maps
// with strides, and values that get their address when everything has been lowered.
package layout

// Memory regions of a program, by base pointer.
const (
	RegionConst   = 0 // constants, off chip
	RegionArena   = 1 // activations, on chip
	RegionWeights = 2 // weight buffers, on chip
	RegionIO      = 3 // inputs and outputs of the model, in DRAM
	RegionSpill   = 4 // activations that do not fit on chip
)

// Alignment of buffers: what copies and 32-bit elements need.
const Alignment = 16

// Align rounds up to Alignment.
func Align(n int) int { return (n + Alignment - 1) &^ (Alignment - 1) }

// Buffer is a range of bytes of a region.
type Buffer struct {
	Region, Addr, Bytes int
}

// Value is an activation and its life, in positions of the list of steps, both ends
// included.
type Value struct {
	Bytes       int
	First, Last int // First is -1 while no step uses it
	At          Buffer
}

// FeatureMap is a feature map as commands see it: height, width and channels with byte
// strides, in a region. Channels are dense.
type FeatureMap struct {
	Region, Addr     int
	H, W, C          int
	StrideY, StrideX int
	Bytes            int // per element: 1 or 4
	Signed           bool
	Zero             int // subtracted from, or added to, elements
}

// Dense is a map of h x w x c elements without gaps at an offset of a value.
func Dense(at, h, w, c, bytes int, signed bool) FeatureMap {
	return FeatureMap{Addr: at, H: h, W: w, C: c, StrideY: w * c * bytes, StrideX: c * bytes, Bytes: bytes, Signed: signed}
}

// End is the address behind the last byte.
func (f *FeatureMap) End() int {
	return f.Addr + (f.H-1)*f.StrideY + (f.W-1)*f.StrideX + f.C*f.Bytes
}

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
