package exec_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Registers of generated instructions.
const (
	dstReg  = 8
	srcReg  = 16 // source i in 16+4*i
	maskReg = 40 // scalar: a lane mask that is read, and the one that is written
)

// shape is the kinds and sizes of a form's operands.
type shape struct {
	f      *rdna2.Form
	src    []rdna2.Operand // sources in registers or the literal of VOP2K, in the order of the text
	kinds  []rdna2.Kind    // of the sources, from the form with 64 bits where this one has none
	dst    int             // registers of the vector destination
	scalar bool            // the destination is scalar
	maskIn bool            // a lane mask is read: VCC or the last source
	mask   int             // scalar register of a lane mask that is written, -1: none
}

// shapeOf reads a form.
func shapeOf(f *rdna2.Form, lanes int) shape {
	s := shape{f: f, mask: -1, maskIn: f.Uses&rdna2.ImplVCC != 0}
	for _, o := range f.Operands() {
		switch {
		case o.Role == rdna2.RoleVDst:
			s.dst = int(o.Regs)
		case o.Role == rdna2.RoleSDst && o.Class == rdna2.ClassMask:
			s.mask = maskReg + 4
		case o.Role == rdna2.RoleSDst:
			s.dst, s.scalar = int(o.Regs), true
		case o.Class == rdna2.ClassMask:
			s.maskIn = true
		default:
			s.src = append(s.src, o)
			s.kinds = append(s.kinds, o.Kind)
		}
	}
	switch {
	case f.Defs&rdna2.ImplEXEC != 0:
		s.mask = state.EXEC
	case f.Defs&rdna2.ImplVCC != 0:
		s.mask = state.VCC
	}
	// The short forms do not state the type of an operand that can only be a vector register.
	for op := rdna2.Op(1); op < rdna2.NumOps; op++ {
		g := op.Form()
		if g.Mnemonic != f.Mnemonic || g.Format != rdna2.VOP3 && g.Format != rdna2.VOP3P {
			continue
		}
		i := 0
		for _, o := range g.Operands() {
			if o.Slot() >= 0 && o.Class != rdna2.ClassMask && i < len(s.kinds) {
				if s.src[i].Class == rdna2.ClassVGPR {
					s.kinds[i] = o.Kind
				}
				i++
			}
		}
	}
	return s
}

func half(k rdna2.Kind) bool { return k == rdna2.F16 || k == rdna2.B16 }

// signs are the sign bits of a type.
func signs(k rdna2.Kind) uint64 {
	switch k {
	case rdna2.F64:
		return 1 << 63
	case rdna2.F16:
		return 1 << 15
	case rdna2.V2F16:
		return 1<<31 | 1<<15
	}
	return 1 << 31
}

// values are the numbers of a row.
type values struct {
	line   int
	src    []uint64
	carry  uint64 // bit of the mask that is read
	hasOld bool
	old    uint64
	dst    uint64
	half   bool // only the low half of the destination is a result
	bit    bool // of the mask that is written
}

// conditions are the relations for which a compare holds.
var conditions = map[string]string{
	"f": "", "lt": "lt", "eq": "eq", "le": "lt eq", "gt": "gt", "lg": "lt gt", "ne": "lt gt", "ge": "gt eq", "o": "lt eq gt",
	"u": "un", "nge": "lt un", "nlg": "eq un", "ngt": "lt eq un", "nle": "gt un", "neq": "lt gt un", "nlt": "gt eq un", "tru": "lt eq gt un", "t": "lt eq gt",
}

// parse reads a row for a shape.
func (s *shape) parse(r *row) (values, error) {
	v := values{line: r.line}
	in, err := numbers(r.in)
	if err != nil {
		return v, err
	}
	n := len(s.src)
	if len(in) < n {
		return v, fmt.Errorf("%d operands, want %d", len(in), n)
	}
	v.src, in = in[:n], in[n:]
	if s.maskIn {
		if len(in) == 0 {
			return v, fmt.Errorf("the bit of the mask is missing")
		}
		v.carry, in = in[0], in[1:]
	}
	if len(in) > 0 && s.f.Has(rdna2.FlagTied) {
		v.hasOld, v.old, in = true, in[0], in[1:]
	} else if len(in) > 0 && strings.Contains(s.f.Mnemonic.String(), "mac") || len(in) > 0 && strings.Contains(s.f.Mnemonic.String(), "dot") {
		v.hasOld, v.old, in = true, in[0], in[1:]
	}
	if len(in) > 0 {
		return v, fmt.Errorf("%d operands too many", len(in))
	}
	out := r.out
	if name := strings.Split(s.f.Mnemonic.String(), "_"); strings.HasPrefix(name[1], "cmp") && name[2] != "class" {
		set, ok := conditions[name[2]]
		if !ok || len(out) != 1 || !slices.Contains([]string{"lt", "eq", "gt", "un"}, out[0]) {
			return v, fmt.Errorf("a relation is missing")
		}
		v.bit = slices.Contains(strings.Fields(set), out[0])
		return v, nil
	}
	if s.dst > 0 {
		if len(out) == 0 {
			return v, fmt.Errorf("the result is missing")
		}
		if v.dst, err = number(out[0]); err != nil {
			return v, err
		}
		v.half = len(out[0]) == 4
		out = out[1:]
	}
	if s.mask >= 0 {
		if len(out) == 0 {
			return v, fmt.Errorf("the bit of the written mask is missing")
		}
		v.bit, out = out[0] == "1", out[1:]
	}
	if len(out) > 0 {
		return v, fmt.Errorf("%d results too many", len(out))
	}
	return v, nil
}

// base is the instruction with vector registers in all operands.
func (s *shape) base(clamp bool) rdna2.Inst {
	in := rdna2.Inst{Op: s.f.Op, Clamp: clamp, Rows: 15, Banks: 15, DPPCtrl: 0xE4, Lanes8: 0o76543210, Sel: [2]rdna2.Sel{rdna2.SelDword, rdna2.SelDword}, DstSel: rdna2.SelDword}
	i := 0
	for _, o := range s.f.Operands() {
		switch {
		case o.Role == rdna2.RoleSDst && o.Class == rdna2.ClassMask:
			in.SDst = maskReg + 4
		case o.Role == rdna2.RoleVDst:
			in.Dst = rdna2.V(dstReg)
		case o.Role == rdna2.RoleSDst:
			in.Dst = dstReg
		case o.Class == rdna2.ClassMask:
			in.Src[o.Slot()] = maskReg
		default:
			if o.Slot() >= 0 {
				in.Src[o.Slot()] = rdna2.V(srcReg + 4*i)
			}
			i++
		}
	}
	if s.f.Has(rdna2.FlagOpSelHi) {
		in.OpSelHi = 7
	}
	return in
}

// checkVector runs all rows in the lanes of waves, then variants of the instruction with the same results.
func checkVector(g *group, f *rdna2.Form) error {
	for _, lanes := range []int{32, 64} {
		s := shapeOf(f, lanes)
		var rows []values
		for i := range g.rows {
			v, err := s.parse(&g.rows[i])
			if err != nil {
				return fmt.Errorf("line %d: %w", g.rows[i].line, err)
			}
			rows = append(rows, v)
		}
		base := s.base(g.clamp)
		if f.Format == rdna2.VOP2K {
			for i := range rows { // the constant is part of the instruction
				in := base
				for k, o := range s.src {
					if o.Slot() < 0 {
						in.Literal = uint32(rows[i].src[k])
					}
				}
				if err := s.run(lanes, &in, rows[i:i+1], ^uint64(0)); err != nil {
					return err
				}
			}
			continue
		}
		for _, exec := range []uint64{^uint64(0), 0x5A5A00FF_0F0F3CA5, 0} {
			if err := s.run(lanes, &base, rows, exec); err != nil {
				return err
			}
		}
		if lanes == 64 {
			continue
		}
		for _, v := range s.variants(base, rows) {
			if err := s.run(lanes, &v.in, v.rows, ^uint64(0)); err != nil {
				return fmt.Errorf("%s: %w", v.in.Text(lanes == 64), err)
			}
		}
	}
	return nil
}

// variant is an instruction with rows that it computes.
type variant struct {
	in   rdna2.Inst
	rows []values
}

// variants are other encodings of the operands of the instruction's rows: from scalar registers and literals, negated
// and absolute, from high halves.
func (s *shape) variants(base rdna2.Inst, rows []values) []variant {
	var out []variant
	change := func(in rdna2.Inst, i int, f func(uint64) uint64) {
		v := variant{in: in}
		for _, r := range rows {
			r.src = slices.Clone(r.src)
			r.src[i] = f(r.src[i])
			v.rows = append(v.rows, r)
		}
		out = append(out, v)
	}
	f := s.f
	for i, o := range s.src {
		slot := o.Slot()
		if o.Class == rdna2.ClassSrc || o.Class == rdna2.ClassCSrc || o.Class == rdna2.ClassSDWA {
			for _, r := range rows {
				in := base
				in.Src[slot] = uint16(srcReg + 4*i)
				out = append(out, variant{in, []values{r}})
				if o.Class == rdna2.ClassSrc && o.Regs < 2 {
					in.Src[slot], in.Literal = rdna2.LiteralK, uint32(r.src[i])
					out = append(out, variant{in, []values{r}})
				}
			}
		}
		k := s.kinds[i]
		bit := uint8(1) << slot
		if f.NegMask&bit != 0 && !f.Has(rdna2.FlagNegLoHi) {
			in := base
			in.Neg = bit
			change(in, i, func(v uint64) uint64 { return v ^ signs(k) })
			if f.Has(rdna2.FlagAbs) {
				in.Abs = bit
				v := variant{in: in} // negated absolute value: of those that are negative
				for _, r := range rows {
					if r.src[i]&signs(k) != 0 {
						v.rows = append(v.rows, r)
						r.src = slices.Clone(r.src)
						r.src[i] ^= signs(k)
						v.rows = append(v.rows, r)
					}
				}
				if len(v.rows) > 0 {
					out = append(out, v)
				}
			}
		}
		if f.Has(rdna2.FlagNegLoHi) && k == rdna2.V2F16 {
			in := base
			in.Neg = bit
			change(in, i, func(v uint64) uint64 { return v ^ 0x8000 })
			in.Neg, in.NegHi = 0, bit
			change(in, i, func(v uint64) uint64 { return v ^ 0x80000000 })
		}
		if f.Has(rdna2.FlagOpSelHi) && (k == rdna2.V2F16 || k == rdna2.V2B16) {
			in := base
			in.OpSel, in.OpSelHi = bit, 7&^bit
			change(in, i, func(v uint64) uint64 { return v<<16&0xFFFF0000 | v>>16 })
		}
		if f.Has(rdna2.FlagOpSel) && f.Format == rdna2.VOP3 && half(k) {
			in := base
			in.OpSel = bit
			change(in, i, func(v uint64) uint64 { return v<<16&0xFFFF0000 | 0x5AD3 })
		}
	}
	if f.Has(rdna2.FlagOpSel) && f.Format == rdna2.VOP3 && len(rows) > 0 && rows[0].half {
		in := base
		in.OpSel = 8
		out = append(out, variant{in, rows})
	}
	return out
}

// run executes the instruction on rows, one per lane, in as many waves as it takes.
func (s *shape) run(lanes int, in *rdna2.Inst, rows []values, exec uint64) error {
	if s.scalar {
		return fmt.Errorf("a scalar result needs a row of its own")
	}
	for first := 0; first < len(rows); first += lanes {
		b := newRegisters(lanes)
		b.setS(state.EXEC, lanes/32, exec)
		var carry uint64
		for l := range lanes {
			r := &rows[(first+l)%len(rows)]
			for i, o := range s.src {
				if o.Slot() < 0 {
					continue
				}
				switch code := in.Src[o.Slot()]; {
				case rdna2.IsVGPR(code):
					v := r.src[i]
					if half(s.kinds[i]) && in.OpSel == 0 && v <= 0xFFFF && o.Class != rdna2.ClassSDWA {
						v |= 0xB7E90000 // bits that a half does not read
					}
					b.setV(int(code-rdna2.VGPR0), l, max(int(o.Regs), 1), v)
				case code < 128:
					b.setS(int(code), max(int(o.Regs), 1), r.src[i])
				}
			}
			carry |= r.carry << l
			if r.hasOld {
				old := r.old
				if r.half {
					old |= 0xA5C30000
				}
				b.setV(dstReg, l, max(s.dst, 1), old)
			}
		}
		if s.maskIn {
			reg := maskReg
			if s.f.Uses&rdna2.ImplVCC != 0 {
				reg = state.VCC
			}
			b.setS(reg, lanes/32, carry)
		}
		b.want = b.contents()
		var mask uint64
		for l := range lanes {
			r := &rows[(first+l)%len(rows)]
			if exec>>l&1 == 0 {
				continue
			}
			if r.bit {
				mask |= 1 << l
			}
			switch old := uint64(b.regs[dstReg*lanes+l]); {
			case s.dst == 0:
			case r.half && in.OpSel&8 != 0 && s.f.Format == rdna2.VOP3:
				b.setWantV(dstReg, l, 1, old&0xFFFF|r.dst<<16)
			case r.half && (s.f.Format == rdna2.SDWA1 || s.f.Format == rdna2.SDWA2):
				b.setWantV(dstReg, l, 1, r.dst) // a part of a register that has the rest filled with zeros
			case r.half:
				b.setWantV(dstReg, l, 1, old&^0xFFFF|r.dst)
			default:
				b.setWantV(dstReg, l, s.dst, r.dst)
			}
		}
		if s.mask >= 0 {
			b.setWantS(s.mask, lanes/32, mask)
		}
		if err := b.exec(in); err != nil {
			lines := rows[first].line
			return fmt.Errorf("rows from line %d on: %w", lines, err)
		}
	}
	return nil
}
