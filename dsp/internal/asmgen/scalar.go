package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// scalar writes the 32-bit operations of inner loops: moves, arithmetic,
// compares, loops and jumps.
func scalar() {
	// rr is Rd = f(R1, R2); ri has the immediate.
	rr := func(name string, f func(b, a Op)) {
		op(name, func() { src(1, RAX); f(in(ptr(2, RCX), 0), EAX); MOVL(EAX, dst()) })
	}
	ri := func(name string, f func(b, a Op)) {
		op(name, func() { src(1, RAX); f(field(uopImm), EAX); MOVL(EAX, dst()) })
	}
	mull := func(b, a Op) { IMULL(b, a) }
	rr("A2_add", add)
	rr("A2_sub", sub)
	rr("A2_and", ANDL)
	rr("A2_or", ORL)
	rr("A2_xor", XORL)
	rr("M2_mpyi", mull)
	// The one that meets the condition against the other.
	chosen := func(move func(Op, Op)) func(b, a Op) {
		return func(b, a Op) { MOVL(b, ECX); CMPL(ECX, a); move(ECX, a) }
	}
	rr("A2_max", chosen(CMOVLGT))
	rr("A2_min", chosen(CMOVLLT))
	rr("A2_maxu", chosen(CMOVLHI))
	rr("A2_minu", chosen(CMOVLCS))
	// Where the sum overflows, the limit on the side of the first operand.
	rr("A2_addsat", func(b, a Op) {
		MOVL(a, EBX)
		ADDL(b, a)
		JOC(LabelRef("fits"))
		MOVL(EBX, a)
		SARL(Imm(31), a)
		XORL(U32(0x7fffffff), a)
		ORL(Imm(usrOVF), Mem{Base: thread, Disp: offUSR})
		Label("fits")
	})
	ri("A2_addi", add)
	ri("A2_andir", ANDL)
	ri("A2_orir", ORL)
	ri("M2_mpysip", mull)
	shift := func(name string, f func(b, a Op)) {
		op(name, func() { MOVL(field(uopImm), ECX); src(1, RAX); f(CL, EAX); MOVL(EAX, dst()) })
	}
	shift("S2_asl_i_r", shll)
	shift("S2_asr_i_r", SARL)
	shift("S2_lsr_i_r", shrl)
	op("S2_addasl_rrri", func() {
		MOVL(field(uopImm), ECX)
		MOVL(in(ptr(2, RAX), 0), EAX)
		SHLL(CL, EAX)
		ADDL(in(ptr(1, RDX), 0), EAX)
		MOVL(EAX, in(ptr(0, RDX), 0))
	})
	op("A2_tfr", func() { src(1, RAX); MOVL(EAX, dst()) })
	op("A2_tfrsi", func() { MOVL(field(uopImm), EAX); MOVL(EAX, dst()) })
	op("A2_combinew", func() {
		MOVL(in(ptr(1, RCX), 0), ECX)
		MOVL(in(ptr(2, RAX), 0), EAX)
		MOVQ(joined(), in(ptr(0, RDX), 0))
	})
	op("M2_maci", func() { src(1, RAX); IMULL(in(ptr(2, RCX), 0), EAX); ADDL(EAX, dst()) })
	op("M2_acci", func() { src(1, RAX); ADDL(in(ptr(2, RCX), 0), EAX); ADDL(EAX, dst()) })
	compares()
	branches()
	combined()
	scalarMemory()
}

// compares writes compares into predicates, 0 or 0xff.
func compares() {
	cmp := func(name string, imm bool, set func(mr Op)) {
		op(name, func() {
			MOVL(in(ptr(1, RAX), 0), EAX)
			if imm {
				CMPL(EAX, field(uopImm))
			} else {
				CMPL(EAX, in(ptr(2, RCX), 0))
			}
			set(AL)
			NEGB(AL)
			MOVB(AL, in(ptr(0, RDX), 0))
		})
	}
	cmp("C2_cmpeq", false, SETEQ)
	cmp("C2_cmpgt", false, SETGT)
	cmp("C2_cmpgtu", false, SETHI)
	cmp("C2_cmpeqi", true, SETEQ)
	cmp("C2_cmpgti", true, SETGT)
	cmp("C2_cmpgtui", true, SETHI)
	cmp("C4_cmpneq", false, SETNE)
	cmp("C4_cmplte", false, SETLE)
	cmp("C4_cmplteu", false, SETLS)
	cmp("C4_cmpneqi", true, SETNE)
	cmp("C4_cmpltei", true, SETLE)
	cmp("C4_cmplteui", true, SETLS)
}

// branches writes jumps and the starts of hardware loops.
func branches() {
	branch := func(target func()) {
		CMPL(Mem{Base: thread, Disp: offTaken}, Imm(0))
		JNE(LabelRef("done"))
		target()
		MOVL(EAX, Mem{Base: thread, Disp: offNext})
		MOVL(U32(1), Mem{Base: thread, Disp: offTaken})
		Label("done")
	}
	op("J2_jump", func() { branch(func() { MOVL(field(uopImm), EAX) }) })
	op("J2_jumpr", func() { branch(func() { MOVL(in(ptr(0, RAX), 0), EAX) }) })
	loop := func(name string, n int, reg bool) {
		op(name, func() {
			MOVL(field(uopImm), EAX)
			if reg {
				MOVL(in(ptr(0, RCX), 0), ECX)
			} else {
				MOVL(field(uopImm2), ECX)
			}
			MOVL(EAX, Mem{Base: thread, Disp: offSA0 + 8*n})
			MOVL(ECX, Mem{Base: thread, Disp: offSA0 + 8*n + 4})
			if n == 0 {
				ANDL(U32(0xfffffcff), Mem{Base: thread, Disp: offUSR})
			}
		})
	}
	loop("J2_loop0i", 0, false)
	loop("J2_loop0r", 0, true)
	loop("J2_loop1i", 1, false)
	loop("J2_loop1r", 1, true)
}
