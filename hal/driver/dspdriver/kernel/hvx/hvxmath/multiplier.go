package hvxmath

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// ApplyMultiplier is m.Apply of words.
func ApplyMultiplier(a *hvx.Builder, x codegen.Reg, m fixedpoint.Multiplier) codegen.Reg {
	if m.Shift > 0 {
		t := a.V("shifted")
		a.Op(hexagon.V6_vaslw, t, x, a.Imm(m.Shift))
		x = t
	}
	x = a.MulHigh(x, a.Splat(a.Imm(int(m.M)), "multiplier"))
	if m.Shift < 0 {
		x = RoundShift(a, x, -m.Shift)
	}
	return x
}

// RoundShift is x / 2^n, halves away from zero, of words above the least; n is
// 1 to 31.
func RoundShift(a *hvx.Builder, x codegen.Reg, n int) codegen.Reg {
	t := a.V("rounded")
	a.Op(hexagon.V6_vasrw, t, x, a.Imm(31))
	a.Op(hexagon.V6_vaddw, t, t, x)
	if n > 1 {
		a.Op(hexagon.V6_vasrw, t, t, a.Imm(n-1))
	}
	a.Op(hexagon.V6_vavgwrnd, t, t, a.Zero())
	return t
}

// Saturate16 bounds words to 16 bits.
func Saturate16(a *hvx.Builder, x codegen.Reg) codegen.Reg {
	t := a.V("saturated")
	a.Op(hexagon.V6_vminw, t, x, a.Splat(a.Imm(math.MaxInt16), "most"))
	a.Op(hexagon.V6_vmaxw, t, t, a.Splat(a.Imm(math.MinInt16), "least"))
	return t
}
