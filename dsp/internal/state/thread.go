// Package state is the state of one hardware thread of the core: its registers, its window to memory, the fault that
// ends it, and the micro-ops that it executes. The semantics of instructions (dsp/internal/exec) work on it; it is
// independent of time.
package state

import "unsafe"

// Sizes of the register files of a thread: the architectural registers and
// behind them the temporaries that packets with circular hazards need.
const (
	NumV, TempV = 32, 8
	NumR, TempR = 32, 8
	NumQ, TempQ = 4, 4
	TempP       = 8
	ZBytes      = 256 // the window that vrmpyz multiplies by

	MaxMemOps   = 64   // memory operations in one block
	MaxRoundOps = 1024 // of all rounds of a block that runs several times at once
	maxSegments = 32   // views of the address space that a thread keeps
)

// Control register numbers.
const (
	SA0, LC0, SA1, LC1 = 0, 1, 2, 3
	P30                = 4
	M0                 = 6
	USR                = 8
	PC, UGP, GP        = 9, 10, 11
	CS0                = 12
	UPCYCLE            = 14
	PKTCOUNT           = 18
	UTIMER             = 30
)

// Bits of USR.
const (
	OVF        = 1
	LPCFGShift = 8
	LPCFG      = 3 << LPCFGShift
)

// Segment is a view of one mapped range: the data that an access needs to convert an address to a host pointer. The
// read and write fields count the offsets at which an access is inside; assembly uses them and Host, Go uses
// Thread.data.
type Segment struct {
	Base, size uint32
	readOnly   uint32 // 1 when stores are refused
	Read128    uint32
	Write128   uint32
	Read8      uint32 // any scalar
	Write8     uint32
	_          uint32
	Host       uintptr
	_          uint64
}

// Skipped marks the address slot of a memory operation that a false predicate
// switched off.
const Skipped = 0xffffffff

// Thread is the state of one hardware thread. Micro-ops refer to registers by their byte offset in this struct, so the
// register files are first and the layout is known to the assembly generator (dsp/internal/asmgen);
// internal/asm/zasmtable_amd64.go checks it at compile time.
//
// A thread is larger than 32 KiB so that the allocator places it on a page
// boundary and vectors do not straddle cache lines.
type Thread struct {
	V     [NumV + TempV][128]byte
	Q     [NumQ + TempQ][128]byte // 0 or 0xff per byte lane
	GR    [NumR + TempR]uint32
	C     [32]uint32 // C[4] holds p0..p3, one byte each
	PT    [TempP]byte
	Next  uint32 // where the next packet is: branches write it
	Taken uint32 // 1 when a branch of this block was taken
	Halt  uint32 // 1 when the thread has ended, 2 on a fault
	Stop  *Uop   // micro-op at which assembly returned control

	// Addresses of the memory operations of the block; behind them, those of a block that runs several times at once,
	// round by round. The last round can be accessed as an array of MaxMemOps.
	Slots  uint64 // bytes from Addr to the addresses of the current round
	Rounds uint32 // left of the block, this one included
	Addr   [MaxMemOps + MaxRoundOps + MaxMemOps]uint32

	seg    [maxSegments]Segment // views of memory
	data   [maxSegments][]byte  // their data
	nseg   int                  // after the last used
	victim int                  // index of the newest view
	Memory Memory

	// Left by the semantics for the timing model and for service of the thread.
	Sought    bool // a micro-op of the block has met a segment that it did not expect
	Fault     Fault
	Reserved  Reservation
	Box       Box
	DMA       DMARequest // of the block that ran last
	Conflicts uint64     // bit per memory operation of the block: a scatter or gather whose elements meet in a bank

	Z [2 * ZBytes]byte // the Z window twice, so that what begins in the window can be read across its end

	_ [24 << 10]byte
}

// Byte offsets of the register files.
const (
	OffV   = uint16(unsafe.Offsetof(Thread{}.V))
	OffQ   = uint16(unsafe.Offsetof(Thread{}.Q))
	OffR   = uint16(unsafe.Offsetof(Thread{}.GR))
	OffC   = uint16(unsafe.Offsetof(Thread{}.C))
	OffP   = OffC + 4*P30
	OffPT  = uint16(unsafe.Offsetof(Thread{}.PT))
	OffEA  = uint16(unsafe.Offsetof(Thread{}.Addr))
	OffSeg = uint16(unsafe.Offsetof(Thread{}.seg))
	OffZ   = uint16(unsafe.Offsetof(Thread{}.Z))
)

// Vector views. A vector is 128 bytes; a pair is two vectors, the even
// register (low half) first.
type (
	VecB  = [128]int8
	VecUB = [128]uint8
	VecH  = [64]int16
	VecUH = [64]uint16
	VecW  = [32]int32
	VecUW = [32]uint32
)

// At is the address of a byte of the thread. R to UW are typed views of it: a scalar register, the same signed, a pair,
// a predicate, a vector of bytes, halfwords or words.
func (t *Thread) At(o uint16) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(t), uintptr(o)) }

func (t *Thread) R(o uint16) *uint32 { return (*uint32)(t.At(o)) }
func (t *Thread) S(o uint16) int32   { return *(*int32)(t.At(o)) }
func (t *Thread) D(o uint16) *uint64 { return (*uint64)(t.At(o)) }
func (t *Thread) P(o uint16) *uint8  { return (*uint8)(t.At(o)) }
func (t *Thread) B(o uint16) *VecB   { return (*VecB)(t.At(o)) }
func (t *Thread) UB(o uint16) *VecUB { return (*VecUB)(t.At(o)) }
func (t *Thread) H(o uint16) *VecH   { return (*VecH)(t.At(o)) }
func (t *Thread) UH(o uint16) *VecUH { return (*VecUH)(t.At(o)) }
func (t *Thread) W(o uint16) *VecW   { return (*VecW)(t.At(o)) }
func (t *Thread) UW(o uint16) *VecUW { return (*VecUW)(t.At(o)) }

// High is the offset of the odd register of a vector pair.
func High(o uint16) uint16 { return o + 128 }
