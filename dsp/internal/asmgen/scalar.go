package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// scalar writes the 32-bit operations of inner loops: moves, arithmetic,
// compares, loops and jumps.
func scalar() {
	if level != 0 { // they need no extension; the second level uses the same
		for _, h := range handlers[0] {
			if h.sym[1] == '0' {
				handlers[1] = append(handlers[1], h)
			}
		}
		handlers[1] = handlers[1][:scalarCount]
		return
	}
	// rr is Rd = f(R1, R2); ri takes the immediate.
	rr := func(name string, f func(b Op, a Register)) {
		op(name, func() {
			ptr(1, RAX)
			MOVL(in(RAX, 0), EAX)
			f(in(ptr(2, RCX), 0), EAX)
			MOVL(EAX, in(ptr(0, RDX), 0))
		})
	}
	ri := func(name string, f func(b Op, a Register)) {
		op(name, func() {
			ptr(1, RAX)
			MOVL(in(RAX, 0), EAX)
			f(field(uopImm), EAX)
			MOVL(EAX, in(ptr(0, RDX), 0))
		})
	}
	addl := func(b Op, a Register) { ADDL(b, a) }
	subl := func(b Op, a Register) { SUBL(b, a) }
	andl := func(b Op, a Register) { ANDL(b, a) }
	orl := func(b Op, a Register) { ORL(b, a) }
	xorl := func(b Op, a Register) { XORL(b, a) }
	mull := func(b Op, a Register) { IMULL(b, a) }
	rr("A2_add", addl)
	rr("A2_sub", subl)
	rr("A2_and", andl)
	rr("A2_or", orl)
	rr("A2_xor", xorl)
	rr("M2_mpyi", mull)
	// The one that meets the condition against the other.
	chosen := func(move func(Op, Op)) func(b Op, a Register) {
		return func(b Op, a Register) { MOVL(b, ECX); CMPL(ECX, a); move(ECX, a) }
	}
	rr("A2_max", chosen(CMOVLGT))
	rr("A2_min", chosen(CMOVLLT))
	rr("A2_maxu", chosen(CMOVLHI))
	rr("A2_minu", chosen(CMOVLCS))
	// Where the sum overflows, the limit on the side of the first operand.
	rr("A2_addsat", func(b Op, a Register) {
		MOVL(a, EBX)
		ADDL(b, a)
		JOC(LabelRef("fits"))
		MOVL(EBX, a)
		SARL(Imm(31), a)
		XORL(U32(0x7fffffff), a)
		ORL(Imm(usrOVF), Mem{Base: thread, Disp: offUSR})
		Label("fits")
	})
	ri("A2_addi", addl)
	ri("A2_andir", andl)
	ri("A2_orir", orl)
	ri("M2_mpysip", mull)
	shift := func(name string, f func(b, a Op)) {
		op(name, func() {
			MOVL(field(uopImm), ECX)
			ptr(1, RAX)
			MOVL(in(RAX, 0), EAX)
			f(CL, EAX)
			MOVL(EAX, in(ptr(0, RDX), 0))
		})
	}
	shift("S2_asl_i_r", func(b, a Op) { SHLL(b, a) })
	shift("S2_asr_i_r", SARL)
	shift("S2_lsr_i_r", func(b, a Op) { SHRL(b, a) })
	op("S2_addasl_rrri", func() {
		MOVL(field(uopImm), ECX)
		MOVL(in(ptr(2, RAX), 0), EAX)
		SHLL(CL, EAX)
		ADDL(in(ptr(1, RDX), 0), EAX)
		MOVL(EAX, in(ptr(0, RDX), 0))
	})
	op("A2_tfr", func() {
		MOVL(in(ptr(1, RAX), 0), EAX)
		MOVL(EAX, in(ptr(0, RDX), 0))
	})
	op("A2_tfrsi", func() {
		MOVL(field(uopImm), EAX)
		MOVL(EAX, in(ptr(0, RDX), 0))
	})
	op("A2_combinew", func() {
		MOVL(in(ptr(1, RCX), 0), ECX)
		MOVL(in(ptr(2, RAX), 0), EAX)
		MOVQ(joined(), in(ptr(0, RDX), 0))
	})
	op("M2_maci", func() {
		MOVL(in(ptr(1, RAX), 0), EAX)
		IMULL(in(ptr(2, RCX), 0), EAX)
		ADDL(EAX, in(ptr(0, RDX), 0))
	})
	op("M2_acci", func() {
		MOVL(in(ptr(1, RAX), 0), EAX)
		ADDL(in(ptr(2, RCX), 0), EAX)
		ADDL(EAX, in(ptr(0, RDX), 0))
	})
	// Compares give 0 or 0xff.
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

	branch := func(target func()) {
		CMPL(Mem{Base: thread, Disp: offTook}, Imm(0))
		JNE(LabelRef("done"))
		target()
		MOVL(EAX, Mem{Base: thread, Disp: offNext})
		MOVL(U32(1), Mem{Base: thread, Disp: offTook})
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
	combined()
	scalarMemory()
	scalarCount = len(handlers[0])
}

var scalarCount int
