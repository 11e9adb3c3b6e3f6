package cost

import "github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"

// ProductsPerPacket is how many vector multiplications a packet holds: one for each
// multiplier (isa/hexagon, UnitsMpy1).
const ProductsPerPacket = 2

// Packets that no multiplication hides, from the schedules of GEMM kernels: of 40 that the
// quantized networks use, all but two take within a tenth of what GEMM.Packets says.
const (
	requantPackets = 9  // to make a vector of bytes of four vectors of words
	loopPackets    = 12 // of a block: addresses, the loop, what drains
)

// GEMM is a block of a GEMM convolution: some output positions, all their channels of a
// chunk.
type GEMM struct {
	Products  int // vrmpy
	Positions int
	PerVector int // positions that share a vector of results, at least 1
}

// Packets is what a block takes.
func (b GEMM) Packets() int {
	return b.Products/ProductsPerPacket + requantPackets*b.Positions/b.PerVector + loopPackets
}

// Pipelined is a block of a software-pipelined GEMM convolution: all chunks of some positions.
type Pipelined struct {
	Products int // vrmpy
	Vectors  int // of results
	Halfword bool
}

// Packets that the products of the next block do not hide, of a vector of results and of a
// block: from the schedules of 35 kernels of the quantized networks, most within a twentieth.
const (
	halfwordVector = 6
	wordVector     = 10
	pipelinedLoop  = 2
)

// Packets is what a block takes.
func (b Pipelined) Packets() int {
	vector := wordVector
	if b.Halfword {
		vector = halfwordVector
	}
	return b.Products/ProductsPerPacket + vector*b.Vectors + pipelinedLoop
}

// Spatial is a block of a spatial convolution (a lane is a position): 32 positions.
type Spatial struct {
	Planes  int // words of four inputs that an output sums
	Outputs int
	Requant hvx.RequantKind
}

// Packets of a plane of four channels: its sums become bytes by products of halfwords or
// of words.
const (
	halfwordPlane2 = 11 // of two planes
	wordPlane2     = 22
)

// Packets is what a block takes: products, planes of inputs dealt from positions, planes of results.
func (b Spatial) Packets() int {
	plane2 := wordPlane2
	if b.Requant.Halfword {
		plane2 = halfwordPlane2
	}
	return b.Planes*b.Outputs/ProductsPerPacket + b.Planes + (b.Outputs+3)/4*plane2/2
}
