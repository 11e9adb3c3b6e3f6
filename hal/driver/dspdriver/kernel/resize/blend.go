package resize

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

const (
	// bilinearBits are the fraction bits of the weights: four weights of bytes stay
	// below 2^31.
	bilinearBits = 22
	// FractionBits is how many bits the fractions have whose products they are.
	FractionBits = 30
)

// Words of an entry of the blend kernel: a range of a row of the result, the same
// of the rows that hold its left and right neighbours above and below, the fractions
// of its columns, the vectors and the fraction of the row.
const (
	blendRows  = 0
	blendX     = 4
	blendOut   = 5
	blendCount = 6
	blendY     = 7
	BlendWords = 8
)

// Blend weighs four neighbours: sums of products of
// words, halves rounded away from zero. Arguments: table, entries, the bias of stored
// bytes.
type Blend struct{}

// Name implements hvx.Kernel.
func (Blend) Name() string { return "blend" }

// Emit implements hvx.Kernel.
func (Blend) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "bias")
	table, entries, bias := in[0], in[1], a.Splat(in[2], "bias")
	one := a.Splat(a.Imm(1<<FractionBits), "one")
	half := a.Splat(a.Imm(1<<(bilinearBits-1)), "half")
	// Products of fractions have 2*FractionBits - 31 bits.
	const surplus = 2*FractionBits - 31 - bilinearBits
	roundBy := a.Splat(a.Imm(1<<(surplus-1)), "round")
	shift, last, bits := a.Imm(surplus), a.Imm(31), a.Imm(bilinearBits)
	a.Repeat(entries, func() {
		var rows [4]codegen.Reg
		for i := range rows {
			rows[i] = a.Word(table, blendRows+i, "row")
		}
		fractions, out, count := a.Word(table, blendX, "fractions"), a.Word(table, blendOut, "out"), a.Word(table, blendCount, "vectors")
		below, above := a.Splat(a.Word(table, blendY, "y"), "below"), a.V("above")
		a.Bump(table, 4*BlendWords)
		a.Op(hexagon.V6_vsubw, above, one, below)
		a.Loop0(count, func() {
			var x [4][4]codegen.Reg // neighbour, words
			for n := range x {
				v := a.V("neighbour")
				a.Op(hexagon.V6_vL32b_pi, v, rows[n], 1).Loads(hvx.AliasIn)
				x[n] = a.WidenBytes(v)
			}
			var acc [4]codegen.Reg
			for i := range acc {
				right, left := a.V("right"), a.V("left")
				a.Op(hexagon.V6_vL32b_pi, right, fractions, 1).Loads(hvx.AliasConst)
				a.Op(hexagon.V6_vsubw, left, one, right)
				for n, f := range [4][2]codegen.Reg{{above, left}, {above, right}, {below, left}, {below, right}} {
					w, v := a.MulHigh(f[1], f[0]), a.V("centred")
					a.Op(hexagon.V6_vaddw, w, w, roundBy)
					a.Op(hexagon.V6_vasrw, w, w, shift)
					a.Op(hexagon.V6_vsubw, v, x[n][i], bias)
					p := a.MulWords(v, w)
					if n > 0 {
						a.Op(hexagon.V6_vaddw, p, p, acc[i])
					}
					acc[i] = p
				}
				sign := a.V("sign")
				a.Op(hexagon.V6_vasrw, sign, acc[i], last)
				a.Op(hexagon.V6_vaddw, acc[i], acc[i], sign)
				a.Op(hexagon.V6_vaddw, acc[i], acc[i], half)
				a.Op(hexagon.V6_vasrw, acc[i], acc[i], bits)
				a.Op(hexagon.V6_vaddw, acc[i], acc[i], bias)
			}
			a.Op(hexagon.V6_vS32b_pi, out, 1, a.NarrowWords(acc)).Stores(hvx.AliasOut)
		})
	})
	a.Ret()
}
