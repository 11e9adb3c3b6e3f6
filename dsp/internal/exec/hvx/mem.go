package hvx

import "github.com/nnsoc/nnsoc/dsp/internal/state"

// Vector loads and stores ignore the low seven address bits, but for vmemu.
// The decoder has turned offsets into bytes.

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

const vmask = ^uint32(127)

func vloadAI(t *state.Thread, u *state.Uop)  { vld(t, u, u.Arg[0], t.EA(u, 1)&vmask) }
func vloaduAI(t *state.Thread, u *state.Uop) { vld(t, u, u.Arg[0], t.EA(u, 1)) }

func vloadPI(t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[1]); vld(t, u, u.Arg[0], *x&vmask) {
		*x += uint32(u.Imm)
	}
}
func vloaduPI(t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[1]); vld(t, u, u.Arg[0], *x) {
		*x += uint32(u.Imm)
	}
}
func vloadPPU(t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[1]); vld(t, u, u.Arg[0], *x&vmask) {
		*x += *t.R(u.Arg[2])
	}
}
func vloaduPPU(t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[1]); vld(t, u, u.Arg[0], *x) {
		*x += *t.R(u.Arg[2])
	}
}

func vstoreAI(t *state.Thread, u *state.Uop)  { vst(t, u, u.Arg[1], t.EA(u, 0)&vmask) }
func vstoreuAI(t *state.Thread, u *state.Uop) { vst(t, u, u.Arg[1], t.EA(u, 0)) }

func vstorePI(t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[0]); vst(t, u, u.Arg[1], *x&vmask) {
		*x += uint32(u.Imm)
	}
}
func vstoreuPI(t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[0]); vst(t, u, u.Arg[1], *x) {
		*x += uint32(u.Imm)
	}
}
func vstorePPU(t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[0]); vst(t, u, u.Arg[2], *x&vmask) {
		*x += *t.R(u.Arg[1])
	}
}
func vstoreuPPU(t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[0]); vst(t, u, u.Arg[2], *x) {
		*x += *t.R(u.Arg[1])
	}
}

// vstq stores the byte lanes whose predicate, xor flip, is set.
func vstq(t *state.Thread, u *state.Uop, q, s uint16, ea uint32, flip byte) bool {
	p := t.Access(u, ea, 128, true)
	if p == nil {
		return false
	}
	d, m, v := (*state.VecUB)(p), t.UB(q), t.UB(s)
	for i := range d {
		k := m[i] ^ flip
		d[i] = v[i]&k | d[i]&^k
	}
	return true
}

func vstoreQAI(t *state.Thread, u *state.Uop) { vstq(t, u, u.Arg[0], u.Arg[2], t.EA(u, 1)&vmask, 0) }
func vstoreNQAI(t *state.Thread, u *state.Uop) {
	vstq(t, u, u.Arg[0], u.Arg[2], t.EA(u, 1)&vmask, 0xff)
}

func vstoreQPI(t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[1]); vstq(t, u, u.Arg[0], u.Arg[2], *x&vmask, 0) {
		*x += uint32(u.Imm)
	}
}
func vstoreNQPI(t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[1]); vstq(t, u, u.Arg[0], u.Arg[2], *x&vmask, 0xff) {
		*x += uint32(u.Imm)
	}
}
func vstoreQPPU(t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[1]); vstq(t, u, u.Arg[0], u.Arg[3], *x&vmask, 0) {
		*x += *t.R(u.Arg[2])
	}
}
func vstoreNQPPU(t *state.Thread, u *state.Uop) {
	if x := t.R(u.Arg[1]); vstq(t, u, u.Arg[0], u.Arg[3], *x&vmask, 0xff) {
		*x += *t.R(u.Arg[2])
	}
}
