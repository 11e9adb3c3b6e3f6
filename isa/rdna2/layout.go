package rdna2

// encoding is the fixed bits of a format and the position of its opcode.
type encoding struct {
	fixed   uint32 // bits that are always so in word 0
	opShift uint8
	index   []Op // first form of each opcode; variants of an opcode follow it
}

var encodings = [NumFormats]encoding{
	SOP2:    {0x80000000, 23, indexSOP2[:]},
	SOPK:    {0xb0000000, 23, indexSOPK[:]},
	SOP1:    {0xbe800000, 8, indexSOP1[:]},
	SOPC:    {0xbf000000, 16, indexSOPC[:]},
	SOPP:    {0xbf800000, 16, indexSOPP[:]},
	SMEM:    {0xf4000000, 18, indexSMEM[:]},
	VOP2:    {0x00000000, 25, indexVOP2[:]},
	VOP2K:   {0x00000000, 25, indexVOP2K[:]},
	VOP1:    {0x7e000000, 9, indexVOP1[:]},
	VOPC:    {0x7c000000, 17, indexVOPC[:]},
	VOP3:    {0xd4000000, 16, indexVOP3[:]},
	VOP3P:   {0xcc000000, 16, indexVOP3P[:]},
	DPP1:    {0x7e0000fa, 9, indexDPP1[:]},
	DPP2:    {0x000000fa, 25, indexDPP2[:]},
	DPP8_1:  {0x7e0000e9, 9, indexDPP8_1[:]},
	DPP8_2:  {0x000000e9, 25, indexDPP8_2[:]},
	SDWA1:   {0x7e0000f9, 9, indexSDWA1[:]},
	SDWA2:   {0x000000f9, 25, indexSDWA2[:]},
	SDWAC:   {0x7c0000f9, 17, indexSDWAC[:]},
	DS:      {0xd8000000, 18, indexDS[:]},
	FLAT:    {0xdc000000, 18, indexFLAT[:]},
	GLOBAL:  {0xdc008000, 18, indexGLOBAL[:]},
	SCRATCH: {0xdc004000, 18, indexSCRATCH[:]},
	MUBUF:   {0xe0000000, 18, indexMUBUF[:]},
}

// These codes in the src0 field of VOP1, VOP2 and VOPC announce a control word.
const (
	srcDPP8   = 0xe9
	srcDPP8FI = 0xea
	srcSDWA   = 0xf9
	srcDPP16  = 0xfa
)

// pick is the format and opcode of the word; format NoFormat for an encoding
// this package does not have.
func pick(w uint32) (Format, uint32) {
	if w>>31 == 0 {
		one, two, compare := VOP1, VOP2, VOPC
		switch w & 0x1ff {
		case srcDPP16:
			one, two, compare = DPP1, DPP2, NoFormat
		case srcDPP8, srcDPP8FI:
			one, two, compare = DPP8_1, DPP8_2, NoFormat
		case srcSDWA:
			one, two, compare = SDWA1, SDWA2, SDWAC
		}
		op := w >> 25
		switch {
		case op == 0x3e:
			return compare, w >> 17 & 0xff
		case op == 0x3f:
			return one, w >> 9 & 0xff
		case two == VOP2 && indexVOP2K[op] != 0:
			return VOP2K, op
		}
		return two, op
	}
	switch w >> 26 {
	case 0x3d:
		return SMEM, w >> 18 & 0xff
	case 0x35:
		return VOP3, w >> 16 & 0x3ff
	case 0x33:
		return VOP3P, w >> 16 & 0x7f
	case 0x36:
		return DS, w >> 18 & 0xff
	case 0x38:
		return MUBUF, w >> 18 & 0x7f
	case 0x37:
		switch w >> 14 & 3 {
		case 0:
			return FLAT, w >> 18 & 0x7f
		case 1:
			return SCRATCH, w >> 18 & 0x7f
		case 2:
			return GLOBAL, w >> 18 & 0x7f
		}
		return NoFormat, 0
	}
	if w>>30 != 2 {
		return NoFormat, 0
	}
	switch w >> 23 {
	case 0x17d:
		return SOP1, w >> 8 & 0x7f
	case 0x17e:
		return SOPC, w >> 16 & 0x7f
	case 0x17f:
		return SOPP, w >> 16 & 0x7f
	}
	if w>>28 == 0xb {
		return SOPK, w >> 23 & 0x1f
	}
	return SOP2, w >> 23 & 0x7f
}

// scratchImm in the saddr field means that a scratch access has no address register at all; Null there means that it
// has no scalar one.
const scratchImm = 0x7f
