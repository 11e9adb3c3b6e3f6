package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// deltas writes the delta networks: in the stage of each power of two n, lane k receives lane k^n where bit n of its
// control byte is set.
func deltas() {
	for n := 1; n < 64; n <<= 1 {
		data(fmt.Sprintf("xor%d", n), func(i int) byte { return byte(i ^ n) })
	}
	for _, name := range []string{"V6_vdelta", "V6_vrdelta"} {
		op(name, func() {
			ptrs(3)
			parts := 128 / width
			chunks(128, func(i, off int) {
				mov(in(RCX, off), z(i))
				mov(in(RDX, off), z(4+i))
			})
			for i := range 7 {
				bit := i
				if name == "V6_vdelta" {
					bit = 6 - i
				}
				stageOf(bit, parts)
			}
			chunks(128, func(i, off int) { mov(z(i), in(RAX, off)) })
		})
	}
}

// stageOf makes one stage on the lanes in the first registers, controlled by those
// from 4 on.
func stageOf(bit, parts int) {
	n := 1 << bit
	whole := n / width // registers between partners, 0 within one
	if whole > 0 {     // the lanes before the stage
		for k := range parts {
			mov6(z(k), z(8+k))
		}
	}
	for k := range parts {
		VPSLLW(Imm(uint64(7-bit)), z(4+k), z(14)) // the bit is on top of its byte
		from := z(13)
		switch {
		case whole > 0:
			from = z(8 + (k ^ whole))
		case n == 16:
			VPERMQ(Imm(0x4e), z(k), from)
		default:
			VPSHUFB(xorTable(n), z(k), from)
		}
		VPBLENDVB(z(14), from, z(k), z(k))
	}
}

// xorTable holds i^n for i from 0 to 63.
func xorTable(n int) Mem { return constants(fmt.Sprintf("xor%d", n)) }
