// Package decode decodes the code of an RDNA2 kernel into operations with resolved operands, and records the registers
// that each reads and writes.
package decode

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/gpu/internal/exec"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Program fills in the operations of p, whose other fields are set, and finds its entry.
func Program(p *state.Program, code []byte, entry int) error {
	words := make([]uint32, len(code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	p.Index = make([]int32, len(words))
	p.Moded = p.Mode != 0 || slices.ContainsFunc(words, setsModes)
	add := func(off int, in *rdna2.Inst, err error) {
		u, dep := Op(p, in, err)
		p.Offsets, p.Ops, p.Deps = append(p.Offsets, int32(off)), append(p.Ops, u), append(p.Deps, dep)
	}
	for at := 0; at < len(words); {
		in, n, err := rdna2.Decode(words[at:])
		p.Index[at] = int32(len(p.Ops))
		for j := at + 1; j < at+n && j < len(words); j++ {
			p.Index[j] = -1
		}
		add(4*at, &in, err) // of data or padding an error only when it is reached
		at += n
	}
	// A last operation catches control running off the end.
	add(len(code), nil, state.ErrNoEnd)
	p.Offsets = append(p.Offsets, int32(len(code)))

	p.Entry = p.Index[entry/4]
	if p.Entry < 0 {
		return fmt.Errorf("entry %#x is inside an instruction", entry)
	}
	for i := range p.Ops {
		u := &p.Ops[i]
		if u.Unit != state.UnitBranch || u.Details == nil || u.Details.Form.Format != rdna2.SOPP && u.Details.Form.Op != rdna2.S_CALL_B64 {
			continue
		}
		t := int64(p.Offsets[i]) + 4 + 4*int64(int16(u.Details.Inst.Simm16))
		u.Target = p.IndexOf(t)
		u.Imm = int32(t)
	}
	exec.Pack(p)
	return nil
}

// setsModes reports whether a word is an instruction that may set the float modes, or a number that looks like one.
func setsModes(w uint32) bool {
	in, _, _ := rdna2.Decode([]uint32{w, 0})
	switch in.Op {
	case rdna2.S_ROUND_MODE:
		return in.Simm16&15 != 0
	case rdna2.S_DENORM_MODE:
		return in.Simm16&15 != 15
	case rdna2.S_SETREG_B32, rdna2.S_SETREG_IMM32_B32:
		return in.Simm16&63 == rdna2.HwMode
	}
	return false
}

// decoder makes an operation of a program.
type decoder struct {
	p     *state.Program
	lanes uint32
}

// inline is the value of a constant source code as an operand of kind k.
func inline(code uint16, k rdna2.Kind, regs int, literal uint32) uint64 {
	switch {
	case code == rdna2.LiteralK && k == rdna2.F64:
		return uint64(literal) << 32 // the high half of a double
	case code == rdna2.LiteralK:
		return uint64(literal)
	case regs == 2:
		v, _ := rdna2.Value64(code, k)
		return v
	}
	v, _ := rdna2.Value32(code, k)
	return uint64(v)
}

// typed are the types of the sources of every mnemonic, as its form of 64 bits has them: forms whose source can only be
// a vector register do not state the type that a negation applies to.
var typed = sync.OnceValue(func() *[rdna2.NumMnemonics][4]rdna2.Kind {
	t := new([rdna2.NumMnemonics][4]rdna2.Kind)
	for op := rdna2.Op(1); op < rdna2.NumOps; op++ {
		f := op.Form()
		if f.Format != rdna2.VOP3 && f.Format != rdna2.VOP3P {
			continue
		}
		for _, o := range f.Operands() {
			if i := o.Slot(); i >= 0 {
				t[f.Mnemonic][i] = o.Kind
			}
		}
	}
	return t
})

// source resolves operand slot i of in.
func (d *decoder) source(u *state.Op, dep *state.Deps, in *rdna2.Inst, o rdna2.Operand) error {
	i := o.Slot()
	code := in.Src[i]
	kind, val := state.SourceNone, uint32(0)
	regs := int(o.Regs)
	if o.Class == rdna2.ClassMask {
		regs = int(d.lanes) / 32
	}
	regs = cmp.Or(regs, 1)
	u.Details.Kind[i] = o.Kind
	if f := u.Details.Form; (f.NegMask != 0 || d.p.Moded) && o.Class == rdna2.ClassVGPR {
		u.Details.Kind[i] = typed()[f.Mnemonic][i]
	}
	u.Details.Regs[i] = uint8(regs)
	switch {
	case rdna2.IsVGPR(code):
		r := int(code - rdna2.VGPR0)
		if r+regs > d.p.VGPRs {
			return fmt.Errorf("reads v%d, the kernel has %d registers", r+regs-1, d.p.VGPRs)
		}
		kind, val = state.SourceVGPR, uint32(r)*d.lanes
		dep.ReadV(state.Span{Reg: uint8(r), N: uint8(regs)})
	case code < 128:
		if int(code)+regs > 128 && code != state.Null {
			return fmt.Errorf("reads %d scalar registers from %d on", regs, code)
		}
		kind, val = state.SourceSGPR, uint32(code)
		if code != state.Null {
			dep.ReadS(state.Span{Reg: uint8(code), N: uint8(regs)})
		}
	case code == rdna2.VCCZ || code == rdna2.EXECZ || code == rdna2.SCC:
		kind, val = state.SourceStatus, uint32(code)
		s := state.Span{Reg: state.SCC, N: 1}
		if code == rdna2.VCCZ {
			s = state.Span{Reg: state.VCC, N: uint8(d.lanes / 32)}
		} else if code == rdna2.EXECZ {
			s = state.Span{Reg: state.EXEC, N: uint8(d.lanes / 32)}
		}
		dep.ReadS(s)
	case code >= rdna2.SharedBase && code <= rdna2.PrivateLimit:
		v := [...]uint64{state.SharedAperture, state.SharedAperture + 1<<32 - 1, state.PrivateAperture, state.PrivateAperture + 1<<32 - 1}[code-rdna2.SharedBase]
		u.Details.Value[i] = v
		kind, val = state.SourceConstant, d.p.Constant(uint32(v))
	case code == rdna2.LDSDirect || code >= 209 && code < 240 || code > rdna2.ConstInv && code < rdna2.VCCZ:
		return fmt.Errorf("source code %d is not modelled", code)
	default:
		v := inline(code, o.Kind, regs, in.Literal)
		u.Details.Value[i] = v
		kind = state.SourceConstant
		val = d.p.Constant(uint32(v))
	}
	switch i {
	case 0:
		u.A, u.AFrom = val, kind
	case 1:
		u.B, u.BFrom = val, kind
	case 2:
		u.C, u.CFrom = val, kind
	case 3:
		u.Details.Offset, u.Details.OffsetFrom = val, kind
	}
	return nil
}

// implicit adds the registers of a set to reads or writes.
func (d *decoder) implicit(dep *state.Deps, s rdna2.Implicit, write bool) {
	add := func(sp state.Span) {
		if write {
			dep.WriteS(sp)
		} else {
			dep.ReadS(sp)
		}
	}
	w := uint8(d.lanes / 32)
	if s&rdna2.ImplVCC != 0 {
		add(state.Span{Reg: state.VCC, N: w})
	}
	if s&rdna2.ImplSCC != 0 {
		add(state.Span{Reg: state.SCC, N: 1})
	}
	if s&rdna2.ImplM0 != 0 {
		add(state.Span{Reg: state.M0, N: 1})
	}
	if s&rdna2.ImplEXEC != 0 && write {
		add(state.Span{Reg: state.EXEC, N: w})
	}
}

// Op makes one operation of p, with the registers that it reads and writes; derr is the error of its encoding. An
// instruction that cannot be executed becomes a fault for when it is reached.
func Op(p *state.Program, in *rdna2.Inst, derr error) (state.Op, state.Deps) {
	if derr != nil {
		return exec.Faulting(derr), state.Deps{}
	}
	d := decoder{p: p, lanes: uint32(p.WaveSize)}
	f := in.Form()
	u := state.Op{Target: -1, Class: state.ClassOf(f.Sched), Details: &state.Details{Inst: *in, Form: f}}
	var dep state.Deps
	bad := func(format string, args ...any) (state.Op, state.Deps) {
		b := exec.Faulting(fmt.Errorf(format, args...))
		b.Details.Form, b.Details.Inst = f, *in
		return b, state.Deps{}
	}
	for _, o := range f.Operands() {
		switch o.Role {
		case rdna2.RoleVDst, rdna2.RoleSDst:
			if o.Class == rdna2.ClassMask {
				u.MaskDst = in.SDst
				if in.SDst != state.Null && int(in.SDst)+int(d.lanes/32) > 128 {
					return bad("writes a lane mask to scalar register %d", in.SDst)
				}
				if u.MaskDst == state.Null {
					u.MaskDst = state.Discard
				} else {
					dep.WriteS(state.Span{Reg: uint8(in.SDst), N: uint8(d.lanes / 32)})
				}
				continue
			}
			if rdna2.IsVGPR(in.Dst) {
				r := int(in.Dst - rdna2.VGPR0)
				if r+int(o.Regs) > d.p.VGPRs {
					return bad("writes v%d, the kernel has %d registers", r+int(o.Regs)-1, d.p.VGPRs)
				}
				u.Dst = uint32(r) * d.lanes
				dep.VDst = state.Span{Reg: uint8(r), N: o.Regs}
				continue
			}
			u.Dst = uint32(in.Dst)
			if in.Dst != state.Null && int(in.Dst)+int(o.Regs) > 128 {
				return bad("writes %d scalar registers from %d on", o.Regs, in.Dst)
			}
			if in.Dst == state.Null {
				u.Dst = state.Discard
			} else {
				dep.WriteS(state.Span{Reg: uint8(in.Dst), N: o.Regs})
			}
		default:
			if o.Slot() < 0 {
				continue
			}
			if err := d.source(&u, &dep, in, o); err != nil {
				return bad("%w", err)
			}
		}
	}
	d.implicit(&dep, f.Uses, false)
	d.implicit(&dep, f.Defs, true)
	if err := exec.Bind(d.p, &u, &dep); err != nil {
		return bad("%w", err)
	}
	return u, dep
}
