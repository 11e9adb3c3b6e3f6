package move

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Index gathers elements by a constant list: that of the input with each index, or Fill where
// the index is negative.
type Index struct {
	List    []int32
	Fill    uint32
	In, Out *layout.Tensor

	fills bool   // there are negative indexes, when packed
	table uint32 // offset of the list
}

// Pack implements kernel.Packer.
func (k *Index) Pack(m *kernel.Memory) kernel.Kernel {
	w := make([]uint32, len(k.List))
	for i, x := range k.List {
		w[i] = uint32(x)
	}
	return &Index{Fill: k.Fill, In: k.In, Out: k.Out, fills: slices.Min(k.List) < 0, table: m.Consts.Words(w)}
}

// Emit implements kernel.Kernel.
func (k *Index) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	from := a.Word(k.table, lane)
	off := a.ShiftLeft(a.Greatest(0, from), k.In.Elem.Shift(), "offset")
	x := a.Load(k.In.Elem, a.Pointer(k.In.Region, k.In.Off, "in"), off, 0, "x")
	if k.fills || k.List != nil {
		x = a.Choose(x, a.Constant(k.Fill), a.Where(rdna2.V_CMP_GT_I32_E64, 0, from))
	}
	a.Store(k.Out.Elem, a.Pointer(layout.Arena, k.Out.Off, "out"), a.ShiftLeft(lane, k.Out.Elem.Shift(), "out offset"), x, 0)
	return kernel.Flat("index", k.Out.N)
}
