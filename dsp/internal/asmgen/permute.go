package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// data writes 64-byte tables of byte indices.
func data(name string, at func(i int) byte) Mem {
	d := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < 64; i += 8 {
		var v uint64
		for j := range 8 {
			v |= uint64(at(i+j)) << (8 * j)
		}
		DATA(i, U64(v))
	}
	return d
}

// constants is a table written by data.
func constants(name string) Mem { return NewDataAddr(Symbol{Name: name, Static: true}, 0) }

// permutes writes the byte permutes, which need VBMI. An index of seven bits
// selects from the 128 bytes of two registers.
func permutes() {
	data("packorder", func(i int) byte {
		if i%8 != 0 {
			return 0
		}
		return []byte{0, 2, 4, 6, 1, 3, 5, 7}[i/8]
	})
	fixedPermutes()
	alignments()
	lookups()
	butterflies()
}

// fixedPermutes writes permutes of one vector with index tables of its two halves.
func fixedPermutes() {
	fixed := func(name string, at func(i int) int) {
		var half [2]Mem
		for h := range half {
			half[h] = data(fmt.Sprintf("%s%d", name[3:], h), func(i int) byte { return byte(at(64*h + i)) })
		}
		op(name, func() {
			ptrs(2)
			mov(in(RCX, 0), Z0)
			mov(in(RCX, 64), Z1)
			mov(half[0], Z2)
			mov(half[1], Z3)
			VPERMI2B(Z1, Z0, Z2)
			VPERMI2B(Z1, Z0, Z3)
			mov(Z2, in(RAX, 0))
			mov(Z3, in(RAX, 64))
		})
	}
	fixed("V6_vshuffb", func(i int) int { return i/2 + i%2*64 })
	fixed("V6_vshuffh", func(i int) int { return i/4*2 + i%2 + i/2%2*64 })
	fixed("V6_vdealb", func(i int) int { return i%64*2 + i/64 })
	fixed("V6_vdealh", func(i int) int { return i%64/2*4 + i%2 + i/64*2 })
}

// alignments writes the selections of 128 consecutive bytes of two vectors.
func alignments() {
	// shifted: lanes from byte R9 of the 256 bytes Vv (RDX), Vu (RCX) on.
	shifted := func() {
		ptr(0, RAX)
		mov(in(RDX, 0), Z0)
		mov(in(RDX, 64), Z1)
		mov(in(RCX, 0), Z2)
		mov(in(RCX, 64), Z3)
		VPBROADCASTB(R9L, Z4)
		VMOVDQU64(constants("iota"), Z5)
		for half := range 2 {
			if half == 1 {
				splatMask(0x40404040, Z6)
				VPADDB(Z6, Z5, Z5)
			}
			VPADDB(Z4, Z5, Z7) // byte number in 0..255: the top bit selects Vu
			VPMOVB2M(Z7, K1)
			VMOVDQA64(Z7, Z8)
			VPERMI2B(Z1, Z0, Z7)
			VPERMI2B(Z3, Z2, Z8)
			VMOVDQU8(Z8, K1, Z7)
			mov(Z7, in(RAX, 64*half))
		}
	}
	align := func(name string, amount func()) {
		op(name, func() {
			amount()
			ptr(1, RCX)
			ptr(2, RDX)
			shifted()
		})
	}
	align("V6_valignb", func() { MOVL(in(ptr(3, R9), 0), R9L); ANDL(U32(127), R9L) })
	align("V6_valignbi", func() { MOVL(field(uopImm), R9L); ANDL(U32(7), R9L) })
	left := func() { NEGL(R9L); ADDL(U32(128), R9L) }
	align("V6_vlalignbi", func() { MOVL(field(uopImm), R9L); ANDL(U32(7), R9L); left() })
	align("V6_vlalignb", func() { MOVL(in(ptr(3, R9), 0), R9L); ANDL(U32(127), R9L); left() })
	op("V6_vror", func() {
		MOVL(in(ptr(2, R9), 0), R9L)
		ANDL(U32(127), R9L)
		ptr(1, RCX)
		MOVQ(RCX, RDX)
		shifted()
	})
}

// lookups writes vlut32: byte 2*(x & 63) + odd of the table where the top bits fit.
func lookups() {
	lut := func(name string, imm, or bool) {
		op(name, func() {
			ptrs(3)
			if imm {
				MOVL(field(uopImm), R9L)
			} else {
				MOVL(in(ptr(3, R9), 0), R9L)
			}
			MOVL(R9L, R10L)
			SHRL(Imm(1), R10L)
			ANDL(U32(1), R10L)
			VPBROADCASTB(R10L, Z4)
			SHLL(Imm(5), R9L)
			VPBROADCASTB(R9L, Z5)
			mov(in(RDX, 0), Z0)
			mov(in(RDX, 64), Z1)
			MOVL(U32(0xe0e0e0e0), R11L)
			VPBROADCASTD(R11L, Z6)
			for off := 0; off < 128; off += 64 {
				mov(in(RCX, off), Z2)
				VPANDD(Z6, Z2, Z3)
				VPCMPEQB(Z5, Z3, K1)
				VPADDB(Z2, Z2, Z2)
				VPADDB(Z4, Z2, Z2) // bit 7 is ignored by the lookup
				VPERMI2B(Z1, Z0, Z2)
				VMOVDQU8_Z(Z2, K1, Z2)
				if or {
					VPORD(in(RAX, off), Z2, Z2)
				}
				mov(Z2, in(RAX, off))
			}
		})
	}
	lut("V6_vlutvvb", false, false)
	lut("V6_vlutvvbi", true, false)
	lut("V6_vlutvvb_oracc", false, true)
	lut("V6_vlutvvb_oracci", true, true)
}

// butterflies writes vshuff and vdeal of pairs: for each power of two n in Rt, exchange the
// upper n of every 2n bytes of the low register (Z0, Z1) with the lower n of
// the high register (Z2, Z3).
func butterflies() {
	stage := func(n int, label string) {
		TESTL(U32(uint32(n)), R9L)
		JE(LabelRef(label))
		if n == 64 {
			VMOVDQA64(Z1, Z4)
			VMOVDQA64(Z2, Z1)
			VMOVDQA64(Z4, Z2)
		} else {
			VMOVDQU64(xorTable(n), Z4)
			var mask uint64
			for i := range 64 {
				if i&n != 0 {
					mask |= 1 << i
				}
			}
			MOVQ(U64(mask), R10)
			KMOVQ(R10, K1)
			KNOTQ(K1, K2)
			for _, p := range [][2]VecPhysical{{Z0, Z2}, {Z1, Z3}} {
				lo, hi := p[0], p[1]
				VMOVDQA64(lo, Z5)
				VPERMB(hi, Z4, K1, lo)
				VPERMB(Z5, Z4, K2, hi)
			}
		}
		Label(label)
	}
	butterfly := func(name string, up bool) {
		op(name, func() {
			ptr(1, RCX)
			ptr(2, RDX)
			MOVL(in(ptr(3, R9), 0), R9L)
			mov(in(RDX, 0), Z0)
			mov(in(RDX, 64), Z1)
			mov(in(RCX, 0), Z2)
			mov(in(RCX, 64), Z3)
			for i := range 7 {
				n := 1 << i
				if !up {
					n = 64 >> i
				}
				stage(n, fmt.Sprintf("s%d", n))
			}
			ptr(0, RAX)
			mov(Z0, in(RAX, 0))
			mov(Z1, in(RAX, 64))
			mov(Z2, in(RAX, 128))
			mov(Z3, in(RAX, 192))
		})
	}
	butterfly("V6_vshuffvdd", true)
	butterfly("V6_vdealvdd", false)
}
