package rdna2

// The bits of an encoding that the machine does not read, as LLVM's disassembler ignores them. Assemblers set them as
// they please: SP3 leaves the op_sel_hi of an absent operand clear, ACO keeps a register number in the unused field of
// a store.

// span is the bits from one to another, both included.
func span(from, to uint) uint64 { return 1<<(to+1) - 1<<from }

// unread are bits that no instruction of a format reads.
var unread = [NumFormats]uint64{
	SMEM:    span(13, 13) | span(15, 15) | span(17, 17) | span(53, 56),
	DPP1:    span(49, 49),
	DPP2:    span(49, 49),
	SDWA1:   span(54, 54) | span(62, 62),
	SDWA2:   span(54, 54) | span(62, 62),
	SDWAC:   span(54, 54) | span(62, 62),
	DS:      span(16, 16),
	FLAT:    span(25, 25),
	GLOBAL:  span(25, 25),
	SCRATCH: span(25, 25),
	MUBUF:   span(17, 17) | span(53, 53),
}

// ignored are the bits of w that form f does not read.
func (f *Form) ignored(w uint64) uint64 {
	m := unread[f.Format] | f.misaligned(w)
	switch f.Format {
	case SOP1:
		if !f.role(RoleSrc0) {
			m |= span(0, 7)
		}
		if !f.role(RoleSDst) {
			m |= span(16, 22)
		}
	case SOPK:
		if f.Op == S_SETREG_IMM32_B32 {
			m |= span(16, 22)
		}
	case SOPP:
		if f.Op == S_WAITCNT {
			m |= span(7, 7)
		}
	case SMEM:
		switch f.NumOps {
		case 0:
			m |= span(0, 17) | span(32, 63)
		case 1: // s_memtime
			m |= span(0, 5) | span(13, 17) | span(32, 63)
		}
	case VOP1:
		if f.NumOps == 0 {
			m |= span(0, 8)
		}
	case VOP3:
		m |= f.ignoredVOP3()
	case VOP3P:
		if f.sources() < 3 {
			m |= span(14, 14)
		}
	case DPP2:
		if f.Mnemonic == M_V_DOT4C_I32_I8 {
			m |= span(52, 55)
		}
		if f.Has(FlagAbs) && f.NegMask&2 == 0 {
			m |= span(55, 55)
		}
	case SDWAC:
		if !f.role(RoleSDst) || !isSet(uint32(w>>32), 15) {
			m |= span(40, 46)
		}
	case FLAT, GLOBAL, SCRATCH:
		if !f.role(RoleVAddr) {
			m |= span(32, 39)
		}
		if !f.role(RoleVData) {
			m |= span(40, 47)
		}
		if !f.role(RoleVDst) {
			m |= span(56, 63)
		}
	case MUBUF:
		switch {
		case f.NumOps == 0:
			m |= span(0, 11) | span(32, 54) | span(56, 63)
		case !f.role(RoleVAddr):
			m |= span(32, 39)
		}
	}
	return m
}

// ignoredVOP3 are the modifiers of sources that cannot have them, and the destination of comparisons that write EXEC.
func (f *Form) ignoredVOP3() (m uint64) {
	if f.role(RoleSDst) && f.role(RoleVDst) {
		return 0 // a lane mask lies where others have modifiers
	}
	switch {
	case !f.Has(FlagOpSel):
		m |= span(11, 14)
	case f.Mnemonic == M_V_PERMLANE16_B32, f.Mnemonic == M_V_PERMLANEX16_B32:
		m |= span(13, 14)
	}
	for i := range uint(f.sources()) {
		if f.NegMask>>i&1 == 1 {
			continue
		}
		if f.Has(FlagOpSel) || f.Has(FlagAbs) {
			m |= 1 << (8 + i)
		}
		if f.Has(FlagOpSel) {
			m |= 1 << (61 + i)
		}
	}
	if !f.role(RoleVDst) && !f.role(RoleSDst) {
		m |= span(0, 7)
	}
	return m
}

// misaligned are the low bits of registers whose tuples are aligned.
func (f *Form) misaligned(w uint64) (m uint64) {
	for _, o := range f.Operands() {
		if o.Regs < 2 || o.Class == ClassVGPR || o.Class == ClassVSrc || o.Class == ClassImm {
			continue
		}
		at, width := o.field(f)
		if width == 0 {
			continue
		}
		code := uint16(w>>at) & (1<<width - 1)
		if code >= VCC && code < TTMP0 || code >= TTMP0+16 {
			continue
		}
		if m |= 1 << at; o.Regs > 2 {
			m |= 2 << at
		}
	}
	if f.Format == SMEM && f.role(RoleSBase) && f.Ops[1].Regs == 4 {
		m |= 1 // the base of a buffer, in pairs
	}
	return m
}

// field is where a scalar operand of a form has its register code; no width for those without alignment there.
func (o Operand) field(f *Form) (at, width uint) {
	switch f.Format {
	case SOP1, SOP2, SOPC:
		switch o.Role {
		case RoleSrc0:
			return 0, 8
		case RoleSrc1:
			return 8, 8
		case RoleSDst:
			return 16, 7
		}
	case SOPK:
		if o.Role == RoleSDst || o.Role == RoleSSrc {
			return 16, 7
		}
	case SMEM:
		if o.Role == RoleSDst {
			return 6, 7
		}
	case VOP1, VOP2, VOPC:
		if o.Role == RoleSrc0 {
			return 0, 9
		}
	case VOP3:
		switch o.Role {
		case RoleSrc0:
			return 32, 9
		case RoleSrc1:
			return 41, 9
		case RoleSrc2:
			return 50, 9
		}
	case GLOBAL:
		if o.Role == RoleSAddr {
			return 48, 7
		}
	}
	return 0, 0
}

// canonical is w with the bits that form f ignores as an assembler sets them.
func (f *Form) canonical(w uint64) uint64 {
	m := f.ignored(w)
	w &^= m
	switch {
	case f.Format == VOP3P:
		w |= m & span(14, 14)
	case f.Format == VOP3 && m&span(0, 7) == span(0, 7):
		w |= EXEC
	}
	return w
}

// length is the words that the encoding of w has, whatever the instruction: for the step over one that is not known.
func length(w uint32) int {
	switch w >> 26 {
	case 0x33, 0x35, 0x36, 0x37, 0x38, 0x3a, 0x3d, 0x3e: // VOP3P VOP3 DS FLAT MUBUF MTBUF SMEM EXP
		return 2
	case 0x3c: // MIMG, with up to three words of addresses
		return 2 + int(w>>1&3)
	}
	return 1
}
