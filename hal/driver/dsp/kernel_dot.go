package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// dotKernel multiplies rows of inputs with rows of weights, both in memory in
// row-major order, so nothing has to be known about the weights when the model is
// prepared. An accumulator is the sum of the products of two rows of whole
// vectors, less their zero points, plus a bias.
type dotKernel struct {
	vectors int // per row
}

func (d *dotKernel) name() string { return fmt.Sprintf("dot_%d", d.vectors) }

// Words of a dot entry: one row of inputs, count rows of weights.
const (
	dotIn = iota
	dotWeights
	dotBias
	dotOut
	dotCount
	dotWords
)

// generate writes the kernel. Arguments: table, entries, zero point of the
// inputs and of the weights twice each, as halves.
func (d *dotKernel) generate(a *hvx.Builder) {
	in := a.Args("table", "entries", "zeroIn", "zeroWeights")
	table, entries := in[0], in[1]
	zeroIn, zeroW := a.Splat(in[2], "zeroIn"), a.Splat(in[3], "zeroWeights")
	zero := a.Zero()
	a.Repeat(entries, func() {
		row, w := a.Word(table, dotIn, "row"), a.Word(table, dotWeights, "weights")
		bias, out := a.Word(table, dotBias, "bias"), a.Word(table, dotOut, "out")
		count := a.Word(table, dotCount, "count")
		a.Bump(table, 4*dotWords)
		a.Repeat(count, func() {
			at := a.R("at")
			a.Op(hexagon.A2_tfr, at, row)
			even, odd := a.VV("even"), a.VV("odd")
			a.Op(hexagon.V6_vcombine, even, zero, zero)
			a.Op(hexagon.V6_vcombine, odd, zero, zero)
			a.Loop0(d.vectors, func() {
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

// rescaleKernel requantizes words in memory to bytes.
type rescaleKernel struct {
	rq hvx.RequantKind
}

func (k *rescaleKernel) name() string { return "rescale_" + k.rq.Tag() }

// generate writes the kernel. Arguments: table of (words, bytes, multipliers,
// vectors of bytes), entries, parameter block.
func (k *rescaleKernel) generate(a *hvx.Builder) {
	in := a.Args("table", "entries", "params")
	table, entries := in[0], in[1]
	rq := a.RequantSetup(k.rq, in[2])
	a.Repeat(entries, func() {
		src, dst, head := a.Word(table, 0, "words"), a.Word(table, 1, "bytes"), a.Word(table, 2, "multipliers")
		n := a.Word(table, 3, "vectors")
		a.Bump(table, 16)
		a.Loop0(n, func() {
			var acc [4]codegen.Reg
			for i := range acc {
				acc[i] = a.V("acc")
				a.Op(hexagon.V6_vL32b_pi, acc[i], src, 1).Loads(hvx.AliasIn)
			}
			out := rq.Pack(acc, func(j int) hvx.ChannelVectors { return rq.ChannelVectorsAt(head, 0, j, 4) }, false)
			if n := k.rq.Vectors(); n > 0 {
				a.Bump(head, n*4*vecBytes)
			}
			a.Op(hexagon.V6_vS32b_pi, dst, 1, out).Stores(hvx.AliasOut)
		})
	})
	a.Ret()
}
