package layout

// Region is one of the two memory regions of a kernel.
type Region uint8

// The regions.
const (
	Arena  Region = iota // tensors
	Consts               // packed weights, tables
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

// The elements.
const (
	F32 Element = iota
	F16
	U8
	I8
)

// Bytes is the size of an element.
func (e Element) Bytes() int { return [...]int{4, 2, 1, 1}[e] }

// Shift is the logarithm of the size.
func (e Element) Shift() int { return [...]int{2, 1, 0, 0}[e] }

// IsFloat reports whether an element is a float.
func (e Element) IsFloat() bool { return e <= F16 }

// String is the name of an element.
func (e Element) String() string { return [...]string{"f32", "f16", "u8", "i8"}[e] }

// PerChunk is the number of elements in 16 bytes.
func (e Element) PerChunk() int { return 16 / e.Bytes() }

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

// Place is where a tensor lies and how its elements are stored: what the code of a
// kernel depends on.
type Place struct {
	Region Region
	Off    uint32
	Elem   Element
}

// Place is the tensor's place once it has one.
func (t *Tensor) Place() Place { return Place{t.Region, t.Off, t.Elem} }
