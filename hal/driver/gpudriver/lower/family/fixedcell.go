package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/recurrent"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// overlap pairs the rows of weights {recurrent, input} with those of values {input, last}, as
// the reference of QUANTIZED_16BIT_LSTM does whatever their sizes.
func overlap(size, units int, in, last, w, r recurrent.Rows, zero int32) (list []recurrent.FixedProduct) {
	const bytesZero = 128
	for at := 0; at < size+units; {
		p := recurrent.FixedProduct{XZero: bytesZero, WZero: zero, N: size + units - at}
		cut := func(rows recurrent.Rows, from, to int) recurrent.Rows {
			p.N = min(p.N, to-at)
			rows.At += at - from
			return rows
		}
		if at < size {
			p.X = cut(in, 0, size)
		} else {
			p.X = cut(last, size, size+units)
		}
		if at < units {
			p.W = cut(r, 0, units)
		} else {
			p.W = cut(w, units, size+units)
		}
		list = append(list, p)
		at += p.N
	}
	return list
}

// lstm16Shift is the logarithm of the scale of the state of a QUANTIZED_16BIT_LSTM, 1/2048.
const lstm16Shift = -11

// lowerLstm16 lowers QUANTIZED_16BIT_LSTM.
func lowerLstm16(l *lower.Lowering, _ *nn.Operation, p opspec.Lstm16) {
	t := tensors(l, p.Input, p.Last, p.State, p.NextState, p.Output)
	in, last, old, next, out := t[0], t[1], t[2], t[3], t[4]
	n := p.Batch * p.Units
	var gate [opspec.Gates]*layout.Tensor
	for g := range gate {
		t = tensors(l, p.W[g], p.R[g], p.Bias[g])
		gate[g] = l.Temporary(layout.I16, n)
		products := overlap(p.Size, p.Units, denseRows(in, p.Size), denseRows(last, p.Units), denseRows(t[0], p.Size), denseRows(t[1], p.Units), p.Zero[g])
		l.Launch(&recurrent.FixedSum{Batch: p.Batch, Units: p.Units, Terms: []recurrent.FixedTerm{{Products: products, Bias: t[2], Scale: p.Scale}},
			Lo: -1 << 15, Hi: 1<<15 - 1, Out: [2]recurrent.Rows{denseRows(gate[g], p.Units)}}, gate[g])
	}
	l.Launch(&recurrent.FixedCell{N: n, Forget: gate[opspec.GateForget], In: gate[opspec.GateInput], Gate: gate[opspec.GateCell], Old: old, Out: next, Shift: lstm16Shift, RoundProducts: true}, next)
	l.Launch(&recurrent.FixedHidden{Batch: p.Batch, Units: p.Units, Gate: gate[opspec.GateOutput], Cell: next, Shift: lstm16Shift, RoundProducts: true, Out: [2]recurrent.Rows{denseRows(out, p.Units)}}, out)
}

// lowerLstm8 lowers QUANTIZED_LSTM.
func lowerLstm8(l *lower.Lowering, op *nn.Operation, p opspec.Lstm8) {
	t := tensors(l, p.Input, p.Last, p.Cell, p.NextState, p.NextCell, p.Output, p.Projection, p.ProjectionBias)
	in, last, old, nextState, nextCell, out, projection, projectionBias := t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]
	// gate is the sum of gate g, with the state that peepholes look at.
	gate := func(g int, state *layout.Tensor) *layout.Tensor {
		q := &p.Gate[g]
		t := tensors(l, q.W, q.R, q.Bias, q.Peephole, q.Norm)
		w, r, bias, peephole, norm := t[0], t[1], t[2], t[3], t[4]
		sum := l.Temporary(layout.I16, p.Batch*p.Units)
		k := &recurrent.FixedSum{Batch: p.Batch, Units: p.Units, Lo: -1 << 15, Hi: 1<<15 - 1, Out: [2]recurrent.Rows{denseRows(sum, p.Units)},
			Terms: []recurrent.FixedTerm{
				{Products: []recurrent.FixedProduct{{X: denseRows(in, p.Size), W: denseRows(w, p.Size), XZero: p.InZero, N: p.Size}}, Bias: bias, Scale: q.WScale},
				{Products: []recurrent.FixedProduct{{X: denseRows(last, p.Out), W: denseRows(r, p.Out), XZero: p.LastZero, N: p.Out}}, Scale: q.RScale},
			}}
		if peephole != nil {
			k.Peephole, k.Cell, k.PeepholeScale = peephole, state, q.PeepholeScale
		}
		if norm == nil {
			l.Launch(k, sum)
			return sum
		}
		refuse(p.Units > recurrent.MaxFixedNorm, maxNormalized, "%d", p.Units)
		k.Terms[0].Bias = nil
		l.Launch(k, sum)
		normed := l.Temporary(layout.I16, sum.N)
		l.Launch(&recurrent.FixedNorm{Batch: p.Batch, Units: p.Units, Scale: q.NormScale, VarianceAtZero: q.VarianceAtZero, In: sum, Weights: norm, Shift: bias, Out: normed}, normed)
		return normed
	}
	cell := &recurrent.FixedCell{N: p.Batch * p.Units, Old: old, Out: nextCell, Shift: p.CellShift, Clip: p.CellClip}
	cell.Forget, cell.Gate = gate(opspec.GateForget, old), gate(opspec.GateCell, old)
	if !p.Coupled {
		cell.In = gate(opspec.GateInput, old)
	}
	l.Launch(cell, nextCell)
	open := gate(opspec.GateOutput, nextCell)
	state := [2]recurrent.Rows{denseRows(nextState, p.Out), denseRows(out, p.Out)}
	hidden := &recurrent.FixedHidden{Batch: p.Batch, Units: p.Units, Gate: open, Cell: nextCell, Shift: p.CellShift, Scale: p.Hidden, Zero: p.HiddenZero, Out: state}
	if projection != nil {
		hidden.Out = [2]recurrent.Rows{denseRows(l.Temporary(layout.I8, p.Batch*p.Units), p.Units)}
	}
	l.Launch(hidden, rowTensors(hidden.Out)...)
	if projection == nil {
		return
	}
	k := &recurrent.FixedSum{Batch: p.Batch, Units: p.Out, Zero: p.OutZero, Lo: -128, Hi: 127, Out: state,
		Terms: []recurrent.FixedTerm{{Products: []recurrent.FixedProduct{{X: hidden.Out[0], W: denseRows(projection, p.Units), XZero: p.HiddenZero, N: p.Units}},
			Bias: projectionBias, Scale: p.ProjectionScale}}}
	if p.OutClip > 0 {
		k.Lo, k.Hi = max(k.Lo, -p.OutClip), min(k.Hi, p.OutClip)
	}
	l.Launch(k, rowTensors(k.Out)...)
}
