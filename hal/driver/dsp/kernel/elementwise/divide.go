package elementwise

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// DivKernel divides words and rounds towards minus infinity; a division by 0
// gives 0. Magnitudes are divided bit by bit; 32 bits are 32 rounds.
func DivKernel() *Map {
	return Function("div_words", 2, 0, func(a *hvx.Builder, out codegen.Reg, x, _ []codegen.Reg) {
		zero, one, c31 := a.Zero(), a.Splat(a.Imm(1), "one"), a.Imm(31)
		n, d := a.V("dividend"), a.V("divisor")
		a.Op(hexagon.V6_vabsw, n, x[0])
		a.Op(hexagon.V6_vabsw, d, x[1])
		rem, quot := a.V("remainder"), a.V("quotient")
		a.Op(hexagon.V6_vassign, rem, zero)
		a.Op(hexagon.V6_vassign, quot, zero)
		for range 32 {
			top, fits, bit := a.V("top"), a.Q("too large"), a.V("bit")
			a.Op(hexagon.V6_vlsrw, top, n, c31)
			a.Op(hexagon.V6_vaddw, n, n, n)
			a.Op(hexagon.V6_vaddw, rem, rem, rem)
			a.Op(hexagon.V6_vaddw, rem, rem, top)
			a.Op(hexagon.V6_vgtuw, fits, d, rem)
			a.Op(hexagon.V6_vsubwnq, fits, rem, d)
			a.Op(hexagon.V6_vmux, bit, fits, zero, one)
			a.Op(hexagon.V6_vaddw, quot, quot, quot)
			a.Op(hexagon.V6_vaddw, quot, quot, bit)
		}
		// Signs that differ: the quotient is negative, and one less with a remainder.
		signs, down := a.V("signs"), a.V("down")
		a.Op(hexagon.V6_vxor, signs, x[0], x[1])
		differ, whole, none := a.Q("differ"), a.Q("whole"), a.Q("none")
		a.Op(hexagon.V6_vgtw, differ, zero, signs)
		a.Op(hexagon.V6_veqw, whole, rem, zero)
		a.Op(hexagon.V6_vmux, down, whole, zero, one)
		negative := a.V("negative")
		a.Op(hexagon.V6_vsubw, negative, zero, quot)
		a.Op(hexagon.V6_vsubw, negative, negative, down)
		a.Op(hexagon.V6_vmux, quot, differ, negative, quot)
		a.Op(hexagon.V6_veqw, none, d, zero)
		a.Op(hexagon.V6_vmux, out, none, zero, quot)
	})
}
