package dsp

import "unsafe"

// Sizes of the register files of a thread: the architectural registers and
// behind them the temporaries that packets with circular hazards need.
const (
	numV, tempV = 32, 8
	numR, tempR = 32, 8
	numQ, tempQ = 4, 4
	tempP       = 8

	maxMemOps   = 64   // memory operations in one block
	maxRoundOps = 1024 // of all rounds of a block that runs several times at once
	maxRounds   = 256
	maxSegments = 32 // views of the address space that a thread keeps
)

// Control register numbers.
const (
	cSA0, cLC0, cSA1, cLC1 = 0, 1, 2, 3
	cP30                   = 4
	cM0                    = 6
	cUSR                   = 8
	cPC, cUGP, cGP         = 9, 10, 11
	cCS0                   = 12
	cUPCYCLE               = 14
	cPKTCOUNT              = 18
	cUTIMER                = 30
)

// Bits of USR.
const (
	usrOVF        = 1
	usrLPCFGShift = 8
	usrLPCFG      = 3 << usrLPCFGShift
)

// segment is a view of one mapped range: what an access needs to turn an
// address into a host pointer. The ok fields count the offsets at which an
// access is inside; assembly goes through them and host, Go through data.
type segment struct {
	base, size uint32
	readOnly   uint32 // 1 when stores are refused
	read128    uint32
	write128   uint32
	read8      uint32 // any scalar
	write8     uint32
	_          uint32
	host       uintptr
	_          uint64
}

// skipped marks the address slot of a memory operation that a false predicate
// switched off.
const skipped = 0xffffffff

// thread is the state of one hardware thread. Micro-ops name registers by
// their byte offset in this struct, so the register files come first and the
// layout is known to the assembly generator (internal/asmgen); zasmtable_amd64.go checks it at compile time.
//
// A thread is larger than 32 KiB so that the allocator places it on a page
// boundary and vectors do not straddle cache lines.
type thread struct {
	V    [numV + tempV][128]byte
	Q    [numQ + tempQ][128]byte // 0 or 0xff per byte lane
	R    [numR + tempR]uint32
	C    [32]uint32 // C[4] holds p0..p3, one byte each
	PT   [tempP]byte
	next uint32 // where the next packet is: branches write it
	took uint32 // 1 when a branch of this block was taken
	skip uint32 // micro-ops to leave out next, set by a false guard
	halt uint32 // 1 when the thread has ended, 2 on a fault
	stop *uop   // micro-op at which assembly handed over

	// Addresses of the memory operations of the block; behind them, those of a
	// block that runs several times at once, round by round.
	slots  uint64 // bytes from addr to the addresses of the current round
	rounds uint32 // left of the block, this one included
	addr   [maxMemOps + maxRoundOps]uint32
	seg    [maxSegments]segment

	run    *run
	guest  *Guest // serves trap0 and has memory of its own; nil outside RunGuests
	origin uint64 // of its memory in what the caches see: guests lie 4 GiB apart
	data   [maxSegments][]byte
	nseg   int
	victim int
	id     int
	vector bool // owns an HVX context
	fault  fault
	watch  watch
	box    box
	dma    dmaRequest // of the block that ran last

	packets   int64  // executed in this run
	conflicts uint64 // bit per memory operation of the block: a scatter or gather whose elements meet in a bank

	pipe   pipeline
	recent recentStores

	_ [24 << 10]byte
}

// Byte offsets of the register files.
const (
	offV   = uint16(unsafe.Offsetof(thread{}.V))
	offQ   = uint16(unsafe.Offsetof(thread{}.Q))
	offR   = uint16(unsafe.Offsetof(thread{}.R))
	offC   = uint16(unsafe.Offsetof(thread{}.C))
	offP   = offC + 4*cP30
	offPT  = uint16(unsafe.Offsetof(thread{}.PT))
	offEA  = uint16(unsafe.Offsetof(thread{}.addr))
	offSeg = uint16(unsafe.Offsetof(thread{}.seg))
)

// Vector views. A vector is 128 bytes; a pair is two vectors, the even
// register (low half) first.
type (
	v8b  = [128]int8
	v8u  = [128]uint8
	v16s = [64]int16
	v16u = [64]uint16
	v32s = [32]int32
	v32u = [32]uint32
)

func (t *thread) at(o uint16) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(t), uintptr(o)) }

func (t *thread) r(o uint16) *uint32 { return (*uint32)(t.at(o)) }
func (t *thread) s(o uint16) int32   { return *(*int32)(t.at(o)) }
func (t *thread) d(o uint16) *uint64 { return (*uint64)(t.at(o)) }
func (t *thread) p(o uint16) *uint8  { return (*uint8)(t.at(o)) }
func (t *thread) b(o uint16) *v8b    { return (*v8b)(t.at(o)) }
func (t *thread) ub(o uint16) *v8u   { return (*v8u)(t.at(o)) }
func (t *thread) h(o uint16) *v16s   { return (*v16s)(t.at(o)) }
func (t *thread) uh(o uint16) *v16u  { return (*v16u)(t.at(o)) }
func (t *thread) w(o uint16) *v32s   { return (*v32s)(t.at(o)) }
func (t *thread) uw(o uint16) *v32u  { return (*v32u)(t.at(o)) }

// hi is the offset of the odd register of a vector pair.
func hi(o uint16) uint16 { return o + 128 }

// uop is one decoded instruction (or a copy that the decoder put in): what to
// do and on which bytes of the thread. 64 bytes; assembly knows the layout.
type uop struct {
	asm   uintptr // entry of the assembly handler
	fn    semantic
	o     [6]uint16 // operands: byte offsets in thread, in the order of the text
	ea    uint16    // byte offset of the address slot of a memory operation
	seg   uint16    // byte offset of the segment view used last
	imm   int32
	imm2  int32
	pc    uint32 // address of the packet
	np    uint32 // address of the packet behind it
	op    uint16 // hexagon.Op that supplies the semantics, without its guard
	pred  uint16 // byte offset of the guarding predicate
	want  uint8  // guard: bit 0 of the predicate that lets the micro-op run
	_     byte
	index uint16  // place in the block
	asm2  uintptr // behind a guard: the handler of the operation itself
}

// semantic executes one micro-op: reads operands, writes results.
type semantic func(t *thread, u *uop)

// state copies between the thread and its architectural form.
func (t *thread) load(st *Registers) {
	copy(t.R[:numR], st.R[:])
	copy(t.V[:numV], st.V[:])
	for i := range st.Q {
		for j, b := range st.Q[i] {
			t.Q[i][j] = -(b & 1)
		}
	}
	for i := range 2 {
		t.C[cSA0+2*i], t.C[cLC0+2*i] = st.SA[i], st.LC[i]
		t.C[cM0+i], t.C[cCS0+i] = st.M[i], st.CS[i]
	}
	t.C[cP30] = uint32(st.P[0]) | uint32(st.P[1])<<8 | uint32(st.P[2])<<16 | uint32(st.P[3])<<24
	t.C[cUSR], t.C[cGP], t.C[cUGP] = st.USR, st.GP, st.UGP
	t.next = st.PC
}

func (t *thread) store(st *Registers) {
	copy(st.R[:], t.R[:numR])
	copy(st.V[:], t.V[:numV])
	for i := range st.Q {
		for j := range st.Q[i] {
			st.Q[i][j] = t.Q[i][j] & 1
		}
	}
	for i := range 2 {
		st.SA[i], st.LC[i] = t.C[cSA0+2*i], t.C[cLC0+2*i]
		st.M[i], st.CS[i] = t.C[cM0+i], t.C[cCS0+i]
		st.P[i], st.P[2+i] = byte(t.C[cP30]>>(8*i)), byte(t.C[cP30]>>(16+8*i))
	}
	st.USR, st.GP, st.UGP = t.C[cUSR], t.C[cGP], t.C[cUGP]
	st.PC = t.next
}
