package gpu

import (
	"fmt"
	"strings"
	"sync"

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

var cmpTable = sync.OnceValue(compareTable)

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
