package window

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// lanes are the output channel of each lane, where it has one, and the offset of its input channel.
func (k *Kernel) lanes(a *rdna.Builder) (ch, offset codegen.Reg) {
	ch = a.Lane(32)
	if k.OutC%32 != 0 {
		a.Emit(rdna2.V_CMPX_GT_U32_E32, k.OutC, ch)
	}
	inCh := ch
	if k.Multiplier > 1 {
		inCh, _ = a.DivConstV(ch, k.Multiplier, "input channel")
	}
	return ch, a.ShiftLeft(inCh, k.In.Elem.Shift(), "channel offset")
}

// emitPositions does a tile of output positions with an address and a load per tap.
func (k *Kernel) emitPositions(a *rdna.Builder) kernel.Grid {
	es := k.In.Elem.Bytes()
	ch, chOff := k.lanes(a)
	tab := a.Cursor(layout.Consts, k.table, "table")
	a.Advance(tab, a.MulConst(a.Workgroup(1), 4*k.Steps*k.Tile*k.stride(), "tile"))
	wOff := codegen.Reg{}
	var wPtr codegen.Reg
	if k.Mode == Depthwise {
		wPtr = a.Cursor(layout.Consts, k.weights, "weights")
		wOff = a.ShiftLeft(ch, 2, "weight offset")
	}
	var acc []codegen.Reg
	for range k.Tile {
		r := a.V("acc")
		a.Emit(rdna2.V_MOV_B32_E32, r, k.start())
		acc = append(acc, r)
	}
	a.Loop(k.Steps, "step", func() {
		var w []codegen.Reg
		if k.Mode == Depthwise {
			for range k.Group {
				d := a.V("weight")
				a.Emit(rdna2.GLOBAL_LOAD_DWORD_SADDR, d, wPtr, wOff, 0)
				a.Advance(wPtr, 4*k.OutC)
				w = append(w, d)
			}
		}
		next := a.Scalars(tab, 0, k.stride())
		var before []codegen.Reg
		for r := range k.Tile + 1 {
			var x []codegen.Reg
			if r < k.Tile {
				a.WaitScalar()
				now := next
				if r+1 < k.Tile {
					next = a.Scalars(tab, 4*(r+1)*k.stride(), k.stride())
				}
				for i := range k.Group {
					addr := a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("address"), now[i], chOff)
					x = append(x, a.Load(k.In.Elem, a.Base(layout.Arena), addr, 0, "tap"))
				}
			}
			for i := range before {
				k.apply(a, acc[r-1], before[i], w, i)
			}
			before = x
		}
		if k.Steps > 1 {
			a.Advance(tab, 4*k.Tile*k.stride())
		}
	})
	constants := k.channel(a, ch)
	var cnt codegen.Reg
	if k.Mode == Average {
		p := a.Cursor(layout.Consts, k.counts, "counts")
		a.Advance(p, a.MulConst(a.Workgroup(1), 4*k.Tile, "tile"))
		cnt = p
	}
	out := a.Pointer(layout.Arena, k.Out.Off, "out")
	outOff := a.ShiftLeft(ch, k.Out.Elem.Shift(), "out offset")
	first := a.MulConst(a.Workgroup(1), k.Tile, "first row")
	for r := range k.Tile {
		var count codegen.Reg
		if k.Mode == Average {
			c := a.S("count")
			a.Emit(rdna2.S_LOAD_DWORD_IMM, c, cnt, 4*r)
			count = a.Op1(rdna2.V_MOV_B32_E32, a.V("count"), c)
		}
		x := k.finish(a, acc[r], constants, count)
		row := a.S("row")
		a.Emit(rdna2.S_ADD_U32, row, first, r)
		a.Emit(rdna2.S_MIN_U32, row, row, k.Rows-1)
		off := a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("place"), a.MulConst(row, k.OutC*es, "row offset"), outOff)
		a.Store(k.Out.Elem, out, off, x, 0)
	}
	return kernel.Grid{Lanes: [3]int{(k.OutC + 31) / 32 * 32, (k.Rows + k.Tile - 1) / k.Tile, 1}, Workgroup: 32}
}
