package reduce

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// MeanShape is the axes that a mean keeps and those it reduces, with the strides of the
// input in elements.
type MeanShape struct {
	Kept, Reduced layout.Axes
	Count         int // elements of a result
}

// Mean is a mean: lanes are results, each adds its elements one by one.
type Mean struct {
	MeanShape
	In, Out *layout.Tensor
}

// MeanKey is what the code depends on.
type MeanKey struct {
	MeanShape
	In, Out layout.Place
}

// Name implements kernel.Key.
func (MeanKey) Name() string { return "mean" }

// Pack implements kernel.Kernel.
func (m *Mean) Pack(*kernel.Memory) kernel.Key {
	return MeanKey{m.MeanShape, m.In.Place(), m.Out.Place()}
}

// Work implements kernel.Kernel.
func (m *Mean) Work() kernel.Work {
	waves := (m.Kept.Size() + 31) / 32
	return kernel.Work{
		Waves: waves, Instructions: int64(waves) * int64(20+4*m.Count), Loads: int64(waves) * int64(m.Count),
		ReadBytes: int64(m.In.Bytes()), WriteBytes: int64(m.Out.Bytes()), Chain: m.Count,
	}
}

// Emit implements kernel.Key.
func (m MeanKey) Emit(a *rdna.Builder) kernel.Grid {
	x, out := m.In, m.Out
	lane := a.Lane(kernel.FlatGroup)
	off := a.V("offset")
	a.Emit(rdna2.V_MOV_B32_E32, off, a.Offsets(lane, m.Kept.List(), []int{x.Elem.Shift()})[0])
	src := a.Pointer(x.Region, x.Off, "in")
	sum := a.Op1(rdna2.V_MOV_B32_E32, a.V("sum"), 0)
	es := x.Elem.Bytes()
	axes := m.Reduced.List()
	var nest func(i int)
	nest = func(i int) {
		if i == len(axes) {
			a.Emit(rdna2.V_ADD_F32_E32, sum, sum, a.Widen(x.Elem, a.Load(x.Elem, src, off, 0, "x")))
			return
		}
		step := axes[i].Strides[0] * es
		a.Loop(axes[i].N, "axis", func() {
			nest(i + 1)
			a.Emit(rdna2.V_ADD_NC_U32_E32, off, step, off)
		})
		a.Emit(rdna2.V_SUBREV_NC_U32_E32, off, step*axes[i].N, off)
	}
	nest(0)
	y := a.Divide(sum, a.Op1(rdna2.V_MOV_B32_E32, a.V("count"), float32(m.Count)))
	a.Store(out.Elem, a.Pointer(layout.Arena, out.Off, "out"), a.ShiftLeft(lane, out.Elem.Shift(), "out offset"), a.Narrow(out.Elem, y), 0)
	return kernel.Flat(m.Kept.Size())
}
