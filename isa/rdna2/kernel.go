package rdna2

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/isa/codegen"
)

// Kernel is a program under construction in virtual registers, wave32.
//
// Emit accepts the operands of a form in the order of the table. An operand is a codegen.Reg, a codegen.Label, or a
// constant: an int or uint32 is its bits, a float32 its single-precision bits. Constants become inline constants where
// there is one and literals otherwise. Waits for memory are inserted by Link.
//
// A wave begins with the kernel argument address in s[0:1], the work-group ids
// in s2, s3, s4 and the work-item ids in v0, v1, v2: see Args, Workgroup and
// WorkItem.
type Kernel struct {
	F    *codegen.Func
	Name string
	// LDSBytes is the local data share that a work-group needs.
	LDSBytes int
	// Registers are the vector registers that a lane occupies, where the code uses fewer.
	Registers int
	// WGP is the mode in which the waves of a work-group may be in all compute units of a cluster.
	WGP bool

	target *Target
	err    error
	end    codegen.Label
	dims   int // work-item ids in use
}

// NewKernel starts a kernel.
func NewKernel(t *Target, name string) *Kernel {
	k := &Kernel{F: codegen.New(t, name), Name: name, target: t, dims: 1}
	k.end = k.F.Label("end")
	return k
}

// Reg makes a virtual register.
func (k *Kernel) Reg(c codegen.Class, name string) codegen.Reg { return k.F.Reg(c, name) }

// Args is the register pair that holds the address of the kernel arguments.
func (k *Kernel) Args() codegen.Reg { return codegen.Phys(S2, 0) }

// Workgroup is the register of the work-group's id in dimension d.
func (k *Kernel) Workgroup(d int) codegen.Reg { return codegen.Phys(S1, 2+d) }

// WorkItem is the register of the work-item's id in dimension d of its
// work-group.
func (k *Kernel) WorkItem(d int) codegen.Reg {
	k.dims = max(k.dims, d+1)
	return codegen.Phys(V1, d)
}

// Alias classes of memory accesses: a kernel never stores to the classes that it loads from.
const (
	aliasLoad  = 1
	aliasStore = 2
	aliasLDS   = 3
)

// Emit appends an instruction.
func (k *Kernel) Emit(op Op, operands ...any) *codegen.Instr {
	f := op.Form()
	if len(operands) != int(f.NumOps) {
		k.fail("%s: %d operands, want %d", f.Name, len(operands), f.NumOps)
		return &codegen.Instr{}
	}
	var buf [MaxOperands + 4]codegen.Arg
	args := buf[:0]
	for i, o := range f.Operands() {
		a, err := k.operand(f, o, operands[i])
		if err != nil {
			k.fail("%s: operand %d: %v", f.Name, i, err)
			return &codegen.Instr{}
		}
		args = append(args, a)
	}
	hidden := func(set Implicit, role codegen.Role) {
		if set&ImplSCC != 0 {
			args = append(args, codegen.Hidden(codegen.Arg{Reg: codegen.Phys(ClassSCC, 0), Role: role}))
		}
		if set&ImplVCC != 0 {
			args = append(args, codegen.Hidden(codegen.Arg{Reg: VCCReg(), Role: role}))
		}
	}
	hidden(f.Uses, codegen.Use)
	hidden(f.Defs, codegen.Def)
	var in *codegen.Instr
	if f.IsBranch() {
		flags := codegen.Flags(0)
		switch op {
		case S_BRANCH, S_SETPC_B64:
			flags = codegen.NoFall
		}
		in = k.F.Jump(uint32(op), flags, args...)
	} else {
		in = k.F.Emit(uint32(op), args...)
	}
	switch f.Sched {
	case SchedLoad, SchedSMEM:
		in.Loads(aliasLoad)
	case SchedStore:
		in.Stores(aliasStore)
	case SchedAtomic:
		in.With(codegen.Load).Stores(aliasStore)
	case SchedLDS:
		in.Alias = aliasLDS
		if f.role(RoleVDst) {
			in.With(codegen.Load)
		}
		if f.role(RoleData0) {
			in.With(codegen.Store)
		}
	case SchedBarrier, SchedWait, SchedControl:
		in.With(codegen.Fence)
	}
	if f.Format == VOP3P {
		// Canonical packed operands: high halves produce the high result.
		if !f.Has(FlagNegAbs) {
			in.Aux = uint64(Mods{OpSelHi: 7}.pack())
		}
	}
	if f.Defs&(ImplEXEC|ImplMODE) != 0 || k.writesEXEC(in) {
		in.With(codegen.Fence)
	}
	return in
}

func (k *Kernel) writesEXEC(in *codegen.Instr) bool {
	for _, a := range in.Args {
		if a.Kind == codegen.ArgReg && a.Role&codegen.Def != 0 && a.Reg.Class() == ClassEXEC {
			return true
		}
	}
	return false
}

func (k *Kernel) operand(f *Form, o Operand, v any) (codegen.Arg, error) {
	switch v := v.(type) {
	case codegen.Label:
		if o.Kind != ImmLabel {
			return codegen.Arg{}, fmt.Errorf("label where %s wants none", f.Text)
		}
		return codegen.To(v), nil
	case int:
		return codegen.Imm(int64(v)), k.constantFits(o)
	case int32:
		return codegen.Imm(int64(v)), k.constantFits(o)
	case uint32:
		return codegen.Imm(int64(v)), k.constantFits(o)
	case float32:
		return codegen.Imm(int64(math.Float32bits(v))), k.constantFits(o)
	case codegen.Reg:
		role := codegen.Use
		if o.Role == RoleVDst || o.Role == RoleSDst {
			role = codegen.Def
			if o.Role == RoleVDst && f.Flags&(FlagTied|FlagOld) != 0 {
				role = codegen.UseDef
			}
		}
		return codegen.Arg{Reg: v, Role: role}, k.regFits(o, v)
	}
	return codegen.Arg{}, fmt.Errorf("%T is no operand", v)
}

func (k *Kernel) constantFits(o Operand) error {
	switch o.Class {
	case ClassImm, ClassSrc, ClassCSrc, ClassSSrc, ClassSConst:
		return nil
	}
	return fmt.Errorf("a constant does not fit %s", o.describe())
}

func (k *Kernel) regFits(o Operand, r codegen.Reg) error {
	if !r.Valid() {
		return fmt.Errorf("no register")
	}
	info := &k.target.classes[r.Class()]
	vector := info.File == FileV
	want := int(o.Regs)
	ok := false
	switch o.Class {
	case ClassVGPR, ClassVSrc:
		ok = vector
	case ClassSGPR, ClassSSrc, ClassSConst:
		ok = !vector
	case ClassMask:
		ok, want = !vector, 1
	case ClassSrc, ClassCSrc:
		ok = true
	}
	if !ok || info.Width != want && info.File != fileNull {
		return fmt.Errorf("register class %s does not fit %s", info.Name, o.describe())
	}
	return nil
}

func (k *Kernel) fail(format string, args ...any) {
	if k.err == nil {
		k.err = fmt.Errorf("rdna2: kernel %s: %w", k.Name, fmt.Errorf(format, args...))
	}
}

// Jump appends a branch to l.
func (k *Kernel) Jump(op Op, l codegen.Label) { k.Emit(op, l) }

// Exit jumps to the end of the kernel when SCC is set.
func (k *Kernel) Exit() { k.Emit(S_CBRANCH_SCC1, k.end) }

// WaitScalar waits for all scalar loads and LDS operations here, and keeps the scheduler from moving anything across:
// operations issued after it are not waited for with those before.
func (k *Kernel) WaitScalar() {
	k.Emit(S_WAITCNT, int(Waitcnt{MaxVM, MaxExp, 0}.Simm16()))
}

// Fence keeps the scheduler from moving anything across in.
func Fence(in *codegen.Instr) *codegen.Instr { return in.With(codegen.Fence) }

// Mods are the modifiers of an instruction in virtual registers.
type Mods struct {
	Neg, Abs, NegHi, OpSel, OpSelHi, OMod uint8
	Clamp, GLC, SLC, DLC                  bool
	DPPCtrl                               uint16
	Rows, Banks                           uint8
	Bound, FI                             bool
	Offset1                               uint8
}

// With sets the modifiers of an instruction. One that moves between lanes and writes 0 without a source keeps no lane
// of D.
func (m Mods) With(in *codegen.Instr) *codegen.Instr {
	if f := &forms[in.Op]; f.Has(FlagOld) && m.Bound && m.Rows&m.Banks == 15 {
		in.Args[0].Role = codegen.Def
	}
	return in.Mods(m.pack())
}

func (m Mods) pack() uint64 {
	v := uint64(m.Neg&7) | uint64(m.Abs&7)<<3 | uint64(m.NegHi&7)<<6 | uint64(m.OpSel&15)<<9 | uint64(m.OpSelHi&7)<<13 |
		uint64(m.OMod&3)<<16 | uint64(m.DPPCtrl&0x1ff)<<18 | uint64(m.Rows&15)<<27 | uint64(m.Banks&15)<<31 | uint64(m.Offset1)<<41
	for i, b := range [...]bool{m.Clamp, m.GLC, m.SLC, m.DLC, m.Bound, m.FI} {
		if b {
			v |= 1 << (35 + i)
		}
	}
	return v
}

func (in *Inst) setMods(v uint64) {
	in.Neg, in.Abs, in.NegHi = uint8(v&7), uint8(v>>3&7), uint8(v>>6&7)
	in.OpSel, in.OpSelHi, in.OMod = uint8(v>>9&15), uint8(v>>13&7), uint8(v>>16&3)
	in.DPPCtrl, in.Rows, in.Banks = uint16(v>>18&0x1ff), uint8(v>>27&15), uint8(v>>31&15)
	bit := func(i uint) bool { return v>>(35+i)&1 == 1 }
	in.Clamp, in.GLC, in.SLC, in.DLC, in.Bound, in.FI = bit(0), bit(1), bit(2), bit(3), bit(4), bit(5)
	in.Offset1 = uint8(v >> 41)
}
