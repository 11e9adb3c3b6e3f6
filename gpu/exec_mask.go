package gpu

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// cmp is one comparison: of 32-bit operands by f, of others by f64.
type cmp struct {
	name  string
	class Class
	kind  fkind
	exec  bool // v_cmpx: writes EXEC
	row   cmpRow
	wide  func(a, b uint64) bool
}

// cmpRow is the set of lanes for which a comparison holds.
type cmpRow func(a, b *row, n int) uint64

var cmpTable = compareTable()
var cmpSem = byName(cmpTable, func(s *cmp) string { return s.name })

// The relations of a compare by the outcome of less, equal, greater, unordered.
const (
	relLT = 1 << iota
	relEQ
	relGT
	relUN
)

var intRelations = map[string]int{
	"f": 0, "lt": relLT, "eq": relEQ, "le": relLT | relEQ, "gt": relGT, "ne": relLT | relGT, "ge": relGT | relEQ,
	"t": relLT | relEQ | relGT,
}

var floatRelations = map[string]int{
	"f": 0, "lt": relLT, "eq": relEQ, "le": relLT | relEQ, "gt": relGT, "lg": relLT | relGT, "ge": relGT | relEQ,
	"o": relLT | relEQ | relGT, "u": relUN, "nge": relLT | relUN, "nlg": relEQ | relUN, "ngt": relLT | relEQ | relUN,
	"nle": relGT | relUN, "neq": relLT | relGT | relUN, "nlt": relGT | relEQ | relUN, "tru": 15,
}

func relOf[T int32 | uint32 | int64 | uint64 | int16 | uint16 | float32 | float64](a, b T) int {
	switch {
	case a < b:
		return relLT
	case a > b:
		return relGT
	case a == b:
		return relEQ
	}
	return relUN
}

// compareTable makes the compares of the instruction set from their names:
// v_cmp_ or v_cmpx_, relation, type.
func compareTable() []cmp {
	var out []cmp
	for m := rdna2.Mnemonic(1); m < rdna2.NumMnemonics; m++ {
		name := m.String()
		rest, ok := strings.CutPrefix(name, "v_cmp_")
		exec := false
		if !ok {
			if rest, ok = strings.CutPrefix(name, "v_cmpx_"); !ok {
				continue
			}
			exec = true
		}
		relName, typ, _ := strings.Cut(rest, "_")
		c := cmp{name: name, exec: exec, class: ClassInt}
		if relName == "class" {
			c.class = ClassF32
			switch typ {
			case "f32":
				c.kind = fkF32
				c.wide = func(a, b uint64) bool { return classOf(a, 8, 23)&uint32(b) != 0 }
			case "f16":
				c.kind = fkF16
				c.wide = func(a, b uint64) bool { return classOf(a&0xFFFF, 5, 10)&uint32(b) != 0 }
			case "f64":
				c.kind, c.class = fkF64, ClassF64
				c.wide = func(a, b uint64) bool { return classOf(a, 11, 52)&uint32(b) != 0 }
			}
			out = append(out, c)
			continue
		}
		table := intRelations
		if typ[0] == 'f' {
			table = floatRelations
		}
		set, known := table[relName]
		if !known {
			continue
		}
		has := func(r int) bool { return set&r != 0 }
		switch typ {
		case "f32":
			c.kind, c.class = fkF32, ClassF32
			c.wide = func(a, b uint64) bool { return has(relOf(f32(uint32(a)), f32(uint32(b)))) }
		case "f16":
			c.kind, c.class = fkF16, ClassF16
			c.wide = func(a, b uint64) bool {
				return has(relOf(f32(f16to32(uint32(a)&0xFFFF)), f32(f16to32(uint32(b)&0xFFFF))))
			}
		case "f64":
			c.kind, c.class = fkF64, ClassF64
			c.wide = func(a, b uint64) bool { return has(relOf(f64(a), f64(b))) }
		case "i32":
			c.wide = func(a, b uint64) bool { return has(relOf(int32(a), int32(b))) }
		case "u32":
			c.wide = func(a, b uint64) bool { return has(relOf(uint32(a), uint32(b))) }
		case "i16":
			c.wide = func(a, b uint64) bool { return has(relOf(int16(a), int16(b))) }
		case "u16":
			c.wide = func(a, b uint64) bool { return has(relOf(uint16(a), uint16(b))) }
		case "i64":
			c.class = ClassInt64
			c.wide = func(a, b uint64) bool { return has(relOf(int64(a), int64(b))) }
		case "u64":
			c.class = ClassInt64
			c.wide = func(a, b uint64) bool { return has(relOf(a, b)) }
		default:
			continue
		}
		if row := hostCompare(typ, set); row != nil {
			c.row = row
		}
		out = append(out, c)
	}
	return out
}

// classOf is the class bit of a float of e exponent and f fraction bits, in the
// order of v_cmp_class: sNaN qNaN -inf -normal -denormal -0 +0 +denormal
// +normal +inf.
func classOf(v uint64, e, f uint) uint32 {
	frac := v & (1<<f - 1)
	exp := v >> f & (1<<e - 1)
	neg := v>>(e+f)&1 != 0
	pick := func(n, p uint) uint32 {
		if neg {
			return 1 << n
		}
		return 1 << p
	}
	switch {
	case exp == 1<<e-1 && frac != 0:
		if frac>>(f-1) != 0 {
			return 2
		}
		return 1
	case exp == 1<<e-1:
		return pick(2, 9)
	case exp != 0:
		return pick(3, 8)
	case frac != 0:
		return pick(4, 7)
	}
	return pick(5, 6)
}

func (d *decoder) cmpOp(u *uop, s *cmp) error {
	x := u.x
	u.class = s.class
	x.f = s
	switch {
	case s.exec:
		u.sdst = sEXEC
	case x.form.Format == rdna2.VOPC:
		u.sdst = sVCC
	}
	if x.in.Clamp {
		return fmt.Errorf("clamp on %s is not modelled", s.name)
	}
	u.fn = execCmpWide
	if s.row != nil && x.in.Neg|x.in.Abs == 0 {
		u.fn = execCmp
	}
	return nil
}

// Compares write 0 for inactive lanes.
func execCmp(w *wave, u *uop) {
	m := w.mask()
	if m != 0 {
		m &= u.x.f.(*cmp).row(w.src(u.ak, u.a, 0), w.src(u.bk, u.b, 1), w.n)
	}
	w.setMask(uint32(u.sdst), m)
}

func execCmpWide(w *wave, u *uop) {
	m := w.mask()
	w.wideSource(&w.m.wide[0], u, 0)
	w.wideSource(&w.m.wide[1], u, 1)
	f := u.x.f.(*cmp).wide
	var r uint64
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		if f(w.m.wide[0][l], w.m.wide[1][l]) {
			r |= 1 << l
		}
	}
	w.setMask(uint32(u.sdst), r)
}

// special is an instruction that crosses lanes or mixes vector and scalar
// state.
type special struct {
	name  string
	class Class
	fn    execFn
	f     any
	mods  bool // source modifiers are handled
	clamp bool
}

var specialSem = byName(specialTable, func(s *special) string { return s.name })

type carryFn func(a, b, cin uint32) (d uint32, cout bool)

func addCarry(a, b, cin uint32) (uint32, bool) {
	d, c := bits.Add32(a, b, cin)
	return d, c != 0
}

func subCarry(a, b, cin uint32) (uint32, bool) {
	d, c := bits.Sub32(a, b, cin)
	return d, c != 0
}

func subrevCarry(a, b, cin uint32) (uint32, bool) { return subCarry(b, a, cin) }

var specialTable = []special{
	{name: "v_nop", class: ClassMove, fn: execNop},
	{name: "v_cndmask_b32", class: ClassMove, fn: execCndmask, mods: true},
	{name: "v_add_co_u32", class: ClassInt, fn: execCarry, f: carryFn(addCarry)},
	{name: "v_sub_co_u32", class: ClassInt, fn: execCarry, f: carryFn(subCarry)},
	{name: "v_subrev_co_u32", class: ClassInt, fn: execCarry, f: carryFn(subrevCarry)},
	{name: "v_add_co_ci_u32", class: ClassInt, fn: execCarry, f: carryFn(addCarry)},
	{name: "v_sub_co_ci_u32", class: ClassInt, fn: execCarry, f: carryFn(subCarry)},
	{name: "v_subrev_co_ci_u32", class: ClassInt, fn: execCarry, f: carryFn(subrevCarry)},
	{name: "v_mad_u64_u32", class: ClassIntMul, fn: execMad64, f: false},
	{name: "v_mad_i64_i32", class: ClassIntMul, fn: execMad64, f: true},
	{name: "v_readfirstlane_b32", class: ClassMove, fn: execReadFirstLane},
	{name: "v_readlane_b32", class: ClassMove, fn: execReadLane},
	{name: "v_writelane_b32", class: ClassMove, fn: execWriteLane},
	{name: "v_permlane16_b32", class: ClassMove, fn: execPermlane, f: 0},
	{name: "v_permlanex16_b32", class: ClassMove, fn: execPermlane, f: 16},
	{name: "v_mbcnt_lo_u32_b32", class: ClassMove, fn: execMbcnt, f: 0},
	{name: "v_mbcnt_hi_u32_b32", class: ClassMove, fn: execMbcnt, f: 32},
	{name: "v_fma_mix_f32", class: ClassFMA32, fn: execFmaMix, f: 0, mods: true, clamp: true},
	{name: "v_fma_mixlo_f16", class: ClassFMA32, fn: execFmaMix, f: 1, mods: true, clamp: true},
	{name: "v_fma_mixhi_f16", class: ClassFMA32, fn: execFmaMix, f: 2, mods: true, clamp: true},
	{name: "v_div_scale_f32", class: ClassF32, fn: execDivScale, f: false, mods: true},
	{name: "v_div_scale_f64", class: ClassF64, fn: execDivScale, f: true, mods: true},
	{name: "v_div_fmas_f32", class: ClassFMA32, fn: execDivFmas, f: false, mods: true},
	{name: "v_div_fmas_f64", class: ClassF64, fn: execDivFmas, f: true, mods: true},
}

// maskOperand is the lane mask an instruction selects by: VCC, or source 2.
func (w *wave) maskOperand(u *uop) uint64 {
	if u.ck == srcS {
		return w.sMask(u.c)
	}
	if u.ck == srcC {
		return u.x.val[2]
	}
	return w.sMask(sVCC)
}

func execCndmask(w *wave, u *uop) {
	m := w.mask()
	if m == 0 {
		return
	}
	sel := w.maskOperand(u)
	a := w.src(u.ak, u.a, 0)
	b := w.src(u.bk, u.b, 1)
	if u.x.in.Neg|u.x.in.Abs != 0 {
		a, b = w.modify(a, u, 0), w.modify(b, u, 1)
	}
	d := w.at(u.dst)
	if m == w.full() {
		for l := range w.n {
			v := a[l&63]
			if sel>>uint(l)&1 != 0 {
				v = b[l&63]
			}
			d[l&63] = v
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		if sel>>l&1 != 0 {
			d[l] = b[l]
		} else {
			d[l] = a[l]
		}
	}
}

func execCarry(w *wave, u *uop) {
	m := w.mask()
	f := u.x.f.(carryFn)
	a := w.src(u.ak, u.a, 0)
	b := w.src(u.bk, u.b, 1)
	d := w.at(u.dst)
	var cin, cout uint64
	out := uint32(u.sdst)
	switch {
	case u.x.form.Format == rdna2.VOP2:
		cin, out = w.sMask(sVCC), sVCC
	case u.ck != srcNone:
		cin = w.maskOperand(u)
	}
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		v, c := f(a[l], b[l], uint32(cin>>l)&1)
		d[l] = v
		if c {
			cout |= 1 << l
		}
	}
	w.setMask(out, cout)
}

func execMad64(w *wave, u *uop) {
	m := w.mask()
	signed := u.x.f.(bool)
	t := &w.m.wide
	for i := range 3 {
		w.wideSource(&t[i], u, i)
	}
	lo, hi := w.at(u.dst), w.at(u.dst+uint32(w.n))
	var cout uint64
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		a, b, c := t[0][l], t[1][l], t[2][l]
		if signed {
			p := int64(int32(a)) * int64(int32(b))
			r := p + int64(c)
			if (p >= 0) == (int64(c) >= 0) && (r >= 0) != (p >= 0) {
				cout |= 1 << l
			}
			a = uint64(r)
		} else {
			r, carry := bits.Add64(a*b, c, 0)
			if carry != 0 {
				cout |= 1 << l
			}
			a = r
		}
		lo[l], hi[l] = uint32(a), uint32(a>>32)
	}
	w.setMask(uint32(u.sdst), cout)
}

func execReadFirstLane(w *wave, u *uop) {
	l := 0
	if m := w.mask(); m != 0 {
		l = firstLane(m)
	}
	w.s[u.dst] = w.src(u.ak, u.a, 0)[l]
}

func execReadLane(w *wave, u *uop) {
	w.s[u.dst] = w.src(u.ak, u.a, 0)[int(w.scalar(u.bk, u.b))&(w.n-1)]
}

func execWriteLane(w *wave, u *uop) {
	w.at(u.dst)[int(w.scalar(u.bk, u.b))&(w.n-1)] = w.scalar(u.ak, u.a)
}

// execPermlane: lane l of a row of 16 takes lane sel[l] of the same row, or of
// the row beside it. op_sel bit 0 reads inactive lanes, bit 1 makes them 0.
func execPermlane(w *wave, u *uop) {
	m := w.mask()
	cross := u.x.f.(int)
	a := *w.src(u.ak, u.a, 0)
	sel := uint64(w.scalar(u.bk, u.b)) | uint64(w.scalar(u.ck, u.c))<<32
	fi, bound := u.x.in.OpSel&1 != 0, u.x.in.OpSel&2 != 0
	d := w.at(u.dst)
	for k := m; k != 0; k &= k - 1 {
		l := firstLane(k)
		s := (l &^ 15) ^ cross | int(sel>>(4*(l&15))&15)
		switch {
		case fi || m>>s&1 != 0:
			d[l] = a[s]
		case bound:
			d[l] = 0
		}
	}
}

func execMbcnt(w *wave, u *uop) {
	m := w.mask()
	base := u.x.f.(int)
	a, b := w.src(u.ak, u.a, 0), w.src(u.bk, u.b, 1)
	d := w.at(u.dst)
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		below := fullBelow(l - base)
		d[l] = popcount(a[l]&below) + b[l]
	}
}

// fullBelow is the mask of the bits below n of 32.
func fullBelow(n int) uint32 {
	if n <= 0 {
		return 0
	}
	if n >= 32 {
		return ^uint32(0)
	}
	return 1<<n - 1
}

// Rows that the mixed multiply-add is made of.
var (
	rowWiden = rowFor("v_cvt_f32_f16")
	rowFMA   = rowFor("v_fma_f32")
)

// rowFor is the complete row function of a mnemonic of the vector table.
func rowFor(name string) func(d, a, b, c *row, m uint64, n int) {
	for i := range vectorTable {
		if s := &vectorTable[i]; s.name == name {
			lanes := laneRow(s.f)
			fast := hostRow(name)
			if fast == nil {
				fast = lanes
			}
			return func(d, a, b, c *row, m uint64, n int) {
				if rest := fast(d, a, b, c, m, n); rest != 0 {
					lanes(d, a, b, c, rest, n)
				}
			}
		}
	}
	return nil
}

// execFmaMix: each source is float32, or the half that op_sel picks when its
// op_sel_hi bit is set.
func execFmaMix(w *wave, u *uop) {
	m := w.mask()
	if m == 0 {
		return
	}
	in := &u.x.in
	mode := u.x.f.(int)
	var src [3]*row
	for i := range src {
		k, v := u.operand(i)
		r := w.src(k, v, i)
		t := &w.m.tmp[i]
		code := in.Src[i]
		switch {
		case in.OpSelHi>>i&1 != 0:
			if in.OpSel>>i&1 != 0 {
				for l := range w.n {
					t[l&63] = r[l&63] >> 16
				}
				r = t
			}
			rowWiden(t, r, r, r, w.full(), w.n)
			r = t
		case code >= rdna2.ConstHalf && code <= rdna2.ConstInv:
			splat(t, uint32(inline(code, rdna2.F32, 1, 0)), w.n)
			r = t
		}
		abs, neg := in.Abs>>i&1 != 0, in.Neg>>i&1 != 0
		if abs || neg {
			for l := range w.n {
				x := r[l]
				if abs {
					x &^= 1 << 31
				}
				if neg {
					x ^= 1 << 31
				}
				t[l] = x
			}
			r = t
		}
		src[i] = r
	}
	d := w.at(u.dst)
	if mode == 0 && !in.Clamp {
		rowFMA(d, src[0], src[1], src[2], m, w.n)
		return
	}
	out := &w.m.tmp[3]
	rowFMA(out, src[0], src[1], src[2], w.full(), w.n)
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		r := out[l]
		if in.Clamp {
			r = clampF32(r)
		}
		switch mode {
		case 0:
			d[l] = r
		case 1:
			d[l] = d[l]&^0xFFFF | f32to16(r)
		default:
			d[l] = d[l]&0xFFFF | f32to16(r)<<16
		}
	}
}
