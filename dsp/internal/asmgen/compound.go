package main

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// jumpTo leaves the block for the address in EAX, unless a jump of the packet before it was taken; then it jumps to
// label "done".
func jumpTo() {
	CMPL(Mem{Base: thread, Disp: offTaken}, Imm(0))
	JNE(LabelRef("done"))
	MOVL(EAX, Mem{Base: thread, Disp: offNext})
	MOVL(U32(1), Mem{Base: thread, Disp: offTaken})
	Label("done")
}

// joined makes the pair of ECX and EAX in RAX: written at once, so that a reader
// of the pair need not wait until two writes have left the host's store buffer.
func joined() Register {
	SHLQ(Imm(32), RCX)
	ORQ(RCX, RAX)
	return RAX
}

// named is an instruction of the host, and the corresponding part of a form's name.
type named struct {
	name string
	f    func(Op, Op)
}

func add(a, b Op)  { ADDL(a, b) }
func sub(a, b Op)  { SUBL(a, b) }
func shll(a, b Op) { SHLL(a, b) }
func shrl(a, b Op) { SHRL(a, b) }

// src loads operand k by way of its address in r.
func src(k int, r GPPhysical) Register { MOVL(in(ptr(k, r), 0), r.As32()); return r.As32() }

// dst is the first operand, whose address it loads into RDX.
func dst() Mem { return in(ptr(0, RDX), 0) }

// imm loads an immediate.
func imm(disp int) func(Register) { return func(r Register) { MOVL(field(disp), r) } }

// combined writes scalar forms that do two things: operations on an
// accumulator, with shifts or products in them, and compares with jumps.
func combined() {
	accumulations()
	sums()
	pairs()
	predicates()
	calls()
	comparedJumps()
	frames()
}

// accumulations writes shifts and bit operations, alone and on an accumulator.
func accumulations() {
	// Rd = f(R1).
	unary := func(name string, f func()) {
		op(name, func() { src(1, RAX); f(); MOVL(EAX, dst()) })
	}
	unary("A2_sxtb", func() { MOVBLSX(AL, EAX) })
	unary("A2_sxth", func() { MOVWLSX(AX, EAX) })
	unary("A2_zxth", func() { MOVWLZX(AX, EAX) })
	unary("A2_aslh", func() { SHLL(Imm(16), EAX) })
	unary("A2_asrh", func() { SARL(Imm(16), EAX) })
	unary("A2_subri", func() { MOVL(EAX, ECX); MOVL(field(uopImm), EAX); SUBL(ECX, EAX) })
	shiftBy := func(f func(Op, Op)) func() {
		return func() { MOVL(field(uopImm), ECX); f(CL, EAX) }
	}
	unary("S6_rol_i_r", shiftBy(ROLL))
	bit := func(f func(Op, Op)) func() {
		return func() { MOVL(field(uopImm), ECX); MOVL(U32(1), EBX); SHLL(CL, EBX); f(EBX, EAX) }
	}
	unary("S2_setbit_i", bit(ORL))
	unary("S2_togglebit_i", bit(XORL))
	unary("S2_clrbit_i", bit(func(b, a Op) { NOTL(b); ANDL(b, a) }))

	// Rx op= shift(R1).
	for _, s := range []named{{"asl", shll}, {"asr", SARL}, {"lsr", shrl}} {
		for _, a := range []named{{"acc", add}, {"nac", sub}, {"and", ANDL}, {"or", ORL}, {"xacc", XORL}} {
			if s.name == "asr" && a.name == "xacc" {
				continue
			}
			op("S2_"+s.name+"_i_r_"+a.name, func() {
				src(1, RAX)
				shiftBy(s.f)()
				a.f(EAX, dst())
			})
		}
	}
	// Rx = f(#imm, shift(Rx, #imm2)).
	for _, s := range []named{{"asl", shll}, {"lsr", shrl}} {
		for _, a := range []named{{"addi", add}, {"andi", ANDL}, {"ori", ORL}} {
			op("S4_"+a.name+"_"+s.name+"_ri", func() {
				MOVL(field(uopImm2), ECX)
				MOVL(dst(), EAX)
				s.f(CL, EAX)
				a.f(field(uopImm), EAX)
				MOVL(EAX, in(RDX, 0))
			})
		}
	}
}

// sums writes sums of three, and products with a sum.
func sums() {
	imul := func(a Op) { IMULL(a, EAX) }
	op("M4_mpyrr_addi", func() {
		src(1, RAX)
		imul(in(ptr(2, RCX), 0))
		ADDL(field(uopImm), EAX)
		MOVL(EAX, dst())
	})
	op("M4_mpyri_addr", func() {
		src(2, RAX)
		imul(field(uopImm))
		ADDL(in(ptr(1, RCX), 0), EAX)
		MOVL(EAX, dst())
	})
	op("M4_mpyrr_addr", func() {
		src(2, RAX)
		imul(dst())
		ADDL(in(ptr(1, RCX), 0), EAX)
		MOVL(EAX, in(RDX, 0))
	})
	op("M2_macsip", func() { src(1, RAX); imul(field(uopImm)); ADDL(EAX, dst()) })
	op("M2_macsin", func() { src(1, RAX); imul(field(uopImm)); SUBL(EAX, dst()) })
	op("M2_accii", func() { src(1, RAX); ADDL(field(uopImm), EAX); ADDL(EAX, dst()) })
	op("S4_addaddi", func() {
		src(1, RAX)
		ADDL(in(ptr(2, RCX), 0), EAX)
		ADDL(field(uopImm), EAX)
		MOVL(EAX, dst())
	})
	op("S4_subaddi", func() {
		src(1, RAX)
		ADDL(field(uopImm), EAX)
		SUBL(in(ptr(2, RCX), 0), EAX)
		MOVL(EAX, dst())
	})
	op("C4_addipc", func() {
		MOVL(field(uopPC), EAX)
		ADDL(field(uopImm), EAX)
		MOVL(EAX, dst())
	})
	op("M2_xor_xacc", func() { src(1, RAX); XORL(in(ptr(2, RCX), 0), EAX); XORL(EAX, dst()) })
}

// pairs writes the forms that make pairs of registers, or compute on them.
func pairs() {
	two := func(name string, lo, hi func(r Register)) {
		op(name, func() {
			lo(EAX)
			hi(ECX)
			MOVQ(joined(), dst())
		})
	}
	reg := func(r Register) { MOVL(in(ptr(1, RBX), 0), r) }
	two("A2_combineii", imm(uopImm2), imm(uopImm))
	two("A4_combineii", imm(uopImm2), imm(uopImm))
	two("A4_combineri", imm(uopImm), reg)
	two("A4_combineir", reg, imm(uopImm))
	for _, p := range []named{{"add", func(a, b Op) { ADDQ(a, b) }}, {"sub", func(a, b Op) { SUBQ(a, b) }}, {"and", ANDQ}, {"or", ORQ}, {"xor", XORQ}} {
		op("A2_"+p.name+"p", func() {
			MOVQ(in(ptr(1, RAX), 0), RAX)
			p.f(in(ptr(2, RCX), 0), RAX)
			MOVQ(RAX, dst())
		})
	}
	for _, s := range []named{{"asl", func(a, b Op) { SHLQ(a, b) }}, {"asr", SARQ}, {"lsr", func(a, b Op) { SHRQ(a, b) }}} {
		op("S2_"+s.name+"_i_p", func() {
			MOVL(field(uopImm), ECX)
			MOVQ(in(ptr(1, RAX), 0), RAX)
			s.f(CL, RAX)
			MOVQ(RAX, dst())
		})
	}
	for _, p := range []named{{"ss", MOVLQSX}, {"uu", func(a, b Op) { MOVL(a, b.(GPPhysical).As32()) }}} {
		op("M2_dpmpy"+p.name+"_s0", func() {
			p.f(in(ptr(1, RAX), 0), RAX)
			p.f(in(ptr(2, RCX), 0), RCX)
			IMULQ(RCX, RAX)
			MOVQ(RAX, dst())
		})
	}
	op("A2_sxtw", func() { MOVLQSX(in(ptr(1, RAX), 0), RAX); MOVQ(RAX, dst()) })
}

// predicates writes the forms that make predicates or select by one.
func predicates() {
	for _, p := range []named{{"and", ANDL}, {"or", ORL}, {"xor", XORL}} {
		op("C2_"+p.name, func() {
			MOVBLZX(in(ptr(1, RAX), 0), EAX)
			MOVBLZX(in(ptr(2, RCX), 0), ECX)
			p.f(ECX, EAX)
			MOVB(AL, dst())
		})
	}
	op("C2_not", func() { MOVBLZX(in(ptr(1, RAX), 0), EAX); NOTL(EAX); MOVB(AL, dst()) })
	flag := func(name string, set func(Op), test func()) {
		op(name, func() {
			src(1, RAX)
			test()
			set(AL)
			NEGB(AL)
			MOVB(AL, dst())
		})
	}
	bitTest := func() { MOVL(field(uopImm), ECX); BTL(ECX, EAX) }
	flag("S2_tstbit_i", SETCS, bitTest)
	flag("S4_ntstbit_i", SETCC, bitTest)
	flag("C2_bitsclri", SETEQ, func() { TESTL(EAX, field(uopImm)) })
	// Rd = mux(P1, yes, no).
	choose := func(name string, yes, no func(Register)) {
		op(name, func() {
			no(EAX)
			yes(ECX)
			TESTB(Imm(1), in(ptr(1, RBX), 0))
			CMOVLNE(ECX, EAX)
			MOVL(EAX, dst())
		})
	}
	at := func(k int) func(Register) { return func(r Register) { MOVL(in(ptr(k, RBX), 0), r) } }
	choose("C2_mux", at(2), at(3))
	choose("C2_muxii", imm(uopImm), imm(uopImm2))
	choose("C2_muxir", at(2), imm(uopImm))
	choose("C2_muxri", imm(uopImm), at(2))
}

// calls writes calls, and jumps that set a register.
func calls() {
	link := func() { MOVL(field(uopNP), ECX); MOVL(ECX, Mem{Base: thread, Disp: offR31}) }
	op("J2_call", func() { link(); MOVL(field(uopImm), EAX); jumpTo() })
	op("J2_callr", func() { src(0, RAX); link(); jumpTo() })
	op("J4_jumpseti", func() { MOVL(field(uopImm), EAX); MOVL(EAX, dst()); MOVL(field(uopImm2), EAX); jumpTo() })
	op("J4_jumpsetr", func() { src(1, RAX); MOVL(EAX, dst()); MOVL(field(uopImm), EAX); jumpTo() })
}

// relation is a condition of a compare; not is its opposite.
type relation struct {
	name     string
	set      func(Op)
	yes, not func(Op)
}

// jumpIf jumps where the condition that flags hold is the wanted one.
func (r relation) jumpIf(want bool, target int) {
	if want {
		r.not(LabelRef("done"))
	} else {
		r.yes(LabelRef("done"))
	}
	MOVL(field(target), EAX)
	jumpTo()
}

// comparedJumps writes compares, which make a predicate or none, with a jump on the result.
func comparedJumps() {
	relations := []relation{{"cmpeq", SETEQ, JEQ, JNE}, {"cmpgt", SETGT, JGT, JLE}, {"cmpgtu", SETHI, JHI, JLS}}
	hints := func(prefix string) []string { return []string{prefix + "t", prefix + "nt"} }
	for _, r := range relations {
		for _, want := range []bool{true, false} {
			letter := map[bool]string{true: "t", false: "f"}[want]
			// With a predicate in front of the operands.
			made := func(suffix string, target int, test func()) {
				var names []string
				for _, p := range []string{"p0", "p1"} {
					names = append(names, hints("J4_"+r.name+suffix+"_"+letter+p+"_jump_")...)
				}
				ops(names, func() {
					src(1, RAX)
					ptr(0, RDX)
					test()
					r.set(BL)
					NEGB(BL) // sets carry, so the test is made again
					MOVB(BL, in(RDX, 0))
					test()
					r.jumpIf(want, target)
				})
			}
			made("", uopImm, func() { CMPL(EAX, in(ptr(2, RCX), 0)) })
			made("i", uopImm2, func() { CMPL(EAX, field(uopImm)) })
			if r.name != "cmpgtu" {
				made("n1", uopImm, func() { CMPL(EAX, I32(-1)) })
			}
			// Of a new value.
			names := hints("J4_" + r.name + "_" + letter + "_jumpnv_")
			if r.name != "cmpeq" { // with the new value on the right
				names = append(names, hints("J4_"+strings.Replace(r.name, "gt", "lt", 1)+"_"+letter+"_jumpnv_")...)
			}
			ops(names, func() {
				src(0, RAX)
				CMPL(EAX, in(ptr(1, RCX), 0))
				r.jumpIf(want, uopImm)
			})
			ops(hints("J4_"+r.name+"i_"+letter+"_jumpnv_"), func() {
				src(0, RAX)
				CMPL(EAX, field(uopImm))
				r.jumpIf(want, uopImm2)
			})
		}
	}
}

// frames writes the stack frames of procedures.
func frames() {
	r30, r31 := Mem{Base: thread, Disp: offR31 - 4}, Mem{Base: thread, Disp: offR31}
	op("S2_allocframe", func() {
		MOVL(in(ptr(0, R10), 0), EAX)
		SUBL(Imm(8), EAX)
		aligned(8)
		MOVL(r30, R8L)
		MOVL(r31, R9L)
		SHLQ(Imm(32), R9)
		ORQ(R9, R8)
		MOVQ(R8, resolve(segWrite8))
		MOVL(EAX, r30)
		SUBL(field(uopImm), EAX)
		MOVL(EAX, in(R10, 0))
		slow()
	})
	// The pair of r30 and r31 is restored; a return jumps to the latter.
	leaves := func(name string, jump bool) {
		op(name, func() {
			MOVL(in(ptr(1, R9), 0), EAX)
			aligned(8)
			MOVQ(resolve(segRead8), R8)
			MOVQ(R8, in(ptr(0, R10), 0))
			ADDL(Imm(8), EAX)
			MOVL(EAX, Mem{Base: thread, Disp: offR31 - 8})
			if jump {
				MOVQ(R8, RAX)
				SHRQ(Imm(32), RAX)
				jumpTo()
			}
			slow()
		})
	}
	leaves("L2_deallocframe", false)
	leaves("L4_return", true)
}
