package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// windowKernel reduces windows of positions: the maximum or a quotient of the
// sum. An entry of the table are equal windows, equally far apart, of one chunk of
// 128 channels.
type windowKernel struct {
	max     bool
	rowStep int // bytes between the rows of a window
	colStep int // bytes between its columns
	unalign bool
	clamp   bool
	halves  bool // no window has more than maxHalves elements: 16 bits are enough
	rows    int  // of all windows, and columns, where they are written one by one; 0 else
	cols    int
}

// Words of a window entry; a maximum has only those before winAbove.
const (
	winIn = iota
	winOut
	winRows
	winCols
	winCount // of windows
	winInStep
	winOutStep
	winAbove // sum above which winMore is added, otherwise winLess
	winMore
	winLess
	winUp // left shift of the sum, rounding constant, multiplier and right shift of the quotient
	winHalf
	winMult
	winDown
	winWords
)

// maxWindowCols bounds the columns of an averaged window: sums of a row are 16 bits wide.
const maxWindowCols = 257

func (w *windowKernel) name() string {
	op := "average"
	if w.max {
		op = "maximum"
	}
	return fmt.Sprintf("%s_r%d_c%d_%s%s", op, w.rowStep, w.colStep, flag(w.unalign, "u")+flag(w.halves, "h")+flag(w.rows > 0, fmt.Sprintf("%dx%d", w.rows, w.cols)), flag(w.clamp, "k"))
}

func (w *windowKernel) entryWords() int {
	if w.max {
		return winAbove
	}
	return winWords
}

// winPrefetch is the index of the prefetch arguments.
const winPrefetch = 4

// generate writes the kernel. Arguments: table, entries, lower and upper bound
// four times each, prefetch.
func (w *windowKernel) generate(a *asm) {
	in := a.args("table", "entries", "lo", "hi", "address", "box", "stride")
	table, entries := in[0], in[1]
	a.prefetch(in[winPrefetch:])
	var low, high codegen.Reg
	if w.clamp {
		low, high = a.splat(in[2], "lo"), a.splat(in[3], "hi")
	}
	zero := a.zero()
	a.repeat(entries, func() {
		e := windowEntry{in: a.word(table, winIn, "in"), rows: a.word(table, winRows, "rows"), cols: a.word(table, winCols, "cols")}
		out, count := a.word(table, winOut, "out"), a.word(table, winCount, "count")
		inStep, outStep := a.word(table, winInStep, "step"), a.word(table, winOutStep, "step")
		if !w.max {
			e.divisor = a.divisor(table)
		}
		a.bump(table, 4*w.entryWords())
		a.repeat(count, func() {
			var v codegen.Reg
			if w.max {
				v = w.maximum(a, e, zero)
			} else if w.halves {
				v = w.averageHalves(a, e, zero)
			} else {
				v = w.average(a, e, zero)
			}
			if w.clamp {
				a.op(hexagon.V6_vmaxub, v, v, low)
				a.op(hexagon.V6_vminub, v, v, high)
			}
			a.vstore(out, 0, v, aliasOut)
			a.op(hexagon.A2_add, e.in, e.in, inStep)
			a.op(hexagon.A2_add, out, out, outStep)
		})
	})
	a.ret()
}

// windowEntry are the registers of an entry.
type windowEntry struct {
	in, rows, cols codegen.Reg
	divisor        divisor
}

// divisor are the constants of a quotient.
type divisor struct{ above, more, less, round, mult, up, down codegen.Reg }

func (a *asm) divisor(table codegen.Reg) divisor {
	return divisor{
		above: a.splat(a.word(table, winAbove, "above"), "above"), more: a.splat(a.word(table, winMore, "more"), "more"),
		less: a.splat(a.word(table, winLess, "less"), "less"), round: a.splat(a.word(table, winHalf, "half"), "half"),
		mult: a.splat(a.word(table, winMult, "mult"), "mult"), up: a.word(table, winUp, "up"), down: a.word(table, winDown, "down"),
	}
}

// walk visits the positions of a window, row by row.
func (w *windowKernel) walk(a *asm, e windowEntry, startRow func(), visit func(x codegen.Reg), endRow func()) {
	load := func(at codegen.Reg) codegen.Reg {
		if w.unalign {
			return a.vloadu(at, 0, aliasIn, "x")
		}
		return a.vload(at, 0, aliasIn, "x")
	}
	if w.rows > 0 {
		for r := range w.rows {
			startRow()
			for c := range w.cols {
				visit(load(a.add(e.in, r*w.rowStep+c*w.colStep)))
			}
			endRow()
		}
		return
	}
	row := a.r("row")
	a.op(hexagon.A2_tfr, row, e.in)
	a.loop1(e.rows, func() {
		startRow()
		at := a.r("at")
		a.op(hexagon.A2_tfr, at, row)
		a.loop0(e.cols, func() {
			visit(load(at))
			a.bump(at, w.colStep)
		})
		endRow()
		a.bump(row, w.rowStep)
	})
}

func (w *windowKernel) maximum(a *asm, e windowEntry, zero codegen.Reg) codegen.Reg {
	v := a.v("max")
	a.op(hexagon.V6_vassign, v, zero)
	w.walk(a, e, func() {}, func(x codegen.Reg) { a.op(hexagon.V6_vmaxub, v, v, x) }, func() {})
	return v
}

// average sums in 16 bits along a row, in 32 bits over the rows, and divides.
func (w *windowKernel) average(a *asm, e windowEntry, zero codegen.Reg) codegen.Reg {
	sum := [2]codegen.Reg{a.vv("sum"), a.vv("sum")}
	for _, s := range sum {
		a.op(hexagon.V6_vcombine, s, zero, zero)
	}
	part := a.vv("row")
	w.walk(a, e,
		func() { a.op(hexagon.V6_vcombine, part, zero, zero) },
		func(x codegen.Reg) { a.op(hexagon.V6_vaddubh_acc, part, x, zero) },
		func() {
			a.op(hexagon.V6_vadduhw_acc, sum[0], lo(part), zero)
			a.op(hexagon.V6_vadduhw_acc, sum[1], hi(part), zero)
		})
	d := e.divisor
	var quot [4]codegen.Reg
	for i, s := range [4]codegen.Reg{lo(sum[0]), hi(sum[0]), lo(sum[1]), hi(sum[1])} {
		q, add, y := a.q("positive"), a.v("add"), a.v("dividend")
		a.op(hexagon.V6_vgtw, q, s, d.above)
		a.op(hexagon.V6_vmux, add, q, d.more, d.less)
		a.op(hexagon.V6_vaddw, y, s, add)
		a.op(hexagon.V6_vaslw, y, y, d.up)
		a.op(hexagon.V6_vaddw, y, y, d.round)
		quot[i] = a.mulHigh(y, d.mult)
		a.op(hexagon.V6_vasrw, quot[i], quot[i], d.down)
	}
	h0, h1, out := a.v("half"), a.v("half"), a.v("bytes")
	a.op(hexagon.V6_vsatwh, h0, quot[1], quot[0])
	a.op(hexagon.V6_vsatwh, h1, quot[3], quot[2])
	a.op(hexagon.V6_vsathub, out, h1, h0)
	return out
}

// averageHalves sums and divides in 16 bits.
func (w *windowKernel) averageHalves(a *asm, e windowEntry, zero codegen.Reg) codegen.Reg {
	sum := a.vv("sum")
	a.op(hexagon.V6_vcombine, sum, zero, zero)
	w.walk(a, e, func() {}, func(x codegen.Reg) { a.op(hexagon.V6_vaddubh_acc, sum, x, zero) }, func() {})
	d := e.divisor
	var quot [2]codegen.Reg
	for i, s := range [2]codegen.Reg{lo(sum), hi(sum)} {
		q, x, product := a.q("positive"), a.v("dividend"), a.vv("product")
		a.op(hexagon.V6_vgth, q, s, d.above)
		a.op(hexagon.V6_vmux, x, q, d.more, d.less)
		a.op(hexagon.V6_vaddh, x, x, s)
		a.op(hexagon.V6_vaslh, x, x, d.up)
		a.op(hexagon.V6_vmpyuhv, product, x, d.mult)
		quot[i] = a.v("quotient")
		a.op(hexagon.V6_vshufoh, quot[i], hi(product), lo(product))
		a.op(hexagon.V6_vlsrh, quot[i], quot[i], d.down)
	}
	out := a.v("bytes")
	a.op(hexagon.V6_vsathub, out, quot[1], quot[0])
	return out
}
