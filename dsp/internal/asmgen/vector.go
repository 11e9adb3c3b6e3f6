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
		ptr(0, RAX)
		ptr(1, RCX)
		ptr(2, RDX)
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

func vpand(b, a, d Op) {
	if level == 0 {
		VPAND(b, a, d)
	} else {
		VPANDD(b, a, d)
	}
}

func vpor(b, a, d Op) {
	if level == 0 {
		VPOR(b, a, d)
	} else {
		VPORD(b, a, d)
	}
}

func vpxor(b, a, d Op) {
	if level == 0 {
		VPXOR(b, a, d)
	} else {
		VPXORD(b, a, d)
	}
}

// splat fills a register with a 32-bit constant.
func splat(v uint32, d Register) {
	constant(v, R9L, d)
}

// constant broadcasts v by way of a general register.
func constant(v uint32, r GPPhysical, d Register) {
	MOVL(U32(v), r)
	if level == 1 && d.Size() == 64 {
		VPBROADCASTD(r, d)
		return
	}
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
	lanes("V6_vand", 128, three(vpand))
	lanes("V6_vor", 128, three(vpor))
	lanes("V6_vxor", 128, three(vpxor))
	lanes("V6_pred_and", 128, three(vpand))
	lanes("V6_pred_or", 128, three(vpor))
	lanes("V6_pred_xor", 128, three(vpxor))
	lanes("V6_vandvqv", 128, three(vpand))
	// vavgub without rounding: the rounded average less the lost bit.
	lanes("V6_vabsdiffub", 128, func(a, b, d Register) {
		VPSUBUSB(b, a, d)
		VPSUBUSB(a, b, z(3))
		vpor(z(3), d, d)
	})
	satw()
	op("V6_vassign", func() {
		ptr(0, RAX)
		ptr(1, RCX)
		chunks(128, func(i, off int) { mov(in(RCX, off), z(i)); mov(z(i), in(RAX, off)) })
	})
	op("V6_vnot", func() {
		ptr(0, RAX)
		ptr(1, RCX)
		splat(0xffffffff, z(4))
		chunks(128, func(i, off int) { mov(in(RCX, off), z(0)); vpxor(z(4), z(0), z(0)); mov(z(0), in(RAX, off)) })
	})
	op("V6_vcombine", func() {
		ptr(0, RAX)
		ptr(1, RCX)
		ptr(2, RDX)
		n := 128 / width()
		chunks(128, func(i, off int) { mov(in(RDX, off), z(i)); mov(in(RCX, off), z(n+i)) })
		chunks(256, func(i, off int) { mov(z(i), in(RAX, off)) })
	})
	op("V6_vmux", func() {
		ptr(0, RAX)
		ptr(1, RCX)
		ptr(2, RDX)
		ptr(3, RBX)
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
	op("V6_lvsplath", func() {
		ptr(0, RAX)
		ptr(1, R9)
		VPBROADCASTW(in(R9, 0), z(0))
		chunks(128, func(i, off int) { mov(z(0), in(RAX, off)) })
	})
	op("V6_lvsplatb", func() {
		ptr(0, RAX)
		ptr(1, R9)
		VPBROADCASTB(in(R9, 0), z(0))
		chunks(128, func(i, off int) { mov(z(0), in(RAX, off)) })
	})
	compare()
	shifts()
	narrowing()
	packs()
	multiplies()
	if level == 1 {
		permutes()
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
			vpxor(d, a, z(3)) // sign changed against a
			vpxor(b, a, z(4)) // signs of the operands differ
			if sub {
				vpand(z(4), z(3), z(3)) // a - b overflows when they differ
			} else {
				if level == 0 {
					VPANDN(z(3), z(4), z(3))
				} else {
					VPANDND(z(3), z(4), z(3))
				}
			}
			VPSRAD(Imm(31), z(3), z(3)) // all ones where it overflowed
			VPSRAD(Imm(31), a, z(4))
			splat(0x7fffffff, z(5))
			vpxor(z(5), z(4), z(4)) // the limit on a's side
			blend(z(3), z(4), d, z(6))
			mov6(z(6), d)
		}
		lanes(name, 128, body)
		lanes(name+"_dv", 256, body)
	}
}

func mov6(a, d Register) {
	if level == 0 {
		VMOVDQA(a, d)
	} else {
		VMOVDQA64(a, d)
	}
}

// compare writes the compares that set, and, or, xor a predicate, on 32-byte
// registers in both levels: they give byte masks as the state holds them.
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
				ptr(0, RAX)
				ptr(1, RCX)
				ptr(2, RDX)
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
		ptr(0, RAX)
		ptr(1, RCX)
		splatR(2, z(1))
		chunks(128, func(i, off int) {
			mov(in(RCX, off), z(0))
			vpand(z(1), z(0), z(0))
			mov(z(0), in(RAX, off))
		})
	})
	op("V6_vandvrt", func() {
		ptr(0, RAX)
		ptr(1, RCX)
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
			ptr(0, RAX)
			ptr(1, RCX)
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
	// By a vector: the amount is a signed 6-bit number; a negative one shifts the
	// other way. Counts of 32 and more give 0 or the sign, as wanted.
	byV := func(name string, pos, neg ins) {
		lanes(name, 128, func(a, b, d Register) {
			VPSLLD(Imm(26), b, b)
			VPSRAD(Imm(26), b, b)
			vpxor(z(3), z(3), z(3))
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

// merge combines narrowed even lanes v and odd lanes u into d.
func merge(bits uint64, v, u, d Register) {
	if bits == 8 {
		splatMask(0x00ff00ff, z(9))
		VPSLLW(Imm(8), u, u)
	} else {
		splatMask(0x0000ffff, z(9))
		VPSLLD(Imm(16), u, u)
	}
	vpand(z(9), v, v)
	vpor(u, v, d)
}

// splatMask is splat where R9 is in use.
func splatMask(v uint32, d Register) {
	constant(v, R10L, d)
}

// narrowing writes the narrowing shifts and vsat: even lanes from Vv, odd
// lanes from Vu, clamped to the narrow type.
func narrowing() {
	type clamp struct {
		max, min ins
		hi, lo   uint32
		hasLo    bool
	}
	ub := clamp{VPMINSW, VPMAXSW, 0x00ff00ff, 0, true}
	b := clamp{VPMINSW, VPMAXSW, 0x007f007f, 0xff80ff80, true}
	uub := clamp{VPMINUW, nil, 0x00ff00ff, 0, false}
	h := clamp{VPMINSD, VPMAXSD, 0x7fff, 0xffff8000, true}
	uh := clamp{VPMINSD, VPMAXSD, 0xffff, 0, true}
	uuh := clamp{VPMINUD, nil, 0xffff, 0, false}
	one := func(bits uint64, c *clamp, shift, round ins, add ins, r Register) {
		if shift != nil {
			if round != nil { // the bit that rounding looks at: (x >> (s-1)) & 1, 0 when s is 0
				round(X2, r, z(4))
				vpand(z(6), z(4), z(4))
			}
			shift(X1, r, r)
			if round != nil {
				add(z(4), r, r)
			}
		}
		if c != nil {
			c.max(z(7), r, r)
			if c.hasLo {
				c.min(z(8), r, r)
			}
		}
	}
	write := func(name string, bits uint64, c *clamp, shift, round, add ins) {
		op(name, func() {
			ptr(0, RAX)
			ptr(1, RCX)
			ptr(2, RDX)
			if shift != nil {
				count(3, uint32(bits-1), X1)
				if round != nil {
					SUBQ(Imm(1), R9)
					VMOVQ(R9, X2)
					if bits == 8 {
						splat(0x00010001, z(6))
					} else {
						splat(1, z(6))
					}
				}
			}
			if c != nil {
				splat(c.hi, z(7))
				splat(c.lo, z(8))
			}
			chunks(128, func(i, off int) {
				mov(in(RCX, off), z(0))
				mov(in(RDX, off), z(3))
				one(bits, c, shift, round, add, z(0))
				one(bits, c, shift, round, add, z(3))
				merge(bits, z(3), z(0), z(5))
				mov(z(5), in(RAX, off))
			})
		})
	}
	write("V6_vasrwh", 16, nil, VPSRAD, nil, nil)
	write("V6_vasrwhsat", 16, &h, VPSRAD, nil, nil)
	write("V6_vasrwhrndsat", 16, &h, VPSRAD, VPSRLD, VPADDD)
	write("V6_vasrwuhsat", 16, &uh, VPSRAD, nil, nil)
	write("V6_vasrwuhrndsat", 16, &uh, VPSRAD, VPSRLD, VPADDD)
	write("V6_vasruwuhsat", 16, &uuh, VPSRLD, nil, nil)
	write("V6_vasruwuhrndsat", 16, &uuh, VPSRLD, VPSRLD, VPADDD)
	write("V6_vasrhubsat", 8, &ub, VPSRAW, nil, nil)
	write("V6_vasrhubrndsat", 8, &ub, VPSRAW, VPSRLW, VPADDW)
	write("V6_vasrhbsat", 8, &b, VPSRAW, nil, nil)
	write("V6_vasrhbrndsat", 8, &b, VPSRAW, VPSRLW, VPADDW)
	write("V6_vasruhubsat", 8, &uub, VPSRLW, nil, nil)
	write("V6_vasruhubrndsat", 8, &uub, VPSRLW, VPSRLW, VPADDW)
	write("V6_vsathub", 8, &ub, nil, nil, nil)
	write("V6_vsatwh", 16, &h, nil, nil, nil)
	write("V6_vsatuwuh", 16, &uuh, nil, nil, nil)
	write("V6_vshuffeb", 8, nil, nil, nil, nil)
	write("V6_vshufeh", 16, nil, nil, nil, nil)
	write2 := func(name string, bits uint64, f ins) {
		op(name, func() {
			ptr(0, RAX)
			ptr(1, RCX)
			ptr(2, RDX)
			chunks(128, func(i, off int) {
				f(Imm(bits), orLoad(in(RCX, off), z(0)), z(0))
				f(Imm(bits), orLoad(in(RDX, off), z(3)), z(3))
				merge(bits, z(3), z(0), z(5))
				mov(z(5), in(RAX, off))
			})
		})
	}
	write2("V6_vshuffob", 8, VPSRLW)
	write2("V6_vshufoh", 16, VPSRLD)
}

// packs writes the packs that concatenate and the extensions.
func packs() {
	// The host packs 16 bytes of each source in turn; the quadwords are put in
	// order afterwards.
	pack := func(name string, f ins, before func(r Register)) {
		op(name, func() {
			ptr(0, RAX)
			ptr(1, RCX)
			ptr(2, RDX)
			w := width()
			if level == 1 {
				VMOVDQU64(NewDataAddr(Symbol{Name: "packorder", Static: true}, 0), z(6))
			}
			n := 0
			for _, src := range []GPPhysical{RDX, RCX} { // Vv is the low half
				for off := 0; off < 128; off += 2 * w {
					mov(in(src, off), z(n))
					mov(in(src, off+w), z(7))
					if before != nil {
						before(z(n))
						before(z(7))
					}
					f(z(7), z(n), z(n))
					if level == 0 {
						VPERMQ(Imm(0xd8), z(n), z(n))
					} else {
						VPERMQ(z(n), z(6), z(n))
					}
					n++
				}
			}
			chunks(128, func(i, off int) { mov(z(i), in(RAX, off)) })
		})
	}
	pack("V6_vpackhub_sat", VPACKUSWB, nil)
	pack("V6_vpackhb_sat", VPACKSSWB, nil)
	pack("V6_vpackwh_sat", VPACKSSDW, nil)
	pack("V6_vpackwuh_sat", VPACKUSDW, nil)
	pack("V6_vpackeb", VPACKUSWB, func(r Register) { VPSLLW(Imm(8), r, r); VPSRLW(Imm(8), r, r) })
	pack("V6_vpackob", VPACKUSWB, func(r Register) { VPSRLW(Imm(8), r, r) })
	pack("V6_vpackeh", VPACKUSDW, func(r Register) { VPSLLD(Imm(16), r, r); VPSRLD(Imm(16), r, r) })
	pack("V6_vpackoh", VPACKUSDW, func(r Register) { VPSRLD(Imm(16), r, r) })

	// Extension of even and odd lanes.
	split := func(name string, bits uint64, left, right ins) {
		op(name, func() {
			ptr(0, RAX)
			ptr(1, RCX)
			n := 128 / width()
			chunks(128, func(i, off int) { mov(in(RCX, off), z(i)) })
			chunks(128, func(i, off int) {
				left(Imm(bits), z(i), z(n+i))
				right(Imm(bits), z(n+i), z(n+i)) // even
				right(Imm(bits), z(i), z(i))     // odd
			})
			chunks(128, func(i, off int) { mov(z(n+i), in(RAX, off)); mov(z(i), in(RAX, 128+off)) })
		})
	}
	split("V6_vzb", 8, VPSLLW, VPSRLW)
	split("V6_vsb", 8, VPSLLW, VPSRAW)
	split("V6_vzh", 16, VPSLLD, VPSRLD)
	split("V6_vsh", 16, VPSLLD, VPSRAD)
	// Extension of the halves.
	unpack := func(name string, f ins) {
		op(name, func() {
			ptr(0, RAX)
			ptr(1, RCX)
			chunks(256, func(i, off int) { f(in(RCX, off/2), z(i)) })
			chunks(256, func(i, off int) { mov(z(i), in(RAX, off)) })
		})
	}
	unpack("V6_vunpackub", VPMOVZXBW)
	unpack("V6_vunpackb", VPMOVSXBW)
	unpack("V6_vunpackuh", VPMOVZXWD)
	unpack("V6_vunpackh", VPMOVSXWD)
}
