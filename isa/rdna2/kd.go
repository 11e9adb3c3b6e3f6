package rdna2

import (
	"encoding/binary"
	"fmt"
)

// DescriptorSize is the size of a kernel descriptor in bytes. In a code object
// it is the symbol "<kernel>.kd", aligned to 64 bytes.
const DescriptorSize = 64

// Properties select the values that a wave finds in its first scalar
// registers, dense in this order.
type Properties uint16

// Kernel code properties, with the number of scalar registers of each.
const (
	PropSegmentBuffer Properties = 1 << 0 // 4
	PropDispatchPtr   Properties = 1 << 1 // 2
	PropQueuePtr      Properties = 1 << 2 // 2
	PropKernargPtr    Properties = 1 << 3 // 2
	PropDispatchID    Properties = 1 << 4 // 2
	PropFlatScratch   Properties = 1 << 5 // 2
	PropSegmentSize   Properties = 1 << 6 // 1
	PropWave32        Properties = 1 << 10
	PropDynamicStack  Properties = 1 << 11
	propKnown                    = PropSegmentBuffer | PropDispatchPtr | PropQueuePtr | PropKernargPtr | PropDispatchID |
		PropFlatScratch | PropSegmentSize | PropWave32 | PropDynamicStack
)

// DenormKeep keeps denormals in and out.
const DenormKeep = 3

// Descriptor is a kernel descriptor of code object v3 to v5 for gfx10.
type Descriptor struct {
	LDSBytes     uint32
	ScratchBytes uint32 // per lane
	KernargBytes uint32
	Entry        int64 // entry point relative to the descriptor

	VGPRs     int   // allocated vector registers: a multiple of 8 in wave32, 4 in wave64
	Round32   uint8 // rounding of single precision: 0 to nearest even, 1 up, 2 down, 3 toward zero
	Round16   uint8 // rounding of half and double precision
	Denorm32  uint8
	Denorm16  uint8
	DX10Clamp bool
	IEEE      bool
	FP16Ovfl  bool
	WGPMode   bool // a work-group may spread over both units of a work-group processor
	Ordered   bool // memory operations return in order
	Progress  bool // waves make forward progress

	Scratch     bool // scratch is enabled
	UserSGPRs   int
	WorkgroupID [3]bool
	Info        bool // work-group info follows the ids
	WorkItemIDs int  // 0: v0 = x; 1: v1 = y too; 2: v2 = z too
	SharedVGPRs int  // blocks of 8 shared between the halves of a wave64
	Properties  Properties
}

// DefaultDescriptor has the modes of compiled wave32 kernels: IEEE, denormals
// kept, ordered memory, one compute unit per work-group.
func DefaultDescriptor() Descriptor {
	return Descriptor{
		VGPRs: 8, Denorm32: DenormKeep, Denorm16: DenormKeep, DX10Clamp: true, IEEE: true, Ordered: true,
		UserSGPRs: 2, WorkgroupID: [3]bool{true, true, true}, Properties: PropKernargPtr | PropWave32,
	}
}

// WaveSize is 32 or 64.
func (d *Descriptor) WaveSize() int {
	if d.Properties&PropWave32 != 0 {
		return 32
	}
	return 64
}

func (d *Descriptor) vgprUnit() int {
	if d.Properties&PropWave32 != 0 {
		return 8
	}
	return 4
}

// ParseDescriptor reads a kernel descriptor; b may be longer. It fails for
// bits that gfx1030 does not define.
func ParseDescriptor(b []byte) (Descriptor, error) {
	if len(b) < DescriptorSize {
		return Descriptor{}, fmt.Errorf("rdna2: kernel descriptor: %d bytes, want %d", len(b), DescriptorSize)
	}
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	for i := 12; i < 44; i++ {
		if (i < 16 || i >= 24) && b[i] != 0 {
			return Descriptor{}, fmt.Errorf("rdna2: kernel descriptor: reserved byte %d is %#x", i, b[i])
		}
	}
	r3, r1, r2, prop := u32(44), u32(48), u32(52), Properties(binary.LittleEndian.Uint16(b[56:]))
	if prop&^propKnown != 0 {
		return Descriptor{}, fmt.Errorf("rdna2: kernel descriptor: unknown properties %#x", uint16(prop&^propKnown))
	}
	bit := func(w uint32, at uint) bool { return w>>at&1 == 1 }
	d := Descriptor{
		LDSBytes: u32(0), ScratchBytes: u32(4), KernargBytes: u32(8), Entry: int64(binary.LittleEndian.Uint64(b[16:])),
		Round32: uint8(r1 >> 12 & 3), Round16: uint8(r1 >> 14 & 3), Denorm32: uint8(r1 >> 16 & 3), Denorm16: uint8(r1 >> 18 & 3),
		DX10Clamp: bit(r1, 21), IEEE: bit(r1, 23), FP16Ovfl: bit(r1, 26), WGPMode: bit(r1, 29), Ordered: bit(r1, 30), Progress: bit(r1, 31),
		Scratch: bit(r2, 0), UserSGPRs: int(r2 >> 1 & 31), WorkgroupID: [3]bool{bit(r2, 7), bit(r2, 8), bit(r2, 9)}, Info: bit(r2, 10),
		WorkItemIDs: int(r2 >> 11 & 3), SharedVGPRs: int(r3 & 15), Properties: prop,
	}
	d.VGPRs = (int(r1&63) + 1) * d.vgprUnit()
	if d.WorkItemIDs > 2 {
		return d, fmt.Errorf("rdna2: kernel descriptor: work-item id mode %d", d.WorkItemIDs)
	}
	return d, nil
}

// Append appends the 64 bytes of the descriptor.
func (d *Descriptor) Append(b []byte) ([]byte, error) {
	unit := d.vgprUnit()
	blocks := (d.VGPRs + unit - 1) / unit
	if d.VGPRs < 1 || d.VGPRs > 256 || d.UserSGPRs < 0 || d.UserSGPRs > 31 || d.WorkItemIDs < 0 || d.WorkItemIDs > 2 || d.SharedVGPRs < 0 || d.SharedVGPRs > 15 {
		return b, fmt.Errorf("rdna2: kernel descriptor: %d VGPRs, %d user SGPRs, work-item id mode %d, %d shared blocks", d.VGPRs, d.UserSGPRs, d.WorkItemIDs, d.SharedVGPRs)
	}
	bit := func(v bool, at uint) uint32 {
		if v {
			return 1 << at
		}
		return 0
	}
	var k [DescriptorSize]byte
	le := binary.LittleEndian
	le.PutUint32(k[0:], d.LDSBytes)
	le.PutUint32(k[4:], d.ScratchBytes)
	le.PutUint32(k[8:], d.KernargBytes)
	le.PutUint64(k[16:], uint64(d.Entry))
	le.PutUint32(k[44:], uint32(d.SharedVGPRs))
	le.PutUint32(k[48:], uint32(blocks-1)|uint32(d.Round32&3)<<12|uint32(d.Round16&3)<<14|uint32(d.Denorm32&3)<<16|uint32(d.Denorm16&3)<<18|
		bit(d.DX10Clamp, 21)|bit(d.IEEE, 23)|bit(d.FP16Ovfl, 26)|bit(d.WGPMode, 29)|bit(d.Ordered, 30)|bit(d.Progress, 31))
	le.PutUint32(k[52:], bit(d.Scratch, 0)|uint32(d.UserSGPRs)<<1|bit(d.WorkgroupID[0], 7)|bit(d.WorkgroupID[1], 8)|bit(d.WorkgroupID[2], 9)|
		bit(d.Info, 10)|uint32(d.WorkItemIDs)<<11)
	le.PutUint16(k[56:], uint16(d.Properties))
	return append(b, k[:]...), nil
}
