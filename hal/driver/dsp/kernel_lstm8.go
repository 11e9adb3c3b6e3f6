package dsp

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// The kernels of QUANTIZED_LSTM have their multipliers as immediates, so that
// names spell them out.

func multiplierTag(m opspec.Multiplier) string { return fmt.Sprintf("_%x.%d", m.M, m.Shift) }

// applied is m.Apply of words.
func (a *asm) applied(x codegen.Reg, m opspec.Multiplier) codegen.Reg {
	if m.Shift > 0 {
		t := a.v("shifted")
		a.op(hexagon.V6_vaslw, t, x, a.imm(m.Shift))
		x = t
	}
	x = a.mulHigh(x, a.splat(a.imm(int(m.M)), "multiplier"))
	if m.Shift < 0 {
		x = a.roundedWords(x, -m.Shift)
	}
	return x
}

// roundedWords is x / 2^n, halves away from zero, of words above the least; n is
// 1 to 31.
func (a *asm) roundedWords(x codegen.Reg, n int) codegen.Reg {
	t := a.v("rounded")
	a.op(hexagon.V6_vasrw, t, x, a.imm(31))
	a.op(hexagon.V6_vaddw, t, t, x)
	if n > 1 {
		a.op(hexagon.V6_vasrw, t, t, a.imm(n-1))
	}
	a.op(hexagon.V6_vavgwrnd, t, t, a.zero())
	return t
}

// saturated16 bounds words to 16 bits.
func (a *asm) saturated16(x codegen.Reg) codegen.Reg {
	t := a.v("saturated")
	a.op(hexagon.V6_vminw, t, x, a.splat(a.imm(math.MaxInt16), "most"))
	a.op(hexagon.V6_vmaxw, t, t, a.splat(a.imm(math.MinInt16), "least"))
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
	return flatOp(name, inputs, 0, func(a *asm, out codegen.Reg, x, _ []codegen.Reg) {
		if p {
			x = []codegen.Reg{x[0], x[1], a.mulWords(x[2], x[3])}
		}
		var sum codegen.Reg
		for i, m := range scales {
			part := a.applied(x[i], m)
			if i > 0 {
				a.op(hexagon.V6_vaddw, part, part, sum)
			}
			sum = a.saturated16(part)
		}
		a.op(hexagon.V6_vassign, out, sum)
	})
}

// widenHalvesKernel makes words from signed halves.
func widenHalvesKernel() *flatKernel {
	return &flatKernel{name: "flat_widen_halves", in: []int{1}, out: 2, body: func(a *asm, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
		w := a.vv("words")
		a.op(hexagon.V6_vunpackh, w, x[0][0])
		return []codegen.Reg{lo(w), hi(w)}
	}}
}

// halvesOf packs two vectors of words of 16 bits.
func (a *asm) halvesOf(w []codegen.Reg) codegen.Reg {
	h := a.v("halves")
	a.op(hexagon.V6_vpackwh_sat, h, w[1], w[0])
	return h
}

// products are the words of two vectors of halves: even lanes, then odd ones.
func (a *asm) products(x, y codegen.Reg) (even, odd codegen.Reg) {
	p := a.vv("products")
	a.op(hexagon.V6_vmpyhv, p, x, y)
	return lo(p), hi(p)
}

// lstm8Cell is the new cell state, halves, from the sums of the forget and cell
// gates, of the input gate unless it is coupled, and from the cell state.
func lstm8Cell(l *opspec.Lstm8) *flatKernel {
	k := &flatKernel{name: fmt.Sprintf("flat_lstm8_cell_%d_%d", l.CellShift, l.CellClip), in: []int{2, 2, 2, 1}, out: 1}
	if l.Coupled {
		k.name, k.in = k.name+"c", []int{2, 2, 1}
	}
	k.body = func(a *asm, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
		h := halves{a}
		keep := h.logistic(a.halvesOf(x[0]), 3)
		var in codegen.Reg
		if l.Coupled {
			in = h.minus(h.c(1<<15-1), keep)
		} else {
			in = h.logistic(a.halvesOf(x[2]), 3)
		}
		old := x[len(x)-1][0]
		keptEven, keptOdd := a.products(keep, old)
		newEven, newOdd := a.products(in, h.tanh(a.halvesOf(x[1]), 3))
		sum := func(kept, added codegen.Reg) codegen.Reg {
			s := a.v("sum")
			a.op(hexagon.V6_vaddw, s, a.roundedWords(kept, 15), a.roundedWords(added, 30+l.CellShift))
			return s
		}
		even := sum(keptEven, newEven)
		odd := sum(keptOdd, newOdd)
		out := a.v("cell")
		a.op(hexagon.V6_vsatwh, out, odd, even)
		if l.CellClip > 0 {
			a.op(hexagon.V6_vminh, out, out, h.c(int(l.CellClip)))
			a.op(hexagon.V6_vmaxh, out, out, h.c(int(-l.CellClip)))
		}
		return []codegen.Reg{out}
	}
	return k
}

// lstm8Hidden is the hidden state, stored bytes, from the sums of the output gate
// and the new cell state.
func lstm8Hidden(l *opspec.Lstm8) *flatKernel {
	return &flatKernel{name: fmt.Sprintf("flat_lstm8_hidden_%d%s_%d", l.CellShift, multiplierTag(l.Hidden), l.HiddenZero), in: []int{4, 2}, out: 1,
		body: func(a *asm, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
			h := halves{a}
			var y [2]codegen.Reg
			for i := range y {
				open := h.logistic(a.halvesOf(x[0][2*i:2*i+2]), 3)
				even, odd := a.products(open, h.tanh(x[1][i], 15+l.CellShift))
				w := [2]codegen.Reg{a.applied(even, l.Hidden), a.applied(odd, l.Hidden)}
				zero := a.splat(a.imm(int(l.HiddenZero)+128), "zero")
				for _, r := range w {
					a.op(hexagon.V6_vaddw, r, r, zero)
				}
				y[i] = a.v("hidden")
				a.op(hexagon.V6_vsatwh, y[i], w[1], w[0])
			}
			out := a.v("bytes")
			a.op(hexagon.V6_vpackhub_sat, out, y[1], y[0])
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
		body: func(a *asm, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
			var w [4]codegen.Reg
			for i := range w {
				w[i] = a.applied(x[0][i], l.ProjectionScale)
				a.op(hexagon.V6_vaddw, w[i], w[i], a.splat(a.imm(int(l.OutZero)+128), "zero"))
			}
			out := a.narrowWords(w)
			a.op(hexagon.V6_vmaxub, out, out, a.splat(a.imm(int(least)*ones), "least"))
			a.op(hexagon.V6_vminub, out, out, a.splat(a.imm(int(most)*ones), "most"))
			return []codegen.Reg{out}
		}}
}
