package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// averages writes vavg and vnavg without a wider type: a + b is twice what the operands share plus where they differ,
// so half of it is (a & b) + (a ^ b)/2, or, rounded up, (a | b) - (a ^ b)/2. The host's own averages of unsigned bytes
// and halfwords are used where they fit.
func averages() {
	for _, x := range []struct {
		lane     string
		add, sub ins
		half     func(r Register) // shift right by one
		rnd      bool             // the host has no rounded average
		neg      bool             // there is a vnavg
	}{
		{"h", VPADDW, VPSUBW, func(r Register) { VPSRAW(Imm(1), r, r) }, true, true},
		{"uh", VPADDW, VPSUBW, func(r Register) { VPSRLW(Imm(1), r, r) }, false, false},
		{"w", VPADDD, VPSUBD, func(r Register) { VPSRAD(Imm(1), r, r) }, true, true},
		{"uw", VPADDD, VPSUBD, func(r Register) { VPSRLD(Imm(1), r, r) }, true, false},
		{"b", VPADDB, VPSUBB, halfBytes(true), true, true},
		{"ub", VPADDB, VPSUBB, halfBytes(false), false, false},
	} {
		up := func(a, b, d Register) {
			VPOR(b, a, d)
			VPXOR(b, a, z(3))
			x.half(z(3))
			x.sub(z(3), d, d)
		}
		lanes("V6_vavg"+x.lane, 128, func(a, b, d Register) {
			VPAND(b, a, d)
			VPXOR(b, a, z(3))
			x.half(z(3))
			x.add(z(3), d, d)
		})
		if x.rnd {
			lanes("V6_vavg"+x.lane+"rnd", 128, up)
		}
		if x.neg { // a - b is a + ^b + 1
			lanes("V6_vnavg"+x.lane, 128, func(a, b, d Register) {
				splat(0xffffffff, z(4))
				VPXOR(z(4), b, b)
				up(a, b, d)
			})
		}
	}
}

// halfBytes shifts bytes, for which the host has no shift: halfwords, without the bits shifted in from the neighbour.
func halfBytes(signed bool) func(r Register) {
	return func(r Register) {
		VPSRLW(Imm(1), r, r)
		splat(0x7f7f7f7f, z(5))
		VPAND(z(5), r, r)
		if signed { // bit 6 is the sign
			splat(0x40404040, z(5))
			VPXOR(z(5), r, r)
			VPSUBB(z(5), r, r)
		}
	}
}
