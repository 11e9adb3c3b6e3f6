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
// over lines of taps, and loads every input column that any position reads of a line once.
// Where a line of taps is too long for that, a run is a single position, whose taps are divided
// into lines of another length, the last of them padded.
type run struct {
	n       int   // outputs of a run
	perX    int   // runs of a line of outputs
	xs      []int // distances of the input columns from the run's first one, rising; nil: all taps in lines
	lines   int   // lines of taps
	columns int   // of a line of taps: what is loaded
	taps    int   // of a line
}

// Bounds of a tile: columns per line of taps, and loads in flight at once.
const (
	maxColumns = 40
	maxLoads   = 64
)

// run chooses the run.
func (s *Shape) run() (t run) {
	w := &s.Window
	t.n = min(8, w.OutW)
	if w.OutW > 8 {
		best := math.MaxInt
		for n := 8; n >= 4; n-- {
			if c := (w.OutW + n - 1) / n * n; c < best {
				best, t.n = c, n
			}
		}
	}
	for ; ; t.n = (t.n + 1) / 2 {
		t.xs = nil
		for j := range t.n {
			for kx := range w.KW {
				t.xs = append(t.xs, j*w.StrideW+kx*w.DilationW)
			}
		}
		slices.Sort(t.xs)
		t.xs = slices.Compact(t.xs)
		if len(t.xs) <= maxColumns || t.n == 1 {
			break
		}
	}
	t.perX, t.lines, t.columns, t.taps = (w.OutW+t.n-1)/t.n, w.KH, len(t.xs), w.KW
	if t.columns > maxColumns {
		t.xs, t.lines = nil, (w.KH*w.KW+maxColumns-1)/maxColumns
		t.columns = (w.KH*w.KW + t.lines - 1) / t.lines
		t.taps = t.columns
	}
	return t
}

// column is the column that output j reads of a tap of a line.
func (t *run) column(w *opspec.Window, j, tap int) int {
	if t.xs == nil {
		return tap
	}
	i, _ := slices.BinarySearch(t.xs, j*w.StrideW+tap*w.DilationW)
	return i
}

// distance is that of a column of a line of taps from the first one of the window, and whether it
// is there.
func (t *run) distance(w *opspec.Window, line, column int) (y, x int, there bool) {
	if t.xs != nil {
		return line * w.DilationH, t.xs[column], true
	}
	tap := line*t.columns + column
	return tap / w.KW * w.DilationH, tap % w.KW * w.DilationW, tap < w.KH*w.KW
}

// first is the first output column of run i: the last run of a line ends with
// it and may overlap the one before.
func (t *run) first(i, outW int) int { return min(i*t.n, outW-t.n) }

func (t *run) stride() int { return (t.columns + 3) / 4 * 4 }

// runs is the table [run][line of taps][column] of arena offsets, and the taps
// inside the image, [run][output].
func (k *Kernel) runs(m *kernel.Memory, t *run) (table, counts uint32) {
	w := &k.Window
	lines := k.Batches * w.OutH
	tab := make([]uint32, lines*t.perX*t.lines*t.stride())
	cnt := make([]uint32, lines*t.perX*t.n)
	es := k.In.Elem.Bytes()
	outside := m.Pages.At(k.Padding())
	at := func(b, y, x int) uint32 {
		if y < 0 || y >= w.H || x < 0 || x >= w.W {
			return outside
		}
		return k.In.Off + uint32(((b*w.H+y)*w.W+x)*k.InC*es)
	}
	inside := func(o, stride, pad, n, dilation, size int) int {
		c := 0
		for i := range n {
			if p := o*stride - pad + i*dilation; p >= 0 && p < size {
				c++
			}
		}
		return c
	}
	for line := range lines {
		b, oy := line/w.OutH, line%w.OutH
		for r := range t.perX {
			run := line*t.perX + r
			ox := t.first(r, w.OutW)
			for ky := range t.lines {
				for i := range t.columns {
					entry := &tab[(run*t.lines+ky)*t.stride()+i]
					*entry = outside
					if y, x, there := t.distance(w, ky, i); there {
						*entry = at(b, oy*w.StrideH-w.Top+y, ox*w.StrideW-w.Left+x)
					}
				}
			}
			ny := inside(oy, w.StrideH, w.Top, w.KH, w.DilationH, w.H)
			for j := range t.n {
				nx := inside(ox+j, w.StrideW, w.Left, w.KW, w.DilationW, w.W)
				cnt[run*t.n+j] = k.count(ny * nx)
			}
		}
	}
	return m.Consts.Words(tab), m.Consts.Words(cnt)
}

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

// emitRuns does runs of neighbouring output positions.
func (k *Kernel) emitRuns(a *rdna.Builder, t *run) kernel.Grid {
	w := &k.Window
	es := k.In.Elem.Bytes()
	ch, chOff := k.lanes(a)
	tab := a.Cursor(layout.Consts, k.table, "table")
	a.Advance(tab, a.MulConst(a.Workgroup(1), 4*t.lines*t.stride(), "run"))
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
			offs = append(offs, a.Scalars(tab, 4*ky*t.stride(), t.stride())[:t.columns]...)
		}
		for ky := range n {
			var ws, xs []codegen.Reg
			for i := range t.columns {
				addr := a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("address"), offs[ky*t.columns+i], chOff)
				xs = append(xs, a.Load(k.In.Elem, a.Base(layout.Arena), addr, 0, "tap"))
			}
			for range t.taps {
				if k.Mode == Depthwise {
					ws = append(ws, a.Load(layout.F32, wPtr, wOff, 0, "weight"))
					a.Advance(wPtr, 4*k.OutC)
				}
			}
			weights, x = append(weights, ws), append(x, xs)
		}
		for ky := range n {
			for tap := range t.taps {
				for j := range t.n {
					k.apply(a, acc[j], x[ky][t.column(w, j, tap)], weights[ky], tap)
				}
			}
		}
	}
	if t.lines*t.columns <= maxLoads {
		lines(t.lines)
	} else {
		a.Loop(t.lines, "line", func() {
			lines(1)
			a.Advance(tab, 4*t.stride())
		})
	}
	k.storeRun(a, t, acc, ch, es)
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
