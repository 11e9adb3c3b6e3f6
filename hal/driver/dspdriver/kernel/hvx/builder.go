package hvx

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Builder writes the code of one kernel.
type Builder struct {
	Func *codegen.Func // the instructions so far
	DMA  bool          // the core has user DMA

	loops   []Loop
	inside  int                    // the loop being written
	scalars map[codegen.Reg]scalar // what is known of registers
	fetches bool
}

// Virtual registers.
func (b *Builder) R(name string) codegen.Reg    { return b.Func.Reg(ClassR, name) }
func (b *Builder) R8(name string) codegen.Reg   { return b.Func.Reg(ClassR8, name) }
func (b *Builder) RR(name string) codegen.Reg   { return b.Func.Reg(ClassRR, name) }
func (b *Builder) V(name string) codegen.Reg    { return b.Func.Reg(ClassV, name) }
func (b *Builder) VV(name string) codegen.Reg   { return b.Func.Reg(ClassVV, name) }
func (b *Builder) VVVV(name string) codegen.Reg { return b.Func.Reg(ClassVVVV, name) }
func (b *Builder) P(name string) codegen.Reg    { return b.Func.Reg(ClassP, name) }
func (b *Builder) Q(name string) codegen.Reg    { return b.Func.Reg(ClassQ, name) }

// Lo and hi are the halves of a pair.
func Lo(r codegen.Reg) codegen.Reg { return Half(r, 0) }
func Hi(r codegen.Reg) codegen.Reg { return Half(r, 1) }

func Half(r codegen.Reg, n int) codegen.Reg {
	if r.Class() == ClassVV {
		return r.Sub(ClassV, n)
	}
	return r.Sub(ClassR, n)
}

var kindClasses = [...][]codegen.Class{
	hexagon.KindR:    {ClassR, ClassR8},
	hexagon.KindRR:   {ClassRR},
	hexagon.KindV:    {ClassV},
	hexagon.KindVV:   {ClassVV},
	hexagon.KindVVVV: {ClassVVVV},
	hexagon.KindP:    {ClassP},
	hexagon.KindQ:    {ClassQ},
}

// Op emits an instruction: registers, immediates (int) and labels in the
// order of the form's operands. Operands that do not fit the form are a bug of
// the kernel and panic.
func (b *Builder) Op(op hexagon.Op, args ...any) *codegen.Instr {
	f := op.Form()
	if len(args) != len(f.Operands) {
		panic(fmt.Sprintf("dsp: %s takes %d operands, got %d", f.Name, len(f.Operands), len(args)))
	}
	var buf [6]codegen.Arg
	var flags codegen.Flags
	for i := range f.Operands {
		o := &f.Operands[i]
		switch x := args[i].(type) {
		case codegen.Reg:
			if !fits(o, x) {
				panic(fmt.Sprintf("dsp: %s: operand %d is a register of class %d", f.Name, i, x.Class()))
			}
			buf[i] = codegen.Arg{Reg: x, Role: codegen.Role(o.Role)}
		case int:
			if o.Kind != hexagon.KindImm {
				panic(fmt.Sprintf("dsp: %s: operand %d is not an immediate", f.Name, i))
			}
			buf[i] = codegen.Imm(int64(x))
		case codegen.Label:
			buf[i] = codegen.To(x)
		default:
			panic(fmt.Sprintf("dsp: %s: operand %d is a %T", f.Name, i, x))
		}
	}
	if f.Has(hexagon.FlagPred) || f.Has(hexagon.FlagQPred) {
		// A conditional result keeps the old value where the condition fails.
		for i := range f.Operands {
			if buf[i].Kind == codegen.ArgReg && buf[i].Role == codegen.Def {
				buf[i].Role = codegen.UseDef
			}
		}
	}
	if f.Has(hexagon.FlagLoad) {
		flags |= codegen.Load
	}
	if f.Has(hexagon.FlagStore) {
		flags |= codegen.Store
	}
	var in *codegen.Instr
	if f.Has(hexagon.FlagBranch) {
		if !f.Has(hexagon.FlagPred) {
			flags |= codegen.NoFall
		}
		in = b.Func.Jump(uint32(op), flags, buf[:len(args)]...)
	} else {
		in = b.Func.Emit(uint32(op), buf[:len(args)]...)
		in.Flags |= flags
	}
	b.fetches = b.fetches || op == hexagon.Y5_l2fetch
	b.track(op, f, args)
	return in
}

func fits(o *hexagon.OperandSpec, r codegen.Reg) bool {
	if int(o.Kind) >= len(kindClasses) {
		return false
	}
	for _, c := range kindClasses[o.Kind] {
		if r.Class() == c {
			return !o.Low8 || c == ClassR8
		}
	}
	return false
}

// arg is argument n of the thread: r0, r1, .. on entry. Arguments must be
// fetched before anything else.
func (b *Builder) arg(n int, name string) codegen.Reg {
	r := b.R(name)
	b.Func.Hint(r, n)
	b.Op(hexagon.A2_tfr, r, codegen.Phys(ClassR, n))
	return r
}

// Args fetches arguments 0, 1, ..
func (b *Builder) Args(names ...string) []codegen.Reg {
	out := make([]codegen.Reg, len(names))
	for i, n := range names {
		out[i] = b.arg(i, n)
	}
	return out
}

// Ret ends the thread.
func (b *Builder) Ret() { b.Op(hexagon.J2_jumpr, codegen.Phys(ClassR, 31)) }

// Imm is a register that holds v.
func (b *Builder) Imm(v int) codegen.Reg {
	r := b.R("imm")
	b.Op(hexagon.A2_tfrsi, r, int(int32(uint32(v))))
	return r
}

// Imm8 is imm in one of r0..r7.
func (b *Builder) Imm8(v int) codegen.Reg {
	r := b.R8("imm")
	b.Op(hexagon.A2_tfrsi, r, v)
	return r
}

// Splat is a vector with w in every word.
func (b *Builder) Splat(w codegen.Reg, name string) codegen.Reg {
	v := b.V(name)
	b.Op(hexagon.V6_lvsplatw, v, w)
	return v
}

// Zero is a vector of zeros.
func (b *Builder) Zero() codegen.Reg { return b.Splat(b.Imm(0), "zero") }

// Add makes base + n.
func (b *Builder) Add(base codegen.Reg, n int) codegen.Reg {
	r := b.R("addr")
	b.Op(hexagon.A2_addi, r, base, n)
	return r
}

// Bump adds n to r.
func (b *Builder) Bump(r codegen.Reg, n int) {
	if n != 0 {
		b.Op(hexagon.A2_addi, r, r, n)
	}
}
