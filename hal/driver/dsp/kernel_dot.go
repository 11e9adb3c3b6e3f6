package dsp

import (
	"fmt"

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
func (d *dotKernel) generate(a *asm) {
	in := a.args("table", "entries", "zeroIn", "zeroWeights")
	table, entries := in[0], in[1]
	zeroIn, zeroW := a.splat(in[2], "zeroIn"), a.splat(in[3], "zeroWeights")
	zero := a.zero()
	a.repeat(entries, func() {
		row, w := a.word(table, dotIn, "row"), a.word(table, dotWeights, "weights")
		bias, out := a.word(table, dotBias, "bias"), a.word(table, dotOut, "out")
		count := a.word(table, dotCount, "count")
		a.bump(table, 4*dotWords)
		a.repeat(count, func() {
			at := a.r("at")
			a.op(hexagon.A2_tfr, at, row)
			even, odd := a.vv("even"), a.vv("odd")
			a.op(hexagon.V6_vcombine, even, zero, zero)
			a.op(hexagon.V6_vcombine, odd, zero, zero)
			a.loop0(d.vectors, func() {
				x, y := a.centred(at, zeroIn), a.centred(w, zeroW)
				a.op(hexagon.V6_vmpyhv_acc, even, x[0], y[0])
				a.op(hexagon.V6_vmpyhv_acc, odd, x[1], y[1])
			})
			sum := a.v("sum")
			a.op(hexagon.V6_vaddw, sum, lo(even), hi(even))
			a.op(hexagon.V6_vaddw, sum, sum, lo(odd))
			a.op(hexagon.V6_vaddw, sum, sum, hi(odd))
			acc, b := a.r("acc"), a.r("bias")
			a.op(hexagon.L2_loadri_pi, b, bias, 4).Loads(aliasIn)
			a.op(hexagon.V6_extractw, acc, a.reduceLanes(sum), a.imm(0))
			a.op(hexagon.A2_add, acc, acc, b)
			a.op(hexagon.S2_storeri_pi, out, 4, acc).Stores(aliasOut)
		})
	})
	a.ret()
}

// reduceLanes leaves the sum of all words in every word.
func (a *asm) reduceLanes(v codegen.Reg) codegen.Reg {
	for n := vecBytes / 2; n >= 4; n /= 2 {
		t, s := a.v("turned"), a.v("sum")
		a.op(hexagon.V6_vror, t, v, a.imm(n))
		a.op(hexagon.V6_vaddw, s, v, t)
		v = s
	}
	return v
}

// rescaleKernel requantizes words in memory to bytes.
type rescaleKernel struct {
	rq requantKind
}

func (k *rescaleKernel) name() string { return "rescale_" + k.rq.tag() }

// generate writes the kernel. Arguments: table of (words, bytes, multipliers,
// vectors of bytes), entries, parameter block.
func (k *rescaleKernel) generate(a *asm) {
	in := a.args("table", "entries", "params")
	table, entries := in[0], in[1]
	rq := a.requantSetup(k.rq, in[2])
	a.repeat(entries, func() {
		src, dst, head := a.word(table, 0, "words"), a.word(table, 1, "bytes"), a.word(table, 2, "multipliers")
		n := a.word(table, 3, "vectors")
		a.bump(table, 16)
		a.loop0(n, func() {
			var acc [4]codegen.Reg
			for i := range acc {
				acc[i] = a.v("acc")
				a.op(hexagon.V6_vL32b_pi, acc[i], src, 1).Loads(aliasIn)
			}
			out := rq.pack(acc, func(j int) channelVectors { return rq.channelVectorsAt(head, 0, j, 4) }, false)
			if n := k.rq.vectors(); n > 0 {
				a.bump(head, n*4*vecBytes)
			}
			a.op(hexagon.V6_vS32b_pi, dst, 1, out).Stores(aliasOut)
		})
	})
	a.ret()
}
