package window

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// emitElements does an output element per lane: lanes load their own entries.
func (k *Kernel) emitElements(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	pos, ch := a.DivConstV(lane, k.OutC, "position")
	inCh := ch
	if k.Multiplier > 1 {
		inCh, _ = a.DivConstV(ch, k.Multiplier, "input channel")
	}
	chOff := a.ShiftLeft(inCh, k.In.Elem.Shift(), "channel offset")
	posOff := a.ShiftLeft(pos, 2, "entry offset")
	tab := a.Cursor(layout.Consts, k.table, "table")
	var wPtr, wOff codegen.Reg
	if k.Mode == Depthwise {
		wPtr = a.Cursor(layout.Consts, k.weights, "weights")
		wOff = a.ShiftLeft(ch, 2, "weight offset")
	}
	acc := a.Op1(rdna2.V_MOV_B32_E32, a.V("acc"), k.start())
	a.Loop(k.Steps, "step", func() {
		var x, w []codegen.Reg
		for range k.Group {
			entry := a.Load(layout.F32, tab, posOff, 0, "entry")
			a.Advance(tab, 4*k.rows())
			if k.Mode == Depthwise {
				w = append(w, a.Load(layout.F32, wPtr, wOff, 0, "weight"))
				a.Advance(wPtr, 4*k.OutC)
			}
			addr := a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("address"), entry, chOff)
			x = append(x, a.Load(k.In.Elem, a.Base(layout.Arena), addr, 0, "tap"))
		}
		for i := range x {
			k.apply(a, acc, x[i], w, i)
		}
	})
	var count codegen.Reg
	if k.Mode == Average {
		count = a.Load(layout.I32, a.Pointer(layout.Consts, k.counts, "counts"), posOff, 0, "count")
	}
	bias, mult := k.channel(a, ch)
	x := a.Narrow(k.Out.Elem, k.finish(a, acc, bias, mult, count))
	a.Store(k.Out.Elem, a.Pointer(layout.Arena, k.Out.Off, "out"), a.ShiftLeft(lane, k.Out.Elem.Shift(), "out offset"), x, 0)
	return kernel.Flat(names[k.Mode], k.rows()*k.OutC)
}

// columns is the table [tap][position] of arena offsets, of as many taps as the steps have, for
// lanes that load their own entries. counts are the taps inside the image, per position.
func (k *Kernel) columns(m *kernel.Memory) (table, counts uint32) {
	outside, es := m.Pages.At(k.Padding()), k.In.Elem.Bytes()
	t := make([]uint32, k.Steps*k.Group*k.rows())
	for i := range t {
		t[i] = outside
	}
	inside := make([]int, k.rows())
	kernel.EachTap(&k.Window, k.Batches, k.InC, func(row, tap, i int) {
		if i >= 0 {
			t[tap*k.rows()+row] = k.In.Off + uint32(i*es)
			inside[row]++
		}
	})
	n := make([]uint32, k.rows())
	for row := range n {
		n[row] = k.count(inside[row])
	}
	return m.Consts.Words(t), m.Consts.Words(n)
}
