package dsp

// Compound instructions: a compare or move together with a jump. The decoder
// puts the predicate they make in front of the operands of the text.

type relation = func(a, b uint32) bool

func isBit0(a, _ uint32) bool { return a&1 != 0 }

// cmpJump compares two registers.
func cmpJump(cmp relation, want bool) semantic {
	return func(t *thread, u *uop) {
		t.settle(u, cmp(*t.r(u.o[1]), *t.r(u.o[2])), want, u.imm)
	}
}

// cmpJumpI compares a register with an immediate.
func cmpJumpI(cmp relation, want bool) semantic {
	return func(t *thread, u *uop) {
		t.settle(u, cmp(*t.r(u.o[1]), uint32(u.imm)), want, u.imm2)
	}
}

// cmpJumpC compares a register with -1, or looks at its lowest bit.
func cmpJumpC(cmp relation, want bool) semantic {
	return func(t *thread, u *uop) {
		t.settle(u, cmp(*t.r(u.o[1]), ^uint32(0)), want, u.imm)
	}
}

func (t *thread) settle(u *uop, is, want bool, target int32) {
	*t.p(u.o[0]) = flag(is)
	if is == want {
		t.jump(uint32(target))
	}
}

func jumpSetI(t *thread, u *uop) {
	*t.r(u.o[0]) = uint32(u.imm)
	t.jump(uint32(u.imm2))
}
func jumpSetR(t *thread, u *uop) {
	*t.r(u.o[0]) = *t.r(u.o[1])
	t.jump(uint32(u.imm))
}

// jumpNewC compares a new value with -1, or looks at its lowest bit.
func jumpNewC(cmp relation, want bool) semantic {
	return func(t *thread, u *uop) {
		if cmp(*t.r(u.o[0]), ^uint32(0)) == want {
			t.jump(uint32(u.imm))
		}
	}
}

// jumpZero compares a register with zero.
func jumpZero(is func(x int32) bool) semantic {
	return func(t *thread, u *uop) {
		if is(t.s(u.o[0])) {
			t.jump(uint32(u.imm))
		}
	}
}

func isZero(x int32) bool  { return x == 0 }
func notZero(x int32) bool { return x != 0 }
func isGtez(x int32) bool  { return x >= 0 }
func isLtez(x int32) bool  { return x <= 0 }
