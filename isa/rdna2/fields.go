package rdna2

// The fields of each format, packed and unpacked side by side. Fixed bits and the opcode
// are those of the table of formats.

// pack is the first one or two words. Registers and immediates must have been checked or result from unpack; values
// that do not fit their fields are refused here.
func (in *Inst) pack(f *Form) (uint64, error) {
	if err := in.checkModifiers(f); err != nil {
		return 0, err
	}
	e := &encodings[f.Format]
	lo, hi := uint32(0), uint32(0)
	switch f.Format {
	case SOP1, SOP2, SOPC:
		lo = in.packSOP(f)
	case SOPK:
		lo, hi = in.packSOPK(f)
	case SOPP:
		lo = uint32(in.Simm16)
	case SMEM:
		lo, hi = in.packSMEM(f)
	case VOP1, VOPC, VOP2, VOP2K:
		lo, hi = in.packVOP(f)
	case DPP1, DPP2:
		lo, hi = in.packDPP(f)
	case DPP8_1, DPP8_2:
		lo, hi = in.packDPP8(f)
	case SDWA1, SDWA2, SDWAC:
		lo, hi = in.packSDWA(f)
	case VOP3:
		lo, hi = in.packVOP3(f)
	case VOP3P:
		lo, hi = in.packVOP3P()
	case DS:
		lo, hi = in.packDS()
	case MUBUF:
		lo, hi = in.packMUBUF(f)
	case FLAT, GLOBAL, SCRATCH:
		lo, hi = in.packFLAT(f)
	}
	fixed := e.fixed
	if in.FI && (f.Format == DPP8_1 || f.Format == DPP8_2) { // in the field of the first source
		fixed = fixed&^0x1ff | srcDPP8FI
	}
	return uint64(hi)<<32 | uint64(lo|fixed|uint32(f.Opcode)<<e.opShift), nil
}

// unpack fills the fields of in from the encoded bits. It does not check them:
// Decode packs them again and compares.
func (in *Inst) unpack(f *Form, w uint64) {
	lo, hi := uint32(w), uint32(w>>32)
	in.Src = [4]uint16{}
	switch f.Format {
	case SOP1, SOP2, SOPC:
		in.unpackSOP(f, lo)
	case SOPK:
		in.unpackSOPK(f, lo, hi)
	case SOPP:
		in.Simm16 = uint16(lo)
	case SMEM:
		in.unpackSMEM(f, lo, hi)
	case VOP1, VOPC, VOP2, VOP2K:
		in.unpackVOP(f, lo, hi)
	case DPP1, DPP2:
		in.unpackDPP(f, lo, hi)
	case DPP8_1, DPP8_2:
		in.unpackDPP8(f, lo, hi)
	case SDWA1, SDWA2, SDWAC:
		in.unpackSDWA(f, lo, hi)
	case VOP3:
		in.unpackVOP3(f, lo, hi)
	case VOP3P:
		in.unpackVOP3P(f, lo, hi)
	case DS:
		in.unpackDS(f, lo, hi)
	case MUBUF:
		in.unpackMUBUF(f, lo, hi)
	case FLAT, GLOBAL, SCRATCH:
		in.unpackFLAT(lo, hi)
	}
	in.normalize(f)
}

// r is source i as a field of 9 bits, v as the number of a vector register.
func (in *Inst) r(i int) uint32 { return uint32(in.Src[i]) & 0x1ff }
func (in *Inst) v(i int) uint32 { return uint32(in.Src[i]) & 0xff }

// d is the destination as a field of 8 bits.
func (in *Inst) d() uint32 { return uint32(in.Dst) & 0xff }

// vgpr is a field of 8 bits as a vector register.
func vgpr(field uint32) uint16 { return uint16(field&0xff) + VGPR0 }

// bit is 1 << at where b holds, and isSet whether the bit is set.
func bit(b bool, at uint) uint32 {
	if b {
		return 1 << at
	}
	return 0
}

func isSet(w uint32, at uint) bool { return w>>at&1 == 1 }

func (in *Inst) packSOP(f *Form) (lo uint32) {
	switch f.Format {
	case SOP2:
		return in.r(0) | in.r(1)<<8 | in.d()<<16
	case SOP1:
		return in.r(0) | in.d()<<16
	}
	return in.r(0) | in.r(1)<<8
}

func (in *Inst) unpackSOP(f *Form, lo uint32) {
	in.Src[0] = uint16(lo & 0xff)
	if f.Format != SOP1 {
		in.Src[1] = uint16(lo >> 8 & 0xff)
	}
	if f.Format != SOPC {
		in.Dst = uint16(lo >> 16 & 0x7f)
	}
}

func (in *Inst) packSOPK(f *Form) (lo, hi uint32) {
	reg := in.d()
	if f.role(RoleSSrc) {
		reg = in.r(0)
	}
	if f.Bytes == 8 {
		hi = in.Literal
	}
	return uint32(in.Simm16) | reg<<16, hi
}

func (in *Inst) unpackSOPK(f *Form, lo, hi uint32) {
	in.Simm16 = uint16(lo)
	if f.role(RoleSSrc) {
		in.Src[0] = uint16(lo >> 16 & 0x7f)
	} else {
		in.Dst = uint16(lo >> 16 & 0x7f)
	}
	if f.Bytes == 8 {
		in.Literal = hi
	}
}

func (in *Inst) packSMEM(f *Form) (lo, hi uint32) {
	lo = in.d() << 6
	if f.NumOps > 1 {
		lo |= in.r(0)>>1 | bit(in.DLC, 14) | bit(in.GLC, 16)
		hi = uint32(in.Offset)&0x1fffff | in.r(1)<<25
	}
	return lo, hi
}

func (in *Inst) unpackSMEM(f *Form, lo, hi uint32) {
	in.Dst = uint16(lo >> 6 & 0x7f)
	if f.NumOps > 1 {
		in.Src[0] = uint16(lo&0x3f) << 1
		in.DLC, in.GLC = isSet(lo, 14), isSet(lo, 16)
		in.Offset = int32(hi<<11) >> 11
		in.Src[1] = uint16(hi >> 25)
	}
}

func (in *Inst) packVOP(f *Form) (lo, hi uint32) {
	lo = in.r(0)
	if f.Format != VOP1 {
		lo |= in.v(1) << 9
	}
	if f.Format != VOPC {
		lo |= in.d() << 17
	}
	if f.Format == VOP2K {
		hi = in.Literal
	}
	return lo, hi
}

func (in *Inst) unpackVOP(f *Form, lo, hi uint32) {
	in.Src[0] = uint16(lo & 0x1ff)
	if f.Format != VOP1 {
		in.Src[1] = vgpr(lo >> 9)
	}
	switch f.Format {
	case VOP1:
		in.Dst = f.dst(uint16(lo >> 17 & 0xff))
	case VOP2, VOP2K:
		in.Dst = vgpr(lo >> 17)
	}
	if f.Format == VOP2K {
		in.Literal = hi
	}
}

func (in *Inst) packDPP(f *Form) (lo, hi uint32) {
	lo = in.d() << 17
	if f.Format == DPP2 {
		lo |= in.v(1) << 9
	}
	hi = in.v(0) | uint32(in.DPPCtrl)<<8 | bit(in.FI, 18) | bit(in.Bound, 19) |
		uint32(in.Neg&1)<<20 | uint32(in.Abs&1)<<21 | uint32(in.Neg>>1&1)<<22 | uint32(in.Abs>>1&1)<<23 |
		uint32(in.Banks)<<24 | uint32(in.Rows)<<28
	return lo, hi
}

func (in *Inst) unpackDPP(f *Form, lo, hi uint32) {
	in.Dst = vgpr(lo >> 17)
	if f.Format == DPP2 {
		in.Src[1] = vgpr(lo >> 9)
	}
	in.Src[0] = vgpr(hi)
	in.DPPCtrl = uint16(hi >> 8 & 0x1ff)
	in.FI, in.Bound = isSet(hi, 18), isSet(hi, 19)
	in.Neg = uint8(hi>>20&1 | hi>>21&2)
	in.Abs = uint8(hi>>21&1 | hi>>22&2)
	in.Banks, in.Rows = uint8(hi>>24&15), uint8(hi>>28)
}

func (in *Inst) packDPP8(f *Form) (lo, hi uint32) {
	lo = in.d() << 17
	if f.Format == DPP8_2 {
		lo |= in.v(1) << 9
	}
	return lo, in.v(0) | in.Lanes8<<8
}

func (in *Inst) unpackDPP8(f *Form, lo, hi uint32) {
	in.Dst = vgpr(lo >> 17)
	if f.Format == DPP8_2 {
		in.Src[1] = vgpr(lo >> 9)
	}
	in.FI = lo&0x1ff == srcDPP8FI
	in.Src[0] = vgpr(hi)
	in.Lanes8 = hi >> 8
}

func (in *Inst) packSDWA(f *Form) (lo, hi uint32) {
	scalar := func(i int) uint32 { return bit(in.Src[i] < VGPR0, 0) }
	hi = in.v(0) | uint32(in.Sel[0])<<16 | uint32(in.Sext&1)<<19 | uint32(in.Neg&1)<<20 | uint32(in.Abs&1)<<21 | scalar(0)<<23
	if f.Format != SDWA1 {
		lo |= in.v(1) << 9
		hi |= uint32(in.Sel[1])<<24 | uint32(in.Sext>>1)<<27 | uint32(in.Neg>>1)<<28 | uint32(in.Abs>>1)<<29 | scalar(1)<<31
	}
	if f.Format == SDWAC {
		if f.role(RoleSDst) && in.SDst != VCC {
			hi |= 1<<15 | uint32(in.SDst)<<8
		}
		return lo, hi
	}
	lo |= in.d() << 17
	return lo, hi | uint32(in.DstSel)<<8 | uint32(in.Unused)<<11 | bit(in.Clamp, 13) | uint32(in.OMod)<<14
}

func (in *Inst) unpackSDWA(f *Form, lo, hi uint32) {
	reg := func(field uint32, scalar bool) uint16 {
		if scalar {
			return uint16(field & 0xff)
		}
		return vgpr(field)
	}
	in.Src[0] = reg(hi, isSet(hi, 23))
	in.Sel[0] = Sel(hi >> 16 & 7)
	in.Sext, in.Neg, in.Abs = uint8(hi>>19&1), uint8(hi>>20&1), uint8(hi>>21&1)
	if f.Format != SDWA1 {
		in.Src[1] = reg(lo>>9, isSet(hi, 31))
		in.Sel[1] = Sel(hi >> 24 & 7)
		in.Sext |= uint8(hi >> 27 & 1 << 1)
		in.Neg |= uint8(hi >> 28 & 1 << 1)
		in.Abs |= uint8(hi >> 29 & 1 << 1)
	}
	if f.Format == SDWAC {
		switch {
		case !f.role(RoleSDst):
			in.SDst = 0
		case isSet(hi, 15):
			in.SDst = uint16(hi >> 8 & 0x7f)
		default:
			in.SDst = VCC
		}
		return
	}
	in.Dst = vgpr(lo >> 17)
	in.DstSel, in.Unused = Sel(hi>>8&7), Unused(hi>>11&3)
	in.Clamp, in.OMod = isSet(hi, 13), uint8(hi>>14&3)
}

func (in *Inst) packVOP3(f *Form) (lo, hi uint32) {
	lo = bit(in.Clamp, 15) | uint32(in.Abs)<<8 | uint32(in.OpSel)<<11
	switch {
	case f.role(RoleSDst) && f.role(RoleVDst):
		lo |= in.d() | uint32(in.SDst)<<8
	case f.role(RoleSDst):
		lo |= uint32(in.SDst)
	default:
		lo |= in.d()
		if f.Defs&ImplEXEC != 0 {
			lo |= EXEC // v_cmpx keeps exec in its result field
		}
	}
	return lo, in.r(0) | in.r(1)<<9 | in.r(2)<<18 | uint32(in.OMod)<<27 | uint32(in.Neg)<<29
}

func (in *Inst) unpackVOP3(f *Form, lo, hi uint32) {
	in.unpackSources3(hi)
	in.Clamp, in.OMod = isSet(lo, 15), uint8(hi>>27&3)
	switch {
	case f.role(RoleSDst) && f.role(RoleVDst):
		in.Dst = f.dst(uint16(lo & 0xff))
		in.SDst = uint16(lo >> 8 & 0x7f)
		return
	case f.role(RoleSDst):
		in.SDst = uint16(lo & 0xff)
	case f.role(RoleVDst):
		in.Dst = f.dst(uint16(lo & 0xff))
	}
	in.Abs = uint8(lo >> 8 & 7)
	in.OpSel = uint8(lo >> 11 & 15)
}

// unpackSources3 reads the part of the second word that is common to both formats of three sources.
func (in *Inst) unpackSources3(hi uint32) {
	for i := range 3 {
		in.Src[i] = uint16(hi >> (9 * i) & 0x1ff)
	}
	in.Neg = uint8(hi >> 29)
}

func (in *Inst) packVOP3P() (lo, hi uint32) {
	lo = in.d() | uint32(in.NegHi|in.Abs)<<8 | uint32(in.OpSel)<<11 | uint32(in.OpSelHi>>2)<<14 | bit(in.Clamp, 15)
	return lo, in.r(0) | in.r(1)<<9 | in.r(2)<<18 | uint32(in.OpSelHi&3)<<27 | uint32(in.Neg)<<29
}

func (in *Inst) unpackVOP3P(f *Form, lo, hi uint32) {
	in.unpackSources3(hi)
	in.Dst = vgpr(lo)
	if f.Has(FlagNegAbs) {
		in.Abs = uint8(lo >> 8 & 7)
	} else {
		in.NegHi = uint8(lo >> 8 & 7)
	}
	in.OpSel = uint8(lo >> 11 & 7)
	in.OpSelHi = uint8(hi>>27&3 | lo>>12&4)
	in.Clamp = isSet(lo, 15)
}

func (in *Inst) packDS() (lo, hi uint32) {
	return uint32(in.Offset) | uint32(in.Offset1)<<8, in.v(0) | in.v(1)<<8 | in.v(2)<<16 | in.d()<<24
}

func (in *Inst) unpackDS(f *Form, lo, hi uint32) {
	for i := range 3 {
		in.Src[i] = vgpr(hi >> (8 * i))
	}
	in.Dst = vgpr(hi >> 24)
	if f.role(RoleOffset0) {
		in.Offset, in.Offset1 = int32(lo&0xff), uint8(lo>>8)
	} else {
		in.Offset = int32(lo & 0xffff)
	}
}

func (in *Inst) packMUBUF(f *Form) (lo, hi uint32) {
	if f.NumOps == 0 {
		return 0, 0
	}
	data := in.v(1)
	if f.role(RoleVDst) {
		data = in.d()
	}
	lo = uint32(in.Offset) | bit(f.Has(FlagOffEn), 12) | bit(f.Has(FlagIdxEn), 13) | bit(in.GLC, 14) | bit(in.DLC, 15)
	return lo, in.v(0) | data<<8 | in.r(2)>>2<<16 | bit(in.SLC, 22) | in.r(3)<<24
}

func (in *Inst) unpackMUBUF(f *Form, lo, hi uint32) {
	if f.NumOps == 0 {
		return
	}
	in.Src = [4]uint16{vgpr(hi), vgpr(hi >> 8), uint16(hi >> 16 & 0x1f << 2), uint16(hi >> 24)}
	in.Dst = in.Src[1]
	in.Offset = int32(lo & 0xfff)
	in.GLC, in.DLC, in.SLC = isSet(lo, 14), isSet(lo, 15), isSet(hi, 22)
}

func (in *Inst) packFLAT(f *Form) (lo, hi uint32) {
	base := in.r(2)
	if f.Format == SCRATCH && !f.role(RoleVAddr) && !f.role(RoleSAddr) {
		base = scratchImm
	}
	lo = uint32(in.Offset)&0xfff | bit(in.DLC, 12) | bit(in.GLC, 16) | bit(in.SLC, 17)
	return lo, in.v(0) | in.v(1)<<8 | base<<16 | in.d()<<24
}

func (in *Inst) unpackFLAT(lo, hi uint32) {
	in.Src[0], in.Src[1], in.Src[2] = vgpr(hi), vgpr(hi>>8), uint16(hi>>16&0x7f)
	in.Dst = vgpr(hi >> 24)
	in.Offset = int32(lo<<20) >> 20
	in.DLC, in.GLC, in.SLC = isSet(lo, 12), isSet(lo, 16), isSet(lo, 17)
}
