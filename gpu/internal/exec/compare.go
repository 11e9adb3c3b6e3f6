package exec

import (
	"strings"
	"sync"

	"golang.org/x/exp/constraints"

	"github.com/nnsoc/nnsoc/gpu/internal/asm"
	"github.com/nnsoc/nnsoc/gpu/internal/float"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// cmp is one comparison: of 32-bit operands by f, of others by f64.
type cmp struct {
	name string
	kind state.Result
	exec bool // v_cmpx: writes EXEC
	row  cmpRow
	wide func(a, b uint64) bool
}

// cmpRow is the set of lanes for which a comparison holds.
type cmpRow func(a, b *state.Row, n int) uint64

var cmpTable = sync.OnceValue(compareTable)

var cmpSem = byName(cmpTable, func(s *cmp) string { return s.name })

var intRelations = map[string]int{
	"f": 0, "lt": asm.Less, "eq": asm.Equal, "le": asm.Less | asm.Equal, "gt": asm.Greater, "ne": asm.Less | asm.Greater, "ge": asm.Greater | asm.Equal,
	"t": asm.Less | asm.Equal | asm.Greater,
}

var floatRelations = map[string]int{
	"f": 0, "lt": asm.Less, "eq": asm.Equal, "le": asm.Less | asm.Equal, "gt": asm.Greater, "lg": asm.Less | asm.Greater, "ge": asm.Greater | asm.Equal,
	"o": asm.Less | asm.Equal | asm.Greater, "u": asm.Unordered, "nge": asm.Less | asm.Unordered, "nlg": asm.Equal | asm.Unordered, "ngt": asm.Less | asm.Equal | asm.Unordered,
	"nle": asm.Greater | asm.Unordered, "neq": asm.Less | asm.Greater | asm.Unordered, "nlt": asm.Greater | asm.Equal | asm.Unordered, "tru": 15,
}

func relOf[T constraints.Integer | constraints.Float](a, b T) int {
	switch {
	case a < b:
		return asm.Less
	case a > b:
		return asm.Greater
	case a == b:
		return asm.Equal
	}
	return asm.Unordered
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
		c := cmp{name: name, exec: exec}
		if relName == "class" {
			switch typ {
			case "f32":
				c.kind = state.ResultF32
				c.wide = func(a, b uint64) bool { return classOf(a, 8, 23)&uint32(b) != 0 }
			case "f16":
				c.kind = state.ResultF16
				c.wide = func(a, b uint64) bool { return classOf(a&0xFFFF, 5, 10)&uint32(b) != 0 }
			case "f64":
				c.kind = state.ResultF64
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
			c.kind = state.ResultF32
			c.wide = func(a, b uint64) bool { return has(relOf(float.F32(uint32(a)), float.F32(uint32(b)))) }
		case "f16":
			c.kind = state.ResultF16
			c.wide = func(a, b uint64) bool {
				return has(relOf(float.F32(float.FromHalf(uint32(a)&0xFFFF)), float.F32(float.FromHalf(uint32(b)&0xFFFF))))
			}
		case "f64":
			c.kind = state.ResultF64
			c.wide = func(a, b uint64) bool { return has(relOf(float.F64(a), float.F64(b))) }
		case "i32":
			c.wide = func(a, b uint64) bool { return has(relOf(int32(a), int32(b))) }
		case "u32":
			c.wide = func(a, b uint64) bool { return has(relOf(uint32(a), uint32(b))) }
		case "i16":
			c.wide = func(a, b uint64) bool { return has(relOf(int16(a), int16(b))) }
		case "u16":
			c.wide = func(a, b uint64) bool { return has(relOf(uint16(a), uint16(b))) }
		case "i64":
			c.wide = func(a, b uint64) bool { return has(relOf(int64(a), int64(b))) }
		case "u64":
			c.wide = func(a, b uint64) bool { return has(relOf(a, b)) }
		default:
			continue
		}
		if row := asm.Compare(typ, set); row != nil {
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

// bindCompare fills in a comparison. Clamp lets the hardware signal quiet NaNs, which the result does not show.
func bindCompare(u *state.Op, s *cmp) error {
	x := u.Details
	x.Func = s
	switch {
	case s.exec:
		u.MaskDst = state.EXEC
	case x.Form.Format == rdna2.VOPC:
		u.MaskDst = state.VCC
	}
	u.Handler = execCmpWide
	if s.row != nil && x.Inst.Neg|x.Inst.Abs == 0 {
		u.Handler = execCmp
	}
	return nil
}

// Compares write 0 for inactive lanes.
func execCmp(w *state.Wave, u *state.Op) {
	m := w.Exec()
	if m != 0 {
		m &= u.Details.Func.(*cmp).row(readRow(w, u.AFrom, u.A, 0), readRow(w, u.BFrom, u.B, 1), w.Lanes)
	}
	w.SetMask(uint32(u.MaskDst), m)
}

func execCmpWide(w *state.Wave, u *state.Op) {
	m := w.Exec()
	readRow64(w, &w.Machine.Wide[0], u, 0)
	readRow64(w, &w.Machine.Wide[1], u, 1)
	f := u.Details.Func.(*cmp).wide
	var r uint64
	for ; m != 0; m &= m - 1 {
		l := state.FirstLane(m)
		if f(w.Machine.Wide[0][l], w.Machine.Wide[1][l]) {
			r |= 1 << l
		}
	}
	w.SetMask(uint32(u.MaskDst), r)
}
