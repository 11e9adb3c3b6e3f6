// Package lookup picks elements by indexes, keys and sizes that only an execution knows:
// GATHER, EMBEDDING_LOOKUP, HASHTABLE_LOOKUP, TOPK_V2 and LSH_PROJECTION.
package lookup

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Gather copies entries of [Outer][Count][Inner] by N indexes. Lanes are elements of the
// output, or words where entries are whole words that are not converted. An index that is not
// below Count sets Fault, a word that begins as 0; without a Fault it selects elements of Fill,
// the bits of an integer or 0.
type Gather struct {
	Outer, Count, Inner, N  int
	Fill                    uint32
	In, Indices, Out, Fault *layout.Tensor
}

// Emit implements kernel.Kernel.
func (k *Gather) Emit(a *rdna.Builder) kernel.Grid {
	in, out, inner := *k.In, *k.Out, k.Inner
	if bytes := inner * in.Elem.Bytes(); in.Elem == out.Elem && bytes%4 == 0 {
		in.Elem, out.Elem, inner = layout.I32, layout.I32, bytes/4
	}
	lane := a.Lane(kernel.FlatGroup)
	entry, i := a.DivConstV(lane, inner, "entry")
	outer, n := a.DivConstV(entry, k.N, "outer")
	index := a.Element(k.Indices, n)
	valid := a.Inside(index, k.Count)
	from := a.Sum(a.Times(a.Sum(a.Times(outer, k.Count), a.Choose(0, index, valid)), inner), i)
	x := a.Element(&in, from)
	if k.Fault != nil {
		a.Fault(k.Fault, valid)
	} else {
		x = a.Choose(a.Constant(k.Fill), x, valid)
	}
	a.SetElement(&out, lane, x)
	return kernel.Flat("gather_entries", k.Outer*k.N*inner)
}

// Hashtable gathers rows of Values by the first of Keys that each of N lookups is equal to, and
// zeros where there is none. Lanes are elements of the output.
type Hashtable struct {
	Rows, Size, N                    int
	Lookups, Keys, Values, Out, Hits *layout.Tensor
}

// Emit implements kernel.Kernel.
func (k *Hashtable) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	n, i := a.DivConstV(lane, k.Size, "lookup")
	key := a.Element(k.Lookups, n)
	found := a.Variable(uint32(0xffffffff))
	a.For(k.Rows, "key", func(j codegen.Reg) {
		row := a.Constant(j)
		m := a.Where(rdna2.V_CMP_EQ_U32_E64, key, a.Element(k.Keys, row))
		m = a.Both(m, a.Where(rdna2.V_CMP_GT_I32_E64, 0, found))
		a.Set(found, a.Choose(found, row, m))
	})
	hit := a.Where(rdna2.V_CMP_LE_I32_E64, 0, found)
	x := a.Element(k.Values, a.Sum(a.Times(a.Greatest(0, found), k.Size), i))
	a.SetElement(k.Out, lane, a.Choose(0, x, hit))
	a.SetElement(k.Hits, n, a.Choose(0, 1, hit))
	return kernel.Flat("hashtable", k.N*k.Size)
}

// TopK gives the K greatest elements of rows, and their places, in order; of equals the first. NaN counts as
// greater than numbers. Lanes are elements of the input, which count those before them.
type TopK struct {
	Rows, Depth, K      int
	In, Values, Indices *layout.Tensor
}

// Emit implements kernel.Kernel.
func (k *TopK) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	row, i := a.DivConstV(lane, k.Depth, "row")
	more, same, float := rdna2.V_CMP_LT_I32_E64, rdna2.V_CMP_EQ_I32_E64, k.In.Elem.IsFloat()
	x := a.Element(k.In, lane)
	bound, number := x, codegen.Reg{}
	if float { // of NaN infinity is the bound, beyond which is NaN, and nothing is equal
		more, same = rdna2.V_CMP_NGE_F32_E64, rdna2.V_CMP_EQ_F32_E64
		number = a.Where(rdna2.V_CMP_O_F32_E64, x, x)
		bound = a.Choose(a.Constant(float32(math.Inf(1))), x, number)
	}
	in := a.Pointer(k.In.Region, k.In.Off, "in")
	rank, off := a.Variable(0), a.Variable(a.ShiftLeft(a.Times(row, k.Depth), k.In.Elem.Shift(), "offset"))
	a.For(k.Depth, "other", func(j codegen.Reg) {
		y := a.Widen(k.In.Elem, a.Load(k.In.Elem, in, off, 0, "y"))
		greater, earlier := a.Where(more, bound, y), a.Where(rdna2.V_CMP_LT_U32_E64, j, i)
		equal := a.Both(a.Where(same, x, y), earlier)
		if float {
			greater = a.Both(greater, a.Any(earlier, number))
		}
		before := a.Any(greater, equal)
		a.Emit(rdna2.V_ADD_CO_CI_U32_E64, rank, a.S("carry"), 0, rank, before)
		a.Increase(off, k.In.Elem.Bytes())
	})
	a.Masked(a.Inside(rank, k.K), func() {
		to := a.Sum(a.Times(row, k.K), rank)
		a.SetElement(k.Values, to, x)
		a.SetElement(k.Indices, to, i)
	})
	return kernel.Flat("topk", k.Rows*k.Depth)
}
