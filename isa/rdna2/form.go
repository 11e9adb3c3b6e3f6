package rdna2

// Op is one instruction form: a mnemonic in one encoding. The zero Op is no
// instruction. Constants are named after the form, V_ADD_F32_E64.
type Op uint16

// Mnemonic is common to the forms of one meaning: V_ADD_F32_E32, V_ADD_F32_E64 and V_ADD_F32_DPP all have M_V_ADD_F32.
type Mnemonic uint16

// String is the bare mnemonic, "v_add_f32".
func (m Mnemonic) String() string {
	if m < NumMnemonics {
		return mnemonics[m].name
	}
	return "?"
}

// Meaning is a one-line definition of m.
func (m Mnemonic) Meaning() string {
	if m < NumMnemonics {
		return mnemonics[m].meaning
	}
	return ""
}

type mnemonicInfo struct{ name, meaning string }

// Format is an instruction encoding.
type Format uint8

// Formats. DPP1 and DPP2 are VOP1 and VOP2 with a DPP16 control word, DPP8_1
// and DPP8_2 the same with a DPP8 one, SDWA1, SDWA2 and SDWAC are VOP1, VOP2
// and VOPC with an SDWA control word, VOP2K is VOP2 with a 32-bit constant of
// its own.
const (
	NoFormat Format = iota
	SOP2
	SOPK
	SOP1
	SOPC
	SOPP
	SMEM
	VOP2
	VOP2K
	VOP1
	VOPC
	VOP3
	VOP3P
	DPP1
	DPP2
	DPP8_1
	DPP8_2
	SDWA1
	SDWA2
	SDWAC
	DS
	FLAT
	GLOBAL
	SCRATCH
	MUBUF
	NumFormats
)

var formatNames = [NumFormats]string{"none", "SOP2", "SOPK", "SOP1", "SOPC", "SOPP", "SMEM", "VOP2", "VOP2K",
	"VOP1", "VOPC", "VOP3", "VOP3P", "DPP1", "DPP2", "DPP8_1", "DPP8_2", "SDWA1", "SDWA2", "SDWAC", "DS", "FLAT", "GLOBAL", "SCRATCH", "MUBUF"}

// String is the name in the table.
func (f Format) String() string {
	if f < NumFormats {
		return formatNames[f]
	}
	return "?"
}

// Role is the use of an operand.
type Role uint8

// Roles, and the field of Inst that holds the operand.
const (
	NoRole        Role = iota
	RoleVDst           // Dst
	RoleSDst           // SDst of a lane mask, else Dst
	RoleSrc0           // Src[0]
	RoleSrc1           // Src[1]
	RoleSrc2           // Src[2]
	RoleSSrc           // Src[0]: SOPK's register when it is read
	RoleAddr           // Src[0]: LDS address
	RoleData0          // Src[1]
	RoleData1          // Src[2]
	RoleVAddr          // Src[0]: global or scratch address or offset
	RoleVData          // Src[1]
	RoleSAddr          // Src[2]: scalar base
	RoleSRsrc          // Src[2]: buffer descriptor
	RoleBufOffset      // Src[3]: scalar offset into a buffer
	RoleSBase          // Src[0]: scalar memory base
	RoleSOffset        // Src[1]: scalar memory offset
	RoleOffset         // Offset
	RoleOffset0        // Offset
	RoleOffset1        // Offset1
	RoleSImm16         // Simm16
	RoleImm            // Literal
)

// Class is which registers and constants an operand may be.
type Class uint8

// Classes.
const (
	NoClass     Class = iota
	ClassVGPR         // vector registers
	ClassSGPR         // scalar registers
	ClassMask         // a lane mask: 1 scalar register in wave32, 2 in wave64
	ClassSrc          // vector or scalar register, inline constant, literal
	ClassCSrc         // the same without literal
	ClassVSrc         // a vector register in a 9-bit source field
	ClassSSrc         // scalar register, inline constant, literal
	ClassSConst       // the same without literal
	ClassSDWA         // vector or scalar register, inline constant
	ClassImm          // an immediate, of the kind in Kind
)

// Kind is the type of a source, or the way an immediate is printed.
type Kind uint8

// Kinds.
const (
	NoKind Kind = iota
	B16
	B32
	B64
	F16
	F32
	F64
	V2B16
	V2F16
	ImmI12      // signed 12-bit offset
	ImmI21      // signed 21-bit offset
	ImmU11      // unsigned 11-bit offset
	ImmU12      // unsigned 12-bit offset
	ImmU20      // unsigned 20-bit offset
	ImmU8       // element offset
	ImmU16      // LDS offset
	ImmHex      // 16 bits, printed in hexadecimal
	ImmDec      // 16 bits, printed in decimal up to 64
	ImmLabel    // branch distance in words
	ImmHwreg    // hardware register and bit range
	ImmWaitcnt  // counters of s_waitcnt
	ImmSwizzle  // pattern of ds_swizzle
	ImmOptional // printed in decimal unless zero
)

// Operand is one operand of a form.
type Operand struct {
	Role  Role
	Class Class
	Kind  Kind
	Regs  uint8 // 32-bit registers; 0 for a lane mask and for immediates
}

// Flag is a property of a form.
type Flag uint16

// Flags.
const (
	FlagTied    Flag = 1 << iota // D is also a source
	FlagOld                      // lanes without a DPP source keep D
	FlagAbs                      // sources that may be negated may also be taken absolute
	FlagClamp                    // has the clamp bit
	FlagOMod                     // has output modifiers
	FlagOpSel                    // selects halves
	FlagOpSelHi                  // selects halves for the high result
	FlagNegLoHi                  // negates low and high halves separately
	FlagNegAbs                   // VOP3P with negate and absolute instead
	FlagSext                     // SDWA sources may be sign-extended
	FlagOffEn                    // the buffer address holds a byte offset
	FlagIdxEn                    // the buffer address holds an index
)

// Implicit is a set of registers an instruction touches without naming them.
type Implicit uint8

// Implicit registers. A SCC-like single bit each; VCC and EXEC are as wide as
// the wave.
const (
	ImplEXEC Implicit = 1 << iota
	ImplVCC
	ImplSCC
	ImplMODE
	ImplM0
)

// Counter is a set of the wait counters an instruction increments.
type Counter uint8

// Counters of s_waitcnt and s_waitcnt_vscnt.
const (
	CntVM   Counter = 1 << iota // vector loads, atomics with return
	CntVS                       // vector stores, atomics without return
	CntLGKM                     // LDS, scalar memory, messages
)

// Sched is a scheduling class: which unit executes an instruction, at which latency, rate and energy.
type Sched uint8

// Scheduling classes.
const (
	NoSched      Sched = iota
	SchedSALU          // scalar ALU
	SchedMove          // vector moves, logic, shifts, selections, exchanges between lanes
	SchedInt           // vector integers of 16 and 32 bits
	SchedIntMul        // 32-bit products, 64-bit multiply-add: quarter rate
	SchedInt64         // 64-bit shifts and compares: half rate
	SchedF32           // vector floats of 32 bits: add, multiply, compare, convert
	SchedFMA32         // fused multiply-add of 32 bits
	SchedF16           // vector floats and pairs of 16 bits
	SchedDot           // dot products of bytes or halves
	SchedTrans         // transcendental, a unit of quarter rate
	SchedF64           // double precision
	SchedSMEM          // scalar memory
	SchedLDS           // local data share
	SchedLoad          // vector memory load
	SchedStore         // vector memory store
	SchedAtomic        // vector memory atomic
	SchedBranch        // branch
	SchedBarrier       // workgroup barrier
	SchedWait          // wait for a counter
	SchedControl       // everything else the sequencer does by itself
	NumScheds
)

// Cost is the nominal timing of a scheduling class in cycles of a wave32: the cycle count from issue until the result
// can be read, and how long the unit stays occupied. For memory Latency is a compiler's guess; cores time it.
type Cost struct{ Latency, Issue int }

// Sources: LLVM GFX10SpeedModel and Mesa aco_statistics.cpp. Memory figures
// are Mesa's nominal ones.
var costs = [NumScheds]Cost{
	SchedSALU:    {2, 1},
	SchedMove:    {5, 1},
	SchedInt:     {5, 1},
	SchedIntMul:  {8, 4},
	SchedInt64:   {6, 2},
	SchedF32:     {5, 1},
	SchedFMA32:   {5, 1},
	SchedF16:     {5, 1},
	SchedDot:     {5, 1},
	SchedTrans:   {10, 4},
	SchedF64:     {22, 16},
	SchedSMEM:    {30, 1},
	SchedLDS:     {20, 1},
	SchedLoad:    {320, 1},
	SchedStore:   {1, 1},
	SchedAtomic:  {320, 1},
	SchedBranch:  {3, 3},
	SchedBarrier: {1, 1},
	SchedWait:    {1, 1},
	SchedControl: {1, 1},
}

// Cost is the nominal timing of s.
func (s Sched) Cost() Cost {
	if s < NumScheds {
		return costs[s]
	}
	return Cost{1, 1}
}

// MaxOperands is the largest number of operands of a form.
const MaxOperands = 5

// Form is one row of the table. Forms are read-only.
type Form struct {
	Op       Op
	Mnemonic Mnemonic
	Name     string // V_ADD_F32_E64
	Text     string // v_add_f32_e64, as the disassembler prints it
	Format   Format
	Sched    Sched
	Opcode   uint16
	Bytes    uint8 // without a literal
	NegMask  uint8 // sources that may be negated, bit i for source i
	Flags    Flag
	Counters Counter
	Uses     Implicit
	Defs     Implicit
	NumOps   uint8
	Ops      [MaxOperands]Operand
}

// Operands are the operands in table order.
func (f *Form) Operands() []Operand { return f.Ops[:f.NumOps] }

// Has reports whether all of the flags are set.
func (f *Form) Has(flags Flag) bool { return f.Flags&flags == flags }

// Form is the row of op; the row of no instruction for an op out of range.
func (op Op) Form() *Form {
	if op < NumOps {
		return &forms[op]
	}
	return &forms[0]
}

// String is the name of the form.
func (op Op) String() string { return op.Form().Name }

// Mnemonic is common to op and its other encodings.
func (op Op) Mnemonic() Mnemonic { return op.Form().Mnemonic }

// IsVector reports whether instructions of the class execute once per lane in the vector ALU.
func (s Sched) IsVector() bool { return s >= SchedMove && s <= SchedF64 }

// IsVALU reports whether the form executes once per lane in the vector ALU.
func (f *Form) IsVALU() bool { return f.Format >= VOP2 && f.Format <= SDWAC }

// IsBranch reports whether the form may change the program counter.
func (f *Form) IsBranch() bool { return f.Sched == SchedBranch }
