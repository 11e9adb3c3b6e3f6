package hexagon

// Op identifies one instruction form. Constants carry LLVM's tag (A2_add, V6_vrmpybus_acc); zero is no instruction.
type Op uint16

// Class is the instruction type that decides slots, HVX resources and packet rules.
type Class uint8

// Instruction types, named as in LLVM.
const (
	ClassNone           Class = iota
	ALU32                     // 32-bit add, logic, move, compare: any slot
	ALU64                     // 64-bit and min/max: slots 2, 3
	SOP                       // shifts and bit fields (LLVM S_2op, S_3op): slots 2, 3
	MPY                       // scalar multiply (LLVM M): slots 2, 3
	LD                        // scalar load
	ST                        // scalar store, including allocframe and cache operations
	V2LDST                    // scalar load or store with immediate offset (LLVM V2LDST)
	V4LDST                    // read-modify-write of memory: slot 0
	JUMP                      // direct jump, call: slots 2, 3
	NCJ                       // compare-and-jump on a new value: slot 0
	CJ                        // compare or move together with a jump (compound); the assembler makes it of two
	CR                        // control registers, predicate logic, hardware loop setup: slot 3 (some 2)
	CVI_VA                    // HVX ALU, one vector
	CVI_VA_DV                 // HVX ALU, vector pair
	CVI_VX                    // HVX multiply, one multiplier (some need both)
	CVI_VX_DV                 // HVX multiply, both multipliers
	CVI_VX_LATE               // HVX operations in the multiplier with late inputs
	CVI_VS                    // HVX shift
	CVI_VP                    // HVX permute
	CVI_VP_VS                 // HVX permute of a pair
	CVI_VM_LD                 // HVX load
	CVI_VM_TMP_LD             // HVX load to a temporary
	CVI_VM_VP_LDU             // HVX unaligned load
	CVI_VM_ST                 // HVX store
	CVI_VM_NEW_ST             // HVX store of a value made in the same packet
	CVI_VM_STU                // HVX unaligned store
	CVI_VS_VX                 // HVX multiply by a register pair: a multiplier and one of the other pipes
	CVI_GATHER                // HVX gather, offsets in one vector
	CVI_GATHER_DV             // HVX gather, offsets in a pair
	CVI_SCATTER               // HVX scatter, offsets in one vector
	CVI_SCATTER_DV            // HVX scatter, offsets in a pair
	CVI_SCATTER_NEW_RST       // HVX wait for scatters
	CVI_HIST                  // HVX histogram: all pipes and all registers
	CVI_4SLOT_MPY             // HVX multiply by the Z window: all pipes
	CVI_ZW                    // HVX load of the Z window
)

// Units is the set of HVX pipes that a form occupies, as alternatives.
type Units uint8

// HVX resource demands. The four compute pipes are MPY0, MPY1, SHIFT and XLANE.
const (
	UnitsNone     Units = iota
	UnitsAny1           // one of the four pipes
	UnitsMpy1           // MPY0 or MPY1
	UnitsMpy01          // both multipliers
	UnitsDV             // a pair of pipes: MPY0+MPY1 or SHIFT+XLANE
	UnitsShift          // SHIFT
	UnitsXlane          // XLANE
	UnitsXlShf          // SHIFT and XLANE
	UnitsLd1            // the load port and one of the four pipes
	UnitsLd             // the load port only
	UnitsLdXlane        // the load port and XLANE
	UnitsSt1            // the store port and one of the four pipes
	UnitsSt             // the store port only
	UnitsStXlane        // the store port and XLANE
	UnitsMpy1ShXl       // a multiplier, and SHIFT or XLANE
	UnitsAll            // all four pipes
	UnitsLdDV           // the load port and a pair of pipes
	UnitsStDV           // the store port and a pair of pipes
	UnitsZW             // the port of the Z window
)

// Kind is the register class (or immediate) of an operand.
type Kind uint8

// Operand kinds. In Inst.R a pair or quad is its lowest register number; N* is the number of the register that the packet produces.
const (
	KindNone Kind = iota
	KindR         // 32-bit scalar register r0..r31
	KindRR        // scalar pair r1:0 .. r31:30
	KindV         // vector register v0..v31, 128 bytes
	KindVV        // vector pair v1:0 .. v31:30
	KindVVVV      // vector quad v3:0 .. v31:28
	KindP         // scalar predicate p0..p3
	KindQ         // vector predicate q0..q3, one bit per byte
	KindC         // control register c0..c31
	KindCC        // control register pair c1:0 ..
	KindM         // modifier register m0, m1
	KindMImm      // modifier register of a form with five registers: its number is in Inst.Imm
	KindS         // system register s0..s80
	KindSS        // system register pair
	KindG         // guest register g0..g31
	KindGG        // guest register pair
	KindNR        // scalar register written in the same packet (.new)
	KindNV        // vector register written in the same packet (.new)
	KindImm       // immediate
)

// Role is whether an operand is read, written or both.
type Role uint8

// Operand roles.
const (
	Use    Role = 1
	Def    Role = 2
	DefUse Role = Use | Def
)

// Reg is the register number that in holds for the operand, which must not be an immediate.
func (o *OperandSpec) Reg(in *Inst) uint8 {
	if o.Kind == KindMImm {
		return uint8(in.Imm[o.Index])
	}
	return in.R[o.Index]
}

// OperandSpec is one operand of a form. Operands are listed in the order in which the assembly text first names them.
type OperandSpec struct {
	Kind  Kind
	Role  Role
	Index uint8 // index into Inst.R, or into Inst.Imm for an immediate
	Low8  bool  // only r0..r7 (or v0..v7) can be encoded
	Low16 bool  // only r0..r7 and r16..r23 can be encoded
	New   bool  // predicate is read as .new: the value this packet makes
	Neg   bool  // predicate is read negated
	Width uint8 // number of encoded bits

	// Immediates only.
	Signed     bool
	Scale      uint8 // log2 of the unit of the encoded value; Inst.Imm holds real units, as the text prints them
	PCRel      bool  // Inst.Imm is a byte displacement from the packet's address
	Extendable bool  // can be widened to 32 bits by a constant extender

	Field uint32 // mask of the encoded bits; the value's bits fill it from the least significant upwards
	Shift uint8  // low register bits that are not encoded (scalar pairs: 1)

	// Operand cycles of LLVM's itinerary: when the operand is read and when the result is ready (0: none).
	UseCycle, DefCycle uint8
}

// Flags are properties of a form beyond its operands.
type Flags uint64

// Form flags.
const (
	FlagLoad        Flags = 1 << iota // reads memory
	FlagStore                         // writes memory
	FlagCur                           // .cur: the loaded vector is usable in this packet
	FlagTmp                           // .tmp: the loaded vector exists in this packet only
	FlagNewStore                      // stores a value made in this packet
	FlagNewJump                       // compares a value made in this packet
	FlagBranch                        // may change the program counter
	FlagCall                          // writes r31 with the return address
	FlagIndirect                      // branch target is a register
	FlagPred                          // executes under a scalar predicate
	FlagPredNot                       // ... when it is false
	FlagPredNew                       // ... made in this packet
	FlagPostInc                       // updates its address register by an immediate or a modifier
	FlagAcc                           // accumulates into its destination (as LLVM has it: not under a vector predicate with -=)
	FlagLoop                          // writes loop registers
	FlagSolo                          // must be alone in its packet
	FlagHVX                           // vector instruction
	FlagUnaligned                     // vmemu
	FlagPreferSlot3                   // uses slot 3 where it can
	FlagQPred                         // executes per byte under a vector predicate
	FlagHint                          // no architectural effect (cache hints, nop)
	FlagBlocksSlot1                   // leaves slot 1 empty
	FlagCmp                           // compare: several may write one predicate in a packet (result is ANDed)
	FlagOnlyALU                       // only ALU, shift and multiply instructions may share its packet
	FlagNoStore1                      // keeps stores out of slot 1
	FlagOvf                           // may set usr:ovf
	FlagV68                           // needs a core of V68 or later
	FlagExtended                      // exists with a constant extender only
	FlagFloat                         // floating-point arithmetic: separate packet rules
	FlagPredLate                      // its predicate is made too late for .new
	FlagSupervisor                    // needs a privilege that programs do not have: decoded, never assembled
	FlagSlot1ALU                      // only an ALU32 instruction may use slot 1 beside it
	FlagV66                           // needs a core of V66 or later
	FlagUndefined                     // no public source says what it computes: decoded and assembled, never executed
)

// Form describes one instruction form: a row of the instruction table.
type Form struct {
	Op          Op
	Name        string // LLVM tag
	Syntax      string // assembly text with $-operands
	Class       Class
	Mask, Match uint32 // word&Mask == Match identifies the form; parse bits 15:14 are not in Mask
	Slots       uint8  // bit n set: slot n can run it
	Units       Units
	Flags       Flags
	MemBytes    uint8 // bytes moved per scalar access, 128 for vectors, 0 if none
	NumReg      uint8 // registers in Inst.R
	NumImm      uint8 // immediates in Inst.Imm
	Operands    []OperandSpec
	Plain       Op // of a form under a scalar predicate: the one that does the same without; 0: none

	Template string // Syntax with operand k as the byte 0x80+k
}

// Inst is one decoded instruction. It is flat and holds no pointers, so slices of it are cheap to keep.
type Inst struct {
	Op  Op
	Ext bool     // the extendable immediate has a constant-extender word
	R   [4]uint8 // register operands in operand order (order of first appearance in the text)
	Imm [2]int32 // immediates in operand order: fully extended, in the units of the text; branch targets relative to the packet
}

// Packet is one VLIW packet. Constant extenders are folded into the instructions they extend.
type Packet struct {
	Addr               uint32  // address of the first word
	Insts              [4]Inst // in encoding order: highest slot first
	N                  uint8   // instructions, extenders not counted
	Words              uint8   // words in memory, extenders counted
	EndLoop0, EndLoop1 bool    // the packet ends hardware loop 0 / 1
	Duplex             bool    // the last two instructions share the last word
	NoShuf             bool    // :mem_noshuf: memory accesses keep their order; a load after a scalar store sees its data
}
