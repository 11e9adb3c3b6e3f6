package dsp

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Alias classes of memory accesses.
const (
	aliasAny     uint16 = iota
	aliasConst          // weights, tables, arguments: never written
	aliasIn             // input tensors
	aliasOut            // output tensors
	aliasScratch        // a thread's own scratch memory
)

// asm writes one kernel.
type asm struct {
	f   *codegen.Func
	dma bool // the core has user DMA
}

// symbol makes one word of a kernel's name with printed slices in it.
func symbol(name string) string { return strings.NewReplacer(" ", ".", "[", "", "]", "").Replace(name) }

func newAsm(t *target, name string) *asm { return &asm{f: codegen.New(t, name)} }

// Virtual registers.
func (a *asm) r(name string) codegen.Reg  { return a.f.Reg(clsR, name) }
func (a *asm) r8(name string) codegen.Reg { return a.f.Reg(clsR8, name) }
func (a *asm) rr(name string) codegen.Reg { return a.f.Reg(clsRR, name) }
func (a *asm) v(name string) codegen.Reg  { return a.f.Reg(clsV, name) }
func (a *asm) vv(name string) codegen.Reg { return a.f.Reg(clsVV, name) }
func (a *asm) p(name string) codegen.Reg  { return a.f.Reg(clsP, name) }
func (a *asm) q(name string) codegen.Reg  { return a.f.Reg(clsQ, name) }

// lo and hi are the halves of a pair.
func lo(r codegen.Reg) codegen.Reg { return half(r, 0) }
func hi(r codegen.Reg) codegen.Reg { return half(r, 1) }

func half(r codegen.Reg, n int) codegen.Reg {
	if r.Class() == clsVV {
		return r.Sub(clsV, n)
	}
	return r.Sub(clsR, n)
}

var kindClasses = [...][]codegen.Class{
	hexagon.KindR:  {clsR, clsR8},
	hexagon.KindRR: {clsRR},
	hexagon.KindV:  {clsV},
	hexagon.KindVV: {clsVV},
	hexagon.KindP:  {clsP},
	hexagon.KindQ:  {clsQ},
}

// op emits an instruction: registers, immediates (int) and labels in the
// order of the form's operands. Operands that do not fit the form are a bug of
// the kernel and panic.
func (a *asm) op(op hexagon.Op, args ...any) *codegen.Instr {
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
		in = a.f.Jump(uint32(op), flags, buf[:len(args)]...)
	} else {
		in = a.f.Emit(uint32(op), buf[:len(args)]...)
		in.Flags |= flags
	}
	return in
}

func fits(o *hexagon.OperandSpec, r codegen.Reg) bool {
	if int(o.Kind) >= len(kindClasses) {
		return false
	}
	for _, c := range kindClasses[o.Kind] {
		if r.Class() == c {
			return !o.Low8 || c == clsR8
		}
	}
	return false
}

// arg is argument n of the thread: r0, r1, .. on entry. Arguments must be
// fetched before anything else.
func (a *asm) arg(n int, name string) codegen.Reg {
	r := a.r(name)
	a.f.Hint(r, n)
	a.op(hexagon.A2_tfr, r, codegen.Phys(clsR, n))
	return r
}

// args fetches arguments 0, 1, ..
func (a *asm) args(names ...string) []codegen.Reg {
	out := make([]codegen.Reg, len(names))
	for i, n := range names {
		out[i] = a.arg(i, n)
	}
	return out
}

// ret ends the thread.
func (a *asm) ret() { a.op(hexagon.J2_jumpr, codegen.Phys(clsR, 31)) }

// imm is a register that holds v.
func (a *asm) imm(v int) codegen.Reg {
	r := a.r("imm")
	a.op(hexagon.A2_tfrsi, r, int(int32(uint32(v))))
	return r
}

// imm8 is imm in one of r0..r7.
func (a *asm) imm8(v int) codegen.Reg {
	r := a.r8("imm")
	a.op(hexagon.A2_tfrsi, r, v)
	return r
}

// splat is a vector with w in every word.
func (a *asm) splat(w codegen.Reg, name string) codegen.Reg {
	v := a.v(name)
	a.op(hexagon.V6_lvsplatw, v, w)
	return v
}

// zero is a vector of zeros.
func (a *asm) zero() codegen.Reg { return a.splat(a.imm(0), "zero") }

// word loads argument word n of the block at base.
func (a *asm) word(base codegen.Reg, n int, name string) codegen.Reg {
	r := a.r(name)
	a.op(hexagon.L2_loadri_io, r, base, 4*n).Loads(aliasConst)
	return r
}

// add makes base + n.
func (a *asm) add(base codegen.Reg, n int) codegen.Reg {
	r := a.r("addr")
	a.op(hexagon.A2_addi, r, base, n)
	return r
}

// bump adds n to r.
func (a *asm) bump(r codegen.Reg, n int) {
	if n != 0 {
		a.op(hexagon.A2_addi, r, r, n)
	}
}

// vload loads the vector at base + off, off a multiple of 128 or any distance
// that the address arithmetic can take.
func (a *asm) vload(base codegen.Reg, off int, alias uint16, name string) codegen.Reg {
	v := a.v(name)
	a.vloadTo(v, base, off, alias)
	return v
}

func (a *asm) vloadTo(v, base codegen.Reg, off int, alias uint16) {
	b, n := a.near(base, off)
	a.op(hexagon.V6_vL32b_ai, v, b, n).Loads(alias)
}

// vloadu loads an unaligned vector.
func (a *asm) vloadu(base codegen.Reg, off int, alias uint16, name string) codegen.Reg {
	v := a.v(name)
	b, n := a.near(base, off)
	a.op(hexagon.V6_vL32Ub_ai, v, b, n).Loads(alias)
	return v
}

// vstore stores an aligned vector.
func (a *asm) vstore(base codegen.Reg, off int, v codegen.Reg, alias uint16) {
	b, n := a.near(base, off)
	a.op(hexagon.V6_vS32b_ai, b, n, v).Stores(alias)
}

// near splits an offset into the four bits that vector accesses have and an addition.
func (a *asm) near(base codegen.Reg, off int) (codegen.Reg, int) {
	if off%128 == 0 && off >= -8*128 && off < 8*128 {
		return base, off / 128
	}
	return a.add(base, off), 0
}

// loop0 runs body count times as hardware loop 0; count must be at least 1.
func (a *asm) loop0(count any, body func()) { a.loop(0, count, body) }

// loop1 is the outer hardware loop; its body may contain a loop0.
func (a *asm) loop1(count any, body func()) { a.loop(1, count, body) }

var loopOps = [2][2]hexagon.Op{{hexagon.J2_loop0i, hexagon.J2_loop0r}, {hexagon.J2_loop1i, hexagon.J2_loop1r}}

func (a *asm) loop(n int, count any, body func()) {
	known, _ := count.(int)
	if known > 1023 {
		count = a.imm(known)
	}
	head := a.f.Label(fmt.Sprintf("loop%d", n))
	switch c := count.(type) {
	case int:
		if c == 1 {
			body()
			return
		}
		a.op(loopOps[n][0], head, c)
	case codegen.Reg:
		a.op(loopOps[n][1], head, c)
	}
	a.f.Bind(head)
	body()
	a.f.EndLoop(n, head, known)
}

// repeat runs body while the counter, which counts down, lasts. It must be at
// least 1 on entry; body may contain both hardware loops.
func (a *asm) repeat(counter codegen.Reg, body func()) {
	head := a.f.Label("repeat")
	a.f.Bind(head)
	body()
	p := a.p("more")
	a.bump(counter, -1)
	a.op(hexagon.C2_cmpgti, p, counter, 0)
	a.op(hexagon.J2_jumptpt, p, head)
}

// skipIfZero runs body unless r is 0.
func (a *asm) skipIfZero(r codegen.Reg, body func()) {
	over := a.f.Label("skip")
	p := a.p("empty")
	a.op(hexagon.C2_cmpeqi, p, r, 0)
	a.op(hexagon.J2_jumpt, p, over)
	body()
	a.f.Bind(over)
}

// skipIfEqual runs body unless x is y, which is likely.
func (a *asm) skipIfEqual(x, y codegen.Reg, body func()) {
	over := a.f.Label("skip")
	p := a.p("equal")
	a.op(hexagon.C2_cmpeq, p, x, y)
	a.op(hexagon.J2_jumptpt, p, over)
	a.f.Seldom(body)
	a.f.Bind(over)
}
