package gpu

import (
	"math"
	"sort"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// windowTile is how a wave goes over a run of neighbouring output positions in a
// line: every input position that any of them reads is loaded once.
type windowTile struct {
	n     int         // outputs of a run
	perX  int         // runs of a line
	xs    []int       // distances of the input columns from the run's first one, rising
	place map[int]int // index into xs
}

// Bounds of a tile: columns per line of taps, and loads in flight at once.
const (
	maxColumns = 40
	maxLoads   = 64
)

// tiled chooses the run; ok is false when a line of taps is too long.
func (k *window) tiled() (t windowTile, ok bool) {
	w := &k.w
	t.n = min(8, w.OutW)
	if w.OutW > 8 {
		best := math.MaxInt
		for n := 8; n >= 4; n-- {
			if c := (w.OutW + n - 1) / n * n; c < best {
				best, t.n = c, n
			}
		}
	}
	for {
		t.columns(w.StrideW, w.KW, w.DilationW)
		if len(t.xs) <= maxColumns {
			break
		}
		if t.n == 1 {
			return t, false
		}
		t.n = (t.n + 1) / 2
	}
	t.perX = (w.OutW + t.n - 1) / t.n
	return t, true
}

func (t *windowTile) columns(stride, kw, dilation int) {
	t.place = map[int]int{}
	t.xs = t.xs[:0]
	for j := range t.n {
		for kx := range kw {
			x := j*stride + kx*dilation
			if _, ok := t.place[x]; !ok {
				t.place[x] = 0
				t.xs = append(t.xs, x)
			}
		}
	}
	sort.Ints(t.xs)
	for i, x := range t.xs {
		t.place[x] = i
	}
}

// first is the first output column of run i: the last run of a line ends with
// it and may overlap the one before.
func (t *windowTile) first(i, outW int) int { return min(i*t.n, outW-t.n) }

func (t *windowTile) stride() int { return (len(t.xs) + 3) / 4 * 4 }

// runs is the table [run][line of taps][column] of arena offsets, and the taps
// inside the image, as float32, [run][output].
func (k *window) runs(l *lowering, t *windowTile) (table, counts uint32) {
	w := &k.w
	lines := k.batches * w.OutH
	tab := make([]uint32, lines*t.perX*w.KH*t.stride())
	cnt := make([]uint32, lines*t.perX*t.n)
	es := k.in.elem.bytes()
	outside := uint32(0)
	if k.mode == maximum {
		outside = l.lowestPage(k.in.elem)
	}
	at := func(b, y, x int) uint32 {
		if y < 0 || y >= w.H || x < 0 || x >= w.W {
			return outside
		}
		return k.in.off + uint32(((b*w.H+y)*w.W+x)*k.inC*es)
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
			for ky := range w.KH {
				for i, x := range t.xs {
					tab[(run*w.KH+ky)*t.stride()+i] = at(b, oy*w.StrideH-w.Top+ky*w.DilationH, ox*w.StrideW-w.Left+x)
				}
			}
			ny := inside(oy, w.StrideH, w.Top, w.KH, w.DilationH, w.H)
			for j := range t.n {
				nx := inside(ox+j, w.StrideW, w.Left, w.KW, w.DilationW, w.W)
				cnt[run*t.n+j] = math.Float32bits(float32(ny * nx))
			}
		}
	}
	return l.consts.words(tab), l.consts.words(cnt)
}

func (k *window) emitTiled(l *lowering, t *windowTile) (*launch, error) {
	a := l.newAsm(k.name())
	w := &k.w
	es := k.in.elem.bytes()
	ch := a.lane(32)
	if k.outC%32 != 0 {
		a.Emit(rdna2.V_CMPX_GT_U32_E32, k.outC, ch)
	}
	inCh := ch
	if k.multiplier > 1 {
		inCh, _ = a.vDivConst(ch, k.multiplier, "input channel")
	}
	chOff := a.shiftLeft(inCh, k.in.elem.shift(), "channel offset")
	table, counts := k.runs(l, t)
	tab := a.cursor(consts, table, "table")
	a.advance(tab, a.mulConst(a.Workgroup(1), 4*w.KH*t.stride(), "run"))
	var wPtr, wOff codegen.Reg
	if k.mode == depthwise {
		wPtr = a.cursor(consts, k.packWeights(&l.consts), "weights")
		wOff = a.shiftLeft(ch, 2, "weight offset")
	}
	var acc []codegen.Reg
	for range t.n {
		acc = append(acc, a.op1(rdna2.V_MOV_B32_E32, a.v("acc"), k.start()))
	}
	lines := func(n int) {
		var weights, x [][]codegen.Reg
		var offs []codegen.Reg
		for ky := range n {
			offs = append(offs, a.scalars(tab, 4*ky*t.stride(), t.stride())[:len(t.xs)]...)
		}
		for ky := range n {
			var ws, xs []codegen.Reg
			for i := range t.xs {
				addr := a.op2(rdna2.V_ADD_NC_U32_E32, a.v("address"), offs[ky*len(t.xs)+i], chOff)
				xs = append(xs, a.load(k.in.elem, a.base(arena), addr, 0, "tap"))
			}
			for range w.KW {
				if k.mode == depthwise {
					ws = append(ws, a.load(f32, wPtr, wOff, 0, "weight"))
					a.advance(wPtr, 4*k.outC)
				}
			}
			weights, x = append(weights, ws), append(x, xs)
		}
		for ky := range n {
			for kx := range w.KW {
				for j := range t.n {
					k.apply(a, acc[j], x[ky][t.place[j*w.StrideW+kx*w.DilationW]], weights[ky], kx)
				}
			}
		}
	}
	if w.KH*len(t.xs) <= maxLoads {
		lines(w.KH)
	} else {
		a.loop(w.KH, "line", func() {
			lines(1)
			a.advance(tab, 4*t.stride())
		})
	}
	k.storeRun(a, l, t, acc, ch, counts, es)
	return a.finish((k.outC+31)/32*32, k.batches*w.OutH*t.perX, 1, 32)
}

// storeRun finishes the outputs of a run and stores them.
func (k *window) storeRun(a *asm, l *lowering, t *windowTile, acc []codegen.Reg, ch codegen.Reg, counts uint32, es int) {
	var bias, cnt codegen.Reg
	switch k.mode {
	case depthwise:
		bias = a.load(f32, a.pointer(consts, k.packBias(&l.consts), "bias"), a.shiftLeft(ch, 2, "bias offset"), 0, "bias")
	case average:
		cnt = a.cursor(consts, counts, "counts")
		a.advance(cnt, a.mulConst(a.Workgroup(1), 4*t.n, "run"))
	}
	out := a.pointer(arena, k.out.off, "out")
	line, run := a.divConst(a.Workgroup(1), t.perX, "line")
	x0 := a.mulConst(run, t.n, "column")
	if k.w.OutW%t.n != 0 {
		x0 = a.op2(rdna2.S_MIN_U32, a.s("column"), x0, k.w.OutW-t.n)
	}
	pos := a.op2(rdna2.S_ADD_U32, a.s("position"), a.mulConst(line, k.w.OutW, "positions"), x0)
	first := a.op2(rdna2.V_ADD_NC_U32_E32, a.v("place"), a.mulConst(pos, k.outC*es, "bytes"), a.shiftLeft(ch, k.out.elem.shift(), "out offset"))
	for j := range t.n {
		x := acc[j]
		switch k.mode {
		case depthwise:
			x = a.op2(rdna2.V_ADD_F32_E32, a.v("sum"), bias, x)
		case average:
			c := a.s("count")
			a.Emit(rdna2.S_LOAD_DWORD_IMM, c, cnt, 4*j)
			x = a.divide(x, a.op1(rdna2.V_MOV_B32_E32, a.v("count"), c))
		}
		x = a.narrow(k.out.elem, a.clamp(x, k.lo, k.hi))
		imm := j * k.outC * es
		if place := first; imm <= 2047 {
			a.store(k.out.elem, out, place, x, imm)
		} else {
			a.store(k.out.elem, out, a.op2(rdna2.V_ADD_NC_U32_E32, a.v("place"), imm, first), x, 0)
		}
	}
}
