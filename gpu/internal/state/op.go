package state

import "github.com/nnsoc/nnsoc/isa/rdna2"

// Class is the energy and timing class of an instruction.
type Class uint8

// Classes.
const (
	ClassNone   Class = iota
	ClassMove         // v_mov, logic, shift, select, permute
	ClassInt          // 32-bit integer add, min, max, compare
	ClassIntMul       // 32-bit multiply, 64-bit multiply-add: quarter rate
	ClassInt64        // 64-bit shift and compare: half rate
	ClassF32          // add, mul, min, max, convert
	ClassFMA32        // fused multiply-add
	ClassF16          // packed half
	ClassDot          // dot products of bytes or halves
	ClassTrans        // exp log rcp rsq sqrt sin cos: own unit
	ClassF64
	ClassSALU
	ClassSMEM
	ClassVMEM
	ClassLDS
	ClassBranch // branches, waits, messages
	NumClasses
)

// classes says which class of the machine has the costs of a scheduling class of the instruction set.
var classes = [rdna2.NumScheds]Class{
	rdna2.SchedMove:    ClassMove,
	rdna2.SchedInt:     ClassInt,
	rdna2.SchedIntMul:  ClassIntMul,
	rdna2.SchedInt64:   ClassInt64,
	rdna2.SchedF32:     ClassF32,
	rdna2.SchedFMA32:   ClassFMA32,
	rdna2.SchedF16:     ClassF16,
	rdna2.SchedDot:     ClassDot,
	rdna2.SchedTrans:   ClassTrans,
	rdna2.SchedF64:     ClassF64,
	rdna2.SchedSALU:    ClassSALU,
	rdna2.SchedSMEM:    ClassSMEM,
	rdna2.SchedLDS:     ClassLDS,
	rdna2.SchedLoad:    ClassVMEM,
	rdna2.SchedStore:   ClassVMEM,
	rdna2.SchedAtomic:  ClassVMEM,
	rdna2.SchedBranch:  ClassBranch,
	rdna2.SchedBarrier: ClassBranch,
	rdna2.SchedWait:    ClassBranch,
	rdna2.SchedControl: ClassBranch,
}

// ClassOf is the class of the instructions of a scheduling class.
func ClassOf(s rdna2.Sched) Class { return classes[s] }

// Unit is the resource that an instruction occupies in a cycle. A SIMD issues at most one instruction per unit and
// cycle.
type Unit uint8

// Units.
const (
	UnitNone Unit = iota
	UnitVALU
	UnitTrans // the vector unit's transcendental part
	UnitSALU
	UnitSMEM
	UnitVMEM
	UnitLDS
	UnitBranch
	UnitControl // handled by the wave's own sequencer
)

// Source is the kind of an operand's source.
type Source uint8

// Sources.
const (
	SourceNone     Source = iota
	SourceVGPR            // vector register at an element offset
	SourceConstant        // constant row of the program
	SourceSGPR            // scalar register
	SourceStatus          // vccz, execz, scc
	SourcePrepared        // row that DPP or SDWA has prepared
)

// Handler executes one instruction on a wave.
type Handler func(w *Wave, u *Op)

// Op is one decoded instruction with all that its execution reads. Operands are A, B and C; the meaning of each depends
// on its source: an element offset into the vector registers, a scalar register, a constant row.
type Op struct {
	Handler             Handler
	Row                 RowFunc
	Dst                 uint32 // element offset of a vector register, or scalar register
	A, B, C             uint32
	AFrom, BFrom, CFrom Source
	Unit                Unit
	Class               Class
	MaskDst             uint16 // lane-mask destination
	Imm                 int32
	Target              int32 // operation index of a branch, -1 when it is no instruction
	Control             uint8
	Details             *Details
}

// Details is the rest of an instruction, for the paths that are not hot.
type Details struct {
	Inst        rdna2.Inst
	Form        *rdna2.Form
	Lanes       RowFunc   // portable, for lanes that Op.Row leaves undone
	Batch       BatchFunc // for operations of this kind that follow each other, nil: there is none
	Inner       *Op       // DPP and SDWA: the plain instruction on prepared sources
	OffsetFrom  Source    // scalar offset of a buffer access: a register,
	Offset      uint32    // or a constant row
	Value       [4]uint64 // constants
	Kind        [4]rdna2.Kind
	Regs        [4]uint8
	Func        any // of the handler that uses it, in its own shape
	Access      *Access
	Err         error   // of a fault
	Result      Result  // its type, for clamp
	Accumulates bool    // the destination is the third source
	Half        bool    // 16-bit result: the other half of the register is kept
	Saturates   bool    // the handler itself clamps
	Plain       Handler // of an operation that obeys the float modes: what executes it with its sources as they are
	Clock       bool    // it reads the time

	Directed *[4]RowFunc // of an operation that rounds: its row by direction of rounding, but to nearest; nil: Row whatever the modes
}

// RowFunc computes a whole register: for every lane i of m, d[i] = f(a[i], b[i],
// c[i]). n is the number of lanes of the wave. d may be one of the sources. It
// returns the lanes it left undone, for the portable function to finish.
type RowFunc func(d, a, b, c *Row, m uint64, n int) uint64

// Packed is an operation in a batch: the offsets in bytes of its destination and its sources from the first vector
// register, or of the first source from the first scalar one.
type Packed = [4]uint16

// BatchFunc is a RowFunc for count operations one after the other, with sources counted from s where that
// is the first operand and from v otherwise. It returns how many it has done, and the lanes that it
// left undone of the one after these, 0 when there is none.
type BatchFunc func(v, s *uint32, ops *Packed, count int, m uint64, n int) (done int, rest uint64)

// What the sequencer does with a control instruction.
const (
	ControlNone = iota
	ControlEnd
	ControlBarrier
	ControlWait
	ControlInvalidate // of a cache
)

// NoWait is the count of a wait that waits for nothing.
const NoWait = 63

// Result is the type of a result, which determines how clamp acts on it.
type Result uint8

// The types of results.
const (
	NoFloat Result = iota
	ResultF32
	ResultF16
	ResultF64
)

// Access describes what a memory instruction does with each lane's bytes.
type Access struct {
	Size     int  // bytes per lane, of each of two accesses of ds_*2
	Store    bool // the rest of the time a load, unless atomic
	Atomic   AtomicFunc
	Returns  bool // an atomic that returns the old value
	Wide     bool // 64-bit atomic
	Compares bool // compare-and-swap: data is {new, compare} in global memory
	Signed   bool
	D16      uint8 // 0 none, 1 low half, 2 high half of the register
	Pair     int32 // ds_*2: stride of the offsets in bytes, else 0
	LDS      bool
	Mode     uint8 // accessing instructions that are not plain accesses
	OffEn    bool  // buffers: the vector address holds a byte offset,
	IdxEn    bool  // an index, or first the index
}

// Modes of an Access.
const (
	AccessPlain = iota
	AccessSwizzle
	AccessPermute
	AccessBpermute
	AccessScratch
	AccessFlat
	AccessClock
)

// AtomicFunc is the new value of a place in memory.
type AtomicFunc func(old, data, cmp uint64) uint64

// Operand is slot i of u.
func (u *Op) Operand(i int) (Source, uint32) {
	switch i {
	case 0:
		return u.AFrom, u.A
	case 1:
		return u.BFrom, u.B
	}
	return u.CFrom, u.C
}

// Extend widens a loaded byte or half and places it in the register.
func (op *Access) Extend(v, old uint32) uint32 {
	if op.Signed {
		sh := uint(32 - 8*op.Size)
		v = uint32(int32(v<<sh) >> sh)
	}
	switch op.D16 {
	case 1:
		return old&^0xFFFF | v&0xFFFF
	case 2:
		return old&0xFFFF | v<<16
	}
	return v
}

// PlainDwords reports a load or store of whole registers.
func (op *Access) PlainDwords() bool { return op.Atomic == nil && op.Size >= 4 }
