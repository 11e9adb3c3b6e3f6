package exec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/gpu/internal/asm"
	"github.com/nnsoc/nnsoc/gpu/internal/float"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

var vectorSem = byName(func() []sem { return vectorTable }, func(s *sem) string { return s.name })

// bindVector fills in a vector instruction.
func bindVector(p *state.Program, u *state.Op, dep *state.Deps) error {
	x := u.Details
	in, f := &x.Inst, x.Form
	mn := f.Mnemonic
	u.Unit = state.UnitVALU
	defer bindMode(p, u)
	if f.Format == rdna2.VOP3 && f.Flags&rdna2.FlagOpSel == 0 && in.OpSel != 0 {
		return fmt.Errorf("op_sel %d on an instruction without halves", in.OpSel)
	}
	if s := vectorSem()[mn]; s != nil {
		return bindRow(p, u, s)
	}
	if s := wideSem()[mn]; s != nil {
		if f := saturatedWide[s.name]; f != nil && in.Clamp {
			s = &wide{s.name, s.kind, f}
		}
		u.Handler, x.Func = execWide, s
		x.Result = s.kind
		return checkDoubles(p, x)
	}
	if s := cmpSem()[mn]; s != nil {
		if err := checkDoubles(p, x); err != nil {
			return err
		}
		return bindCompare(u, s)
	}
	if s := specialSem()[mn]; s != nil {
		u.Handler, x.Func = s.fn, s.f
		if _, ok := s.f.(movRel); ok {
			dep.Relative = true
			dep.ReadV(dep.VDst)
		}
		x.Result = s.kind
		if err := checkDoubles(p, x); err != nil {
			return err
		}
		if in.Neg|in.Abs|in.NegHi != 0 && !s.mods {
			return fmt.Errorf("source modifiers on %s are not modelled", mn)
		}
		return nil
	}
	return fmt.Errorf("%s is not modelled", mn)
}

func bindRow(p *state.Program, u *state.Op, s *sem) error {
	x := u.Details
	in, f := &x.Inst, x.Form
	sat := s.sat
	if sat == nil && s.kind == state.NoFloat {
		if sat = saturated[s.name]; sat == nil {
			sat = s.f
		}
	}
	x.Result, x.Accumulates, x.Half, x.Saturates = s.kind, s.acc, s.half, sat != nil
	x.Lanes = laneRow(s.f)
	if d := directed[s.name]; d != nil && p.Moded {
		x.Directed = new([4]state.RowFunc)
		for m := float.Up; m <= float.TowardZero; m++ {
			x.Directed[m] = laneRow(d(m))
		}
	}
	switch {
	case in.Clamp && sat != nil:
		u.Row = laneRow(sat)
	default:
		if u.Row = asm.Row(s.name); u.Row == nil {
			u.Row = x.Lanes
		}
	}
	if f.Format == rdna2.VOP2K {
		// K is the second factor of fmamk and the addend of fmaak.
		k := p.Constant(in.Literal)
		if f.Mnemonic == rdna2.M_V_FMAMK_F32 || f.Mnemonic == rdna2.M_V_FMAMK_F16 {
			u.C, u.CFrom = u.B, u.BFrom
			u.B, u.BFrom = k, state.SourceConstant
		} else {
			u.C, u.CFrom = k, state.SourceConstant
		}
	}
	if s.acc {
		u.C, u.CFrom = u.Dst, state.SourceVGPR
	}
	mods := in.Neg|in.NegHi|in.Abs != 0 || s.half ||
		in.Clamp && sat == nil || in.OMod != 0 && p.Moded
	switch f.Format {
	case rdna2.VOP3:
		mods = mods || in.OpSel != 0
	case rdna2.VOP3P:
		n := uint8(0)
		for i, k := range x.Kind {
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
		u.Handler = execMods
	case p.Moded: // the sources may be rows of their own
		u.Handler = execRow
	case u.AFrom == state.SourceVGPR && (u.BFrom == state.SourceVGPR || u.BFrom == state.SourceNone) && (u.CFrom == state.SourceVGPR || u.CFrom == state.SourceNone):
		u.Handler = execVVV
		if !in.Clamp {
			x.Batch = asm.Batch(s.name, false)
		}
	case u.AFrom == state.SourceSGPR && u.A != state.Null && (u.BFrom == state.SourceVGPR || u.BFrom == state.SourceNone) && (u.CFrom == state.SourceVGPR || u.CFrom == state.SourceNone) &&
		asm.Spread(s.name) != nil && !(in.Clamp && sat != nil):
		u.Handler, u.Row, x.Batch = execSVV, asm.Spread(s.name), asm.Batch(s.name, true)
	default:
		u.Handler = execRow
	}
	return nil
}

// checkDoubles refuses double precision in programs that flush its denormals.
func checkDoubles(p *state.Program, x *state.Details) error {
	if p.Mode>>state.ModeDenorm16&3 != 0 && (x.Result == state.ResultF64 || x.Kind[0] == rdna2.F64) {
		return fmt.Errorf("%s with flushed denormals of double precision is not modelled", x.Form.Mnemonic)
	}
	return nil
}
