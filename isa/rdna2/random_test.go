package rdna2

import (
	"cmp"
	"math/rand/v2"
	"strings"
)

// randomInst is an instruction of form f with random operands, such that its
// text is canonical: literals have no inline equivalent.
func randomInst(f *Form, r *rand.Rand, wave64 bool) Inst {
	for {
		in := tryRandom(f, r, wave64)
		if in.check(f) == nil && in.checkModifiers(f) == nil && within(in.scalars(f)) {
			in.normalize(f)
			in.Size = uint8(in.Bytes())
			return in
		}
	}
}

func tryRandom(f *Form, r *rand.Rand, wave64 bool) Inst {
	in := Inst{Op: f.Op}
	half := func() bool { return r.IntN(2) == 0 }
	literal := false
	lit := r.Uint32() | 1<<27 | 1<<16 | 1<<9 // no inline constant, whole or half
	scalar := func(n int) uint16 {
		switch {
		case n == 1 && r.IntN(4) == 0:
			return []uint16{VCC, VCCHi, TTMP0 + 3, M0, Null, EXEC, EXECHi}[r.IntN(7)]
		case n == 2 && r.IntN(4) == 0:
			return []uint16{VCC, TTMP0 + 4, EXEC, Null}[r.IntN(4)]
		}
		align := 1
		if n == 2 {
			align = 2
		} else if n > 2 {
			align = 4
		}
		return uint16(r.IntN((VCC-n)/align+1) * align)
	}
	mask := func() uint16 {
		switch r.IntN(4) {
		case 0:
			return VCC
		case 1:
			return Null
		}
		if wave64 {
			return scalar(2)
		}
		return uint16(r.IntN(106))
	}
	constant := func(k Kind) uint16 {
		if c := r.IntN(100); c < 81 || k == B16 {
			return uint16(Const0 + r.IntN(81))
		}
		return uint16(ConstHalf + r.IntN(9))
	}
	for _, o := range f.Operands() {
		var code uint16
		vector := o.Class == ClassVGPR || o.Class == ClassVSrc || (o.Class == ClassSrc || o.Class == ClassCSrc) && half()
		switch {
		case o.Class == ClassImm:
			randomImm(&in, f, o, r)
			continue
		case o.Class == ClassMask:
			code = mask()
		case vector:
			code = uint16(VGPR0 + r.IntN(256-int(o.Regs)+1))
		case o.Class == ClassSDWA:
			if code = uint16(VGPR0 + r.IntN(256)); half() {
				code = scalar(1)
			}
		case o.Role == RoleSRsrc:
			code = uint16(r.IntN(26) * 4)
		case o.Class == ClassSGPR:
			code = scalar(int(o.Regs))
		case r.IntN(3) == 0 && (o.Class == ClassSrc || o.Class == ClassSSrc) && f.Format != VOP2K:
			code, literal = LiteralK, true
			if o.Kind == F16 || o.Kind == B16 {
				lit &= 0xfeff // not -16 to -1 either
			}
		case half():
			code = constant(o.Kind)
		default:
			code = scalar(int(o.Regs))
		}
		switch {
		case o.Role == RoleVDst, o.Role == RoleSDst && o.Class != ClassMask:
			in.Dst = code
		case o.Role == RoleSDst:
			in.SDst = code
		default:
			in.Src[o.slot()] = code
		}
	}
	if literal {
		in.Literal = lit
	}
	n := f.sources()
	f64 := false // llvm-mc accepts no modifiers on 64-bit literals
	for _, o := range f.Operands() {
		f64 = f64 || literal && o.Kind == F64
	}
	all := uint8(1)<<n - 1
	if !f64 {
		in.Neg = uint8(r.UintN(8)) & f.NegMask
	}
	if f.Has(FlagAbs) && !f64 {
		in.Abs = uint8(r.UintN(8)) & f.NegMask
	}
	if f.Has(FlagNegLoHi) && f.Mnemonic != M_V_DOT4_I32_I8 {
		in.Neg, in.NegHi = uint8(r.UintN(8))&all, uint8(r.UintN(8))&all
	}
	if f.Has(FlagNegAbs) {
		in.Neg, in.Abs = uint8(r.UintN(8))&all, uint8(r.UintN(8))&all
	}
	if f.Has(FlagOpSel) {
		in.OpSel = uint8(r.UintN(16))
	}
	if f.Has(FlagOpSelHi) {
		in.OpSelHi = uint8(r.UintN(8)) | ^all&7
	}
	in.Clamp = f.Has(FlagClamp) && half()
	if f.Has(FlagOMod) && half() {
		in.OMod = uint8(r.UintN(4))
	}
	switch f.Format {
	case DPP1, DPP2:
		in.DPPCtrl = uint16(r.UintN(0x170))
		in.Rows, in.Banks = uint8(r.UintN(16)), uint8(r.UintN(16))
		in.Bound, in.FI = half(), half()
	case DPP8_1, DPP8_2:
		in.Lanes8, in.FI = r.Uint32()>>8, half()
	case SDWA1, SDWA2, SDWAC:
		for i := range n {
			in.Sel[i] = Sel(r.IntN(int(numSels)))
		}
		if f.Format != SDWAC {
			in.DstSel, in.Unused = Sel(r.IntN(int(numSels))), Unused(r.IntN(int(numUnused)))
		}
		if f.Has(FlagSext) {
			in.Sext = uint8(r.UintN(4)) & all &^ f.NegMask
		}
	case MUBUF, FLAT, GLOBAL, SCRATCH:
		if f.NumOps == 0 {
			break
		}
		in.GLC, in.SLC, in.DLC = half(), half(), half()
		if f.Sched == SchedAtomic {
			in.GLC = f.role(RoleVDst)
		}
	case SMEM:
		if f.NumOps > 1 {
			in.GLC, in.DLC = half(), half()
		}
	}
	return in
}

func randomImm(in *Inst, f *Form, o Operand, r *rand.Rand) {
	switch o.Kind {
	case ImmI12:
		in.Offset = int32(r.IntN(4096)) - 2048
	case ImmU11:
		in.Offset = int32(r.IntN(2048))
	case ImmU12:
		in.Offset = int32(r.IntN(4096))
	case ImmU20:
		in.Offset = int32(r.IntN(1<<20-1)) + 1
	case ImmI21:
		in.Offset = int32(r.IntN(1<<21)) - 1<<20
		in.Offset = cmp.Or(in.Offset, 4)
	case ImmU8:
		if o.Role == RoleOffset0 {
			in.Offset = int32(r.IntN(256))
		} else {
			in.Offset1 = uint8(r.UintN(256))
		}
	case ImmU16:
		in.Offset = int32(r.IntN(1 << 16))
	case ImmSwizzle:
		// Several patterns mean the same: use the one that its text means.
		in.Offset = int32(r.IntN(1 << 16))
		p := printer{in: in, f: f}
		p.swizzle(uint16(in.Offset))
		if _, arg, ok := strings.Cut(string(p.b), ":"); ok {
			n, _ := parseSwizzle(arg)
			in.Offset = int32(n)
		}
	case ImmWaitcnt:
		in.Simm16 = uint16(r.UintN(1<<16)) &^ 0x80
	case B32, F32:
		in.Literal = r.Uint32() | 1<<27 | 1<<16
	case F16:
		in.Literal = uint32(r.UintN(1 << 16))
	default:
		in.Simm16 = uint16(r.UintN(1 << 16))
	}
}

// within reports whether n is at most limit.
func within(n, limit int) bool { return n <= limit }
