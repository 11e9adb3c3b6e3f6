package dsp

import "github.com/nnsoc/nnsoc/isa/hexagon"

// foldWords is the words of an entry of the kernel below: the biases of 32
// channels, their first weights, how many vectors of these and their distance.
const foldWords = 4

// generateFoldZeroPoint writes the kernel that subtracts weights times a byte from biases.
// Arguments: table, entries, the byte four times, what is added.
func generateFoldZeroPoint(a *asm) {
	in := a.args("table", "entries", "zero", "more")
	table, entries, zero := in[0], in[1], in[2]
	more := a.splat(in[3], "more")
	a.repeat(entries, func() {
		bias, at := a.word(table, 0, "bias"), a.word(table, 1, "weights")
		n, step := a.word(table, 2, "count"), a.word(table, 3, "step")
		a.bump(table, 4*foldWords)
		sum := a.v("products")
		a.op(hexagon.V6_vxor, sum, more, more)
		a.loop0(n, func() {
			w := a.vload(at, 0, aliasIn, "weights")
			a.op(hexagon.A2_add, at, at, step)
			a.op(hexagon.V6_vrmpyub_acc, sum, w, zero)
		})
		b := a.vload(bias, 0, aliasOut, "bias")
		a.op(hexagon.V6_vaddw, b, b, more)
		a.op(hexagon.V6_vsubw, b, b, sum)
		a.vstore(bias, 0, b, aliasOut)
	})
	a.ret()
}
