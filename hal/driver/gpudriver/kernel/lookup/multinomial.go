package lookup

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Weights adds up e^(logit - greatest logit) along each row of [Rows][Classes], in doubles of two
// words each. Lanes are rows.
type Weights struct {
	Rows, Classes int
	In, Sums      *layout.Tensor
}

// Emit implements kernel.Kernel.
func (k *Weights) Emit(a *rdna.Builder) kernel.Grid {
	first := a.Times(a.Lane(kernel.FlatGroup), k.Classes)
	top := a.Variable(float32(math.Inf(-1)))
	a.For(k.Classes, "greatest", func(c codegen.Reg) {
		a.Set(top, a.Extreme(rdna2.V_MAX_F32_E32, top, a.Element(k.In, a.Sum(first, c))))
	})
	sum := a.WideConstant(0)
	a.For(k.Classes, "sum", func(c codegen.Reg) {
		at := a.Sum(first, c)
		a.SetWide(sum, a.AddD(sum, a.ExpDouble(a.ToDouble(a.SubF(a.Element(k.In, at), top)))))
		a.SetElement(k.Sums, a.ShiftLeft(at, 1, "lo"), rdna.At(sum, 0))
		a.SetElement(k.Sums, a.Sum(a.ShiftLeft(at, 1, "lo"), 1), rdna.At(sum, 1))
	})
	return kernel.Flat("multinomial_weights", k.Rows)
}

// Draw draws Samples classes of each row: the first whose sum of weights is above the product of
// a random number and the whole. Lanes are draws, whose numbers come from the generator
// Philox4x32-10 by counter and the two words of Seeds.
type Draw struct {
	Rows, Classes, Samples int
	Sums, Seeds, Out       *layout.Tensor
}

// Emit implements kernel.Kernel.
func (k *Draw) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	row, _ := a.DivConstV(lane, k.Samples, "row")
	word := a.Variable(a.ShiftLeft(a.Times(row, k.Classes), 1, "word"))
	double := func(at codegen.Reg) codegen.Reg {
		d := a.WideConstant(0)
		a.Set(rdna.At(d, 0), a.Element(k.Sums, at))
		a.Set(rdna.At(d, 1), a.Element(k.Sums, a.Sum(at, 1)))
		return d
	}
	seed := func(i int) codegen.Reg { return a.Element(k.Seeds, a.Constant(i)) }
	limit := a.MulD(uniform(a, lane, seed(0), seed(1)), double(a.Sum(word, 2*(k.Classes-1))))
	class, above := a.Variable(0), a.Variable(0)
	a.For(k.Classes, "class", func(codegen.Reg) {
		a.Set(above, a.Choose(above, 1, a.Where(rdna2.V_CMP_GT_F64_E64, double(word), limit)))
		a.Set(class, a.Less(a.Sum(class, 1), above)) // sums only grow: those not above come first
		a.Increase(word, 2)
	})
	a.SetElement(k.Out, lane, a.Least(k.Classes-1, class))
	return kernel.Flat("multinomial_draw", k.Rows*k.Samples)
}

// Multipliers and steps of the key of Philox4x32.
const (
	philox0, philox1 = 0xd2511f53, 0xcd9e8d57
	weyl0, weyl1     = 0x9e3779b9, 0xbb67ae85
	philoxRounds     = 10
)

// uniform is a double in [0, 1): 53 bits of the words of a counter under a key.
func uniform(a *rdna.Builder, counter, key0, key1 codegen.Reg) codegen.Reg {
	xor := func(x, y, z codegen.Reg) codegen.Reg {
		return a.Op2(rdna2.V_XOR_B32_E32, a.V("mixed"), x, a.Op2(rdna2.V_XOR_B32_E32, a.V("mixed"), y, z))
	}
	c := [4]codegen.Reg{counter, a.Constant(0), a.Constant(0), a.Constant(0)}
	for range philoxRounds {
		product := func(m uint32, x codegen.Reg) codegen.Reg {
			p := a.WideConstant(0)
			a.Emit(rdna2.V_MAD_U64_U32, p, a.S("carry"), a.Constant(m), x, p)
			return p
		}
		p0, p1 := product(philox0, c[0]), product(philox1, c[2])
		c = [4]codegen.Reg{xor(rdna.At(p1, 1), c[1], key0), rdna.At(p1, 0), xor(rdna.At(p0, 1), c[3], key1), rdna.At(p0, 0)}
		key0, key1 = a.Sum(key0, uint32(weyl0)), a.Sum(key1, uint32(weyl1))
	}
	hi := a.UnsignedToDouble(a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("hi"), 5, c[0]))
	lo := a.UnsignedToDouble(a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("lo"), 6, c[1]))
	return a.MulD(a.AddD(a.MulD(hi, a.Double(1<<26)), lo), a.Double(0x1p-53))
}
