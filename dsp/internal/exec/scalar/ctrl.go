package scalar

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var ctrlRows = []family.Row{
	// Branches, calls, loops.
	{hexagon.J2_jump, jump},
	{hexagon.J2_jumpr, func(t *state.Thread, u *state.Uop) { t.Jump(*t.R(u.Arg[0])) }},
	{hexagon.J2_call, func(t *state.Thread, u *state.Uop) {
		t.GR[31] = u.NextPC
		t.Jump(uint32(u.Imm))
	}},
	{hexagon.J2_callr, func(t *state.Thread, u *state.Uop) {
		target := *t.R(u.Arg[0])
		t.GR[31] = u.NextPC
		t.Jump(target)
	}},
	{hexagon.J2_loop0i, func(t *state.Thread, u *state.Uop) {
		loop(t, 0, uint32(u.Imm), uint32(u.Imm2))
		lpcfg(t, 0)
	}},
	{hexagon.J2_loop0r, func(t *state.Thread, u *state.Uop) {
		loop(t, 0, uint32(u.Imm), *t.R(u.Arg[0]))
		lpcfg(t, 0)
	}},
	{hexagon.J2_loop1i, func(t *state.Thread, u *state.Uop) { loop(t, 1, uint32(u.Imm), uint32(u.Imm2)) }},
	{hexagon.J2_loop1r, func(t *state.Thread, u *state.Uop) { loop(t, 1, uint32(u.Imm), *t.R(u.Arg[0])) }},
	{hexagon.J2_ploop1si, ploopi(1)},
	{hexagon.J2_ploop1sr, ploopr(1)},
	{hexagon.J2_ploop2si, ploopi(2)},
	{hexagon.J2_ploop2sr, ploopr(2)},
	{hexagon.J2_ploop3si, ploopi(3)},
	{hexagon.J2_ploop3sr, ploopr(3)},
	{hexagon.J2_trap0, func(t *state.Thread, u *state.Uop) { t.Halt = 1 }},

	// Control registers, cache, extender.
	{hexagon.C4_addipc, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = u.PC + uint32(u.Imm) }},
}

// Control flow: jumps, calls, hardware loops, control registers. Targets are
// absolute: the decoder has added the packet's address.

func jump(t *state.Thread, u *state.Uop) { t.Jump(uint32(u.Imm)) }

// jumpNew makes a compare-and-jump on a new value against a register.
func jumpNew(cmp func(a, b uint32) bool, want bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		if cmp(*t.R(u.Arg[0]), *t.R(u.Arg[1])) == want {
			t.Jump(uint32(u.Imm))
		}
	}
}

// jumpNewI is the same against an immediate.
func jumpNewI(cmp func(a, b uint32) bool, want bool) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		if cmp(*t.R(u.Arg[0]), uint32(u.Imm)) == want {
			t.Jump(uint32(u.Imm2))
		}
	}
}

func isEq(a, b uint32) bool  { return a == b }
func isGt(a, b uint32) bool  { return int32(a) > int32(b) }
func isGtu(a, b uint32) bool { return a > b }

func loop(t *state.Thread, n int, start, count uint32) {
	t.C[state.SA0+2*n], t.C[state.LC0+2*n] = start, count
}

// lpcfg sets the pipelined-loop configuration: p3 becomes true after n ends of
// the loop's first passes. A plain loop0 clears it.
func lpcfg(t *state.Thread, n uint32) {
	t.C[state.USR] = t.C[state.USR]&^state.LPCFG | n<<state.LPCFGShift
}

func ploop(t *state.Thread, n, start, count uint32) {
	loop(t, 0, start, count)
	lpcfg(t, n)
	*t.P(state.OffP + 3) = 0
}

func ploopi(n uint32) state.Semantic {
	return func(t *state.Thread, u *state.Uop) { ploop(t, n, uint32(u.Imm), uint32(u.Imm2)) }
}
func ploopr(n uint32) state.Semantic {
	return func(t *state.Thread, u *state.Uop) { ploop(t, n, uint32(u.Imm), *t.R(u.Arg[0])) }
}
