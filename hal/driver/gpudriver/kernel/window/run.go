package window

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// run is the loop of a wave over a run of neighbouring output positions in a line: it iterates
// over lines of taps, and loads every input column that any position reads of a line once. Rows of a window of more
// than MaxColumns taps are several lines, of one output: 100 taps are three lines of 34, 34 and 32 taps and two of padding.
type run struct {
	n     int   // outputs of a run
	perX  int   // runs of a line of outputs
	width int   // taps of a line
	parts int   // lines of a row of the window
	xs    []int // distances of the input columns from the line's first one, rising
}

// Bounds of a run: columns per line of taps, which the width of a filter must not exceed, and loads in flight at once.
const (
	MaxColumns = 40
	maxLoads   = 64
)

// run chooses the run.
func (s *Shape) run() (t run) {
	w := &s.Window
	t.n = min(8, w.OutW)
	t.parts = kernel.Up(w.KW, MaxColumns)
	t.width = kernel.Up(w.KW, t.parts)
	if t.parts > 1 {
		t.n = 1
	} else if w.OutW > 8 {
		best := math.MaxInt
		for n := 8; n >= 4; n-- {
			if c := (w.OutW + n - 1) / n * n; c < best {
				best, t.n = c, n
			}
		}
	}
	for ; ; t.n = (t.n + 1) / 2 {
		t.xs = nil
		for i := range t.n * t.width {
			t.xs = append(t.xs, i/t.width*w.StrideW+i%t.width*w.DilationW)
		}
		slices.Sort(t.xs)
		if t.xs = slices.Compact(t.xs); len(t.xs) <= MaxColumns {
			break
		}
	}
	t.perX = kernel.Up(w.OutW, t.n)
	return t
}

// column is the column that output j reads of a tap of a line.
func (t *run) column(w *opspec.Window, j, tap int) int {
	i, _ := slices.BinarySearch(t.xs, j*w.StrideW+tap*w.DilationW)
	return i
}

// stride is the words of a line of taps in the table.
func (t *run) stride() int { return kernel.Up(len(t.xs), 4) * 4 }

// lines returns how many lines a window's taps read.
func (t *run) lines(w *opspec.Window) int { return w.KH * t.parts }

// runs is the table [run][line of taps][column] of arena offsets, and the taps
// inside the image, [run][output]. The last run of a line ends with it and may overlap the one before.
func (k *Kernel) runs(m *kernel.Memory, t *run) (table, counts uint32) {
	w, n := &k.Window, k.Batches*k.Window.OutH*t.perX
	lines := t.lines(w)
	tab, inside := make([]uint32, n*lines*t.stride()), make([]uint32, n*t.n)
	outside := m.Pages.At(k.Padding())
	for run := range n {
		line, ox := run/t.perX, min(run%t.perX*t.n, w.OutW-t.n)
		for i := range lines {
			ky, first := i/t.parts, i%t.parts*t.width
			columns := tab[(run*lines+i)*t.stride():]
			for i, x := range t.xs {
				if t.parts > 1 && first+i >= w.KW { // of one output: columns are taps
					columns[i] = outside
					continue
				}
				columns[i] = kernel.Pixel(w, k.In, k.InC, line/w.OutH, line%w.OutH*w.StrideH-w.Top+ky*w.DilationH, ox*w.StrideW-w.Left+first*w.DilationW+x, outside)
			}
			for i := 0; i < t.n*t.width && k.Mode == Average; i++ {
				if columns[t.column(w, i/t.width, i%t.width)] != outside {
					inside[run*t.n+i/t.width]++
				}
			}
		}
	}
	return m.Consts.Words(tab), m.Consts.Words(inside)
}

// Emit implements kernel.Kernel.
func (k *Kernel) Emit(a *rdna.Builder) kernel.Grid {
	w, t := &k.Window, k.run()
	es := k.In.Elem.Bytes()
	ch := a.Lane(32)
	if k.OutC%32 != 0 {
		a.Emit(rdna2.V_CMPX_GT_U32_E32, k.OutC, ch)
	}
	inCh := ch
	if k.Multiplier > 1 {
		inCh, _ = a.DivConstV(ch, k.Multiplier, "input channel")
	}
	chOff := a.ShiftLeft(inCh, k.In.Elem.Shift(), "channel offset")
	tab := a.Cursor(layout.Consts, k.table, "table")
	a.Advance(tab, a.MulConst(a.Workgroup(1), 4*t.lines(w)*t.stride(), "run"))
	var wPtr, wOff codegen.Reg
	if k.Mode == Depthwise {
		wPtr = a.Cursor(layout.Consts, k.weights, "weights")
		wOff = a.ShiftLeft(ch, 2, "weight offset")
	}
	var acc []codegen.Reg
	for range t.n {
		acc = append(acc, a.Op1(rdna2.V_MOV_B32_E32, a.V("acc"), k.start()))
	}
	lines := func(n int) {
		var weights, x [][]codegen.Reg
		var offs []codegen.Reg
		for ky := range n {
			offs = append(offs, a.Scalars(tab, 4*ky*t.stride(), t.stride())[:len(t.xs)]...)
		}
		for ky := range n {
			var ws, xs []codegen.Reg
			for i := range t.xs {
				addr := a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("address"), offs[ky*len(t.xs)+i], chOff)
				xs = append(xs, a.Load(k.In.Elem, a.Base(layout.Arena), addr, 0, "tap"))
			}
			for range t.width {
				if k.Mode == Depthwise {
					ws = append(ws, a.Load(layout.F32, wPtr, wOff, 0, "weight"))
					a.Advance(wPtr, 4*k.OutC)
				}
			}
			weights, x = append(weights, ws), append(x, xs)
		}
		for ky := range n {
			for tap := range t.width {
				for j := range t.n {
					k.apply(a, acc[j], x[ky][t.column(w, j, tap)], weights[ky], tap)
				}
			}
		}
	}
	if n := t.lines(w); n*len(t.xs) <= maxLoads {
		lines(n)
	} else {
		a.Loop(n, "line", func() {
			lines(1)
			a.Advance(tab, 4*t.stride())
		})
	}
	k.storeRun(a, &t, acc, ch, es)
	return kernel.Grid{Name: names[k.Mode], Lanes: [3]int{(k.OutC + 31) / 32 * 32, k.Batches * w.OutH * t.perX, 1}, Workgroup: 32}
}

// storeRun finishes the outputs of a run and stores them.
func (k *Kernel) storeRun(a *rdna.Builder, t *run, acc []codegen.Reg, ch codegen.Reg, es int) {
	bias, mult := k.channel(a, ch)
	var cnt codegen.Reg
	if k.Mode == Average {
		cnt = a.Cursor(layout.Consts, k.counts, "counts")
		a.Advance(cnt, a.MulConst(a.Workgroup(1), 4*t.n, "run"))
	}
	out := a.Pointer(layout.Arena, k.Out.Off, "out")
	line, run := a.DivConst(a.Workgroup(1), t.perX, "line")
	x0 := a.MulConst(run, t.n, "column")
	if k.Window.OutW%t.n != 0 {
		x0 = a.Op2(rdna2.S_MIN_U32, a.S("column"), x0, k.Window.OutW-t.n)
	}
	pos := a.Op2(rdna2.S_ADD_U32, a.S("position"), a.MulConst(line, k.Window.OutW, "positions"), x0)
	first := a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("place"), a.MulConst(pos, k.OutC*es, "bytes"), a.ShiftLeft(ch, k.Out.Elem.Shift(), "out offset"))
	for j := range t.n {
		var count codegen.Reg
		if k.Mode == Average {
			c := a.S("count")
			a.Emit(rdna2.S_LOAD_DWORD_IMM, c, cnt, 4*j)
			count = a.Op1(rdna2.V_MOV_B32_E32, a.V("count"), c)
		}
		x := a.Narrow(k.Out.Elem, k.finish(a, acc[j], bias, mult, count))
		imm := j * k.OutC * es
		if place := first; imm <= 2047 {
			a.Store(k.Out.Elem, out, place, x, imm)
		} else {
			a.Store(k.Out.Elem, out, a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("place"), imm, first), x, 0)
		}
	}
}
