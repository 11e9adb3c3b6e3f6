// Package kernel has the operations that the NPU's command stream can start: convolutions,
// depthwise convolutions, pools and elementwise operations, with their registers, and
// copies. The hardware has only these kinds, so one type describes them all; each file
// has one part: shape, weights and their packer, registers.
package kernel

import (
	"cmp"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// Kind is what a kernel issues.
type Kind uint8

// The kinds.
const (
	Conv Kind = iota + 1
	Depthwise
	Pool
	Elementwise
	Copy // DMA of the input's bytes to the output
)

// String is the name of a kind.
func (k Kind) String() string {
	return [...]string{Conv: "conv", Depthwise: "depthwise", Pool: "pool", Elementwise: "elementwise", Copy: "copy"}[k]
}

// Block is how a kernel is cut for the MAC array and the output unit, and where its
// buffers lie in SHRAM. D is 0 where no block fits.
type Block struct {
	H, W, D        int
	IBEnd, ABStart int
	IB2Start       int
}

// Shape is the computation of a kernel without addresses: a comparable value. Kernels of equal
// shapes on maps of equal extents have the same time.
type Shape struct {
	Kind Kind
	Mode int // of a pool or an elementwise kernel

	Broadcast                int // IFM2_BROADCAST bits
	KH, KW, SY, SX, DY, DX   int // kernel in taps, dilation 1 or 2
	Top, Left, Right, Bottom int
	PartKernel               bool

	Clip      int  // forced clip range
	Global    bool // OFM_SCALE instead of a record per channel
	Scale     uint32
	Shift     int
	ScaleMode int // of ADD and SUB
	OPAScale  uint32
	OPAShift  int
	OPBScale  uint32
	Round     int
	Lo, Hi    int

	Block Block
}

// Kernel is a shape on feature maps.
type Kernel struct {
	Shape
	IFM     layout.Ref
	IFM2    *layout.Ref
	OFM     layout.Ref
	Weights *Weights
	Direct  bool   // weights are read where they are stored, as far as a plan has found
	Table   []byte // lookup table of the output stage, 256 or 1024 bytes
	Wanted  string // name of the block to use where it fits, "" for the best estimate
}

// Key is the registers of a kernel as far as they are known before memory is laid out: a
// comparable value.
type Key struct {
	Shape
	IFM, IFM2, OFM layout.FeatureMap
	HasIFM2        bool
	Weights        int // output channels with weights
	Table          int // bytes
}

// Key is the kernel's key.
func (k *Kernel) Key() Key {
	key := Key{Shape: k.Shape, IFM: k.IFM.FeatureMap, OFM: k.OFM.FeatureMap, Table: len(k.Table)}
	if k.IFM2 != nil {
		key.IFM2, key.HasIFM2 = k.IFM2.FeatureMap, true
	}
	if k.Weights != nil {
		key.Weights = k.Weights.Outputs
	}
	return key
}

// Maps are the feature maps of a kernel.
func (k *Kernel) Maps() []*layout.Ref {
	if k.IFM2 != nil {
		return []*layout.Ref{&k.IFM, k.IFM2, &k.OFM}
	}
	return []*layout.Ref{&k.IFM, &k.OFM}
}

// Defaults completes a shape: a kernel of one tap, stride and dilation 1.
func (s *Shape) Defaults() {
	for _, n := range []*int{&s.KH, &s.KW, &s.SY, &s.SX, &s.DY, &s.DX} {
		*n = cmp.Or(*n, 1)
	}
}

// Reduces reports whether every output channel reads all input channels.
func (s *Shape) Reduces() bool {
	return s.Kind == Conv || s.Kind == Pool && s.Mode == ethosu.PoolReduceSum
}
