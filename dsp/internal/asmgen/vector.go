package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// ins is an instruction whose last operand is the destination.
type ins = func(...Op)

// lanes writes d = f(a, b) on n bytes, chunk by chunk. Sources are read before
// the chunk is written, and lanes do not move, so operands may coincide.
func lanes(name string, n int, f func(a, b, d Register)) {
	op(name, func() {
		ptrs(3)
		chunks(n, func(i, off int) {
			mov(in(RCX, off), z(0))
			mov(in(RDX, off), z(1))
			f(z(0), z(1), z(2))
			mov(z(2), in(RAX, off))
		})
	})
}

// ab is an instruction that computes a op b; Go writes b first.
func ab(f ins) func(a, b, d Register) { return func(a, b, d Register) { f(b, a, d) } }

// splat fills a register with a 32-bit constant.
func splat(v uint32, d Register) {
	constant(v, R9L, d)
}

// constant broadcasts v by way of a general register.
func constant(v uint32, r GPPhysical, d Register) {
	MOVL(U32(v), r)
	VMOVD(r, X15)
	VPBROADCASTD(X15, d)
}

// splatR fills a register with the scalar operand k.
func splatR(k int, d Register) {
	ptr(k, R9)
	VPBROADCASTD(in(R9, 0), d)
}

// count puts the scalar operand k, under a mask, into the low part of x.
func count(k int, mask uint32, x Register) {
	MOVL(in(ptr(k, R9), 0), R9L)
	ANDL(U32(mask), R9L)
	VMOVD(R9L, x)
}

// splatMask is splat where R9 is in use.
func splatMask(v uint32, d Register) {
	constant(v, R10L, d)
}

func vector() {
	three := func(f func(b, a, d Op)) func(a, b, d Register) {
		return func(a, b, d Register) { f(b, a, d) }
	}
	for _, x := range []struct {
		op string
		f  ins
	}{
		{"V6_vaddb", VPADDB}, {"V6_vaddh", VPADDW}, {"V6_vaddw", VPADDD},
		{"V6_vsubb", VPSUBB}, {"V6_vsubh", VPSUBW}, {"V6_vsubw", VPSUBD},
		{"V6_vaddbsat", VPADDSB}, {"V6_vaddubsat", VPADDUSB}, {"V6_vaddhsat", VPADDSW}, {"V6_vadduhsat", VPADDUSW},
		{"V6_vsubbsat", VPSUBSB}, {"V6_vsububsat", VPSUBUSB}, {"V6_vsubhsat", VPSUBSW}, {"V6_vsubuhsat", VPSUBUSW},
	} {
		lanes(x.op, 128, ab(x.f))
		lanes(x.op+"_dv", 256, ab(x.f))
	}
	for _, x := range []struct {
		op string
		f  ins
	}{
		{"V6_vmaxb", VPMAXSB}, {"V6_vmaxub", VPMAXUB}, {"V6_vmaxh", VPMAXSW}, {"V6_vmaxuh", VPMAXUW}, {"V6_vmaxw", VPMAXSD},
		{"V6_vminb", VPMINSB}, {"V6_vminub", VPMINUB}, {"V6_vminh", VPMINSW}, {"V6_vminuh", VPMINUW}, {"V6_vminw", VPMINSD},
		{"V6_vavgubrnd", VPAVGB}, {"V6_vavguhrnd", VPAVGW}, {"V6_vmpyih", VPMULLW},
	} {
		lanes(x.op, 128, ab(x.f))
	}
	lanes("V6_vand", 128, three(VPAND))
	lanes("V6_vor", 128, three(VPOR))
	lanes("V6_vxor", 128, three(VPXOR))
	lanes("V6_pred_and", 128, three(VPAND))
	lanes("V6_pred_or", 128, three(VPOR))
	lanes("V6_pred_xor", 128, three(VPXOR))
	lanes("V6_vandvqv", 128, three(VPAND))
	for _, name := range []string{"V6_pred_and_n", "V6_vandvnqv"} {
		lanes(name, 128, func(a, b, d Register) {
			if name == "V6_vandvnqv" { // the predicate is the first operand
				a, b = b, a
			}
			VPANDN(a, b, d)
		})
	}
	lanes("V6_vabsdiffub", 128, func(a, b, d Register) {
		VPSUBUSB(b, a, d)
		VPSUBUSB(a, b, z(3))
		VPOR(z(3), d, d)
	})
	satw()
	moves()
	averages()
	compare()
	firstLanes()
	shifts()
	narrowing()
	packs()
	multiplies()
	products()
	deltas()
}

// moves writes copies, selections by a predicate, and broadcasts of a scalar.
func moves() {
	op("V6_vassign", func() {
		ptrs(2)
		chunks(128, func(i, off int) { mov(in(RCX, off), z(i)); mov(z(i), in(RAX, off)) })
	})
	op("V6_vnot", func() {
		ptrs(2)
		splat(0xffffffff, z(4))
		chunks(128, func(i, off int) { mov(in(RCX, off), z(0)); VPXOR(z(4), z(0), z(0)); mov(z(0), in(RAX, off)) })
	})
	op("V6_vcombine", func() {
		ptrs(3)
		n := 128 / width
		chunks(128, func(i, off int) { mov(in(RDX, off), z(i)); mov(in(RCX, off), z(n+i)) })
		chunks(256, func(i, off int) { mov(z(i), in(RAX, off)) })
	})
	op("V6_vmux", func() {
		ptrs(4)
		chunks(128, func(i, off int) {
			mov(in(RCX, off), z(0))
			mov(in(RDX, off), z(1))
			mov(in(RBX, off), z(2))
			blend(z(0), z(1), z(2), z(3))
			mov(z(3), in(RAX, off))
		})
	})
	op("V6_lvsplatw", func() {
		ptr(0, RAX)
		splatR(1, z(0))
		chunks(128, func(i, off int) { mov(z(0), in(RAX, off)) })
	})
	for _, x := range []struct {
		op string
		f  ins
	}{{"V6_lvsplath", VPBROADCASTW}, {"V6_lvsplatb", VPBROADCASTB}} {
		op(x.op, func() {
			ptr(0, RAX)
			x.f(in(ptr(1, R9), 0), z(0))
			chunks(128, func(i, off int) { mov(z(0), in(RAX, off)) })
		})
	}
}

// satw writes the saturating word add and subtract: where the operands' signs
// make overflow possible and the sum's sign differs, the result is the limit.
func satw() {
	for _, sub := range []bool{false, true} {
		name, f := "V6_vaddwsat", ins(VPADDD)
		if sub {
			name, f = "V6_vsubwsat", VPSUBD
		}
		body := func(a, b, d Register) {
			f(b, a, d)        // wrapped result
			VPXOR(d, a, z(3)) // sign changed against a
			VPXOR(b, a, z(4)) // signs of the operands differ
			if sub {
				VPAND(z(4), z(3), z(3)) // a - b overflows when they differ
			} else {
				VPANDN(z(3), z(4), z(3))
			}
			VPSRAD(Imm(31), z(3), z(3)) // all ones where it overflowed
			VPSRAD(Imm(31), a, z(4))
			splat(0x7fffffff, z(5))
			VPXOR(z(5), z(4), z(4)) // the limit on a's side
			blend(z(3), z(4), d, z(6))
			mov6(z(6), d)
		}
		lanes(name, 128, body)
		lanes(name+"_dv", 256, body)
	}
}

func mov6(a, d Register) { VMOVDQA(a, d) }

// firstLanes writes the predicates whose first lanes are set: those whose number is
// not above the last of Rt lanes.
func firstLanes() {
	data("iota", func(i int) byte { return byte(i) })
	first := func(name string, last func()) {
		op(name, func() {
			MOVL(in(ptr(1, R9), 0), R9L)
			last()
			VMOVD(R9L, X1)
			VPBROADCASTB(X1, Y1)
			VPCMPEQB(Y3, Y3, Y3)
			ptr(0, RAX)
			for off := 0; off < 128; off += 32 {
				if off == 64 {
					splat(0x40404040, Y2)
					VPSUBB(Y2, Y1, Y1)
				}
				number := constants("iota")
				number.Disp += off % 64
				VMOVDQU(number, Y0)
				VPCMPGTB(Y1, Y0, Y0)
				VPXOR(Y3, Y0, Y0)
				VMOVDQU(Y0, in(RAX, off))
			}
		})
	}
	first("V6_pred_scalar2", func() { ANDL(U32(127), R9L); DECL(R9L) })
	first("V6_pred_scalar2v2", func() { DECL(R9L); ANDL(U32(127), R9L) })
}

// compare writes the compares that set, and, or, xor a predicate: they produce byte masks as the state holds them.
func compare() {
	type cmp struct {
		op   string
		f    func(b, a, d Op)
		flip uint32 // makes an unsigned compare of a signed one
	}
	gtb := func(b, a, d Op) { VPCMPGTB(b, a, d) }
	gth := func(b, a, d Op) { VPCMPGTW(b, a, d) }
	gtw := func(b, a, d Op) { VPCMPGTD(b, a, d) }
	eqb := func(b, a, d Op) { VPCMPEQB(b, a, d) }
	eqh := func(b, a, d Op) { VPCMPEQW(b, a, d) }
	eqw := func(b, a, d Op) { VPCMPEQD(b, a, d) }
	for _, c := range []cmp{
		{"V6_vgtb", gtb, 0}, {"V6_vgth", gth, 0}, {"V6_vgtw", gtw, 0},
		{"V6_vgtub", gtb, 0x80808080}, {"V6_vgtuh", gth, 0x80008000}, {"V6_vgtuw", gtw, 0x80000000},
		{"V6_veqb", eqb, 0}, {"V6_veqh", eqh, 0}, {"V6_veqw", eqw, 0},
	} {
		for _, with := range []string{"", "_and", "_or", "_xor"} {
			op(c.op+with, func() {
				ptrs(3)
				if c.flip != 0 {
					splat(c.flip, Y4)
				}
				for off := 0; off < 128; off += 32 {
					VMOVDQU(in(RCX, off), Y0)
					VMOVDQU(in(RDX, off), Y1)
					if c.flip != 0 {
						VPXOR(Y4, Y0, Y0)
						VPXOR(Y4, Y1, Y1)
					}
					c.f(Y1, Y0, Y2)
					switch with {
					case "_and":
						VPAND(in(RAX, off), Y2, Y2)
					case "_or":
						VPOR(in(RAX, off), Y2, Y2)
					case "_xor":
						VPXOR(in(RAX, off), Y2, Y2)
					}
					VMOVDQU(Y2, in(RAX, off))
				}
			})
		}
	}
	op("V6_vandqrt", func() {
		ptrs(2)
		splatR(2, z(1))
		chunks(128, func(i, off int) {
			mov(in(RCX, off), z(0))
			VPAND(z(1), z(0), z(0))
			mov(z(0), in(RAX, off))
		})
	})
	op("V6_vandvrt", func() {
		ptrs(2)
		splatR(2, Y1)
		VPXOR(Y2, Y2, Y2)
		VPCMPEQB(Y2, Y2, Y3)
		for off := 0; off < 128; off += 32 {
			VPAND(in(RCX, off), Y1, Y0)
			VPCMPEQB(Y2, Y0, Y0)
			VPXOR(Y3, Y0, Y0)
			VMOVDQU(Y0, in(RAX, off))
		}
	})
}

// shifts writes the shifts by a scalar and by a vector.
func shifts() {
	byR := func(name string, mask uint32, f ins, acc ins) {
		op(name, func() {
			ptrs(2)
			count(2, mask, X1)
			chunks(128, func(i, off int) {
				f(X1, orLoad(in(RCX, off), z(0)), z(0))
				if acc != nil {
					acc(in(RAX, off), z(0), z(0))
				}
				mov(z(0), in(RAX, off))
			})
		})
	}
	byR("V6_vaslw", 31, VPSLLD, nil)
	byR("V6_vasrw", 31, VPSRAD, nil)
	byR("V6_vlsrw", 31, VPSRLD, nil)
	byR("V6_vaslw_acc", 31, VPSLLD, VPADDD)
	byR("V6_vasrw_acc", 31, VPSRAD, VPADDD)
	byR("V6_vaslh", 15, VPSLLW, nil)
	byR("V6_vasrh", 15, VPSRAW, nil)
	byR("V6_vlsrh", 15, VPSRLW, nil)
	byR("V6_vaslh_acc", 15, VPSLLW, VPADDW)
	byR("V6_vasrh_acc", 15, VPSRAW, VPADDW)
	// By a vector: the amount is a signed 6-bit number; a negative one shifts the other way. Counts of 32 and more
	// produce 0 or the sign, as required.
	byV := func(name string, pos, neg ins) {
		lanes(name, 128, func(a, b, d Register) {
			VPSLLD(Imm(26), b, b)
			VPSRAD(Imm(26), b, b)
			VPXOR(z(3), z(3), z(3))
			VPSUBD(b, z(3), z(4)) // -amount
			pos(b, a, z(5))
			neg(z(4), a, z(6))
			VPSRAD(Imm(31), b, z(7))
			blend(z(7), z(6), z(5), z(8))
			mov6(z(8), d)
		})
	}
	byV("V6_vaslwv", VPSLLVD, VPSRAVD)
	byV("V6_vasrwv", VPSRAVD, VPSLLVD)
	byV("V6_vlsrwv", VPSRLVD, VPSLLVD)
}

func orLoad(m Mem, r Register) Register {
	mov(m, r)
	return r
}
