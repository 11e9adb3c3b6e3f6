package lstm

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Sum8 adds up the parts of a gate's input: the products with the input and
// with the previous output, and with p the cell state times its weights, words.
func Sum8(g *opspec.Gate8, p bool) *elementwise.Map {
	name := "lstm8_sum" + hvx.MultiplierTag(g.WScale) + hvx.MultiplierTag(g.RScale)
	scales := []opspec.Multiplier{g.WScale, g.RScale}
	if p {
		name += hvx.MultiplierTag(g.PeepholeScale)
		scales = append(scales, g.PeepholeScale)
	}
	inputs := len(scales)
	if p {
		inputs++
	}
	return elementwise.Function(name, inputs, 0, func(a *hvx.Builder, out codegen.Reg, x, _ []codegen.Reg) {
		if p {
			x = []codegen.Reg{x[0], x[1], a.MulWords(x[2], x[3])}
		}
		var sum codegen.Reg
		for i, m := range scales {
			part := hvx.ApplyMultiplier(a, x[i], m)
			if i > 0 {
				a.Op(hexagon.V6_vaddw, part, part, sum)
			}
			sum = hvx.Saturate16(a, part)
		}
		a.Op(hexagon.V6_vassign, out, sum)
	})
}

// WidenHalfwords makes words from signed halves.
func WidenHalfwords() *elementwise.Map {
	return &elementwise.Map{Label: "flat_widen_halves", In: []int{1}, Out: 2, Body: func(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
		w := a.VV("words")
		a.Op(hexagon.V6_vunpackh, w, x[0][0])
		return []codegen.Reg{hvx.Lo(w), hvx.Hi(w)}
	}}
}

// PackHalfwords packs two vectors of words of 16 bits.
func PackHalfwords(a *hvx.Builder, w []codegen.Reg) codegen.Reg {
	h := a.V("halves")
	a.Op(hexagon.V6_vpackwh_sat, h, w[1], w[0])
	return h
}

// products are the words of two vectors of halves: even lanes, then odd ones.
func products(a *hvx.Builder, x, y codegen.Reg) (even, odd codegen.Reg) {
	p := a.VV("products")
	a.Op(hexagon.V6_vmpyhv, p, x, y)
	return hvx.Lo(p), hvx.Hi(p)
}

// Cell8 is the new cell state, halves, from the sums of the forget and cell
// gates, of the input gate unless it is coupled, and from the cell state.
func Cell8(l *opspec.Lstm8) *elementwise.Map {
	k := &elementwise.Map{Label: fmt.Sprintf("flat_lstm8_cell_%d_%d", l.CellShift, l.CellClip), In: []int{2, 2, 2, 1}, Out: 1}
	if l.Coupled {
		k.Label, k.In = k.Label+"c", []int{2, 2, 1}
	}
	k.Body = func(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
		h := Fixed16{a}
		keep := h.Logistic(PackHalfwords(a, x[0]), 3)
		var in codegen.Reg
		if l.Coupled {
			in = h.minus(h.c(1<<15-1), keep)
		} else {
			in = h.Logistic(PackHalfwords(a, x[2]), 3)
		}
		old := x[len(x)-1][0]
		keptEven, keptOdd := products(a, keep, old)
		newEven, newOdd := products(a, in, h.Tanh(PackHalfwords(a, x[1]), 3))
		sum := func(kept, added codegen.Reg) codegen.Reg {
			s := a.V("sum")
			a.Op(hexagon.V6_vaddw, s, hvx.RoundShift(a, kept, 15), hvx.RoundShift(a, added, 30+l.CellShift))
			return s
		}
		even := sum(keptEven, newEven)
		odd := sum(keptOdd, newOdd)
		out := a.V("cell")
		a.Op(hexagon.V6_vsatwh, out, odd, even)
		if l.CellClip > 0 {
			a.Op(hexagon.V6_vminh, out, out, h.c(int(l.CellClip)))
			a.Op(hexagon.V6_vmaxh, out, out, h.c(int(-l.CellClip)))
		}
		return []codegen.Reg{out}
	}
	return k
}

// Hidden8 is the hidden state, stored bytes, from the sums of the output gate
// and the new cell state.
func Hidden8(l *opspec.Lstm8) *elementwise.Map {
	return &elementwise.Map{Label: fmt.Sprintf("flat_lstm8_hidden_%d%s_%d", l.CellShift, hvx.MultiplierTag(l.Hidden), l.HiddenZero), In: []int{4, 2}, Out: 1,
		Body: func(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
			h := Fixed16{a}
			var y [2]codegen.Reg
			for i := range y {
				open := h.Logistic(PackHalfwords(a, x[0][2*i:2*i+2]), 3)
				even, odd := products(a, open, h.Tanh(x[1][i], 15+l.CellShift))
				w := [2]codegen.Reg{hvx.ApplyMultiplier(a, even, l.Hidden), hvx.ApplyMultiplier(a, odd, l.Hidden)}
				zero := a.Splat(a.Imm(int(l.HiddenZero)+128), "zero")
				for _, r := range w {
					a.Op(hexagon.V6_vaddw, r, r, zero)
				}
				y[i] = a.V("hidden")
				a.Op(hexagon.V6_vsatwh, y[i], w[1], w[0])
			}
			out := a.V("bytes")
			a.Op(hexagon.V6_vpackhub_sat, out, y[1], y[0])
			return []codegen.Reg{out}
		}}
}

// Output8 scales the projection's words to stored bytes.
func Output8(l *opspec.Lstm8) *elementwise.Map {
	least, most := int32(0), int32(255)
	if l.OutClip > 0 {
		least, most = max(128-l.OutClip, 0), min(128+l.OutClip, 255)
	}
	return &elementwise.Map{Label: fmt.Sprintf("flat_lstm8_output%s_%d_%d", hvx.MultiplierTag(l.ProjectionScale), l.OutZero, l.OutClip), In: []int{4}, Out: 1,
		Body: func(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
			var w [4]codegen.Reg
			for i := range w {
				w[i] = hvx.ApplyMultiplier(a, x[0][i], l.ProjectionScale)
				a.Op(hexagon.V6_vaddw, w[i], w[i], a.Splat(a.Imm(int(l.OutZero)+128), "zero"))
			}
			out := a.NarrowWords(w)
			a.Op(hexagon.V6_vmaxub, out, out, a.Splat(a.Imm(int(least)*hvx.Ones), "least"))
			a.Op(hexagon.V6_vminub, out, out, a.Splat(a.Imm(int(most)*hvx.Ones), "most"))
			return []codegen.Reg{out}
		}}
}
