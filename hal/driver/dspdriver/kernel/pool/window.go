package pool

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Window reduces windows of positions: the maximum or a quotient of the
// sum. An entry of the table are equal windows, equally far apart, of one chunk of
// 128 channels.
type Window struct {
	Max       bool
	RowStep   int // bytes between the rows of a window
	ColStep   int // bytes between its columns
	Unalign   bool
	Clamp     bool
	Halfwords bool // no window has more than MaxHalfwords elements: 16 bits are enough
	Rows      int  // of all windows, and columns, where they are written one by one; 0 else
	Cols      int
}

// Words of a window entry; a maximum has only those before winAbove.
const (
	WinIn = iota
	winOut
	WinRows
	WinCols
	WinCount // of windows
	WinInStep
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

// MaxWindowCols bounds the columns of an averaged window: sums of a row are 16 bits wide.
const MaxWindowCols = 257

func (w Window) Name() string {
	op := "average"
	if w.Max {
		op = "maximum"
	}
	return fmt.Sprintf("%s_r%d_c%d_%s%s", op, w.RowStep, w.ColStep, hvx.Flag(w.Unalign, "u")+hvx.Flag(w.Halfwords, "h")+hvx.Flag(w.Rows > 0, fmt.Sprintf("%dx%d", w.Rows, w.Cols)), hvx.Flag(w.Clamp, "k"))
}

func (w Window) EntryWords() int {
	if w.Max {
		return winAbove
	}
	return winWords
}

// WinPrefetch is the index of the prefetch arguments.
const WinPrefetch = 4

// Emit writes the kernel. Arguments: table, entries, lower and upper bound
// four times each, prefetch.
func (w Window) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "lo", "hi", "address", "box", "stride")
	table, entries := in[0], in[1]
	a.Prefetch(in[WinPrefetch:])
	var low, high codegen.Reg
	if w.Clamp {
		low, high = a.Splat(in[2], "lo"), a.Splat(in[3], "hi")
	}
	zero := a.Zero()
	a.Repeat(entries, func() {
		e := windowEntry{in: a.Word(table, WinIn, "in"), rows: a.Word(table, WinRows, "rows"), cols: a.Word(table, WinCols, "cols")}
		out, count := a.Word(table, winOut, "out"), a.Word(table, WinCount, "count")
		inStep, outStep := a.Word(table, WinInStep, "step"), a.Word(table, winOutStep, "step")
		if !w.Max {
			e.divisor = newDivisor(a, table)
		}
		a.Bump(table, 4*w.EntryWords())
		a.Repeat(count, func() {
			var v codegen.Reg
			if w.Max {
				v = w.maximum(a, e, zero)
			} else if w.Halfwords {
				v = w.averageHalfwords(a, e, zero)
			} else {
				v = w.average(a, e, zero)
			}
			if w.Clamp {
				a.Op(hexagon.V6_vmaxub, v, v, low)
				a.Op(hexagon.V6_vminub, v, v, high)
			}
			a.Store(out, 0, v, hvx.AliasOut)
			a.Op(hexagon.A2_add, e.in, e.in, inStep)
			a.Op(hexagon.A2_add, out, out, outStep)
		})
	})
	a.Ret()
}

// windowEntry are the registers of an entry.
type windowEntry struct {
	in, rows, cols codegen.Reg
	divisor        divisor
}

// divisor are the constants of a quotient.
type divisor struct{ above, more, less, round, mult, up, down codegen.Reg }

func newDivisor(a *hvx.Builder, table codegen.Reg) divisor {
	return divisor{
		above: a.Splat(a.Word(table, winAbove, "above"), "above"), more: a.Splat(a.Word(table, winMore, "more"), "more"),
		less: a.Splat(a.Word(table, winLess, "less"), "less"), round: a.Splat(a.Word(table, winHalf, "half"), "half"),
		mult: a.Splat(a.Word(table, winMult, "mult"), "mult"), up: a.Word(table, winUp, "up"), down: a.Word(table, winDown, "down"),
	}
}

// walk visits the positions of a window, row by row.
func (w Window) walk(a *hvx.Builder, e windowEntry, startRow func(), visit func(x codegen.Reg), endRow func()) {
	load := func(at codegen.Reg) codegen.Reg {
		if w.Unalign {
			return a.LoadUnaligned(at, 0, hvx.AliasIn, "x")
		}
		return a.Load(at, 0, hvx.AliasIn, "x")
	}
	if w.Rows > 0 {
		for r := range w.Rows {
			startRow()
			for c := range w.Cols {
				visit(load(a.Add(e.in, r*w.RowStep+c*w.ColStep)))
			}
			endRow()
		}
		return
	}
	row := a.R("row")
	a.Op(hexagon.A2_tfr, row, e.in)
	a.Loop1(e.rows, func() {
		startRow()
		at := a.R("at")
		a.Op(hexagon.A2_tfr, at, row)
		a.Loop0(e.cols, func() {
			visit(load(at))
			a.Bump(at, w.ColStep)
		})
		endRow()
		a.Bump(row, w.RowStep)
	})
}

func (w Window) maximum(a *hvx.Builder, e windowEntry, zero codegen.Reg) codegen.Reg {
	v := a.V("max")
	a.Op(hexagon.V6_vassign, v, zero)
	w.walk(a, e, func() {}, func(x codegen.Reg) { a.Op(hexagon.V6_vmaxub, v, v, x) }, func() {})
	return v
}

// average sums in 16 bits along a row, in 32 bits over the rows, and divides.
func (w Window) average(a *hvx.Builder, e windowEntry, zero codegen.Reg) codegen.Reg {
	sum := [2]codegen.Reg{a.VV("sum"), a.VV("sum")}
	for _, s := range sum {
		a.Op(hexagon.V6_vcombine, s, zero, zero)
	}
	part := a.VV("row")
	w.walk(a, e,
		func() { a.Op(hexagon.V6_vcombine, part, zero, zero) },
		func(x codegen.Reg) { a.Op(hexagon.V6_vaddubh_acc, part, x, zero) },
		func() {
			a.Op(hexagon.V6_vadduhw_acc, sum[0], hvx.Lo(part), zero)
			a.Op(hexagon.V6_vadduhw_acc, sum[1], hvx.Hi(part), zero)
		})
	d := e.divisor
	var quot [4]codegen.Reg
	for i, s := range [4]codegen.Reg{hvx.Lo(sum[0]), hvx.Hi(sum[0]), hvx.Lo(sum[1]), hvx.Hi(sum[1])} {
		q, add, y := a.Q("positive"), a.V("add"), a.V("dividend")
		a.Op(hexagon.V6_vgtw, q, s, d.above)
		a.Op(hexagon.V6_vmux, add, q, d.more, d.less)
		a.Op(hexagon.V6_vaddw, y, s, add)
		a.Op(hexagon.V6_vaslw, y, y, d.up)
		a.Op(hexagon.V6_vaddw, y, y, d.round)
		quot[i] = a.MulHigh(y, d.mult)
		a.Op(hexagon.V6_vasrw, quot[i], quot[i], d.down)
	}
	h0, h1, out := a.V("half"), a.V("half"), a.V("bytes")
	a.Op(hexagon.V6_vsatwh, h0, quot[1], quot[0])
	a.Op(hexagon.V6_vsatwh, h1, quot[3], quot[2])
	a.Op(hexagon.V6_vsathub, out, h1, h0)
	return out
}

// averageHalfwords sums and divides in 16 bits.
func (w Window) averageHalfwords(a *hvx.Builder, e windowEntry, zero codegen.Reg) codegen.Reg {
	sum := a.VV("sum")
	a.Op(hexagon.V6_vcombine, sum, zero, zero)
	w.walk(a, e, func() {}, func(x codegen.Reg) { a.Op(hexagon.V6_vaddubh_acc, sum, x, zero) }, func() {})
	d := e.divisor
	var quot [2]codegen.Reg
	for i, s := range [2]codegen.Reg{hvx.Lo(sum), hvx.Hi(sum)} {
		q, x, product := a.Q("positive"), a.V("dividend"), a.VV("product")
		a.Op(hexagon.V6_vgth, q, s, d.above)
		a.Op(hexagon.V6_vmux, x, q, d.more, d.less)
		a.Op(hexagon.V6_vaddh, x, x, s)
		a.Op(hexagon.V6_vaslh, x, x, d.up)
		a.Op(hexagon.V6_vmpyuhv, product, x, d.mult)
		quot[i] = a.V("quotient")
		a.Op(hexagon.V6_vshufoh, quot[i], hvx.Hi(product), hvx.Lo(product))
		a.Op(hexagon.V6_vlsrh, quot[i], quot[i], d.down)
	}
	out := a.V("bytes")
	a.Op(hexagon.V6_vsathub, out, quot[1], quot[0])
	return out
}
