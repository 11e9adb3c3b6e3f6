package rdna2

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// parseReg reads a register or tuple; n is its width, 0 for names of any width.
func parseReg(s string) (code uint16, n int, ok bool) {
	for _, sp := range specials {
		if sp.name == s {
			return sp.code, sp.regs, true
		}
	}
	base, top := uint16(0), uint16(0)
	switch {
	case strings.HasPrefix(s, "ttmp"):
		base, top, s = TTMP0, 16, s[4:]
	case strings.HasPrefix(s, "s"):
		base, top, s = SGPR0, VCC, s[1:]
	case strings.HasPrefix(s, "v"):
		base, top, s = VGPR0, 256, s[1:]
	default:
		return 0, 0, false
	}
	from, to := s, s
	if len(s) > 2 && s[0] == '[' && s[len(s)-1] == ']' {
		from, to, ok = strings.Cut(s[1:len(s)-1], ":")
		if !ok {
			to = from
		}
	}
	a, ok1 := parseIndex(from)
	b, ok2 := parseIndex(to)
	if !ok1 || !ok2 || b < a || b >= top {
		return 0, 0, false
	}
	return base + a, int(b-a) + 1, true
}

// IsRegister reports whether s names a register or a tuple, as v1, s[2:3] or vcc_lo.
func IsRegister(s string) bool {
	_, _, ok := parseReg(s)
	return ok
}

func parseIndex(s string) (uint16, bool) {
	if len(s) == 0 || len(s) > 3 || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	v, err := strconv.ParseUint(s, 10, 16)
	return uint16(v), err == nil
}

// parseInt reads a decimal or hexadecimal integer of 64 bits with an optional sign, which wraps as it does in LLVM.
func parseInt(s string) (int64, bool) {
	body, neg := strings.CutPrefix(s, "-")
	base := 10
	if strings.HasPrefix(body, "0x") {
		body, base = body[2:], 16
	}
	if body == "" || body[0] == '+' || body[0] == '-' || body[0] == '_' {
		return 0, false
	}
	v, err := strconv.ParseUint(body, base, 64)
	if neg {
		v = -v
	}
	return int64(v), err == nil
}

// parseHwreg reads a hardware register and its bits, or the number that encodes them.
func parseHwreg(s string) (uint16, error) {
	if v, ok := parseInt(s); ok && v >= 0 && v <= 0xffff {
		return uint16(v), nil
	}
	body, ok := strings.CutPrefix(s, "hwreg(")
	if !ok || !strings.HasSuffix(body, ")") {
		return 0, fmt.Errorf("operand %q: want hwreg(name, offset, size)", s)
	}
	p := strings.Split(body[:len(body)-1], ",")
	id := int64(-1)
	name := strings.TrimSpace(p[0])
	if n, ok := strings.CutPrefix(name, "HW_REG_"); ok {
		for i, h := range hwregNames {
			if h == n && n != "" {
				id = int64(i)
			}
		}
	} else if v, ok := parseInt(name); ok {
		id = v
	}
	off, size := int64(0), int64(32)
	if len(p) == 3 {
		var ok1, ok2 bool
		off, ok1 = parseInt(strings.TrimSpace(p[1]))
		size, ok2 = parseInt(strings.TrimSpace(p[2]))
		if !ok1 || !ok2 {
			id = -1
		}
	} else if len(p) != 1 {
		id = -1
	}
	if id < 0 || id > 63 || off < 0 || off > 31 || size < 1 || size > 32 {
		return 0, fmt.Errorf("operand %q: no such hardware register or bits", s)
	}
	return Hwreg(int(id), int(off), int(size)), nil
}

// waitcnt reads the counters of s_waitcnt, or a plain number.
func (a *assembler) waitcnt(s string) error {
	if v, ok := parseInt(s); ok && v >= 0 && v <= 0xffff {
		a.in.Simm16 = uint16(v)
		return nil
	}
	w := Waitcnt{MaxVM, MaxExp, MaxLGKM}
	fields := strings.Fields(s)
	if len(fields) == 0 {
		return fmt.Errorf("no counters")
	}
	for _, f := range fields {
		name, arg, ok := strings.Cut(f, "(")
		v, ok2 := parseInt(strings.TrimSuffix(arg, ")"))
		var at *int
		limit := int64(MaxVM)
		switch name {
		case "vmcnt":
			at = &w.VM
		case "expcnt":
			at, limit = &w.Exp, MaxExp
		case "lgkmcnt":
			at = &w.LGKM
		}
		if at == nil || !ok || !ok2 || !strings.HasSuffix(arg, ")") || v < 0 || v > limit {
			return fmt.Errorf("counter %q", f)
		}
		*at = int(v)
	}
	a.in.Simm16 = w.Simm16()
	return nil
}

// wordModifiers are the modifiers that are one word. A form that lacks a modifier lacks the words that leave it off, too:
// of several encodings, noclamp chooses one with a clamp bit.
var wordModifiers = map[string]struct {
	fits func(f *Form) bool
	set  func(in *Inst)
}{
	"clamp":           {func(f *Form) bool { return f.Has(FlagClamp) }, func(in *Inst) { in.Clamp = true }},
	"noclamp":         {func(f *Form) bool { return f.Has(FlagClamp) }, func(in *Inst) { in.Clamp = false }},
	"glc":             {(*Form).caches, func(in *Inst) { in.GLC = true }},
	"noglc":           {(*Form).caches, func(in *Inst) { in.GLC = false }},
	"dlc":             {(*Form).caches, func(in *Inst) { in.DLC = true }},
	"nodlc":           {(*Form).caches, func(in *Inst) { in.DLC = false }},
	"slc":             {(*Form).streams, func(in *Inst) { in.SLC = true }},
	"noslc":           {(*Form).streams, func(in *Inst) { in.SLC = false }},
	"nogds":           {func(f *Form) bool { return f.Format == DS }, func(*Inst) {}},
	"notfe":           {func(f *Form) bool { return f.Format == MUBUF }, func(*Inst) {}},
	"row_mirror":      {(*Form).dpp16, func(in *Inst) { in.DPPCtrl = 0x140 }},
	"row_half_mirror": {(*Form).dpp16, func(in *Inst) { in.DPPCtrl = 0x141 }},
	"mul:1":           {func(f *Form) bool { return f.Has(FlagOMod) }, func(in *Inst) { in.OMod = 0 }},
	"div:1":           {func(f *Form) bool { return f.Has(FlagOMod) }, func(in *Inst) { in.OMod = 0 }},
	"mul:2":           {func(f *Form) bool { return f.Has(FlagOMod) }, func(in *Inst) { in.OMod = 1 }},
	"mul:4":           {func(f *Form) bool { return f.Has(FlagOMod) }, func(in *Inst) { in.OMod = 2 }},
	"div:2":           {func(f *Form) bool { return f.Has(FlagOMod) }, func(in *Inst) { in.OMod = 3 }},
}

// streams reports whether an instruction is a vector memory access, which has every cache policy.
func (f *Form) streams() bool { return f.Format >= FLAT && f.Format <= MUBUF && f.NumOps > 0 }

// caches reports whether an instruction has the cache policies glc and dlc.
func (f *Form) caches() bool { return f.streams() || f.Format == SMEM && f.NumOps > 1 }

// dpp16 reports whether lanes exchange values by a control word of 16 bits.
func (f *Form) dpp16() bool { return f.Format == DPP1 || f.Format == DPP2 }

// addressModifiers are the modifiers that are part of a form of buffer instructions.
var addressModifiers = map[string]Flag{"offen": FlagOffEn, "idxen": FlagIdxEn}

// modifier reads one word after the operands; n is the number of sources.
func (a *assembler) modifier(s string, n int) error {
	f := a.f
	bad := func() error { return fmt.Errorf("modifier %q does not fit %s", s, f.Text) }
	if word, ok := wordModifiers[s]; ok {
		if !word.fits(f) {
			return bad()
		}
		word.set(a.in)
		a.lanes = a.lanes || f.dpp16()
		return nil
	}
	if flag, ok := addressModifiers[s]; ok {
		if !f.Has(flag) {
			return bad()
		}
		a.seen |= flag
		return nil
	}
	name, arg, ok := strings.Cut(s, ":")
	if !ok {
		return bad()
	}
	switch {
	case f.Format >= SDWA1 && f.Format <= SDWAC:
		return a.sdwa(name, arg, n, bad)
	case strings.HasPrefix(arg, "["):
		return a.listModifier(name, arg, n, bad)
	case f.Op == DS_SWIZZLE_B32 && name == "offset":
		v, ok := parseSwizzle(arg)
		if !ok {
			return bad()
		}
		a.in.Offset = int32(v)
		return nil
	}
	v, ok := parseInt(arg)
	if !ok || v < -1<<21 || v > 1<<21 || !a.offset(name, v) && !a.dpp(name, v) {
		return bad()
	}
	return nil
}

// offset reads the offset of a memory instruction, or one of two.
func (a *assembler) offset(name string, v int64) bool {
	two := a.f.role(RoleOffset0) && v >= 0 && v <= 255
	switch {
	case name == "offset" && a.f.role(RoleOffset) && (a.f.Format != SMEM || a.f.role(RoleSOffset) || a.null): // else an operand
		a.in.Offset = int32(v)
	case name == "offset0" && two:
		a.in.Offset = int32(v)
	case name == "offset1" && two:
		a.in.Offset1 = uint8(v)
	default:
		return false
	}
	return true
}

// dpp reads how lanes exchange values.
func (a *assembler) dpp(name string, v int64) bool {
	f := a.f.Format
	if f < DPP1 || f > DPP8_2 || v < 0 || v > 15 || f >= DPP8_1 && name != "fi" {
		return false
	}
	switch name {
	case "row_mask":
		a.in.Rows = uint8(v)
	case "bank_mask":
		a.in.Banks = uint8(v)
	case "bound_ctrl":
		// The historical spelling bound_ctrl:0 sets the bit as bound_ctrl:1 does; without the modifier it is clear.
		if v > 1 {
			return false
		}
		a.in.Bound = true
	case "fi":
		a.in.FI = v != 0
	default:
		i := slices.Index(dppRows[:], name+":")
		if i < 0 {
			return false
		}
		a.in.DPPCtrl = uint16(0x100 + 16*i + int(v))
		a.lanes = true
	}
	return true
}

// listModifier reads name:[a,b,..].
func (a *assembler) listModifier(name, arg string, n int, bad func() error) error {
	in, f := a.in, a.f
	if !strings.HasSuffix(arg, "]") {
		return bad()
	}
	parts := strings.Split(arg[1:len(arg)-1], ",")
	if name == "dpp8" && (f.Format == DPP8_1 || f.Format == DPP8_2) && len(parts) == 8 {
		in.Lanes8 = 0
		for i, p := range parts {
			x, ok := parseInt(p)
			if !ok || x < 0 || x > 7 {
				return bad()
			}
			in.Lanes8 |= uint32(x) << (3 * i)
		}
		a.lanes = true
		return nil
	}
	var v [4]uint8
	if len(parts) > 4 {
		return bad()
	}
	limit := int64(1)
	if name == "quad_perm" {
		limit = 3
	}
	mask := uint8(0)
	for i, p := range parts {
		x, ok := parseInt(p)
		if !ok || x < 0 || x > limit {
			return bad()
		}
		v[i] = uint8(x)
		mask |= v[i] & 1 << i
	}
	want := n
	switch name {
	case "quad_perm":
		if len(parts) != 4 || !f.dpp16() {
			return bad()
		}
		a.lanes = true
		in.DPPCtrl = uint16(v[0] | v[1]<<2 | v[2]<<4 | v[3]<<6)
		return nil
	case "op_sel":
		if f.Format == VOP3 {
			if f.Mnemonic == M_V_PERMLANE16_B32 || f.Mnemonic == M_V_PERMLANEX16_B32 {
				want = 2
			} else {
				want = n + 1
				mask = mask&(1<<n-1) | v[n]<<3
			}
		}
		in.OpSel = mask
	case "op_sel_hi":
		in.OpSelHi = mask | in.OpSelHi&^(1<<n-1)
		if f.Format == VOP3P && f.Has(FlagNegAbs) {
			in.OpSelHi = mask
		}
	case "neg_lo":
		if !f.Has(FlagNegLoHi) {
			return bad()
		}
		in.Neg = mask
	case "neg_hi":
		in.NegHi = mask
	default:
		return bad()
	}
	if len(parts) > want { // bits left out are 0
		return bad()
	}
	return nil
}

// sdwa reads a selection.
func (a *assembler) sdwa(name, arg string, n int, bad func() error) error {
	in := a.in
	if name == "dst_unused" {
		i := slices.Index(unusedNames[:], arg)
		if i < 0 || a.f.Format == SDWAC {
			return bad()
		}
		in.Unused = Unused(i)
		return nil
	}
	i := slices.Index(selNames[:], arg)
	switch {
	case i < 0:
		return bad()
	case name == "dst_sel" && a.f.Format != SDWAC:
		in.DstSel = Sel(i)
	case name == "src0_sel":
		in.Sel[0] = Sel(i)
	case name == "src1_sel" && n > 1:
		in.Sel[1] = Sel(i)
	default:
		return bad()
	}
	return nil
}

func parseSwizzle(s string) (uint16, bool) {
	if v, ok := parseInt(s); ok {
		return uint16(v), v >= 0 && v <= 0xffff
	}
	body, ok := strings.CutPrefix(s, "swizzle(")
	if !ok || !strings.HasSuffix(body, ")") {
		return 0, false
	}
	p := strings.Split(body[:len(body)-1], ",")
	if p[0] == "BITMASK_PERM" {
		if len(p) != 2 || len(p[1]) != 7 || p[1][0] != '"' || p[1][6] != '"' {
			return 0, false
		}
		var and, or, xor uint16
		for i := range 5 {
			m := uint16(16) >> i
			switch p[1][1+i] {
			case '0':
			case '1':
				or |= m
			case 'p':
				and |= m
			case 'i':
				and |= m
				xor |= m
			default:
				return 0, false
			}
		}
		return and | or<<5 | xor<<10, true
	}
	var v [4]int64
	if len(p) > 5 {
		return 0, false
	}
	for i, x := range p[1:] {
		if v[i], ok = parseInt(x); !ok || v[i] < 0 || v[i] > 32 {
			return 0, false
		}
	}
	pow2 := func(x int64) bool { return x > 0 && x&(x-1) == 0 }
	switch {
	case p[0] == "QUAD_PERM" && len(p) == 5:
		n := uint16(0x8000)
		for i, x := range v {
			if x > 3 {
				return 0, false
			}
			n |= uint16(x) << (2 * i)
		}
		return n, true
	case p[0] == "SWAP" && len(p) == 2 && pow2(v[0]) && v[0] <= 16:
		return 31 | uint16(v[0])<<10, true
	case p[0] == "REVERSE" && len(p) == 2 && pow2(v[0]) && v[0] >= 2:
		return 31 | uint16(v[0]-1)<<10, true
	case p[0] == "BROADCAST" && len(p) == 3 && pow2(v[0]) && v[0] >= 2 && v[1] < v[0]:
		return uint16(32-v[0]) | uint16(v[1])<<5, true
	}
	return 0, false
}
