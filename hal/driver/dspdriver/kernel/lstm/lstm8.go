package lstm

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// The functions of QUANTIZED_LSTM have their multipliers as immediates, so these are
// parts of their keys.

// Sum8 adds up the parts of a gate's input: the products with the input and with the
// previous output, and with Peephole the cell state times its weights, words.
type Sum8 struct {
	Input, Recurrent, Cell fixedpoint.Multiplier
	Peephole               bool // there is Cell
}

// NewSum8 is the sum of a gate, with its peephole or without.
func NewSum8(g *opspec.Gate8, peephole bool) Sum8 {
	f := Sum8{Input: g.WScale, Recurrent: g.RScale, Peephole: peephole}
	if peephole {
		f.Cell = g.PeepholeScale
	}
	return f
}

func (f Sum8) Name() string { return "lstm8_sum" + hvx.Flag(f.Peephole, "_peephole") }

func (f Sum8) Form() elementwise.Form {
	if f.Peephole {
		return elementwise.Form{In: []int{1, 1, 1, 1}, Out: 1}
	}
	return elementwise.Form{In: []int{1, 1}, Out: 1}
}

func (f Sum8) Emit(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	out, parts, scales := a.V("out"), []codegen.Reg{x[0][0], x[1][0]}, []fixedpoint.Multiplier{f.Input, f.Recurrent}
	if f.Peephole {
		parts, scales = append(parts, a.MulWords(x[2][0], x[3][0])), append(scales, f.Cell)
	}
	var sum codegen.Reg
	for i, m := range scales {
		part := hvxmath.ApplyMultiplier(a, parts[i], m)
		if i > 0 {
			a.Op(hexagon.V6_vaddw, part, part, sum)
		}
		sum = hvxmath.Saturate16(a, part)
	}
	a.Op(hexagon.V6_vassign, out, sum)
	return []codegen.Reg{out}
}

// WidenHalfwords makes words from signed halfwords.
type WidenHalfwords struct{}

func (WidenHalfwords) Name() string           { return "widen_halfwords" }
func (WidenHalfwords) Form() elementwise.Form { return elementwise.Form{In: []int{1}, Out: 2} }

func (WidenHalfwords) Emit(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	w := a.VV("words")
	a.Op(hexagon.V6_vunpackh, w, x[0][0])
	return []codegen.Reg{hvx.Lo(w), hvx.Hi(w)}
}

// packHalfwords packs two vectors of words of 16 bits.
func packHalfwords(a *hvx.Builder, w []codegen.Reg) codegen.Reg {
	h := a.V("halfwords")
	a.Op(hexagon.V6_vpackwh_sat, h, w[1], w[0])
	return h
}

// products are the words of two vectors of halfwords: even lanes, then odd ones.
func products(a *hvx.Builder, x, y codegen.Reg) (even, odd codegen.Reg) {
	p := a.VV("products")
	a.Op(hexagon.V6_vmpyhv, p, x, y)
	return hvx.Lo(p), hvx.Hi(p)
}

// Cell8 is the new cell state, halfwords, from the sums of the forget and cell gates,
// of the input gate unless it is coupled, and from the cell state.
type Cell8 struct {
	Coupled bool
	Shift   int   // cell states have 2^Shift for 1
	Clip    int32 // bound of the magnitude, 0 none
}

// NewCell8 is the cell state of an LSTM.
func NewCell8(l *opspec.Lstm8) Cell8 {
	return Cell8{Coupled: l.Coupled, Shift: l.CellShift, Clip: int32(l.CellClip)}
}

func (f Cell8) Name() string { return fmt.Sprintf("lstm8_cell_%d", f.Shift) + hvx.Flag(f.Coupled, "c") }

func (f Cell8) Form() elementwise.Form {
	if f.Coupled {
		return elementwise.Form{In: []int{2, 2, 1}, Out: 1}
	}
	return elementwise.Form{In: []int{2, 2, 2, 1}, Out: 1}
}

func (f Cell8) Emit(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	h := Fixed16{a}
	keep := h.Logistic(packHalfwords(a, x[0]), 3)
	var in codegen.Reg
	if f.Coupled {
		in = h.minus(h.c(1<<15-1), keep)
	} else {
		in = h.Logistic(packHalfwords(a, x[2]), 3)
	}
	old := x[len(x)-1][0]
	keptEven, keptOdd := products(a, keep, old)
	newEven, newOdd := products(a, in, h.Tanh(packHalfwords(a, x[1]), 3))
	sum := func(kept, added codegen.Reg) codegen.Reg {
		s := a.V("sum")
		a.Op(hexagon.V6_vaddw, s, hvxmath.RoundShift(a, kept, 15), hvxmath.RoundShift(a, added, 30+f.Shift))
		return s
	}
	even := sum(keptEven, newEven)
	odd := sum(keptOdd, newOdd)
	out := a.V("cell")
	a.Op(hexagon.V6_vsatwh, out, odd, even)
	if f.Clip > 0 {
		a.Op(hexagon.V6_vminh, out, out, h.c(int(f.Clip)))
		a.Op(hexagon.V6_vmaxh, out, out, h.c(int(-f.Clip)))
	}
	return []codegen.Reg{out}
}

// Hidden8 is the hidden state, stored bytes, from the sums of the output gate and
// the new cell state.
type Hidden8 struct {
	Shift int // cell states have 2^Shift for 1
	Scale fixedpoint.Multiplier
	Zero  int32 // signed zero point
}

// NewHidden8 is the hidden state of an LSTM.
func NewHidden8(l *opspec.Lstm8) Hidden8 {
	return Hidden8{Shift: l.CellShift, Scale: l.Hidden, Zero: int32(l.HiddenZero)}
}

func (f Hidden8) Name() string         { return fmt.Sprintf("lstm8_hidden_%d", f.Shift) }
func (Hidden8) Form() elementwise.Form { return elementwise.Form{In: []int{4, 2}, Out: 1} }

func (f Hidden8) Emit(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	h := Fixed16{a}
	var y [2]codegen.Reg
	for i := range y {
		open := h.Logistic(packHalfwords(a, x[0][2*i:2*i+2]), 3)
		even, odd := products(a, open, h.Tanh(x[1][i], 15+f.Shift))
		w := [2]codegen.Reg{hvxmath.ApplyMultiplier(a, even, f.Scale), hvxmath.ApplyMultiplier(a, odd, f.Scale)}
		zero := a.Splat(a.Imm(int(f.Zero)+128), "zero")
		for _, r := range w {
			a.Op(hexagon.V6_vaddw, r, r, zero)
		}
		y[i] = a.V("hidden")
		a.Op(hexagon.V6_vsatwh, y[i], w[1], w[0])
	}
	out := a.V("bytes")
	a.Op(hexagon.V6_vpackhub_sat, out, y[1], y[0])
	return []codegen.Reg{out}
}

// Output8 scales the projection's words to stored bytes.
type Output8 struct {
	Scale fixedpoint.Multiplier
	Zero  int32 // signed zero point
	Clip  int32 // bound of the magnitude, 0 none
}

// NewOutput8 is the output of an LSTM with a projection.
func NewOutput8(l *opspec.Lstm8) Output8 {
	return Output8{Scale: l.ProjectionScale, Zero: int32(l.OutZero), Clip: int32(l.OutClip)}
}

func (f Output8) Name() string         { return fmt.Sprintf("lstm8_output_%d", f.Clip) }
func (Output8) Form() elementwise.Form { return elementwise.Form{In: []int{4}, Out: 1} }

func (f Output8) Emit(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	least, most := int32(0), int32(255)
	if f.Clip > 0 {
		least, most = max(128-f.Clip, 0), min(128+f.Clip, 255)
	}
	var w [4]codegen.Reg
	for i := range w {
		w[i] = hvxmath.ApplyMultiplier(a, x[0][i], f.Scale)
		a.Op(hexagon.V6_vaddw, w[i], w[i], a.Splat(a.Imm(int(f.Zero)+128), "zero"))
	}
	out := a.NarrowWords(w)
	a.Op(hexagon.V6_vmaxub, out, out, a.Splat(a.Imm(int(least)*hvx.Ones), "least"))
	a.Op(hexagon.V6_vminub, out, out, a.Splat(a.Imm(int(most)*hvx.Ones), "most"))
	return []codegen.Reg{out}
}
