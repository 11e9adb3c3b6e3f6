package dsp

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// The kernels of QUANTIZED_LSTM have their multipliers as immediates, so that
// names spell them out.

func multiplierTag(m opspec.Multiplier) string { return fmt.Sprintf("_%x.%d", m.M, m.Shift) }

// applied is m.Apply of words.
func applied(a *hvx.Builder, x codegen.Reg, m opspec.Multiplier) codegen.Reg {
	if m.Shift > 0 {
		t := a.V("shifted")
		a.Op(hexagon.V6_vaslw, t, x, a.Imm(m.Shift))
		x = t
	}
	x = a.MulHigh(x, a.Splat(a.Imm(int(m.M)), "multiplier"))
	if m.Shift < 0 {
		x = roundedWords(a, x, -m.Shift)
	}
	return x
}

// roundedWords is x / 2^n, halves away from zero, of words above the least; n is
// 1 to 31.
func roundedWords(a *hvx.Builder, x codegen.Reg, n int) codegen.Reg {
	t := a.V("rounded")
	a.Op(hexagon.V6_vasrw, t, x, a.Imm(31))
	a.Op(hexagon.V6_vaddw, t, t, x)
	if n > 1 {
		a.Op(hexagon.V6_vasrw, t, t, a.Imm(n-1))
	}
	a.Op(hexagon.V6_vavgwrnd, t, t, a.Zero())
	return t
}

// saturated16 bounds words to 16 bits.
func saturated16(a *hvx.Builder, x codegen.Reg) codegen.Reg {
	t := a.V("saturated")
	a.Op(hexagon.V6_vminw, t, x, a.Splat(a.Imm(math.MaxInt16), "most"))
	a.Op(hexagon.V6_vmaxw, t, t, a.Splat(a.Imm(math.MinInt16), "least"))
	return t
}

// sumKernel adds up the parts of a gate's input: the products with the input and
// with the previous output, and with p the cell state times its weights, words.
func sumKernel(g *opspec.Gate8, p bool) *flatKernel {
	name := "lstm8_sum" + multiplierTag(g.WScale) + multiplierTag(g.RScale)
	scales := []opspec.Multiplier{g.WScale, g.RScale}
	if p {
		name += multiplierTag(g.PeepholeScale)
		scales = append(scales, g.PeepholeScale)
	}
	inputs := len(scales)
	if p {
		inputs++
	}
	return flatOp(name, inputs, 0, func(a *hvx.Builder, out codegen.Reg, x, _ []codegen.Reg) {
		if p {
			x = []codegen.Reg{x[0], x[1], a.MulWords(x[2], x[3])}
		}
		var sum codegen.Reg
		for i, m := range scales {
			part := applied(a, x[i], m)
			if i > 0 {
				a.Op(hexagon.V6_vaddw, part, part, sum)
			}
			sum = saturated16(a, part)
		}
		a.Op(hexagon.V6_vassign, out, sum)
	})
}

// widenHalvesKernel makes words from signed halves.
func widenHalvesKernel() *flatKernel {
	return &flatKernel{name: "flat_widen_halves", in: []int{1}, out: 2, body: func(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
		w := a.VV("words")
		a.Op(hexagon.V6_vunpackh, w, x[0][0])
		return []codegen.Reg{hvx.Lo(w), hvx.Hi(w)}
	}}
}

// halvesOf packs two vectors of words of 16 bits.
func halvesOf(a *hvx.Builder, w []codegen.Reg) codegen.Reg {
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

// lstm8Cell is the new cell state, halves, from the sums of the forget and cell
// gates, of the input gate unless it is coupled, and from the cell state.
func lstm8Cell(l *opspec.Lstm8) *flatKernel {
	k := &flatKernel{name: fmt.Sprintf("flat_lstm8_cell_%d_%d", l.CellShift, l.CellClip), in: []int{2, 2, 2, 1}, out: 1}
	if l.Coupled {
		k.name, k.in = k.name+"c", []int{2, 2, 1}
	}
	k.body = func(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
		h := halves{a}
		keep := h.logistic(halvesOf(a, x[0]), 3)
		var in codegen.Reg
		if l.Coupled {
			in = h.minus(h.c(1<<15-1), keep)
		} else {
			in = h.logistic(halvesOf(a, x[2]), 3)
		}
		old := x[len(x)-1][0]
		keptEven, keptOdd := products(a, keep, old)
		newEven, newOdd := products(a, in, h.tanh(halvesOf(a, x[1]), 3))
		sum := func(kept, added codegen.Reg) codegen.Reg {
			s := a.V("sum")
			a.Op(hexagon.V6_vaddw, s, roundedWords(a, kept, 15), roundedWords(a, added, 30+l.CellShift))
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

// lstm8Hidden is the hidden state, stored bytes, from the sums of the output gate
// and the new cell state.
func lstm8Hidden(l *opspec.Lstm8) *flatKernel {
	return &flatKernel{name: fmt.Sprintf("flat_lstm8_hidden_%d%s_%d", l.CellShift, multiplierTag(l.Hidden), l.HiddenZero), in: []int{4, 2}, out: 1,
		body: func(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
			h := halves{a}
			var y [2]codegen.Reg
			for i := range y {
				open := h.logistic(halvesOf(a, x[0][2*i:2*i+2]), 3)
				even, odd := products(a, open, h.tanh(x[1][i], 15+l.CellShift))
				w := [2]codegen.Reg{applied(a, even, l.Hidden), applied(a, odd, l.Hidden)}
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

// lstm8Output scales the projection's words to stored bytes.
func lstm8Output(l *opspec.Lstm8) *flatKernel {
	least, most := int32(0), int32(255)
	if l.OutClip > 0 {
		least, most = max(128-l.OutClip, 0), min(128+l.OutClip, 255)
	}
	return &flatKernel{name: fmt.Sprintf("flat_lstm8_output%s_%d_%d", multiplierTag(l.ProjectionScale), l.OutZero, l.OutClip), in: []int{4}, out: 1,
		body: func(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
			var w [4]codegen.Reg
			for i := range w {
				w[i] = applied(a, x[0][i], l.ProjectionScale)
				a.Op(hexagon.V6_vaddw, w[i], w[i], a.Splat(a.Imm(int(l.OutZero)+128), "zero"))
			}
			out := a.NarrowWords(w)
			a.Op(hexagon.V6_vmaxub, out, out, a.Splat(a.Imm(int(least)*ones), "least"))
			a.Op(hexagon.V6_vminub, out, out, a.Splat(a.Imm(int(most)*ones), "most"))
			return []codegen.Reg{out}
		}}
}
