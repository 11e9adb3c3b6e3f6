package gpu

import (
	"math/bits"
	"unsafe"

	"github.com/nnsoc/nnsoc/sim"
)

// row is one vector register of up to 64 lanes. A wave32 uses the first 32 and
// its registers lie 32 lanes apart; the register file is padded so that a row
// never reaches beyond it.
type row = [64]uint32

// Places in the scalar file: source codes 0..127, then what has no code.
const (
	sVCC    = 106
	sM0     = 124
	sNull   = 125
	sEXEC   = 126
	sSCC    = 128 // 0 or 1
	sDrop   = 130 // where writes to null go; up to 16 registers
	numSReg = 160
)

// queued is one operation a wait counter still counts.
type queued struct {
	done   int64 // cycle of its return
	from   sim.Reason
	scalar bool // dst is a scalar register
	dst    uint16
	regs   uint8
}

// queue is what one wait counter counts, oldest first.
type queue struct {
	q       [64]queued
	head, n int
	scalars int // scalar memory operations among them
	last    int64
}

func (q *queue) at(i int) *queued { return &q.q[(q.head+i)&63] }

func (q *queue) push(e queued) {
	q.q[(q.head+q.n)&63] = e
	q.n++
}

// wave is one resident wave. What every instruction touches comes first.
type wave struct {
	v    unsafe.Pointer // first vector register
	n    int            // lanes
	high uint64         // mask of lanes 32..63: 0 in wave32
	m    *State
	simd *simd
	slot int // index in the SIMD's waves
	pc   int32
	line int32 // instruction cache line it last fetched from

	// Timing.
	next int64 // earliest issue of the instruction at pc
	vMax int64 // latest of vReady
	sMax int64
	why  sim.Reason

	// Checker: registers whose load is outstanding.
	dup   bool // one register is the target of two outstanding loads
	pendV [4]uint64
	pendS [2]uint64

	s      [numSReg]uint32
	sReady [sSCC + 1]int64
	vReady [256]int64

	vm, vs, lgkm queue

	regs            []uint32
	wg              *workgroup
	id              int    // in the work-group
	scratch         []byte // dword j of all lanes, then dword j+1
	scratchBase     uint64 // its address
	flat            uint64 // FLAT_SCRATCH
	done, atBarrier bool
	barrierPC       int32
}

// mask is EXEC over the lanes of the wave.
func (w *wave) mask() uint64 { return uint64(w.s[sEXEC]) | uint64(w.s[sEXEC+1])<<32&w.high }

// full is the mask of all lanes.
func (w *wave) full() uint64 { return 0xFFFFFFFF | w.high }

// at is the register row at an element offset into the wave's file.
func (w *wave) at(off uint32) *row { return (*row)(unsafe.Add(w.v, uintptr(off)*4)) }

// reg is vector register i.
func (w *wave) reg(i int) *row { return w.at(uint32(i * w.n)) }

// sMask reads a lane mask at scalar register i.
func (w *wave) sMask(i uint32) uint64 { return uint64(w.s[i]) | uint64(w.s[i+1])<<32&w.high }

// setMask writes a lane mask: one register in wave32, two in wave64.
func (w *wave) setMask(i uint32, m uint64) {
	w.s[i] = uint32(m)
	if w.n == 64 {
		w.s[i+1] = uint32(m >> 32)
	}
}

func (w *wave) s64(i uint32) uint64 { return uint64(w.s[i]) | uint64(w.s[i+1])<<32 }

func (w *wave) setS64(i uint32, v uint64) { w.s[i], w.s[i+1] = uint32(v), uint32(v>>32) }

func (w *wave) setSCC(b bool) {
	w.s[sSCC] = 0
	if b {
		w.s[sSCC] = 1
	}
}

// workgroup is one resident work-group.
type workgroup struct {
	id      [3]int
	waves   []*wave
	lds     []byte
	arrived int
	live    int
	cu      *cu
	number  int64
}

func fullMask(n int) uint64 { return ^uint64(0) >> (64 - uint(n)) }

// lanes calls f for each set bit of m in rising order.
func firstLane(m uint64) int { return bits.TrailingZeros64(m) }
