package rdna2

import (
	"fmt"
	"slices"
)

// check reports the first operand that its form does not allow.
func (in *Inst) check(f *Form) error {
	for _, o := range f.Operands() {
		var code uint16
		switch {
		case o.Class == ClassImm:
			if err := in.checkImm(o); err != nil {
				return err
			}
			continue
		case o.Role == RoleVDst, o.Role == RoleSDst:
			code = in.Dst
			if o.Class == ClassMask {
				code = in.SDst
			}
		default:
			code = in.Src[o.slot()]
		}
		if err := o.checkCode(code); err != nil {
			return err
		}
		if !f.scalarFits(o.Role, code) || o.Class == ClassMask && o.slot() >= 0 && code >= EXEC {
			return fmt.Errorf("operand code %d is not allowed here", code)
		}
	}
	return nil
}

// scalarFits has the scalar registers that memory instructions do not accept.
func (f *Form) scalarFits(r Role, code uint16) bool {
	switch {
	case f.Format == SMEM && r == RoleSDst:
		return code < M0
	case r == RoleSRsrc:
		return code <= TTMP0+12
	case r == RoleSBase, r == RoleSAddr:
		return code != Null && code != EXECHi
	case r == RoleSOffset && f.Format == SMEM:
		return code != Null
	}
	return true
}

// checkModifiers reports modifiers that the form does not have or that do not
// fit their fields.
func (in *Inst) checkModifiers(f *Form) error {
	bad := func(what string) error { return fmt.Errorf("%s not available", what) }
	abs := uint8(0)
	if f.Has(FlagAbs) {
		abs = f.NegMask
	}
	neg, negHi, sel, selHi := f.NegMask, uint8(0), uint8(0), uint8(0)
	all := uint8(1<<f.sources()) - 1
	if f.Has(FlagNegLoHi) {
		neg, negHi = all, all
	}
	if f.Has(FlagNegAbs) {
		neg, abs = all, all
	}
	if f.Has(FlagOpSel) {
		sel = all
		switch {
		case f.Mnemonic == M_V_PERMLANE16_B32, f.Mnemonic == M_V_PERMLANEX16_B32:
			sel = 3 // fi and bound_ctrl
		case f.Format == VOP3:
			sel |= 8
		}
	}
	if f.Has(FlagOpSelHi) {
		selHi = 7
		// The bit of an absent source is set in canonical code.
		if in.OpSelHi|all != 7 {
			return fmt.Errorf("op_sel_hi %#x misses the bits of absent sources", in.OpSelHi)
		}
	}
	switch {
	case in.Neg&^neg != 0:
		return bad("neg")
	case in.NegHi&^negHi != 0:
		return bad("neg_hi")
	case in.Abs&^abs != 0:
		return bad("abs")
	case in.OpSel&^sel != 0:
		return bad("op_sel")
	case in.OpSelHi&^selHi != 0:
		return bad("op_sel_hi")
	case in.Clamp && !f.Has(FlagClamp):
		return bad("clamp")
	case in.OMod != 0 && !f.Has(FlagOMod) || in.OMod > 3:
		return bad("omod")
	}
	if f.Format == DPP1 || f.Format == DPP2 {
		if !validDPP(in.DPPCtrl) {
			return fmt.Errorf("dpp control %#x", in.DPPCtrl)
		}
		if in.Banks > 15 || in.Rows > 15 {
			return fmt.Errorf("dpp masks %#x %#x", in.Rows, in.Banks)
		}
	} else if in.DPPCtrl != 0 || in.Banks != 0 || in.Rows != 0 || in.Bound || in.FI && f.Format != DPP8_1 && f.Format != DPP8_2 {
		return bad("dpp")
	}
	if err := in.checkSDWA(f); err != nil {
		return err
	}
	if in.Lanes8 != 0 && f.Format != DPP8_1 && f.Format != DPP8_2 || in.Lanes8 >= 1<<24 {
		return bad("dpp8")
	}
	if f.Op == S_WAITCNT && in.Simm16&0x80 != 0 {
		return fmt.Errorf("simm16 bit 7")
	}
	switch {
	case (in.GLC || in.DLC) && !f.caches(), in.SLC && !f.streams():
		return bad("cache policy")
	case in.DLC && f.Format == MUBUF && f.Sched == SchedAtomic:
		return bad("dlc")
	case f.Sched == SchedAtomic && in.GLC != f.role(RoleVDst):
		return fmt.Errorf("glc must say whether the atomic returns")
	}
	return nil
}

// checkSDWA reports selections that the form does not have or that are no
// selections.
func (in *Inst) checkSDWA(f *Form) error {
	if in.Sext != 0 && (!f.Has(FlagSext) || in.Sext&f.NegMask != 0 || in.Sext>>f.sources() != 0) {
		return fmt.Errorf("sext not available")
	}
	if f.Format < SDWA1 || f.Format > SDWAC {
		if in.Sel != [2]Sel{} || in.DstSel != 0 || in.Unused != 0 {
			return fmt.Errorf("sdwa not available")
		}
		return nil
	}
	if in.Sel[0] >= numSels || in.Sel[1] >= numSels || in.DstSel >= numSels || in.Unused >= numUnused ||
		f.Format == SDWAC && (in.DstSel != 0 || in.Unused != 0) || f.Format == SDWA1 && in.Sel[1] != 0 {
		return fmt.Errorf("sdwa selections %d %d, destination %d %d", in.Sel[0], in.Sel[1], in.DstSel, in.Unused)
	}
	return nil
}

// sources is the number of register sources src0 src1 src2.
func (f *Form) sources() int {
	n := 0
	for _, o := range f.Operands() {
		if o.Role == RoleSrc0 || o.Role == RoleSrc1 || o.Role == RoleSrc2 {
			n++
		}
	}
	return n
}

// validDPP: quad_perm, row shifts and rotations by 1..15, mirrors, row_share
// and row_xmask.
func validDPP(c uint16) bool {
	switch {
	case c <= 0xff, c >= 0x150 && c <= 0x16f, c == 0x140, c == 0x141:
		return true
	}
	return c >= 0x101 && c <= 0x12f && c&15 != 0
}

func (o Operand) checkCode(code uint16) error {
	ok := false
	switch o.Class {
	case ClassVGPR, ClassVSrc:
		ok = code >= VGPR0 && int(code)+int(o.Regs) <= VGPR0+256
	case ClassSDWA:
		ok = code >= VGPR0 && code < VGPR0+256 || code < VGPR0 && scalarSource(code, 1) && code != LiteralK
	case ClassSGPR:
		ok = sgprTuple(code, int(o.Regs))
	case ClassMask:
		ok = code <= EXECHi
	case ClassSrc, ClassCSrc:
		if code >= VGPR0 {
			ok = int(code)+int(o.Regs) <= VGPR0+256
		} else {
			ok = scalarSource(code, int(o.Regs)) && (code != LiteralK || o.Class == ClassSrc)
		}
	case ClassSSrc, ClassSConst:
		ok = code < VGPR0 && scalarSource(code, int(o.Regs)) && (code != LiteralK || o.Class == ClassSSrc)
	}
	if !ok {
		return fmt.Errorf("operand code %d does not fit %s", code, o.describe())
	}
	return nil
}

func (o Operand) describe() string {
	switch o.Class {
	case ClassVGPR, ClassVSrc:
		return fmt.Sprintf("%d vector registers", o.Regs)
	case ClassSGPR:
		return fmt.Sprintf("%d scalar registers", o.Regs)
	case ClassMask:
		return "a lane mask"
	}
	return "a source"
}

// sgprTuple reports whether n scalar registers may start at code: pairs are
// even, larger tuples start at multiples of four.
func sgprTuple(code uint16, n int) bool {
	switch {
	case code == Null:
		return n <= 2
	case n == 1:
		return code <= EXECHi
	case n == 2:
		return code&1 == 0 && code <= EXEC && code != M0
	}
	if code >= TTMP0 {
		return (code-TTMP0)&3 == 0 && int(code)+n <= TTMP0+16
	}
	return code&3 == 0 && int(code)+n <= VCC
}

func scalarSource(code uint16, n int) bool {
	switch {
	case code <= EXECHi:
		return sgprTuple(code, n)
	case code <= 208:
		return true
	case code >= 235 && code <= 239:
		return code != 239
	case code >= 240 && code <= 248:
		return true
	}
	return code == VCCZ || code == EXECZ || code == SCC || code == LiteralK
}

func (in *Inst) checkImm(o Operand) error {
	lo, hi := int32(0), int32(0)
	switch o.Kind {
	case ImmI12:
		lo, hi = -2048, 2047
	case ImmU20:
		hi = 1<<20 - 1
	case ImmI21:
		lo, hi = -1<<20, 1<<20-1
	case ImmU11:
		hi = 2047
	case ImmU12:
		hi = 4095
	case ImmU8:
		hi = 255
	case ImmU16, ImmSwizzle:
		hi = 65535
	default:
		return nil
	}
	if o.Role != RoleOffset && o.Role != RoleOffset0 {
		return nil
	}
	if in.Offset < lo || in.Offset > hi {
		return fmt.Errorf("offset %d outside [%d, %d]", in.Offset, lo, hi)
	}
	return nil
}

// scalars counts the different scalar values that a vector instruction reads over the constant bus: registers, status
// bits, VCC that it reads without naming it, and a literal. limit is the most that it may: two, for shifts of 64 bits one.
func (in *Inst) scalars(f *Form) (n, limit int) {
	if !f.IsVALU() {
		return 0, 0
	}
	limit = 2
	switch f.Mnemonic {
	case M_V_LSHLREV_B64, M_V_LSHRREV_B64, M_V_ASHRREV_I64:
		limit = 1
	}
	var seen [5]uint16
	count := func(code uint16) {
		if limit == 1 || !slices.Contains(seen[:n], code) {
			seen[n] = code
			n++
		}
	}
	if f.Uses&ImplVCC != 0 {
		count(VCC)
	}
	for _, o := range f.Operands() {
		s := o.slot()
		switch {
		case s < 0 || !onBus(in.Src[s]):
		case in.Src[s] == VCC && o.Regs == 1:
			count(VGPR0) // VCC_LO counts beside the VCC that is not named, as in LLVM
		default:
			count(in.Src[s])
		}
	}
	return n, limit
}

// onBus reports whether a source's code is a scalar value that is no inline constant.
func onBus(code uint16) bool {
	return code < Const0 && code != Null || code >= SharedBase && code <= PrivateLimit || code >= VCCZ && code < VGPR0
}
