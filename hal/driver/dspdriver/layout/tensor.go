package layout

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
)

// VectorBytes is the size of a vector register.
const VectorBytes = hvx.VectorBytes

// Shape is a tensor as images of positions of channels. Tensors of another
// rank are seen as [N, H, W, C] by their last dimensions.
type Shape struct{ N, H, W, C int }

// ShapeOf is the shape of dimensions.
func ShapeOf(dims []uint32) Shape {
	s := Shape{1, 1, 1, 1}
	p := [...]*int{&s.C, &s.W, &s.H}
	for i := range dims {
		d := int(dims[len(dims)-1-i])
		if i < len(p) {
			*p[i] = d
		} else {
			s.N *= d
		}
	}
	return s
}

// Positions is how many positions there are.
func (s Shape) Positions() int { return s.N * s.H * s.W }

// Elements is how many elements there are.
func (s Shape) Elements() int { return s.Positions() * s.C }

// Tensor is a region of the arena that holds a value of the model or an
// intermediate of the lowering.
type Tensor struct {
	Name   string
	Shape  Shape
	Pitch  int // bytes per position: 4, 8, 16, 32, 64 or a multiple of 128
	Signed bool
	Zero   byte // what halos hold
	// Halo in positions: rows above and below, columns left and right. Columns on
	// the left are rounded up so that rows start on a vector.
	Top, Bottom, Left, Right int

	Dense bool // bytes as the client sees them: no pitch, no halo, signed values as they are

	External bool   // exchanges data with the client: has a place of its own from the first step to the last
	Unplaced bool   // needs no place in the arena: a constant, or a value that another tensor holds
	Addr     uint32 // of the region; 0 until planned
}

// pitchOf is the least pitch of whole vectors, or parts of one, that holds c channels.
func pitchOf(c int) int {
	switch {
	case c <= 32:
		return 32
	case c <= 64:
		return 64
	}
	return RoundUp(c, VectorBytes)
}

// aliasing is a pitch at which positions that lie next to each other share so few
// sets of L1D that those of a convolution's blocks throw each other out.
const aliasing = 512

// Pitch returns how far apart a tensor's positions lie unless something requests another distance.
func (s Shape) Pitch() int {
	p := pitchOf(s.C)
	if p%aliasing == 0 && s.Positions() > 1 {
		p += VectorBytes
	}
	return p
}

// SmallPitch is for tensors that only convolutions read: less memory, words
// that waste no multiplications.
func (s Shape) SmallPitch() int {
	for _, p := range [...]int{4, 8, 16} {
		if s.C <= p {
			return p
		}
	}
	return s.Pitch()
}

// HasSmallPitch reports whether positions lie closer together than they usually do.
func (t *Tensor) HasSmallPitch() bool { return !t.Dense && t.Pitch < pitchOf(1) }

// RoundUp is the least multiple of to that is n at least.
func RoundUp(n, to int) int { return (n + to - 1) / to * to }

// CeilDiv is n by d, rounded up.
func CeilDiv(n, d int) int { return (n + d - 1) / d }

// PerVec is the number of whole positions in a vector, 1 for wide positions.
func (t *Tensor) PerVec() int { return max(1, VectorBytes/t.Pitch) }

// Lead is the distance from a row's start to its first position inside the image.
func (t *Tensor) Lead() int { return RoundUp(t.Left*t.Pitch, VectorBytes) }

// RowBytes is the distance of rows. Kernels write whole vectors, so a row includes
// the rest of the last one and the halo on the right.
func (t *Tensor) RowBytes() int {
	if t.Dense {
		return t.Shape.W * t.Shape.C
	}
	return RoundUp(t.Lead()+t.Shape.W*t.Pitch+RoundUp(t.Right*t.Pitch, VectorBytes), VectorBytes)
}

func (t *Tensor) imageBytes() int { return (t.Top + t.Shape.H + t.Bottom) * t.RowBytes() }

// Bytes is the size of the region.
func (t *Tensor) Bytes() int {
	if t.Dense {
		return t.Shape.Elements()
	}
	return t.Shape.N * t.imageBytes()
}

// At is the address of position (n, y, x), which may lie in the halo.
func (t *Tensor) At(n, y, x int) uint32 {
	if t.Dense {
		return t.Addr + uint32(((n*t.Shape.H+y)*t.Shape.W+x)*t.Shape.C)
	}
	return t.Addr + uint32(n*t.imageBytes()+(t.Top+y)*t.RowBytes()+t.Lead()+x*t.Pitch)
}

// HasHalo reports whether anything surrounds the image.
func (t *Tensor) HasHalo() bool { return t.Top+t.Bottom+t.Left+t.Right > 0 }

// VectorsPerRow is the number of vectors that hold the positions of a row.
func (t *Tensor) VectorsPerRow() int { return CeilDiv(t.Shape.W*t.Pitch, VectorBytes) }

// Flips reports whether a copy between two tensors changes the sign form.
func (t *Tensor) Flips(o *Tensor) bool { return (t.Dense && t.Signed) != (o.Dense && o.Signed) }

// Steps are the distances in memory along N, H, W and C.
func (t *Tensor) Steps() [4]int {
	at := t.At(0, 0, 0)
	return [4]int{int(t.At(1, 0, 0) - at), int(t.At(0, 1, 0) - at), int(t.At(0, 0, 1) - at), 1}
}

// Contiguous reports whether nothing lies between elements.
func (t *Tensor) Contiguous() bool {
	return t.Dense || !t.HasHalo() && t.Pitch == t.Shape.C && t.Shape.C%VectorBytes == 0
}

// Describe returns the contents and the layout of a tensor as text.
func (t *Tensor) Describe() string {
	s := t.Shape
	if t.Dense {
		return fmt.Sprintf("%s, [%d %d %d %d] dense", t.Name, s.N, s.H, s.W, s.C)
	}
	text := fmt.Sprintf("%s, [%d %d %d %d] pitch %d", t.Name, s.N, s.H, s.W, s.C, t.Pitch)
	if t.HasHalo() {
		text += fmt.Sprintf(" halo %d above, %d below, %d left, %d right of %d", t.Top, t.Bottom, t.Left, t.Right, t.Zero)
	}
	return text
}
