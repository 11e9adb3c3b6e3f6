package lookup

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Lsh projects Items of ItemBytes bytes each to Hashes of Bits bits: a bit is set where the
// weighted sum of the fingerprints of {seed, item} is positive. Lanes are hashes.
type Lsh struct {
	Hashes, Bits, Items, ItemBytes int
	Kind                           int32          // opspec.LshDense or of one word for each hash
	Seeds, In, Weights, Out        *layout.Tensor // Weights may be nil
}

// Emit implements kernel.Kernel.
func (k *Lsh) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	first, signature := a.Times(lane, k.Bits), a.Variable(0)
	text := &hashed{Builder: a, prefixBytes: k.Seeds.Elem.Bytes(), base: a.Pointer(k.In.Region, k.In.Off, "items"), size: k.Seeds.Elem.Bytes() + k.ItemBytes}
	seeds := a.Pointer(k.Seeds.Region, k.Seeds.Off, "seeds")
	a.For(k.Bits, "bit", func(bit codegen.Reg) {
		at := a.Sum(first, bit)
		text.prefix = a.Load(k.Seeds.Elem, seeds, a.ShiftLeft(at, k.Seeds.Elem.Shift(), "offset"), 0, "seed")
		sum := a.WideConstant(0)
		text.at = a.Variable(0)
		a.For(k.Items, "item", func(item codegen.Reg) {
			s := a.WideToDouble(text.fingerprint())
			if k.Weights != nil {
				s = a.MulD(s, a.ToDouble(a.Element(k.Weights, a.Constant(item))))
			}
			a.SetWide(sum, a.AddD(sum, s))
			a.Increase(text.at, k.ItemBytes)
		})
		one := a.Choose(0, 1, a.Where(rdna2.V_CMP_LT_F64_E64, a.WideConstant(0), sum))
		if k.Kind == opspec.LshDense {
			a.SetElement(k.Out, at, one)
			return
		}
		a.Set(signature, a.Sum(a.ShiftLeft(signature, 1, "signature"), one))
	})
	if k.Kind == opspec.LshSparse {
		a.Increase(signature, a.Op2(rdna2.V_LSHLREV_B32_E32, a.V("offset"), k.Bits, lane))
	}
	if k.Kind != opspec.LshDense {
		a.SetElement(k.Out, lane, signature)
	}
	return kernel.Flat("lsh_projection", k.Hashes)
}
