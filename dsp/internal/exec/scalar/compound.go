package scalar

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var compoundRows = []family.Row{
	{hexagon.J2_jumprz, jumpZero(notZero)},
	{hexagon.J2_jumprzpt, jumpZero(notZero)},
	{hexagon.J2_jumprnz, jumpZero(isZero)},
	{hexagon.J2_jumprnzpt, jumpZero(isZero)},
	{hexagon.J2_jumprgtez, jumpZero(isGtez)},
	{hexagon.J2_jumprgtezpt, jumpZero(isGtez)},
	{hexagon.J2_jumprltez, jumpZero(isLtez)},
	{hexagon.J2_jumprltezpt, jumpZero(isLtez)},

	// Compound jumps.
	{hexagon.J4_jumpseti, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = uint32(u.Imm)
		t.Jump(uint32(u.Imm2))
	}},
	{hexagon.J4_jumpsetr, func(t *state.Thread, u *state.Uop) {
		*t.R(u.Arg[0]) = *t.R(u.Arg[1])
		t.Jump(uint32(u.Imm))
	}},
}

// Compound instructions: a compare or move together with a jump. The decoder
// puts the predicate they make in front of the operands of the text.

type relation = func(a, b uint32) bool

func isBit0(a, _ uint32) bool { return a&1 != 0 }

// cmpJump compares two registers.
func cmpJump(cmp relation, want bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		compareJump(t, u, cmp(*t.R(u.Arg[1]), *t.R(u.Arg[2])), want, u.Imm)
	}
}

// cmpJumpI compares a register with an immediate.
func cmpJumpI(cmp relation, want bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		compareJump(t, u, cmp(*t.R(u.Arg[1]), uint32(u.Imm)), want, u.Imm2)
	}
}

// cmpJumpC compares a register with -1, or looks at its lowest bit.
func cmpJumpC(cmp relation, want bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		compareJump(t, u, cmp(*t.R(u.Arg[1]), ^uint32(0)), want, u.Imm)
	}
}

// compareJump writes the outcome of a comparison and jumps if it is the wanted one.
func compareJump(t *state.Thread, u *state.Uop, is, want bool, target int32) {
	*t.P(u.Arg[0]) = flag(is)
	if is == want {
		t.Jump(uint32(target))
	}
}

// jumpNewC compares a new value with -1, or looks at its lowest bit.
func jumpNewC(cmp relation, want bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		if cmp(*t.R(u.Arg[0]), ^uint32(0)) == want {
			t.Jump(uint32(u.Imm))
		}
	}
}

// jumpZero compares a register with zero.
func jumpZero(is func(x int32) bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		if is(t.S(u.Arg[0])) {
			t.Jump(uint32(u.Imm))
		}
	}
}

func isZero(x int32) bool  { return x == 0 }
func notZero(x int32) bool { return x != 0 }
func isGtez(x int32) bool  { return x >= 0 }
func isLtez(x int32) bool  { return x <= 0 }
