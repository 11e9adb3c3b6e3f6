package rdna2

// Source and destination codes, as in a 9-bit source field. Vector registers
// have VGPR0 added in every field of Inst, whatever the width of the encoded
// field.
const (
	SGPR0        = 0
	VCC          = 106 // vcc_lo; with vcc_hi one mask of a wave64
	VCCHi        = 107
	TTMP0        = 108
	M0           = 124
	Null         = 125 // reads 0, drops writes
	EXEC         = 126 // exec_lo
	EXECHi       = 127
	Const0       = 128 // 128+n is the integer n, 0 <= n <= 64
	ConstM1      = 193 // 192+n is the integer -n, 1 <= n <= 16
	SharedBase   = 235 // apertures of generic addresses: base and limit of LDS,
	PrivateLimit = 238 // base and limit of scratch
	ConstHalf    = 240 // 0.5 -0.5 1 -1 2 -2 4 -4 follow each other
	Const1       = 242
	ConstInv     = 248 // 1/(2 pi)
	VCCZ         = 251
	EXECZ        = 252
	SCC          = 253
	LDSDirect    = 254
	LiteralK     = 255
	VGPR0        = 256
)

// V is the code of vector register i.
func V(i int) uint16 { return uint16(VGPR0 + i) }

// Int is the code of the inline integer constant n, -16 <= n <= 64; ok is false
// outside that range.
func Int(n int) (code uint16, ok bool) {
	switch {
	case n >= 0 && n <= 64:
		return uint16(Const0 + n), true
	case n < 0 && n >= -16:
		return uint16(192 - n), true
	}
	return 0, false
}

// IsVGPR reports whether code names a vector register.
func IsVGPR(code uint16) bool { return code >= VGPR0 }

// Inst is one decoded instruction, flat: which fields mean something is up to
// its Form. Fields without meaning are zero, absent register operands Null.
type Inst struct {
	Op      Op
	Dst     uint16    // vector or scalar destination
	SDst    uint16    // lane-mask destination
	Src     [4]uint16 // see Role for its use in memory formats; source 3 is MUBUF's scalar offset
	Literal uint32    // value of code 255, constant of VOP2K and s_setreg_imm32
	Offset  int32     // byte offset of memory; element offset 0 of ds_read2 and its like
	Simm16  uint16
	DPPCtrl uint16 // 9 bits
	Size    uint8  // encoded bytes, literal included: 4, 8 or 12
	Neg     uint8  // bit i: negate source i; the low halves' with FlagNegLoHi
	NegHi   uint8  // bit i: negate the high half of source i
	Abs     uint8  // bit i: absolute value of source i
	OpSel   uint8  // bit i: high half of source i; bit 3: high half of D
	OpSelHi uint8  // bit i: high half of source i for the high result
	OMod    uint8  // 0, 1: *2, 2: *4, 3: /2
	Offset1 uint8  // element offset 1 of ds_read2 and its like
	Rows    uint8  // DPP row mask
	Banks   uint8  // DPP bank mask
	Sext    uint8  // bit i: SDWA sign-extends source i
	Sel     [2]Sel // SDWA part of source i
	DstSel  Sel    // SDWA part of D that is written
	Unused  Unused // SDWA: the rest of D
	Lanes8  uint32 // DPP8: lane of each group of eight, 3 bits each
	Clamp   bool
	Bound   bool // DPP bound_ctrl: invalid sources read 0
	FI      bool // DPP reads inactive lanes
	GLC     bool
	SLC     bool
	DLC     bool
}

// Sel is the part of a register that an SDWA operand is.
type Sel uint8

// Parts of a register.
const (
	SelByte0 Sel = iota
	SelByte1
	SelByte2
	SelByte3
	SelWord0
	SelWord1
	SelDword
	numSels
)

var selNames = [numSels]string{"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"}

// Unused is SDWA's handling of the bits of D outside DstSel.
type Unused uint8

// Treatments of the rest of D.
const (
	UnusedPad      Unused = iota // zero
	UnusedSext                   // copies of the sign of the result
	UnusedPreserve               // kept
	numUnused
)

var unusedNames = [numUnused]string{"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"}

// Form is the row of the instruction's form.
func (in *Inst) Form() *Form { return in.Op.Form() }

// UsesLiteral reports whether a literal dword follows the instruction.
func (in *Inst) UsesLiteral() bool {
	f := in.Form()
	for _, o := range f.Operands() {
		if (o.Class == ClassSrc || o.Class == ClassSSrc) && in.Src[o.slot()] == LiteralK {
			return f.Format != VOP2K
		}
	}
	return false
}

// slot is the index into Src of a source operand, -1 for others.
func (o Operand) slot() int { return int(roleSlot[o.Role]) }

var roleSlot = [...]int8{
	NoRole: -1, RoleVDst: -1, RoleSDst: -1,
	RoleSrc0: 0, RoleSrc1: 1, RoleSrc2: 2, RoleSSrc: 0,
	RoleAddr: 0, RoleData0: 1, RoleData1: 2,
	RoleVAddr: 0, RoleVData: 1, RoleSAddr: 2, RoleSRsrc: 2, RoleBufOffset: 3,
	RoleSBase: 0, RoleSOffset: 1,
	RoleOffset: -1, RoleOffset0: -1, RoleOffset1: -1, RoleSImm16: -1, RoleImm: -1,
}

// Slot is the index into Inst.Src that holds the operand, -1 when it is a
// destination or an immediate.
func (o Operand) Slot() int { return o.slot() }
