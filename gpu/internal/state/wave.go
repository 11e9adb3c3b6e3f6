// Package state is the architectural state of an RDNA2 wave and its work-group, and the decoded instruction: registers,
// masks, LDS, scratch, the memory they reach, and the error that ends a program. Semantics (package exec) read and
// write it, decode makes the instructions, and the core (package gpu) decides when they issue; nothing here depends on
// time but the class and unit of an instruction.
package state

import (
	"math/bits"
	"unsafe"

	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Row is one vector register of up to 64 lanes. A wave32 uses the first 32 and its registers are 32 lanes apart; the
// register file is padded so that a row never reaches beyond it.
type Row = [64]uint32

// Indices in the scalar file: source codes 0..127, then registers without a code.
const (
	VCC      = 106
	M0       = 124
	Null     = 125
	EXEC     = 126
	SCC      = 128 // 0 or 1
	Discard  = 130 // where writes to null go; up to 16 registers
	NumSGPRs = 160
)

// Wave is one resident wave, as its program sees it.
type Wave struct {
	V       unsafe.Pointer // first vector register
	Lanes   int            // 32 or 64
	High    uint64         // mask of lanes 32..63: 0 in wave32
	Machine *Machine
	PC      int32

	// Registers whose load is outstanding, for the checker.
	PendingV [4]uint64
	PendingS [2]uint64

	S [NumSGPRs]uint32 // scalar registers

	Group       *Workgroup
	ID          int    // in the work-group
	Scratch     []byte // dword j of all lanes, then dword j+1
	ScratchBase uint64 // its address
	FlatScratch uint64 // FLAT_SCRATCH
	Mode        uint32 // bits of the float modes that differ from DefaultMode
}

// DefaultMode is register MODE of compiled kernels: nearest even, denormals kept, DX10_CLAMP, IEEE.
const DefaultMode = 0xF0 | ModeDX10 | ModeIEEE

// Bits of MODE. In the fields of denormals the first bit keeps those of sources, the second those of results; differing
// from the default they flush.
const (
	ModeRounding = 0xF // two bits of floats, two of halves and doubles
	ModeDenorm32 = 4   // shift of the field of floats
	ModeDenorm16 = 6   // of halves and doubles
	ModeFlushIn  = 1
	ModeFlushOut = 2
	ModeDX10     = 1 << 8
	ModeIEEE     = 1 << 9
	ModeFloats   = ModeRounding | 0xF0 | ModeDX10 | ModeIEEE // the bits that are modelled
)

// FlushedRow is the first row of Machine.Prepared for sources whose denormals are flushed.
const FlushedRow = 2

// Exec is the mask EXEC over the lanes of the wave.
func (w *Wave) Exec() uint64 { return uint64(w.S[EXEC]) | uint64(w.S[EXEC+1])<<32&w.High }

// Full is the mask of all lanes.
func (w *Wave) Full() uint64 { return 0xFFFFFFFF | w.High }

// Row is the register row at an element offset into the wave's file.
func (w *Wave) Row(off uint32) *Row { return (*Row)(unsafe.Add(w.V, uintptr(off)*4)) }

// Reg is vector register i.
func (w *Wave) Reg(i int) *Row { return w.Row(uint32(i * w.Lanes)) }

// Mask reads a lane mask at scalar register i.
func (w *Wave) Mask(i uint32) uint64 { return uint64(w.S[i]) | uint64(w.S[i+1])<<32&w.High }

// SetMask writes a lane mask: one register in wave32, two in wave64.
func (w *Wave) SetMask(i uint32, m uint64) {
	w.S[i] = uint32(m)
	if w.Lanes == 64 {
		w.S[i+1] = uint32(m >> 32)
	}
}

// S64 is the pair of scalar registers at i.
func (w *Wave) S64(i uint32) uint64 { return uint64(w.S[i]) | uint64(w.S[i+1])<<32 }

// SetS64 writes the pair of scalar registers at i.
func (w *Wave) SetS64(i uint32, v uint64) { w.S[i], w.S[i+1] = uint32(v), uint32(v>>32) }

// Scalar is the 32-bit value of a scalar operand of source k: register v, constant v or status v.
func (w *Wave) Scalar(k Source, v uint32) uint32 {
	switch k {
	case SourceSGPR:
		return w.S[v&127]
	case SourceConstant:
		return w.Machine.Program.Constants[v][0]
	case SourceStatus:
		var z bool
		switch v {
		case rdna2.VCCZ:
			z = w.Mask(VCC) == 0
		case rdna2.EXECZ:
			z = w.Exec() == 0
		default:
			return w.S[SCC]
		}
		if z {
			return 1
		}
		return 0
	}
	return 0
}

// SetSCC writes the scalar condition code.
func (w *Wave) SetSCC(b bool) {
	w.S[SCC] = 0
	if b {
		w.S[SCC] = 1
	}
}

// Fail records the first error of the program.
func (w *Wave) Fail(err error) {
	if m := w.Machine; m.Err == nil {
		m.Err, m.Failed, m.FailedAt = err, w, m.Current
	}
}

// Workgroup is one resident work-group, as its waves see it.
type Workgroup struct {
	ID  [3]int
	LDS []byte
}

// FullMask has the lowest n bits set.
func FullMask(n int) uint64 { return ^uint64(0) >> (64 - uint(n)) }

// FirstLane is the lowest lane of a mask.
func FirstLane(m uint64) int { return bits.TrailingZeros64(m) }
