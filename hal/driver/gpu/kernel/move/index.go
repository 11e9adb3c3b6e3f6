package move

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Index gathers elements by a constant list: that of the input with each index, or Fill where
// the index is negative.
type Index struct {
	List    []int32
	Fill    uint32
	In, Out *layout.Tensor
}

// IndexKey is what the code depends on.
type IndexKey struct {
	N       int
	Fill    uint32
	Fills   bool // there are negative indexes
	Table   uint32
	In, Out layout.Place
}

// Name implements kernel.Key.
func (IndexKey) Name() string { return "index" }

// Pack implements kernel.Kernel.
func (k *Index) Pack(m *kernel.Memory) kernel.Key {
	w := make([]uint32, len(k.List))
	for i, x := range k.List {
		w[i] = uint32(x)
	}
	return IndexKey{len(k.List), k.Fill, slices.Min(k.List) < 0, m.Consts.Words(w), k.In.Place(), k.Out.Place()}
}

// Work implements kernel.Kernel.
func (k *Index) Work() kernel.Work {
	waves := (len(k.List) + 31) / 32
	return kernel.Work{Waves: waves, Instructions: 12 * int64(waves), Loads: 2 * int64(waves),
		ReadBytes: int64(4*len(k.List) + k.Out.Bytes()), WriteBytes: int64(k.Out.Bytes()), Chain: 2}
}

// Emit implements kernel.Key.
func (k IndexKey) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	from := a.Word(k.Table, lane)
	off := a.ShiftLeft(a.Greatest(0, from), k.In.Elem.Shift(), "offset")
	x := a.Load(k.In.Elem, a.Pointer(k.In.Region, k.In.Off, "in"), off, 0, "x")
	if k.Fills {
		x = a.Choose(x, a.Constant(k.Fill), a.Where(rdna2.V_CMP_GT_I32_E64, 0, from))
	}
	a.Store(k.Out.Elem, a.Pointer(layout.Arena, k.Out.Off, "out"), a.ShiftLeft(lane, k.Out.Elem.Shift(), "out offset"), x, 0)
	return kernel.Flat(k.N)
}
