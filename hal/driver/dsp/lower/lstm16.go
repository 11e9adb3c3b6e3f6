package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/lstm"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// lowerLstm16 lowers QUANTIZED_16BIT_LSTM: dot products of each gate's weights
// with the input and the previous output, scaled to halves; the gates' functions
// in 16-bit fixed point.
func lowerLstm16(l *Lowering, op *nn.Operation) error {
	p, err := l.view.Lstm16(op)
	if err != nil {
		return err
	}
	n := p.Batch * p.Units
	// NNAPI multiplies the recurrent and then the input weights of a row with the
	// input and then the previous output.
	values, err := l.joined("values", p.Batch, []uint32{p.Input, p.Last}, []int{p.Size, p.Units})
	if err != nil {
		return err
	}
	rq := hvx.NewRequant([]opspec.Multiplier{p.Scale}, 0, -1<<15, 1<<15-1, 0) // halves: nothing is clamped
	var gate [opspec.Gates]*layout.Tensor
	for g := range gate {
		weights, err := l.joined("weights", p.Units, []uint32{p.R[g], p.W[g]}, []int{p.Units, p.Size})
		if err != nil {
			return err
		}
		bias, err := l.Flat(p.Bias[g])
		if err != nil {
			return err
		}
		sums := l.NewFlat(opspec.GateNames[g]+" gate sums", n, 4)
		l.dotRows(sums, values, weights, bias, p.Batch, p.Units, 128, p.Zero[g])
		gate[g] = l.NewFlat(opspec.GateNames[g]+" gate", n, 2)
		l.halves(gate[g], sums, &rq)
	}
	state, err := l.Flat(p.State)
	if err != nil {
		return err
	}
	next := l.FlatResult(p.NextState)
	l.flatStep("cell", lstm.Cell16{}, next, []*layout.Tensor{gate[opspec.GateInput], gate[opspec.GateForget], gate[opspec.GateCell], state})
	l.flatStep("output", lstm.Output16{}, l.FlatResult(p.Output), []*layout.Tensor{gate[opspec.GateOutput], next})
	return nil
}

// joined lays out rows of bytes, each the rows of several operands one behind
// the other, on whole vectors. What lies behind them is the zero point of the
// first.
func (l *Lowering) joined(name string, rows int, operands []uint32, sizes []int) (*layout.Tensor, error) {
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	width := layout.RoundUp(sum, layout.VectorBytes)
	if n := int64(rows) * int64(width); n > layout.MaxArena {
		return nil, fmt.Errorf("%s of %d rows need %d bytes, at most %d", name, rows, n, layout.MaxArena)
	}
	out := l.NewFlat(name, rows*width, 1)
	zero := &l.graph.Operands[operands[0]]
	fill := uint32(zeroOf(zero))
	if zero.Type == nn.TensorQuant8Symm {
		fill = 128
	}
	l.fillFlat(out, fill*hvx.Ones)
	at := 0
	for i, x := range operands {
		in, err := l.Flat(x)
		if err != nil {
			return nil, err
		}
		to, n := at, sizes[i]
		at += n
		if n == 0 {
			continue
		}
		if err := l.move(name, out, in, rows, func(put func(to, from, n int)) {
			for r := range rows {
				put(r*width+to, r*n, n)
			}
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// dotRows multiplies every row of values with every row of weights, both on
// whole vectors and with the given zero points, and adds a bias per row of weights.
func (l *Lowering) dotRows(out, values, weights, bias *layout.Tensor, batch, units int, zeroV, zeroW int32) {
	width := values.Bytes() / batch
	l.Add("dot", []*layout.Tensor{values, weights, bias}, []*layout.Tensor{out}, launch.RowsDot{Width: width, Batch: batch, Units: units, Values: values, Weights: weights, Bias: bias, Out: out, ZeroV: zeroV, ZeroW: zeroW})
}

// halves scales words to saturated halves.
func (l *Lowering) halves(out, in *layout.Tensor, rq *hvx.Requant) {
	l.Add("scale", []*layout.Tensor{in}, []*layout.Tensor{out}, launch.GateScale{Rq: rq, Out: out, In: in})
}
