package conv

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// FoldWords is the words of an entry of the kernel below: the biases of 32
// channels, their first weights, how many vectors of these and their distance.
const FoldWords = 4

// FoldZeroPoint subtracts weights times a byte from biases.
// Arguments: table, entries, the byte four times, what is added.
type FoldZeroPoint struct{}

// Name implements hvx.Kernel.
func (FoldZeroPoint) Name() string { return "fold_zero_point" }

// Emit implements hvx.Kernel.
func (FoldZeroPoint) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "zero", "more")
	table, entries, zero := in[0], in[1], in[2]
	more := a.Splat(in[3], "more")
	a.Repeat(entries, func() {
		bias, at := a.Word(table, 0, "bias"), a.Word(table, 1, "weights")
		n, step := a.Word(table, 2, "count"), a.Word(table, 3, "step")
		a.Bump(table, 4*FoldWords)
		sum := a.V("products")
		a.Op(hexagon.V6_vxor, sum, more, more)
		a.Loop0(n, func() {
			w := a.Load(at, 0, hvx.AliasIn, "weights")
			a.Op(hexagon.A2_add, at, at, step)
			a.Op(hexagon.V6_vrmpyub_acc, sum, w, zero)
		})
		b := a.Load(bias, 0, hvx.AliasOut, "bias")
		a.Op(hexagon.V6_vaddw, b, b, more)
		a.Op(hexagon.V6_vsubw, b, b, sum)
		a.Store(bias, 0, b, hvx.AliasOut)
	})
	a.Ret()
}
