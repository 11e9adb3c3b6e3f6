package rdna2

import "math/bits"

// tail prints the modifiers after the operands.
func (p *printer) tail() {
	in, f := p.in, p.f
	n := f.sources()
	switch f.Format {
	case SMEM:
		if f.role(RoleSOffset) && f.role(RoleOffset) {
			p.flag("offset:")
			p.signedHex(in.Offset)
		}
		p.cachePolicy()
	case DS:
		if f.role(RoleOffset0) {
			p.numbered("offset0:", int64(in.Offset))
			p.numbered("offset1:", int64(in.Offset1))
		} else if f.Op == DS_SWIZZLE_B32 {
			p.swizzle(uint16(in.Offset))
		} else {
			p.numbered("offset:", int64(in.Offset))
		}
	case MUBUF:
		if f.Has(FlagIdxEn) {
			p.flag("idxen")
		}
		if f.Has(FlagOffEn) {
			p.flag("offen")
		}
		p.numbered("offset:", int64(in.Offset))
		p.cachePolicy()
	case FLAT, GLOBAL, SCRATCH:
		p.numbered("offset:", int64(in.Offset))
		p.cachePolicy()
	case DPP8_1, DPP8_2:
		p.flag("dpp8:")
		for i := range 8 {
			sep := byte(',')
			if i == 0 {
				sep = '['
			}
			p.b = append(p.b, sep, '0'+byte(in.Lanes8>>(3*i)&7))
		}
		p.str("]")
		if in.FI {
			p.flag("fi:1")
		}
	case DPP1, DPP2:
		p.dpp()
	case VOP3:
		if f.Has(FlagOpSel) && in.OpSel != 0 {
			if f.Mnemonic == M_V_PERMLANE16_B32 || f.Mnemonic == M_V_PERMLANEX16_B32 {
				p.bitList("op_sel:", in.OpSel, 2)
			} else {
				// The last item is the destination's half, bit 3.
				p.bitList("op_sel:", in.OpSel&(1<<n-1)|in.OpSel>>3<<n, n+1)
			}
		}
	case VOP3P:
		p.packed(n)
	}
	if in.Clamp {
		p.flag("clamp")
	}
	if in.OMod != 0 {
		p.flag([4]string{"", "mul:2", "mul:4", "div:2"}[in.OMod&3])
	}
	if f.Format >= SDWA1 && f.Format <= SDWAC {
		p.sdwa(n)
	}
}

// packed prints which half each of n operands of a packed instruction is, and which halves are negated.
func (p *printer) packed(n int) {
	in, f := p.in, p.f
	if in.OpSel != 0 {
		p.bitList("op_sel:", in.OpSel, n)
	}
	all := uint8(1)<<n - 1
	def := all
	if f.Has(FlagNegAbs) {
		def = 0
	}
	if in.OpSelHi&all != def {
		p.bitList("op_sel_hi:", in.OpSelHi, n)
	}
	if f.Has(FlagNegLoHi) && in.Neg != 0 {
		p.bitList("neg_lo:", in.Neg, n)
	}
	if in.NegHi != 0 {
		p.bitList("neg_hi:", in.NegHi, n)
	}
}

func (p *printer) numbered(name string, v int64) {
	if v != 0 {
		p.flag(name)
		p.int(v)
	}
}

func (p *printer) cachePolicy() {
	if p.in.GLC {
		p.flag("glc")
	}
	if p.in.SLC {
		p.flag("slc")
	}
	if p.in.DLC {
		p.flag("dlc")
	}
}

func (p *printer) bitList(name string, v uint8, n int) {
	p.flag(name)
	for i := range n {
		sep := byte(',')
		if i == 0 {
			sep = '['
		}
		p.b = append(p.b, sep, '0'+v>>i&1)
	}
	p.str("]")
}

// sdwa prints the selections of an SDWA instruction of n sources.
func (p *printer) sdwa(n int) {
	in := p.in
	if p.f.Format != SDWAC {
		p.flag("dst_sel:")
		p.str(selNames[min(in.DstSel, numSels-1)])
		p.flag("dst_unused:")
		p.str(unusedNames[min(in.Unused, numUnused-1)])
	}
	p.flag("src0_sel:")
	p.str(selNames[min(in.Sel[0], numSels-1)])
	if n > 1 {
		p.flag("src1_sel:")
		p.str(selNames[min(in.Sel[1], numSels-1)])
	}
}

func (p *printer) dpp() {
	in := p.in
	c := int64(in.DPPCtrl)
	row := func(name string) { p.flag(name); p.int(c & 15) }
	switch {
	case c <= 0xff:
		p.flag("quad_perm:")
		for i := range 4 {
			sep := byte(',')
			if i == 0 {
				sep = '['
			}
			p.b = append(p.b, sep, '0'+byte(c>>(2*i)&3))
		}
		p.str("]")
	case c == 0x140:
		p.flag("row_mirror")
	case c == 0x141:
		p.flag("row_half_mirror")
	default:
		row(dppRows[c>>4&15])
	}
	p.flag("row_mask:")
	p.hex(uint64(in.Rows))
	p.flag("bank_mask:")
	p.hex(uint64(in.Banks))
	if in.Bound {
		p.flag("bound_ctrl:1")
	}
	if in.FI {
		p.flag("fi:1")
	}
}

// dppRows are the controls 0x100 + 16*i + n with an argument n.
var dppRows = [16]string{0: "row_shl:", 1: "row_shr:", 2: "row_ror:", 5: "row_share:", 6: "row_xmask:"}

// swizzle prints the symbolic pattern of ds_swizzle where there is one.
func (p *printer) swizzle(n uint16) {
	if n == 0 {
		return
	}
	p.flag("offset:")
	if n&0xff00 == 0x8000 {
		p.str("swizzle(QUAD_PERM")
		for i := range 4 {
			p.b = append(p.b, ',', '0'+byte(n>>(2*i)&3))
		}
		p.str(")")
		return
	}
	if n&0x8000 != 0 {
		p.int(int64(n))
		return
	}
	and, or, xor := n&31, n>>5&31, n>>10
	group := 32 - and
	two := func(name string, v uint16) {
		p.str("swizzle(")
		p.str(name)
		p.int(int64(v))
	}
	switch {
	case and == 31 && or == 0 && bits.OnesCount16(xor) == 1:
		two("SWAP,", xor)
	case and == 31 && or == 0 && xor > 0 && xor&(xor+1) == 0:
		two("REVERSE,", xor+1)
	case group > 1 && group&(group-1) == 0 && or < group && xor == 0:
		two("BROADCAST,", group)
		p.str(",")
		p.int(int64(or))
	default:
		p.str(`swizzle(BITMASK_PERM,"`)
		zero, one := or^xor, (and|or)^xor
		for m := uint16(16); m != 0; m >>= 1 {
			p.b = append(p.b, "0ip1"[zero&m/m*1+one&m/m*2])
		}
		p.str(`"`)
	}
	p.str(")")
}
