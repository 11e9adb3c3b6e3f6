package elementwise

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// DivWords divides words and rounds towards minus infinity; a division by 0 gives
// 0. Magnitudes are divided bit by bit; 32 bits are 32 rounds.
type DivWords struct{}

func (DivWords) Name() string { return "div_words" }
func (DivWords) Form() Form   { return simple(2, 0) }

func (DivWords) Emit(b *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	out := b.V("out")
	zero, one, c31 := b.Zero(), b.Splat(b.Imm(1), "one"), b.Imm(31)
	n, d := b.V("dividend"), b.V("divisor")
	b.Op(hexagon.V6_vabsw, n, x[0][0])
	b.Op(hexagon.V6_vabsw, d, x[1][0])
	rem, quot := b.V("remainder"), b.V("quotient")
	b.Op(hexagon.V6_vassign, rem, zero)
	b.Op(hexagon.V6_vassign, quot, zero)
	for range 32 {
		top, fits, bit := b.V("top"), b.Q("too large"), b.V("bit")
		b.Op(hexagon.V6_vlsrw, top, n, c31)
		b.Op(hexagon.V6_vaddw, n, n, n)
		b.Op(hexagon.V6_vaddw, rem, rem, rem)
		b.Op(hexagon.V6_vaddw, rem, rem, top)
		b.Op(hexagon.V6_vgtuw, fits, d, rem)
		b.Op(hexagon.V6_vsubwnq, fits, rem, d)
		b.Op(hexagon.V6_vmux, bit, fits, zero, one)
		b.Op(hexagon.V6_vaddw, quot, quot, quot)
		b.Op(hexagon.V6_vaddw, quot, quot, bit)
	}
	// Signs that differ: the quotient is negative, and one less with a remainder.
	signs, down := b.V("signs"), b.V("down")
	b.Op(hexagon.V6_vxor, signs, x[0][0], x[1][0])
	differ, whole, none := b.Q("differ"), b.Q("whole"), b.Q("none")
	b.Op(hexagon.V6_vgtw, differ, zero, signs)
	b.Op(hexagon.V6_veqw, whole, rem, zero)
	b.Op(hexagon.V6_vmux, down, whole, zero, one)
	negative := b.V("negative")
	b.Op(hexagon.V6_vsubw, negative, zero, quot)
	b.Op(hexagon.V6_vsubw, negative, negative, down)
	b.Op(hexagon.V6_vmux, quot, differ, negative, quot)
	b.Op(hexagon.V6_veqw, none, d, zero)
	b.Op(hexagon.V6_vmux, out, none, zero, quot)
	return []codegen.Reg{out}
}
