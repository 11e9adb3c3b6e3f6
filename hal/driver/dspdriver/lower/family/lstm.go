package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/layernorm"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/lstm"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowerLstm16 lowers QUANTIZED_16BIT_LSTM: dot products of each gate's weights
// with the input and the previous output, scaled to halves; the gates' functions
// in 16-bit fixed point.
func lowerLstm16(l *lower.Lowering, _ *nn.Operation, p opspec.Lstm16) {
	n := p.Batch * p.Units
	// NNAPI multiplies the recurrent and then the input weights of a row with the
	// input and then the previous output.
	values := joined(l, "values", p.Batch, []uint32{p.Input, p.Last}, []int{p.Size, p.Units})
	rq := hvx.NewRequant([]fixedpoint.Multiplier{p.Scale}, 0, -1<<15, 1<<15-1, 0) // halves: nothing is clamped
	var gate [opspec.Gates]*layout.Tensor
	for g := range gate {
		weights := joined(l, "weights", p.Units, []uint32{p.R[g], p.W[g]}, []int{p.Units, p.Size})
		bias := l.Flat(p.Bias[g])
		sums := l.NewFlat(opspec.GateNames[g]+" gate sums", n, 4)
		dotRows(l, sums, values, weights, bias, p.Batch, p.Units, 128, p.Zero[g])
		gate[g] = l.NewFlat(opspec.GateNames[g]+" gate", n, 2)
		halves(l, gate[g], sums, &rq)
	}
	state := l.Flat(p.State)
	next := l.FlatResult(p.NextState)
	l.FlatStep("cell", lstm.Cell16{}, next, []*layout.Tensor{gate[opspec.GateInput], gate[opspec.GateForget], gate[opspec.GateCell], state})
	l.FlatStep("output", lstm.Output16{}, l.FlatResult(p.Output), []*layout.Tensor{gate[opspec.GateOutput], next})
}

// joined lays out rows of bytes on whole vectors, each the concatenated rows of
// several operands. The rest of a vector is filled with the zero point of the
// first.
func joined(l *lower.Lowering, name string, rows int, operands []uint32, sizes []int) *layout.Tensor {
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	width := layout.RoundUp(sum, layout.VectorBytes)
	n := int64(rows) * int64(width)
	maxBytes.Refuse(n > layout.MaxArena, "%d for %d rows of %s", n, rows, name)
	out := l.NewFlat(name, rows*width, 1)
	zero := &l.Graph.Operands[operands[0]]
	fill := uint32(lower.ZeroOf(zero))
	if zero.Type == nn.TensorQuant8Symm {
		fill = 128
	}
	l.FillFlat(out, fill*hvx.Ones)
	at := 0
	for i, x := range operands {
		in := l.Flat(x)
		to, n := at, sizes[i]
		at += n
		if n == 0 {
			continue
		}
		l.Move(name, out, in, rows, func(put func(to, from, n int)) {
			for r := range rows {
				put(r*width+to, r*n, n)
			}
		})
	}
	return out
}

// dotRows multiplies every row of values with every row of weights, both on
// whole vectors and with the given zero points, and adds a bias per row of weights.
func dotRows(l *lower.Lowering, out, values, weights, bias *layout.Tensor, batch, units int, zeroV, zeroW int32) {
	width := values.Bytes() / batch
	l.Add("dot", []*layout.Tensor{values, weights, bias}, []*layout.Tensor{out}, launch.RowsDot{Width: width, Batch: batch, Units: units, Values: values, Weights: weights, Bias: bias, Out: out, ZeroV: zeroV, ZeroW: zeroW})
}

// halves scales words to saturated halves.
func halves(l *lower.Lowering, out, in *layout.Tensor, rq *hvx.Requant) {
	l.Add("scale", []*layout.Tensor{in}, []*layout.Tensor{out}, launch.GateScale{Rq: rq, Out: out, In: in})
}

// lstm8 is the lowering of a QUANTIZED_LSTM.
type lstm8 struct {
	*lower.Lowering
	opspec.Lstm8
	in, last *layout.Tensor // rows on whole vectors
	noBias   *layout.Tensor
}

// lowerLstm8 lowers QUANTIZED_LSTM.
func lowerLstm8(l *lower.Lowering, _ *nn.Operation, p opspec.Lstm8) {
	hiddenZero.Refuse(p.HiddenZero < -128 || p.HiddenZero > 127, "%d", p.HiddenZero)
	x := &lstm8{Lowering: l, Lstm8: p}
	x.in = joined(l, "input", p.Batch, []uint32{p.Input}, []int{p.Size})
	x.last = joined(l, "previous output", p.Batch, []uint32{p.Last}, []int{p.Out})
	x.noBias = l.NewFlat("no bias", max(p.Units, p.Out), 4)
	l.FillFlat(x.noBias, 0)
	old := l.Flat(p.Cell)
	wide := x.widened(old, 1)
	var gate [opspec.Gates]*layout.Tensor
	for g := range gate {
		if g == opspec.GateOutput || g == opspec.GateInput && p.Coupled {
			continue
		}
		gate[g] = x.sums(g, wide)
	}
	next := l.FlatResult(p.NextCell)
	in := []*layout.Tensor{gate[opspec.GateForget], gate[opspec.GateCell], gate[opspec.GateInput], old}
	if p.Coupled {
		in = []*layout.Tensor{gate[opspec.GateForget], gate[opspec.GateCell], old}
	}
	l.FlatStep("cell", lstm.NewCell8(&p), next, in)
	// The output gate looks at the new cell state.
	open := x.sums(opspec.GateOutput, x.widened(next, 1))
	hidden := l.NewFlat("hidden state", p.Batch*p.Units, 1)
	l.FlatStep("hidden", lstm.NewHidden8(&p), hidden, []*layout.Tensor{open, next})
	if p.Projection == opspec.None {
		l.Flats[p.NextState], l.Flats[p.Output] = hidden, hidden
		return
	}
	state := x.project(hidden)
	l.Flats[p.NextState], l.Flats[p.Output] = state, state
}

// widened is halves as words, repeated for each of several rows.
func (x *lstm8) widened(in *layout.Tensor, rows int) *layout.Tensor {
	n := in.Bytes() / 2
	out := x.NewFlat(in.Name+" as words", n, 4)
	x.FlatStep("widen", lstm.WidenHalfwords{}, out, []*layout.Tensor{in})
	return x.repeated(out, rows)
}

// repeated is a vector of words once for each row.
func (x *lstm8) repeated(in *layout.Tensor, rows int) *layout.Tensor {
	n := in.Bytes()
	if rows == 1 {
		return in
	}
	out := x.NewFlat(in.Name+" repeated", rows*n, 1)
	x.Move("repeat", out, in, rows, func(put func(to, from, n int)) {
		for r := range rows {
			put(r*n, 0, n)
		}
	})
	return out
}

// sums computes the input of a gate, words of 16 bits in Q3.12.
func (x *lstm8) sums(g int, cell *layout.Tensor) *layout.Tensor {
	p := &x.Gate[g]
	name := opspec.GateNames[g]
	bias := x.Flat(p.Bias)
	n := x.Batch * x.Units
	var parts []*layout.Tensor
	for i, w := range [2]uint32{p.W, p.R} {
		values, size, zero, b := x.in, x.Size, x.InZero, bias
		if i == 1 {
			values, size, zero = x.last, x.Out, x.LastZero
		}
		if i == 1 || p.Norm != opspec.None {
			b = x.noBias
		}
		weights := joined(x.Lowering, name+" weights", x.Units, []uint32{w}, []int{size})
		t := x.NewFlat(name+" products", n, 4)
		dotRows(x.Lowering, t, values, weights, b, x.Batch, x.Units, zero+128, 128)
		parts = append(parts, t)
	}
	peephole := p.Peephole != opspec.None
	if peephole {
		w := x.Flat(p.Peephole)
		parts = append(parts, x.widened(w, x.Batch), cell)
	}
	sum := x.NewFlat(name+" gate", n, 4)
	x.FlatStep("sum", lstm.NewSum8(p, peephole), sum, parts)
	if p.Norm == opspec.None {
		return sum
	}
	return x.normalized(p, sum, bias)
}

// normalized is layer normalization of every row.
func (x *lstm8) normalized(p *opspec.Gate8, sum, bias *layout.Tensor) *layout.Tensor {
	weights := x.Flat(p.Norm)
	mean, variance := x.NewFlat("means", x.Batch, 4), x.NewFlat("variances", x.Batch, 4)
	k, batch := layernorm.Statistics{N: x.Units, AtZero: p.VarianceAtZero}, x.Batch
	x.Add("statistics", []*layout.Tensor{sum}, []*layout.Tensor{mean, variance}, launch.Statistics{Kernel: k, Batch: batch, Sum: sum, Mean: mean, Variance: variance})
	factor, shift := x.NewFlat("factors", x.Batch, 4), x.NewFlat("shifts", x.Batch, 4)
	x.FlatStep("root", layernorm.Root{}, factor, []*layout.Tensor{variance})
	x.FlatStep("root", layernorm.Root{Shift: true}, shift, []*layout.Tensor{variance})
	in := []*layout.Tensor{sum}
	for _, t := range []*layout.Tensor{mean, factor, shift} {
		wide := x.NewFlat(t.Name+" of each unit", x.Batch*x.Units, 4)
		x.Walk("repeat", wide, t, []uint32{uint32(x.Batch), uint32(x.Units)}, []int{1, 0}, 0, 4)
		in = append(in, wide)
	}
	in = append(in, x.widened(weights, x.Batch), x.repeated(bias, x.Batch))
	out := x.NewFlat("normalized", x.Batch*x.Units, 4)
	x.FlatStep("normalize", layernorm.Normalize{Scale: p.NormScale}, out, in)
	return out
}

// project multiplies the hidden state with the projection's weights.
func (x *lstm8) project(hidden *layout.Tensor) *layout.Tensor {
	width := layout.RoundUp(x.Units, layout.VectorBytes)
	rows := x.NewFlat("hidden rows", x.Batch*width, 1)
	x.FillFlat(rows, uint32(x.HiddenZero+128)*hvx.Ones)
	x.Move("rows", rows, hidden, x.Batch, func(put func(to, from, n int)) {
		for b := range x.Batch {
			put(b*width, b*x.Units, x.Units)
		}
	})
	weights := joined(x.Lowering, "projection", x.Out, []uint32{x.Projection}, []int{x.Units})
	bias := x.noBias
	if x.ProjectionBias != opspec.None {
		bias = x.Flat(x.ProjectionBias)
	}
	acc, out := x.NewFlat("projected", x.Batch*x.Out, 4), x.NewFlat("output state", x.Batch*x.Out, 1)
	dotRows(x.Lowering, acc, rows, weights, bias, x.Batch, x.Out, x.HiddenZero+128, 128)
	x.FlatStep("output", lstm.NewOutput8(&x.Lstm8), out, []*layout.Tensor{acc})
	return out
}
