package lstm

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Cell16 is the new state of a QUANTIZED_16BIT_LSTM from the sums of the input,
// forget and cell gates and the state.
type Cell16 struct{}

func (Cell16) Name() string           { return "lstm16_cell" }
func (Cell16) Form() elementwise.Form { return elementwise.Form{In: []int{1, 1, 1, 1}, Out: 1} }

func (Cell16) Emit(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	h, out := Fixed16{a}, a.V("out")
	in := h.Rounded(h.Mul(h.Logistic(x[0][0], 3), h.Tanh(x[2][0], 3)), 4)
	a.Op(hexagon.V6_vaddhsat, out, in, h.Mul(h.Logistic(x[1][0], 3), x[3][0]))
	return []codegen.Reg{out}
}

// Output16 is the output of a QUANTIZED_16BIT_LSTM, bytes from the sums of the
// output gate and the new state.
type Output16 struct{}

func (Output16) Name() string           { return "lstm16_output" }
func (Output16) Form() elementwise.Form { return elementwise.Form{In: []int{2, 2}, Out: 1} }

func (Output16) Emit(a *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	h := Fixed16{a}
	var y [2]codegen.Reg
	for i := range y {
		y[i] = h.Rounded(h.Mul(h.Logistic(x[0][i], 3), h.Tanh(x[1][i], 4)), 8)
		y[i] = h.plus(y[i], h.c(128))
	}
	out := a.V("bytes")
	a.Op(hexagon.V6_vpackhub_sat, out, y[1], y[0])
	return []codegen.Reg{out}
}

// Gate scales words to saturated halfwords.
type Gate struct{ Rq hvx.RequantKind }

func (k Gate) Name() string { return "halves_" + k.Rq.Tag() }

// Emit writes the kernel. Arguments: table of (words, halfwords, vectors of
// halfwords), entries, parameter block.
func (k Gate) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "params")
	table, entries := in[0], in[1]
	rq := a.RequantSetup(k.Rq, in[2])
	a.Repeat(entries, func() {
		src, dst, n := a.Word(table, 0, "words"), a.Word(table, 1, "halves"), a.Word(table, 2, "vectors")
		a.Bump(table, 12)
		a.Loop0(n, func() {
			x, y := a.V("x"), a.V("y")
			a.Op(hexagon.V6_vL32b_pi, x, src, 1).Loads(hvx.AliasIn)
			a.Op(hexagon.V6_vL32b_pi, y, src, 1).Loads(hvx.AliasIn)
			out := rq.Narrow(rq.Scale(x, hvx.ChannelVectors{}), rq.Scale(y, hvx.ChannelVectors{}), hvx.ChannelVectors{}, hvx.ChannelVectors{})
			a.Op(hexagon.V6_vdealh, out, out)
			a.Op(hexagon.V6_vS32b_pi, dst, 1, out).Stores(hvx.AliasOut)
		})
	})
	a.Ret()
}
