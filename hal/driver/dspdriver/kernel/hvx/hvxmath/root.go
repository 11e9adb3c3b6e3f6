package hvxmath

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// InverseRoot is 1/sqrt of every word, which is 0 to 2^29-1, as a factor in
// Q0.31 and a right shift: five Newton steps on a value brought into [1/4, 1) in
// Q3.28.
func InverseRoot(a *hvx.Builder, sum codegen.Reg) (factor, right codegen.Reg) {
	one, zero := a.Splat(a.Imm(1), "one"), a.Zero()
	pairs, double, x := a.V("pairs"), a.V("double"), a.V("aligned")
	a.Op(hexagon.V6_vcl0w, pairs, sum)
	a.Op(hexagon.V6_vsubw, pairs, pairs, one)
	a.Op(hexagon.V6_vasrw, pairs, pairs, a.Imm(1))
	a.Op(hexagon.V6_vsubw, pairs, pairs, one)
	a.Op(hexagon.V6_vaslw, double, pairs, a.Imm(1))
	a.Op(hexagon.V6_vaslwv, x, sum, double)
	half := a.V("half")
	a.Op(hexagon.V6_vasrw, half, x, a.Imm(1))
	a.Op(hexagon.V6_vavgwrnd, half, half, zero)
	r := a.Splat(a.Imm(1<<28), "root")
	threeHalves := a.Splat(a.Imm(3<<27), "3/2")
	for range 5 {
		cube := a.Doubled(a.MulHigh(a.MulHigh(r, r), r), 6)
		next := a.V("root")
		a.Op(hexagon.V6_vsubw, next, a.MulHigh(threeHalves, r), a.MulHigh(half, cube))
		r = a.Doubled(next, 3)
	}
	r = a.MulHigh(r, a.Splat(a.Imm(1518500250), "sqrt 1/2"))
	// Right shift 11 - pairs; where that is negative the factor shifts left.
	shift, left := a.V("shift"), a.V("left")
	a.Op(hexagon.V6_vsubw, shift, a.Splat(a.Imm(11), "eleven"), pairs)
	right = a.V("right")
	a.Op(hexagon.V6_vmaxw, right, shift, zero)
	a.Op(hexagon.V6_vsubw, left, right, shift)
	a.Op(hexagon.V6_vaslwv, r, r, left)
	// 0 and 1 have almost 1.
	q := a.Q("more")
	factor = a.V("factor")
	a.Op(hexagon.V6_vgtw, q, sum, one)
	a.Op(hexagon.V6_vmux, factor, q, r, a.Splat(a.Imm(1<<31-1), "almost one"))
	a.Op(hexagon.V6_vmux, right, q, right, zero)
	return factor, right
}
