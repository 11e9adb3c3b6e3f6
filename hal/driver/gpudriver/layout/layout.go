// Package layout defines how the GPU stores tensors and constants in memory: dense NHWC
// tensors in one arena, packed weights and tables in a read-only region beside it.
package layout

// Region is one of the two memory regions of a kernel.
type Region uint8

// The regions.
const (
	Arena  Region = iota + 1 // tensors
	Consts                   // packed weights, tables
)

// Addresses of the regions and of the code. Offsets in them are unsigned 32-bit
// values.
const (
	ArenaBase  = 0x2_0000_0000
	ConstsBase = 0x1_0000_0000
	CodeBase   = 0x4000_0000
	MaxRegion  = 1 << 31
)

// Guard is the bytes kept free behind every tensor: scalar loads fetch whole tuples.
const Guard = 64

// Element is how the elements of a tensor are stored.
type Element uint8

// The elements. Booleans are bytes of U8.
const (
	F32 Element = iota + 1
	F16
	I32
	I16
	U16
	I8
	U8
	numElements
)

// elements has a row per element: its name, the logarithm of its size, whether it is a
// float, and whether an integer has a sign.
var elements = [numElements]struct {
	name          string
	shift         int
	float, signed bool
}{
	F32: {name: "f32", shift: 2, float: true, signed: true},
	F16: {name: "f16", shift: 1, float: true, signed: true},
	I32: {name: "i32", shift: 2, signed: true},
	I16: {name: "i16", shift: 1, signed: true},
	U16: {name: "u16", shift: 1},
	I8:  {name: "i8", signed: true},
	U8:  {name: "u8"},
}

// Bytes is the size of an element.
func (e Element) Bytes() int { return 1 << elements[e].shift }

// Shift is the logarithm of the size.
func (e Element) Shift() int { return elements[e].shift }

// IsFloat reports whether an element is a float.
func (e Element) IsFloat() bool { return elements[e].float }

// IsSigned reports whether an element may be negative.
func (e Element) IsSigned() bool { return elements[e].signed }

// String is the name of an element.
func (e Element) String() string { return elements[e].name }

// PerChunk is the number of elements in 16 bytes.
func (e Element) PerChunk() int { return 16 / e.Bytes() }

// Limits are the least and greatest values of an integer element.
func (e Element) Limits() (lo, hi int32) {
	n := 8 * e.Bytes()
	if e.IsSigned() {
		return -1 << (n - 1), 1<<(n-1) - 1
	}
	return 0, 1<<n - 1
}

// Tensor is a value in memory.
type Tensor struct {
	Region Region
	Off    uint32 // known when the tensors have been placed
	Elem   Element
	N      int // elements

	First, Last int // steps between which it must be kept; First is -1 while no step uses it
}

// Bytes is the size of a tensor.
func (t *Tensor) Bytes() int { return t.N * t.Elem.Bytes() }
