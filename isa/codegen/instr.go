package codegen

// Role is how an instruction uses an operand.
type Role uint8

// Operand roles. A conditional write keeps part of the old value: UseDef.
const (
	None   Role = 0 // immediates and labels
	Use    Role = 1
	Def    Role = 2
	UseDef Role = Use | Def
	// EarlyDef is a Def written while operands may still be read: it never
	// shares a register with a use of the same group.
	EarlyDef Role = Def | 4
)

// ArgKind is the kind of an operand.
type ArgKind uint8

// Operand kinds.
const (
	ArgReg ArgKind = iota
	ArgImm
	ArgLabel
)

// Arg is one operand. After Compile, Phys is the unit number of a register.
type Arg struct {
	Reg   Reg
	Imm   int64 // immediate
	Label Label // target of a branch or loop
	Phys  uint16
	Kind  ArgKind
	Role  Role
	// Implicit operands constrain scheduling and allocation but are not part
	// of the encoding (a condition code, a loop counter).
	Implicit bool
}

// In is an operand that is read.
func In(r Reg) Arg { return Arg{Reg: r, Role: Use} }

// Out is an operand that is written whole.
func Out(r Reg) Arg { return Arg{Reg: r, Role: Def} }

// InOut is an operand that is read and written: accumulators, post-increments,
// conditional writes.
func InOut(r Reg) Arg { return Arg{Reg: r, Role: UseDef} }

// Imm is an immediate operand.
func Imm(v int64) Arg { return Arg{Imm: v, Kind: ArgImm} }

// To is a label operand.
func To(l Label) Arg { return Arg{Label: l, Kind: ArgLabel} }

// Hidden marks an operand as implicit.
func Hidden(a Arg) Arg { a.Implicit = true; return a }

// Flags are properties of an instruction that passes respect.
type Flags uint16

// Instruction properties.
const (
	Load  Flags = 1 << iota // reads memory of alias class Instr.Alias
	Store                   // writes memory of alias class Instr.Alias
	// Branch ends its block. A Branch with NoFall never continues after it.
	Branch
	NoFall
	// Fence: nothing moves across it, in either direction.
	Fence
	// Ordered instructions keep their order among themselves.
	Ordered
)

// Instr is one instruction of a Func.
type Instr struct {
	Op   uint32 // the target's opcode
	Aux  uint64 // the target's modifiers; passed through
	Args []Arg
	// Alias is the alias class of a memory access: accesses of different
	// nonzero classes never overlap, class 0 may overlap everything.
	Alias  uint16
	Flags  Flags
	Source int32 // operation of the model it was lowered from; -1 for none
	// Class is for the target: the properties that a Group found when it was first asked to add the instruction. It is
	// 0 until then.
	Class int32

	seq int32 // position in the function
}

// With adds flags.
func (in *Instr) With(f Flags) *Instr { in.Flags |= f; return in }

// Loads marks a load of alias class a.
func (in *Instr) Loads(a uint16) *Instr { in.Flags |= Load; in.Alias = a; return in }

// Stores marks a store to alias class a.
func (in *Instr) Stores(a uint16) *Instr { in.Flags |= Store; in.Alias = a; return in }

// Mods sets the target's modifiers.
func (in *Instr) Mods(aux uint64) *Instr { in.Aux = aux; return in }
