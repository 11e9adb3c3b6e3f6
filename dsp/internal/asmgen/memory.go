package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// resolve notes the address in EAX for the timing model and converts it to a host address in RDX + RBX, when the
// segment that the micro-op expects holds it; else it jumps to label "slow".
func resolve(limit int) Mem {
	MOVWQZX(field(uopEA), RCX)
	MOVL(EAX, slot(RCX))
	MOVWQZX(field(uopSeg), RCX)
	MOVL(EAX, EBX)
	SUBL(in(RCX, segBase), EBX)
	CMPL(EBX, in(RCX, limit))
	JCC(LabelRef("slow"))
	MOVQ(in(RCX, segHost), RDX)
	return Mem{Base: RDX, Index: RBX, Scale: 1}
}

// mode is an address mode: base register operand, and the value added to it before (offset) or after (step) the access.
type mode struct {
	suffix string
	base   func(at int) // address into EAX
	post   func(at int) // update of the address register
	extra  int          // register operands beyond the base
}

var scalarModes = []mode{
	{"io", func(at int) { MOVL(in(ptr(at, RAX), 0), EAX); ADDL(field(uopImm), EAX) }, nil, 0},
	{"pi", func(at int) { MOVL(in(ptr(at, RAX), 0), EAX) }, stepImm, 0},
	{"pr", func(at int) { MOVL(in(ptr(at, RAX), 0), EAX) }, stepReg, 1},
	{"rr", func(at int) {
		MOVL(field(uopImm), ECX)
		MOVL(in(ptr(at+1, RAX), 0), EAX)
		SHLL(CL, EAX)
		ADDL(in(ptr(at, RCX), 0), EAX)
	}, nil, 1},
}

func stepImm(at int) {
	MOVL(field(uopImm), EAX)
	ADDL(EAX, in(ptr(at, RCX), 0))
}

func stepReg(at int) {
	MOVL(in(ptr(at+1, RAX), 0), EAX)
	ADDL(EAX, in(ptr(at, RCX), 0))
}

func aligned(size int) {
	if size > 1 {
		TESTL(U32(uint32(size-1)), EAX)
		JNE(LabelRef("slow"))
	}
}

// slow ends a handler whose access may fail.
func slow() {
	next()
	Label("slow")
	exit()
}

// access is op for handlers that have a slow path.
func access(name string, body func()) {
	op(name, func() {
		body()
		slow()
	})
}

func scalarMemory() {
	loads := []struct {
		name string
		size int
		move func(Op, Op)
		dst  Register
	}{
		{"rb", 1, MOVBLSX, EAX}, {"rub", 1, MOVBLZX, EAX}, {"rh", 2, MOVWLSX, EAX}, {"ruh", 2, MOVWLZX, EAX},
		{"ri", 4, MOVL, EAX}, {"rd", 8, MOVQ, RAX},
	}
	for _, l := range loads {
		for _, m := range scalarModes {
			name := "L2_load" + l.name + "_" + m.suffix
			if m.suffix == "rr" {
				name = "L4_load" + l.name + "_rr"
			}
			access(name, func() {
				m.base(1)
				aligned(l.size)
				l.move(resolve(segRead8), l.dst)
				if l.size == 8 {
					MOVQ(RAX, in(ptr(0, RCX), 0))
				} else {
					MOVL(EAX, in(ptr(0, RCX), 0))
				}
				if m.post != nil {
					m.post(1)
				}
			})
		}
	}
	// A fetch has no effect but its address.
	op("Y2_dcfetchbo", func() {
		MOVL(in(ptr(0, RAX), 0), EAX)
		ADDL(field(uopImm), EAX)
		MOVWQZX(field(uopEA), RCX)
		MOVL(EAX, slot(RCX))
	})
	// What is stored is read as it was written, a register or a pair: a wider read
	// would wait until the write has left the host's store buffer.
	stores := []struct {
		name string
		size int
		read func(Op, Op)
		from Register
		move func(Op, Op)
		src  Register
	}{{"rb", 1, MOVL, R8L, MOVB, R8B}, {"rh", 2, MOVL, R8L, MOVW, R8W}, {"ri", 4, MOVL, R8L, MOVL, R8L}, {"rd", 8, MOVQ, R8, MOVQ, R8}}
	for _, s := range stores {
		for _, m := range scalarModes {
			names := []string{"S2_store" + s.name + "_" + m.suffix}
			if m.suffix == "rr" {
				names[0] = "S4_store" + s.name + "_rr"
			}
			if s.size < 8 && m.suffix != "pr" {
				names = append(names, names[0][:8]+s.name+"new_"+m.suffix)
			}
			ops(names, func() {
				m.base(0)
				aligned(s.size)
				s.read(in(ptr(1+m.extra, R8), 0), s.from)
				s.move(s.src, resolve(segWrite8))
				if m.post != nil {
					m.post(0)
				}
				slow()
			})
		}
	}
}

// width is how many bytes a vector register of the host has.
const width = 32

// chunks calls f for every register-wide part of n bytes: its index, register
// number and byte offset.
func chunks(n int, f func(i, off int)) {
	for i := range n / width {
		f(i, i*width)
	}
}

// z is vector register n.
func z(n int) VecPhysical {
	return []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}[n]
}

func mov(from, to Op) { VMOVDQU(from, to) }

// memory writes the vector loads and stores.
func memory() {
	low := func(unaligned bool) {
		if !unaligned {
			ANDL(I32(-128), EAX)
		}
	}
	modes := []mode{
		{"ai", func(at int) { MOVL(in(ptr(at, RAX), 0), EAX); ADDL(field(uopImm), EAX) }, nil, 0},
		{"pi", func(at int) { MOVL(in(ptr(at, RAX), 0), EAX) }, stepImm, 0},
		{"ppu", func(at int) { MOVL(in(ptr(at, RAX), 0), EAX) }, stepReg, 1},
	}
	for _, m := range modes {
		load := func(unaligned bool, names ...string) {
			ops(names, func() {
				m.base(1)
				low(unaligned)
				at := resolve(segRead128)
				chunks(128, func(i, off int) { a := at; a.Disp = off; mov(a, z(i)) })
				ptr(0, RCX)
				chunks(128, func(i, off int) { mov(z(i), in(RCX, off)) })
				if m.post != nil {
					m.post(1)
				}
				slow()
			})
		}
		load(false, "V6_vL32b_"+m.suffix, "V6_vL32b_cur_"+m.suffix, "V6_vL32b_tmp_"+m.suffix)
		load(true, "V6_vL32Ub_"+m.suffix)
		access("V6_zLd_"+m.suffix, func() {
			m.base(1)
			low(false)
			at := resolve(segRead128)
			chunks(128, func(i, off int) { a := at; a.Disp = off; mov(a, z(i)) })
			ANDL(U32(128), EAX)
			ptr(0, RCX)
			ADDQ(RCX, RAX)
			chunks(128, func(i, off int) { mov(z(i), in(RAX, off)); mov(z(i), in(RAX, zBytes+off)) })
			if m.post != nil {
				m.post(1)
			}
		})
		store := func(unaligned bool, names ...string) {
			ops(names, func() {
				m.base(0)
				low(unaligned)
				at := resolve(segWrite128)
				ptr(1+m.extra, RCX)
				chunks(128, func(i, off int) { mov(in(RCX, off), z(i)) })
				chunks(128, func(i, off int) { a := at; a.Disp = off; mov(z(i), a) })
				if m.post != nil {
					m.post(0)
				}
				slow()
			})
		}
		store(false, "V6_vS32b_"+m.suffix, "V6_vS32b_new_"+m.suffix)
		store(true, "V6_vS32Ub_"+m.suffix)
		for _, not := range []bool{false, true} {
			name := "V6_vS32b_qpred_" + m.suffix
			if not {
				name = "V6_vS32b_nqpred_" + m.suffix
			}
			access(name, func() {
				m.base(1)
				low(false)
				at := resolve(segWrite128)
				ptr(0, R8)
				ptr(2+m.extra, RCX)
				chunks(128, func(i, off int) {
					a := at
					a.Disp = off
					mov(in(R8, off), z(0))
					mov(in(RCX, off), z(1))
					mov(a, z(2))
					if not {
						blend(z(0), z(2), z(1), z(3))
					} else {
						blend(z(0), z(1), z(2), z(3))
					}
					mov(z(3), a)
				})
				if m.post != nil {
					m.post(1)
				}
			})
		}
	}
}

// blend picks yes where the byte mask is set, else no.
func blend(mask, yes, no, d Register) { VPBLENDVB(mask, yes, no, d) }
