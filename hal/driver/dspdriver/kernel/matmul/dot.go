package matmul

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Dot multiplies rows of inputs with rows of weights, both in memory in
// row-major order, so nothing has to be known about the weights when the model is
// prepared. An accumulator is the sum of the products of two rows of whole
// vectors, less their zero points, plus a bias.
type Dot struct {
	Vectors int // per row
}

func (d Dot) Name() string { return fmt.Sprintf("dot_%d", d.Vectors) }

// Words of a dot entry: one row of inputs, count rows of weights.
const (
	dotIn = iota
	dotWeights
	dotBias
	dotOut
	dotCount
	DotWords
)

// Emit writes the kernel. Arguments: table, entries, zero point of the
// inputs and of the weights twice each, as halves.
func (d Dot) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "zeroIn", "zeroWeights")
	table, entries := in[0], in[1]
	zeroIn, zeroW := a.Splat(in[2], "zeroIn"), a.Splat(in[3], "zeroWeights")
	zero := a.Zero()
	a.Repeat(entries, func() {
		row, w := a.Word(table, dotIn, "row"), a.Word(table, dotWeights, "weights")
		bias, out := a.Word(table, dotBias, "bias"), a.Word(table, dotOut, "out")
		count := a.Word(table, dotCount, "count")
		a.Bump(table, 4*DotWords)
		a.Repeat(count, func() {
			at := a.R("at")
			a.Op(hexagon.A2_tfr, at, row)
			even, odd := a.VV("even"), a.VV("odd")
			a.Op(hexagon.V6_vcombine, even, zero, zero)
			a.Op(hexagon.V6_vcombine, odd, zero, zero)
			a.Loop0(d.Vectors, func() {
				x, y := a.LoadCentred(at, zeroIn), a.LoadCentred(w, zeroW)
				a.Op(hexagon.V6_vmpyhv_acc, even, x[0], y[0])
				a.Op(hexagon.V6_vmpyhv_acc, odd, x[1], y[1])
			})
			sum := a.V("sum")
			a.Op(hexagon.V6_vaddw, sum, hvx.Lo(even), hvx.Hi(even))
			a.Op(hexagon.V6_vaddw, sum, sum, hvx.Lo(odd))
			a.Op(hexagon.V6_vaddw, sum, sum, hvx.Hi(odd))
			acc, b := a.R("acc"), a.R("bias")
			a.Op(hexagon.L2_loadri_pi, b, bias, 4).Loads(hvx.AliasIn)
			a.Op(hexagon.V6_extractw, acc, a.SumLanes(sum), a.Imm(0))
			a.Op(hexagon.A2_add, acc, acc, b)
			a.Op(hexagon.S2_storeri_pi, out, 4, acc).Stores(hvx.AliasOut)
		})
	})
	a.Ret()
}
