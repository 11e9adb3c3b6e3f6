package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/rdna2"
)

var vectorSem = byName(func() []sem { return vectorTable }, func(s *sem) string { return s.name })

// valu fills in a vector instruction.
func (d *decoder) valu(u *uop, dep *deps) error {
	x := u.x
	in, f := &x.in, x.form
	mn := f.Mnemonic
	u.unit = unitVALU
	if in.OMod != 0 {
		return fmt.Errorf("output modifier %d is not modelled", in.OMod)
	}
	if f.Format == rdna2.VOP3 && f.Flags&rdna2.FlagOpSel == 0 && in.OpSel != 0 {
		return fmt.Errorf("op_sel %d on an instruction without halves", in.OpSel)
	}
	if s := vectorSem()[mn]; s != nil {
		return d.rowOp(u, s)
	}
	if s := wideSem()[mn]; s != nil {
		u.class, u.fn, x.f = s.class, execWide, s
		x.fkind = s.kind
		if in.Clamp && s.kind == fkInt {
			return fmt.Errorf("clamp on %s is not modelled", mn)
		}
		return nil
	}
	if s := cmpSem()[mn]; s != nil {
		return d.cmpOp(u, s)
	}
	if s := specialSem()[mn]; s != nil {
		u.class, u.fn, x.f = s.class, s.fn, s.f
		if _, ok := s.f.(movRel); ok {
			dep.rel = true
			dep.readV(dep.vw)
		}
		if in.Clamp && !s.clamp {
			return fmt.Errorf("clamp on %s is not modelled", mn)
		}
		if in.Neg|in.Abs|in.NegHi != 0 && !s.mods {
			return fmt.Errorf("source modifiers on %s are not modelled", mn)
		}
		return nil
	}
	return fmt.Errorf("%s is not modelled", mn)
}

func (d *decoder) rowOp(u *uop, s *sem) error {
	x := u.x
	in, f := &x.in, x.form
	x.sem, x.fkind = s, s.kind
	u.class = s.class
	x.lanes = laneRow(s.f)
	switch {
	case in.Clamp && s.sat != nil:
		u.row = laneRow(s.sat)
	case in.Clamp && s.kind == fkInt:
		return fmt.Errorf("clamp on %s is not modelled", s.name)
	default:
		if u.row = hostRow(s.name); u.row == nil {
			u.row = x.lanes
		}
	}
	if f.Format == rdna2.VOP2K {
		// K is the second factor of fmamk and the addend of fmaak.
		k := d.constant(in.Literal)
		if f.Mnemonic == rdna2.M_V_FMAMK_F32 || f.Mnemonic == rdna2.M_V_FMAMK_F16 {
			u.c, u.ck = u.b, u.bk
			u.b, u.bk = k, srcC
		} else {
			u.c, u.ck = k, srcC
		}
	}
	if s.acc {
		u.c, u.ck = u.dst, srcV
	}
	mods := in.Neg|in.NegHi|in.Abs != 0 || s.half ||
		in.Clamp && s.sat == nil
	switch f.Format {
	case rdna2.VOP3:
		mods = mods || in.OpSel != 0
	case rdna2.VOP3P:
		n := uint8(0)
		for i, k := range x.kind {
			if k == rdna2.V2F16 || k == rdna2.V2B16 {
				n |= 1 << i
			}
		}
		if n == 0 && (in.OpSel != 0 || in.Neg|in.NegHi != 0) {
			return fmt.Errorf("op_sel %d on %s is not modelled", in.OpSel, s.name)
		}
		mods = mods || in.OpSel&n != 0 || in.OpSelHi&n != n
	}
	switch {
	case mods:
		u.fn = execMods
	case u.ak == srcV && (u.bk == srcV || u.bk == srcNone) && (u.ck == srcV || u.ck == srcNone):
		u.fn = execVVV
	case u.ak == srcS && u.a != sNull && (u.bk == srcV || u.bk == srcNone) && (u.ck == srcV || u.ck == srcNone) &&
		hostSpread(s.name) != nil && !(in.Clamp && s.sat != nil):
		u.fn, u.row = execSVV, hostSpread(s.name)
	default:
		u.fn = execRow
	}
	return nil
}

// wide is an instruction with a 64-bit operand or result. Operands of one
// register are zero-extended.
type wide struct {
	name  string
	class Class
	kind  fkind // of the result, for clamp
	f     func(a, b, c uint64) uint64
}

func execWide(w *wave, u *uop) {
	m := w.mask()
	if m == 0 {
		return
	}
	s := u.x.f.(*wide)
	for i := range 3 {
		w.wideSource(&w.m.wide[i], u, i)
	}
	two := u.x.form.Ops[0].Regs == 2
	lo := w.at(u.dst)
	hi := lo
	if two {
		hi = w.at(u.dst + uint32(w.n))
	}
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		r := s.f(w.m.wide[0][l], w.m.wide[1][l], w.m.wide[2][l])
		if u.x.in.Clamp {
			if two {
				r = clampF64(r)
			} else {
				r = uint64(clampF32(uint32(r)))
			}
		}
		lo[l] = uint32(r)
		if two {
			hi[l] = uint32(r >> 32)
		}
	}
}

func clampF64(v uint64) uint64 {
	f := f64(v)
	if !(f > 0) {
		return 0
	}
	if f > 1 {
		return b64(1)
	}
	return v
}

// wideSource reads operand i into 64-bit lanes, with its modifiers.
func (w *wave) wideSource(t *[64]uint64, u *uop, i int) {
	k, v := u.operand(i)
	x := u.x
	switch k {
	case srcNone:
		return
	case srcP:
		for l, x := range w.m.pre[v][:w.n] {
			t[l] = uint64(x)
		}
	case srcV:
		lo := w.at(v)
		if x.regs[i] == 2 {
			hi := w.at(v + uint32(w.n))
			for l := range w.n {
				t[l] = uint64(lo[l]) | uint64(hi[l])<<32
			}
		} else {
			for l := range w.n {
				t[l] = uint64(lo[l])
			}
		}
	default:
		c := uint64(w.scalar(k, v))
		if k == srcC && x.regs[i] == 2 {
			c = x.val[i]
		} else if k == srcS && x.regs[i] == 2 {
			c = w.s64(v)
		}
		for l := range w.n {
			t[l] = c
		}
	}
	neg, abs := x.in.Neg>>i&1 != 0, x.in.Abs>>i&1 != 0
	if !neg && !abs {
		return
	}
	sign := uint64(1) << 31
	if x.kind[i] == rdna2.F64 {
		sign = 1 << 63
	} else if x.kind[i] == rdna2.F16 {
		sign = 1 << 15
	}
	for l := range w.n {
		if abs {
			t[l] &^= sign
		}
		if neg {
			t[l] ^= sign
		}
	}
}
