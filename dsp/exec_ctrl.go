package dsp

// Control flow: jumps, calls, hardware loops, control registers. Targets are
// absolute: the decoder has added the packet's address.

// jump records the target of a taken branch. Of several taken branches in one
// packet the first counts.
func (t *thread) jump(target uint32) {
	if t.took == 0 {
		t.took = 1
		t.next = target
	}
}

func jump(t *thread, u *uop)  { t.jump(uint32(u.imm)) }
func jumpr(t *thread, u *uop) { t.jump(*t.r(u.o[0])) }

func call(t *thread, u *uop) {
	t.R[31] = u.np
	t.jump(uint32(u.imm))
}

func callr(t *thread, u *uop) {
	target := *t.r(u.o[0])
	t.R[31] = u.np
	t.jump(target)
}

// jumpNew makes a compare-and-jump on a new value against a register.
func jumpNew(cmp func(a, b uint32) bool, want bool) semantic {
	return func(t *thread, u *uop) {
		if cmp(*t.r(u.o[0]), *t.r(u.o[1])) == want {
			t.jump(uint32(u.imm))
		}
	}
}

// jumpNewI is the same against an immediate.
func jumpNewI(cmp func(a, b uint32) bool, want bool) semantic {
	return func(t *thread, u *uop) {
		if cmp(*t.r(u.o[0]), uint32(u.imm)) == want {
			t.jump(uint32(u.imm2))
		}
	}
}

func isEq(a, b uint32) bool  { return a == b }
func isGt(a, b uint32) bool  { return int32(a) > int32(b) }
func isGtu(a, b uint32) bool { return a > b }

func trap0(t *thread, u *uop) { t.halt = 1 }

func (t *thread) loop(n int, start, count uint32) {
	t.C[cSA0+2*n], t.C[cLC0+2*n] = start, count
}

// lpcfg sets the pipelined-loop configuration: p3 becomes true after n ends of
// the loop's first passes. A plain loop0 clears it.
func (t *thread) lpcfg(n uint32) {
	t.C[cUSR] = t.C[cUSR]&^usrLPCFG | n<<usrLPCFGShift
}

func loop0i(t *thread, u *uop) {
	t.loop(0, uint32(u.imm), uint32(u.imm2))
	t.lpcfg(0)
}
func loop0r(t *thread, u *uop) {
	t.loop(0, uint32(u.imm), *t.r(u.o[0]))
	t.lpcfg(0)
}
func loop1i(t *thread, u *uop) { t.loop(1, uint32(u.imm), uint32(u.imm2)) }
func loop1r(t *thread, u *uop) { t.loop(1, uint32(u.imm), *t.r(u.o[0])) }

func (t *thread) ploop(n, start, count uint32) {
	t.loop(0, start, count)
	t.lpcfg(n)
	*t.p(offP + 3) = 0
}

func ploopi(n uint32) semantic {
	return func(t *thread, u *uop) { t.ploop(n, uint32(u.imm), uint32(u.imm2)) }
}
func ploopr(n uint32) semantic {
	return func(t *thread, u *uop) { t.ploop(n, uint32(u.imm), *t.r(u.o[0])) }
}

// endLoop does what the parse bits of a loop-ending packet ask for, after the
// packet. It answers whether it went back to a loop start.
func (t *thread) endLoop(b *block) bool {
	if b.loop0 {
		if cfg := t.C[cUSR] & usrLPCFG; cfg != 0 {
			if cfg == 1<<usrLPCFGShift && !b.makesP3 {
				*t.p(offP + 3) = 0xff
			}
			t.C[cUSR] -= 1 << usrLPCFGShift
		}
		if t.C[cLC0] > 1 {
			t.C[cLC0]--
			t.next = t.C[cSA0]
			return true
		}
	}
	if b.loop1 && t.C[cLC1] > 1 {
		t.C[cLC1]--
		t.next = t.C[cSA1]
		return true
	}
	return false
}

// modelledC are the control registers that a program may read and write. All
// bits of each can be written, as in QEMU.
var modelledC = [32]bool{
	cSA0: true, cLC0: true, cSA1: true, cLC1: true, cP30: true, cP30 + 1: true, cM0: true, cM0 + 1: true,
	cUSR: true, cUGP: true, cGP: true, cCS0: true, cCS0 + 1: true,
}

// counterC are the control registers that count; they can be read only.
var counterC = [32]bool{
	cUPCYCLE: true, cUPCYCLE + 1: true, cPKTCOUNT: true, cPKTCOUNT + 1: true, cUTIMER: true, cUTIMER + 1: true,
}

func addipc(t *thread, u *uop) { *t.r(u.o[0]) = u.pc + uint32(u.imm) }

// guarded runs the operation when the low bit of its predicate has the wanted
// value; a memory operation that does not run tells the timing model so.
func guarded(t *thread, u *uop) {
	if *t.p(u.pred)&1 == u.want {
		table[u.op](t, u)
	} else if u.ea != 0 {
		*t.r(u.ea) = skipped
	}
}
