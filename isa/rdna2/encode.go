package rdna2

import (
	"encoding/binary"
	"fmt"
)

// Encode appends the little-endian bytes of the instruction to dst. It fails
// when an operand is not of the class its form wants, when an immediate does
// not fit or when a modifier is set that the form does not have.
func (in *Inst) Encode(dst []byte) ([]byte, error) {
	f := in.Form()
	if in.Op == 0 || in.Op >= NumOps {
		return dst, fmt.Errorf("rdna2: encode: op %d is no instruction", in.Op)
	}
	if err := in.check(f); err != nil {
		return dst, fmt.Errorf("rdna2: encode %s: %w", f.Text, err)
	}
	w, err := in.pack(f)
	if err != nil {
		return dst, fmt.Errorf("rdna2: encode %s: %w", f.Text, err)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(w))
	if f.Bytes == 8 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(w>>32))
	}
	if in.UsesLiteral() {
		dst = binary.LittleEndian.AppendUint32(dst, in.Literal)
	}
	return dst, nil
}

// Bytes is the encoded size, literal included.
func (in *Inst) Bytes() int {
	n := int(in.Form().Bytes)
	if in.UsesLiteral() {
		n += 4
	}
	return n
}

// pack is the first one or two words. Registers and immediates must have been
// checked or come from unpack; what does not fit its field is refused here.
func (in *Inst) pack(f *Form) (uint64, error) {
	if err := in.checkModifiers(f); err != nil {
		return 0, err
	}
	e := &encodings[f.Format]
	lo := e.fixed | uint32(f.Opcode)<<e.opShift
	hi := uint32(0)
	r := func(i int) uint32 { return uint32(in.Src[i]) & 0x1ff }
	v := func(i int) uint32 { return uint32(in.Src[i]) & 0xff }
	bit := func(b bool, at uint) uint32 {
		if b {
			return 1 << at
		}
		return 0
	}
	dst := uint32(in.Dst) & 0xff
	switch f.Format {
	case SOP2:
		lo |= r(0) | r(1)<<8 | dst<<16
	case SOP1:
		lo |= r(0) | dst<<16
	case SOPC:
		lo |= r(0) | r(1)<<8
	case SOPK:
		lo |= uint32(in.Simm16)
		if f.role(RoleSSrc) {
			lo |= r(0) << 16
		} else {
			lo |= dst << 16
		}
		if f.Bytes == 8 {
			hi = in.Literal
		}
	case SOPP:
		lo |= uint32(in.Simm16)
	case SMEM:
		lo |= dst << 6
		if f.NumOps > 1 {
			lo |= r(0)>>1 | bit(in.GLC, 16) | bit(in.DLC, 14)
			hi = uint32(in.Offset)&0x1fffff | r(1)<<25
		}
	case VOP2, VOP2K:
		lo |= r(0) | v(1)<<9 | dst<<17
		if f.Format == VOP2K {
			hi = in.Literal
		}
	case VOPC:
		lo |= r(0) | v(1)<<9
	case VOP1:
		lo |= r(0) | dst<<17
	case DPP1, DPP2:
		lo |= dst << 17
		if f.Format == DPP2 {
			lo |= v(1) << 9
		}
		hi = v(0) | uint32(in.DPPCtrl)<<8 | bit(in.FI, 18) | bit(in.Bound, 19) |
			uint32(in.Neg&1)<<20 | uint32(in.Abs&1)<<21 | uint32(in.Neg>>1&1)<<22 | uint32(in.Abs>>1&1)<<23 |
			uint32(in.Banks)<<24 | uint32(in.Rows)<<28
	case DPP8_1, DPP8_2:
		lo |= dst << 17
		if f.Format == DPP8_2 {
			lo |= v(1) << 9
		}
		if in.FI {
			lo = lo&^0x1ff | srcDPP8FI
		}
		hi = v(0) | in.Lanes8<<8
	case SDWA1, SDWA2, SDWAC:
		scalar := func(i int) uint32 { return bit(in.Src[i] < VGPR0, 0) }
		hi = v(0) | uint32(in.Sel[0])<<16 | uint32(in.Sext&1)<<19 | uint32(in.Neg&1)<<20 | uint32(in.Abs&1)<<21 | scalar(0)<<23
		if f.Format != SDWA1 {
			lo |= v(1) << 9
			hi |= uint32(in.Sel[1])<<24 | uint32(in.Sext>>1)<<27 | uint32(in.Neg>>1)<<28 | uint32(in.Abs>>1)<<29 | scalar(1)<<31
		}
		if f.Format == SDWAC {
			if f.role(RoleSDst) && in.SDst != VCC {
				hi |= 1<<15 | uint32(in.SDst)<<8
			}
			break
		}
		lo |= dst << 17
		hi |= uint32(in.DstSel)<<8 | uint32(in.Unused)<<11 | bit(in.Clamp, 13) | uint32(in.OMod)<<14
	case VOP3:
		hi = r(0) | r(1)<<9 | r(2)<<18 | uint32(in.OMod)<<27 | uint32(in.Neg)<<29
		lo |= bit(in.Clamp, 15) | uint32(in.Abs)<<8 | uint32(in.OpSel)<<11
		switch {
		case f.role(RoleSDst) && f.role(RoleVDst):
			lo |= dst | uint32(in.SDst)<<8
		case f.role(RoleSDst):
			lo |= uint32(in.SDst)
		default:
			lo |= dst
			if f.Defs&ImplEXEC != 0 {
				lo |= EXEC // v_cmpx keeps exec in its result field
			}
		}
	case VOP3P:
		hi = r(0) | r(1)<<9 | r(2)<<18 | uint32(in.OpSelHi&3)<<27 | uint32(in.Neg)<<29
		lo |= dst | uint32(in.OpSel)<<11 | uint32(in.OpSelHi>>2)<<14 | bit(in.Clamp, 15) | uint32(in.NegHi|in.Abs)<<8
	case DS:
		hi = v(0) | v(1)<<8 | v(2)<<16 | dst<<24
		lo |= uint32(in.Offset) | uint32(in.Offset1)<<8
	case MUBUF:
		if f.NumOps == 0 {
			break
		}
		data := v(1)
		if f.role(RoleVDst) {
			data = dst
		}
		hi = v(0) | data<<8 | r(2)>>2<<16 | bit(in.SLC, 22) | r(3)<<24
		lo |= uint32(in.Offset) | bit(f.Has(FlagOffEn), 12) | bit(f.Has(FlagIdxEn), 13) | bit(in.GLC, 14) | bit(in.DLC, 15)
	case FLAT, GLOBAL, SCRATCH:
		hi = v(0) | v(1)<<8 | r(2)<<16 | dst<<24
		if f.Format == SCRATCH && !f.role(RoleVAddr) && !f.role(RoleSAddr) {
			hi = hi&^(0x7f<<16) | scratchImm<<16
		}
		lo |= uint32(in.Offset)&0xfff | bit(in.DLC, 12) | bit(in.GLC, 16) | bit(in.SLC, 17)
	}
	return uint64(hi)<<32 | uint64(lo), nil
}
