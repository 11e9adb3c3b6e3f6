package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
)

// Vector loads and stores ignore the low seven address bits, but for vmemu.
// The decoder has turned offsets into bytes.

const aligned = ^uint32(127)

// mover loads or stores the vector at v and reports whether it could.
type mover = func(t *state.Thread, u *state.Uop, v uint16, ea uint32) bool

func vld(t *state.Thread, u *state.Uop, d uint16, ea uint32) bool {
	p := t.Access(u, ea, 128, false)
	if p == nil {
		return false
	}
	*t.UB(d) = *(*state.VecUB)(p)
	return true
}

func vst(t *state.Thread, u *state.Uop, s uint16, ea uint32) bool {
	p := t.Access(u, ea, 128, true)
	if p == nil {
		return false
	}
	*(*state.VecUB)(p) = *t.UB(s)
	return true
}

// vstq stores the byte lanes whose predicate, the first operand, xor flip, is set.
func vstq(flip byte) mover {
	return func(t *state.Thread, u *state.Uop, s uint16, ea uint32) bool {
		p := t.Access(u, ea, 128, true)
		if p == nil {
			return false
		}
		d, m, v := (*state.VecUB)(p), t.UB(u.Arg[0]), t.UB(s)
		for i := range d {
			k := m[i] ^ flip
			d[i] = v[i]&k | d[i]&^k
		}
		return true
	}
}

// modes adds a load or store in its address modes: base and offset, base with an increment by an immediate or by a
// modifier register. Operand base is the address register; the destination of a load is the first operand, the source
// of a store the last one.
func modes(r *family.Table, tag string, base int, load bool, mask uint32, move mover) {
	value, behind := base+1, base+2
	if load {
		value, behind = 0, 0
	}
	r.Put(tag+"_ai", func(t *state.Thread, u *state.Uop) { move(t, u, u.Arg[value], t.EA(u, base)&mask) })
	r.Put(tag+"_pi", func(t *state.Thread, u *state.Uop) {
		if x := t.R(u.Arg[base]); move(t, u, u.Arg[value], *x&mask) {
			*x += uint32(u.Imm)
		}
	})
	r.Put(tag+"_ppu", func(t *state.Thread, u *state.Uop) {
		if x := t.R(u.Arg[base]); move(t, u, u.Arg[behind], *x&mask) {
			*x += *t.R(u.Arg[base+1])
		}
	})
}
