package rdna2

import (
	"errors"
	"fmt"
)

// Errors of Decode, wrapped with the words that caused them.
var (
	ErrTruncated = errors.New("truncated instruction")
	ErrUnknown   = errors.New("unknown instruction")
	ErrReserved  = errors.New("reserved bits or registers")
)

// Decode reads the instruction at words[0] and says how many words it takes.
// It accepts exactly what Encode produces: reserved bits must be zero.
func Decode(words []uint32) (Inst, int, error) {
	var in Inst
	if len(words) == 0 {
		return in, 0, fmt.Errorf("rdna2: %w", ErrTruncated)
	}
	w0 := words[0]
	format, opcode := pick(w0)
	var first Op
	if format != NoFormat {
		if ix := encodings[format].index; int(opcode) < len(ix) {
			first = ix[opcode]
		}
	}
	if first == 0 {
		return in, 0, unknown(uint64(w0), false)
	}
	need := int(forms[first].Bytes) / 4
	if len(words) < need {
		return in, 0, fmt.Errorf("rdna2: %s: %w", forms[first].Text, ErrTruncated)
	}
	w := uint64(w0)
	if need == 2 {
		w |= uint64(words[1]) << 32
	}
	in.Op = variant(first, w)
	if in.Op == 0 {
		return Inst{}, 0, fmt.Errorf("rdna2: %w: %s with the modifiers of %016x is not supported", ErrUnknown, forms[first].Text, w)
	}
	f := &forms[in.Op]
	in.unpack(f, w)
	in.Size = f.Bytes
	if in.UsesLiteral() {
		if len(words) <= need {
			return Inst{}, 0, fmt.Errorf("rdna2: %s: literal: %w", f.Text, ErrTruncated)
		}
		in.Literal = words[need]
		in.Size += 4
	}
	if back, err := in.pack(f); err != nil || back != w {
		if f.Format == MUBUF && (w>>16&1 == 1 || w>>55&1 == 1) {
			return Inst{}, 0, fmt.Errorf("rdna2: %w: %s with lds or tfe is not supported", ErrUnknown, f.Text)
		}
		return Inst{}, 0, fmt.Errorf("rdna2: %s %016x: %w", f.Text, w, ErrReserved)
	}
	return in, int(in.Size) / 4, nil
}

// variant picks among the forms of one opcode by the fields that tell them
// apart: the scalar base of memory instructions and the return bit of atomics.
func variant(first Op, w uint64) Op {
	f := &forms[first]
	switch f.Format {
	case GLOBAL, SCRATCH:
		saddr := w >> 48 & 0x7f
		for op := first; op < NumOps && forms[op].Format == f.Format && forms[op].Opcode == f.Opcode; op++ {
			g := &forms[op]
			wantS, hasV := false, false
			for _, o := range g.Operands() {
				wantS = wantS || o.Role == RoleSAddr
				hasV = hasV || o.Role == RoleVAddr
			}
			switch {
			case wantS != (saddr != Null && saddr != scratchImm):
				continue
			case !wantS && hasV != (saddr == Null):
				continue
			case g.Sched == SchedAtomic && (g.Ops[0].Role == RoleVDst) != (w>>16&1 == 1):
				continue
			}
			return op
		}
		return 0
	case FLAT, MUBUF:
		for op := first; op < NumOps && forms[op].Format == f.Format && forms[op].Opcode == f.Opcode; op++ {
			g := &forms[op]
			returns := g.Ops[0].Role == RoleVDst
			switch {
			case f.Format == FLAT && g.Sched == SchedAtomic && returns != (w>>16&1 == 1),
				f.Format == MUBUF && g.Sched == SchedAtomic && returns != (w>>14&1 == 1),
				f.Format == MUBUF && (g.Has(FlagOffEn) != (w>>12&1 == 1) || g.Has(FlagIdxEn) != (w>>13&1 == 1)):
				continue
			}
			return op
		}
		return 0
	case SMEM:
		if f.NumOps < 2 {
			return first
		}
		soffset, offset := w>>57, w>>32&0x1fffff
		for op := first; op < NumOps && forms[op].Format == SMEM && forms[op].Opcode == f.Opcode; op++ {
			wantS, wantI := false, false
			for _, o := range forms[op].Operands() {
				wantS = wantS || o.Role == RoleSOffset
				wantI = wantI || o.Role == RoleOffset
			}
			if wantS == (soffset != Null) && (wantI == (offset != 0) || !wantS) {
				return op
			}
		}
		return 0
	}
	return first
}

// unpack fills the fields of in from the encoded bits. It does not check them:
// Decode packs them again and compares.
func (in *Inst) unpack(f *Form, w uint64) {
	lo := uint32(w)
	hi := uint32(w >> 32)
	u16 := func(x uint32) uint16 { return uint16(x) }
	in.Src = [4]uint16{}
	switch f.Format {
	case SOP2:
		in.Dst = u16(lo >> 16 & 0x7f)
		in.Src[0], in.Src[1] = u16(lo&0xff), u16(lo>>8&0xff)
	case SOP1:
		in.Dst, in.Src[0] = u16(lo>>16&0x7f), u16(lo&0xff)
	case SOPC:
		in.Src[0], in.Src[1] = u16(lo&0xff), u16(lo>>8&0xff)
	case SOPK:
		in.Simm16 = u16(lo)
		if f.role(RoleSSrc) {
			in.Src[0] = u16(lo >> 16 & 0x7f)
		} else {
			in.Dst = u16(lo >> 16 & 0x7f)
		}
		if f.Bytes == 8 {
			in.Literal = hi
		}
	case SOPP:
		in.Simm16 = u16(lo)
	case SMEM:
		in.Dst = u16(lo >> 6 & 0x7f)
		if f.NumOps > 1 {
			in.Src[0] = u16(lo&0x3f) << 1
			in.Src[1] = u16(hi >> 25)
			in.Offset = int32(hi<<11) >> 11
			in.GLC, in.DLC = lo>>16&1 == 1, lo>>14&1 == 1
		}
	case VOP2, VOP2K:
		in.Src[0] = u16(lo & 0x1ff)
		in.Src[1] = u16(lo>>9&0xff) + VGPR0
		in.Dst = u16(lo>>17&0xff) + VGPR0
		if f.Format == VOP2K {
			in.Literal = hi
		}
	case VOPC:
		in.Src[0] = u16(lo & 0x1ff)
		in.Src[1] = u16(lo>>9&0xff) + VGPR0
	case VOP1:
		in.Src[0] = u16(lo & 0x1ff)
		in.Dst = f.dst(u16(lo >> 17 & 0xff))
	case DPP1, DPP2:
		in.Dst = u16(lo>>17&0xff) + VGPR0
		in.Src[0] = u16(hi&0xff) + VGPR0
		if f.Format == DPP2 {
			in.Src[1] = u16(lo>>9&0xff) + VGPR0
		}
		in.DPPCtrl = u16(hi >> 8 & 0x1ff)
		in.FI, in.Bound = hi>>18&1 == 1, hi>>19&1 == 1
		in.Neg = uint8(hi>>20&1 | hi>>21&2)
		in.Abs = uint8(hi>>21&1 | hi>>22&2)
		in.Banks, in.Rows = uint8(hi>>24&15), uint8(hi>>28)
	case DPP8_1, DPP8_2:
		in.Dst = u16(lo>>17&0xff) + VGPR0
		in.Src[0] = u16(hi&0xff) + VGPR0
		if f.Format == DPP8_2 {
			in.Src[1] = u16(lo>>9&0xff) + VGPR0
		}
		in.FI = lo&0x1ff == srcDPP8FI
		in.Lanes8 = hi >> 8
	case SDWA1, SDWA2, SDWAC:
		reg := func(field, scalar uint32) uint16 {
			if scalar&1 == 1 {
				return u16(field & 0xff)
			}
			return u16(field&0xff) + VGPR0
		}
		in.Src[0] = reg(hi, hi>>23)
		in.Sel[0] = Sel(hi >> 16 & 7)
		in.Sext, in.Neg, in.Abs = uint8(hi>>19&1), uint8(hi>>20&1), uint8(hi>>21&1)
		if f.Format != SDWA1 {
			in.Src[1] = reg(lo>>9, hi>>31)
			in.Sel[1] = Sel(hi >> 24 & 7)
			in.Sext |= uint8(hi >> 27 & 1 << 1)
			in.Neg |= uint8(hi >> 28 & 1 << 1)
			in.Abs |= uint8(hi >> 29 & 1 << 1)
		}
		if f.Format == SDWAC {
			if in.SDst = VCC; hi>>15&1 == 1 {
				in.SDst = u16(hi >> 8 & 0x7f)
			}
			if !f.role(RoleSDst) {
				in.SDst = 0
			}
			break
		}
		in.Dst = u16(lo>>17&0xff) + VGPR0
		in.DstSel, in.Unused = Sel(hi>>8&7), Unused(hi>>11&3)
		in.Clamp, in.OMod = hi>>13&1 == 1, uint8(hi>>14&3)
	case VOP3, VOP3P:
		in.Src[0], in.Src[1], in.Src[2] = u16(hi&0x1ff), u16(hi>>9&0x1ff), u16(hi>>18&0x1ff)
		in.Neg = uint8(hi >> 29)
		in.Clamp = lo>>15&1 == 1
		if f.Format == VOP3P {
			in.Dst = u16(lo&0xff) + VGPR0
			in.OpSel = uint8(lo >> 11 & 7)
			in.OpSelHi = uint8(hi>>27&3 | lo>>12&4)
			if f.Has(FlagNegAbs) {
				in.Abs = uint8(lo >> 8 & 7)
			} else {
				in.NegHi = uint8(lo >> 8 & 7)
			}
			break
		}
		in.OMod = uint8(hi >> 27 & 3)
		sdst := f.role(RoleSDst)
		switch {
		case sdst && f.role(RoleVDst):
			in.Dst = f.dst(u16(lo & 0xff))
			in.SDst = u16(lo >> 8 & 0x7f)
		case sdst:
			in.SDst = u16(lo & 0xff)
		case f.role(RoleVDst):
			in.Dst = f.dst(u16(lo & 0xff))
		}
		if !sdst || !f.role(RoleVDst) {
			in.Abs = uint8(lo >> 8 & 7)
			in.OpSel = uint8(lo >> 11 & 15)
		}
	case DS:
		in.Src[0] = u16(hi&0xff) + VGPR0
		in.Src[1] = u16(hi>>8&0xff) + VGPR0
		in.Src[2] = u16(hi>>16&0xff) + VGPR0
		in.Dst = u16(hi>>24) + VGPR0
		if f.role(RoleOffset0) {
			in.Offset, in.Offset1 = int32(lo&0xff), uint8(lo>>8)
		} else {
			in.Offset = int32(lo & 0xffff)
		}
	case MUBUF:
		if f.NumOps == 0 {
			break
		}
		in.Src[0] = u16(hi&0xff) + VGPR0
		in.Src[1] = u16(hi>>8&0xff) + VGPR0
		in.Src[2] = u16(hi >> 16 & 0x1f << 2)
		in.Src[3] = u16(hi >> 24)
		in.Dst = in.Src[1]
		in.Offset = int32(lo & 0xfff)
		in.GLC, in.DLC, in.SLC = lo>>14&1 == 1, lo>>15&1 == 1, hi>>22&1 == 1
	case FLAT, GLOBAL, SCRATCH:
		in.Src[0] = u16(hi&0xff) + VGPR0
		in.Src[1] = u16(hi>>8&0xff) + VGPR0
		in.Src[2] = u16(hi >> 16 & 0x7f)
		in.Dst = u16(hi>>24) + VGPR0
		in.Offset = int32(lo<<20) >> 20
		in.DLC, in.GLC, in.SLC = lo>>12&1 == 1, lo>>16&1 == 1, lo>>17&1 == 1
	}
	in.normalize(f)
}

// dst is an 8-bit destination field as a register code.
func (f *Form) dst(field uint16) uint16 {
	if f.NumOps > 0 && f.Ops[0].Class == ClassSGPR {
		return field
	}
	return field + VGPR0
}

// role reports whether the form has an operand of that role.
func (f *Form) role(r Role) bool {
	for _, o := range f.Operands() {
		if o.Role == r {
			return true
		}
	}
	return false
}

// normalize clears register fields that the form does not have, so that equal
// instructions are equal structs: absent scalar addresses become Null.
func (in *Inst) normalize(f *Form) {
	var have [4]bool
	dst := false
	for _, o := range f.Operands() {
		if s := o.slot(); s >= 0 {
			have[s] = true
		}
		dst = dst || o.Role == RoleVDst || o.Role == RoleSDst && o.Class != ClassMask
	}
	for i := range have {
		if !have[i] {
			in.Src[i] = 0
		}
	}
	if !dst {
		in.Dst = 0
	}
	switch f.Format {
	case FLAT, GLOBAL, SCRATCH:
		if !have[2] {
			in.Src[2] = Null
		}
	case SMEM:
		if f.NumOps > 1 && !have[1] {
			in.Src[1] = Null
		}
	}
}
