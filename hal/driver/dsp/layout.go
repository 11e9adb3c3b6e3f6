package dsp

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/nn"
)

const vecBytes = hvx.VectorBytes

// shape is a tensor as images of positions of channels. Tensors of another
// rank are seen as [N, H, W, C] by their last dimensions.
type shape struct{ n, h, w, c int }

func shapeOf(dims []uint32) shape {
	s := shape{1, 1, 1, 1}
	p := [...]*int{&s.c, &s.w, &s.h}
	for i := range dims {
		d := int(dims[len(dims)-1-i])
		if i < len(p) {
			*p[i] = d
		} else {
			s.n *= d
		}
	}
	return s
}

func (s shape) positions() int { return s.n * s.h * s.w }
func (s shape) elements() int  { return s.positions() * s.c }

// tensor is a region of the arena that holds a value of the model or an
// intermediate of the lowering.
type tensor struct {
	name   string
	shape  shape
	pitch  int // bytes per position: 4, 8, 16, 32, 64 or a multiple of 128
	signed bool
	zero   byte // what halos hold
	// Halo in positions: rows above and below, columns left and right. Columns on
	// the left are rounded up so that rows start on a vector.
	top, bottom, left, right int

	dense bool // bytes as the client sees them: no pitch, no halo, signed values as they are

	keep     bool   // exchanges data with the client: has a place of its own from the first step to the last
	unplaced bool   // needs no place in the arena: a constant, or a value that another tensor holds
	addr     uint32 // of the region; 0 until planned
}

// pitches of positions that hold c channels.
func pitchOf(c int) int {
	switch {
	case c <= 32:
		return 32
	case c <= 64:
		return 64
	}
	return roundUp(c, vecBytes)
}

// aliasing is a pitch at which positions that lie next to each other share so few
// sets of L1D that those of a convolution's blocks throw each other out.
const aliasing = 512

// pitch is that of a tensor's positions unless something asks for another one.
func (s shape) pitch() int {
	p := pitchOf(s.c)
	if p%aliasing == 0 && s.positions() > 1 {
		p += vecBytes
	}
	return p
}

// smallPitch is for tensors that only convolutions read: less memory, words
// that waste no multiplications.
func (s shape) smallPitch() int {
	for _, p := range [...]int{4, 8, 16} {
		if s.c <= p {
			return p
		}
	}
	return s.pitch()
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
func ceilDiv(n, d int) int  { return (n + d - 1) / d }

// perVec is the number of whole positions in a vector, 1 for wide positions.
func (t *tensor) perVec() int { return max(1, vecBytes/t.pitch) }

// lead is the distance from a row's start to its first position inside the image.
func (t *tensor) lead() int { return roundUp(t.left*t.pitch, vecBytes) }

// rowBytes is the distance of rows. Kernels write whole vectors, so a row has
// room for them and for the halo's on the right.
func (t *tensor) rowBytes() int {
	if t.dense {
		return t.shape.w * t.shape.c
	}
	return roundUp(t.lead()+t.shape.w*t.pitch+roundUp(t.right*t.pitch, vecBytes), vecBytes)
}

func (t *tensor) imageBytes() int { return (t.top + t.shape.h + t.bottom) * t.rowBytes() }

// bytes is the size of the region.
func (t *tensor) bytes() int {
	if t.dense {
		return t.shape.elements()
	}
	return t.shape.n * t.imageBytes()
}

// at is the address of position (n, y, x), which may lie in the halo.
func (t *tensor) at(n, y, x int) uint32 {
	if t.dense {
		return t.addr + uint32(((n*t.shape.h+y)*t.shape.w+x)*t.shape.c)
	}
	return t.addr + uint32(n*t.imageBytes()+(t.top+y)*t.rowBytes()+t.lead()+x*t.pitch)
}

// clientForm reports whether the bytes are those that the client sees: nothing
// between positions, rows or images, and values of an unsigned type.
func (t *tensor) clientForm(typ nn.OperandType) bool {
	return !t.dense && !t.hasHalo() && t.pitch == t.shape.c && t.shape.c%vecBytes == 0 && typ == nn.TensorQuant8Asymm
}

// hasHalo reports whether anything surrounds the image.
func (t *tensor) hasHalo() bool { return t.top+t.bottom+t.left+t.right > 0 }

// vectorsPerRow is the number of vectors that hold the positions of a row.
func (t *tensor) vectorsPerRow() int { return ceilDiv(t.shape.w*t.pitch, vecBytes) }

// zeroOf is the zero point of an operand in the unsigned domain.
func zeroOf(o *nn.Operand) int32 {
	if o.Type == nn.TensorQuant8AsymmSigned {
		return o.ZeroPoint + 128
	}
	return o.ZeroPoint
}

// unsignedBias is what is added to values of a type to make them unsigned.
func unsignedBias(t nn.OperandType) int32 {
	if t == nn.TensorQuant8AsymmSigned {
		return 128
	}
	return 0
}
