package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// merge combines narrowed even lanes v and odd lanes u into d.
func merge(bits uint64, v, u, d Register) {
	if bits == 8 {
		splatMask(0x00ff00ff, z(9))
		VPSLLW(Imm(8), u, u)
	} else {
		splatMask(0x0000ffff, z(9))
		VPSLLD(Imm(16), u, u)
	}
	VPAND(z(9), v, v)
	VPOR(u, v, d)
}

// clamp bounds lanes to a narrow type.
type clamp struct {
	max, min ins
	hi, lo   uint32
	hasLo    bool
}

// narrowed shifts, rounds and clamps the lanes of r.
func narrowed(c *clamp, shift, round, add ins, r Register) {
	if shift != nil {
		if round != nil { // the bit that rounding looks at: (x >> (s-1)) & 1, 0 when s is 0
			round(X2, r, z(4))
			VPAND(z(6), z(4), z(4))
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

// narrowing writes the narrowing shifts and vsat: even lanes from Vv, odd
// lanes from Vu, clamped to the narrow type.
func narrowing() {
	ub := clamp{VPMINSW, VPMAXSW, 0x00ff00ff, 0, true}
	b := clamp{VPMINSW, VPMAXSW, 0x007f007f, 0xff80ff80, true}
	uub := clamp{VPMINUW, nil, 0x00ff00ff, 0, false}
	h := clamp{VPMINSD, VPMAXSD, 0x7fff, 0xffff8000, true}
	uh := clamp{VPMINSD, VPMAXSD, 0xffff, 0, true}
	uuh := clamp{VPMINUD, nil, 0xffff, 0, false}
	write := func(name string, bits uint64, c *clamp, shift, round, add ins) {
		op(name, func() {
			ptrs(3)
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
				narrowed(c, shift, round, add, z(0))
				narrowed(c, shift, round, add, z(3))
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
	shuffles()
}

// shuffles writes the odd lanes of both sources, and both even and odd ones.
func shuffles() {
	write2 := func(name string, bits uint64, f ins) {
		op(name, func() {
			ptrs(3)
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
	// Both at once: the even lanes to the low register of a pair, the odd ones to
	// the high register.
	both := func(name string, bits uint64, left, right ins, mask uint32) {
		op(name, func() {
			ptrs(3)
			splat(mask, z(9))
			chunks(128, func(i, off int) {
				mov(in(RCX, off), z(0))
				mov(in(RDX, off), z(1))
				left(Imm(bits), z(0), z(2))
				right(Imm(bits), z(1), z(3))
				VPAND(z(9), z(1), z(1))
				VPANDN(z(0), z(9), z(0))
				VPOR(z(2), z(1), z(1))
				VPOR(z(3), z(0), z(0))
				mov(z(1), in(RAX, off))
				mov(z(0), in(RAX, 128+off))
			})
		})
	}
	both("V6_vshufoeb", 8, VPSLLW, VPSRLW, 0x00ff00ff)
	both("V6_vshufoeh", 16, VPSLLD, VPSRLD, 0x0000ffff)
}

// packs writes the packs that concatenate and the extensions.
func packs() {
	// The host packs 16 bytes of each source alternately; the quadwords are put in order afterwards.
	pack := func(name string, f ins, before func(r Register)) {
		op(name, func() {
			ptrs(3)
			n := 0
			for _, src := range []GPPhysical{RDX, RCX} { // Vv is the low half
				for off := 0; off < 128; off += 2 * width {
					mov(in(src, off), z(n))
					mov(in(src, off+width), z(7))
					if before != nil {
						before(z(n))
						before(z(7))
					}
					f(z(7), z(n), z(n))
					VPERMQ(Imm(0xd8), z(n), z(n))
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
			ptrs(2)
			n := 128 / width
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
			ptrs(2)
			chunks(256, func(i, off int) { f(in(RCX, off/2), z(i)) })
			chunks(256, func(i, off int) { mov(z(i), in(RAX, off)) })
		})
	}
	unpack("V6_vunpackub", VPMOVZXBW)
	unpack("V6_vunpackb", VPMOVSXBW)
	unpack("V6_vunpackuh", VPMOVZXWD)
	unpack("V6_vunpackh", VPMOVSXWD)
}
