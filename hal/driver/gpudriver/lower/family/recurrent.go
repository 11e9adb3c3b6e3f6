package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/recurrent"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/reduce"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// maxSteps bounds the launches that a sequence becomes.
const maxSteps = 1 << 12

// cellAct is the function of a cell.
func cellAct(code int32) recurrent.Act {
	lo, hi := opspec.FloatActRange(nn.FusedActivation(code))
	return recurrent.Act{Code: code, Lo: lo, Hi: hi}
}

// optional is the tensor of an operand, nil where it is left out.
func optional(l *lower.Lowering, x uint32) *layout.Tensor {
	if x == opspec.None {
		return nil
	}
	return try.V(l.Value(x))
}

// tensors are the tensors of operands, nil for an omitted one.
func tensors(l *lower.Lowering, operands ...uint32) []*layout.Tensor {
	list := make([]*layout.Tensor, len(operands))
	for i, x := range operands {
		list[i] = optional(l, x)
	}
	return list
}

// addSum adds a sum of products.
func addSum(l *lower.Lowering, k *recurrent.Sum) { l.Launch(k, rowTensors(k.Out)...) }

// rowTensors are the tensors of rows, nil where there are none.
func rowTensors(rows [2]recurrent.Rows) []*layout.Tensor {
	return []*layout.Tensor{rows[0].T, rows[1].T}
}

// stepRows are the rows of a step of a sequence of rows of width values, those of a part that
// begins at column.
func stepRows(t *layout.Tensor, s *opspec.Sequence, step, width, column int) recurrent.Rows {
	return recurrent.Rows{T: t, At: s.At(0, step)*width + column, Stride: (s.At(min(1, s.Batch-1), step) - s.At(0, step)) * width}
}

// direction is a recurrent cell with its operands: step writes what one input makes of its
// state to a place of the output.
type direction struct {
	in, aux *opspec.Sequence
	output  uint32
	width   int
	step    func(x, aux, out recurrent.Rows)
}

// recur runs cells over their inputs, the first forwards and the second backwards. Merged
// outputs lie one after the other in each step.
func recur(l *lower.Lowering, list []direction, merge bool) {
	for i, d := range list {
		width, column := d.width, 0
		if merge {
			width, column = list[0].width+list[1].width, i*list[0].width
		}
		out := try.V(l.Value(d.output))
		x := try.V(l.Value(d.in.Operand))
		aux := optional(l, d.aux.Operand)
		refuse(d.in.Steps > maxSteps, maxSequence, "%d steps", d.in.Steps)
		for step := range d.in.Steps {
			if i > 0 {
				step = d.in.Steps - 1 - step
			}
			var a recurrent.Rows
			if aux != nil {
				a = stepRows(aux, d.aux, step, d.aux.Size, 0)
			}
			d.step(stepRows(x, d.in, step, d.in.Size, 0), a, stepRows(out, d.in, step, width, column))
		}
	}
}

// denseRows are the rows of a tensor [batch][width].
func denseRows(t *layout.Tensor, width int) recurrent.Rows {
	return recurrent.Rows{T: t, Stride: width}
}

// lowerRnn lowers RNN and the sequences of it.
func lowerRnn(l *lower.Lowering, op *nn.Operation, r opspec.Rnn) {
	var list []direction
	states := make([]*layout.Tensor, len(r.Cells))
	for i := range r.Cells {
		c := &r.Cells[i]
		t := tensors(l, c.Weights, c.AuxWeights, c.Recurrent, c.Bias, c.State)
		w, aux, rec, bias := t[0], t[1], t[2], t[3]
		states[i] = t[4]
		list = append(list, direction{&c.Input, &c.Aux, c.Output, c.Units, func(x, a, out recurrent.Rows) {
			next := l.Temporary(layout.F32, c.Input.Batch*c.Units)
			k := &recurrent.Sum{Batch: c.Input.Batch, Units: c.Units, Bias: bias, Act: cellAct(r.Act), Out: [2]recurrent.Rows{denseRows(next, c.Units), out}}
			k.Terms = terms(&c.Input, x, w, &c.Aux, a, aux, states[i], rec, c.Units)
			addSum(l, k)
			states[i] = next
		}})
	}
	recur(l, list, r.Merge)
	for i := range r.Cells {
		put(l, states[i], r.Cells[i].NextState)
	}
}

// terms are the products of a cell: of its input, of the auxiliary one, and of its state.
func terms(in *opspec.Sequence, x recurrent.Rows, w *layout.Tensor, auxIn *opspec.Sequence, aux recurrent.Rows, auxW, state, rec *layout.Tensor, width int) []recurrent.Term {
	list := []recurrent.Term{{X: x, W: w, N: in.Size}}
	if aux.T != nil && auxW != nil {
		list = append(list, recurrent.Term{X: aux, W: auxW, N: auxIn.Size})
	}
	return append(list, recurrent.Term{X: denseRows(state, width), W: rec, N: width})
}

// put writes a state to an output, unless the operation does not have it.
func put(l *lower.Lowering, state *layout.Tensor, x uint32) {
	if out := optional(l, x); out != nil {
		l.Convert(state, out)
	}
}

// lowerLstm lowers LSTM and the sequences of it.
func lowerLstm(l *lower.Lowering, op *nn.Operation, p opspec.Lstm) {
	var list []direction
	cells := make([]*lstmCell, len(p.Cells))
	for i := range p.Cells {
		c := &p.Cells[i]
		t := tensors(l, c.Projection, c.ProjectionBias, c.State, c.Cell)
		cells[i] = &lstmCell{l, c, &p, t[0], t[1], t[2], t[3]}
		list = append(list, direction{&c.Input, &c.Aux, c.Output, c.Out, cells[i].step})
	}
	recur(l, list, p.Merge)
	for _, c := range cells {
		put(l, c.h, c.NextState)
		put(l, c.c, c.NextCell)
	}
	if p.Scratch != opspec.None {
		fillWith(l, 0, try.V(l.Value(p.Scratch)))
	}
}

// lstmCell is an LSTM cell with the tensors of its operands; those left out are nil.
type lstmCell struct {
	*lower.Lowering
	*opspec.LstmCell
	p                    *opspec.Lstm
	projection, projBias *layout.Tensor
	h, c                 *layout.Tensor // states
}

// normEpsilon is added to the variance of a gate.
const normEpsilon = 1e-8

// gate adds the input of a gate's function.
func (c *lstmCell) gate(g int, x, aux recurrent.Rows) *layout.Tensor {
	batch := c.Input.Batch
	out := c.Temporary(layout.F32, batch*c.Units)
	t := tensors(c.Lowering, c.Weights[g], c.AuxWeights[g], c.Recurrent[g], c.Bias[g], c.Peephole[g], c.Norm[g])
	w, auxW, r, bias, norm := t[0], t[1], t[2], t[3], t[5]
	k := &recurrent.Sum{Batch: batch, Units: c.Units, Bias: bias, Peephole: t[4], Act: recurrent.Linear, Out: [2]recurrent.Rows{denseRows(out, c.Units)}}
	if k.Peephole != nil {
		k.Cell = c.c
	}
	if norm != nil {
		k.Bias = nil
	}
	k.Terms = terms(&c.Input, x, w, &c.Aux, aux, auxW, c.h, r, c.Out)
	addSum(c.Lowering, k)
	if norm == nil {
		return out
	}
	normed := c.Temporary(layout.F32, out.N)
	c.Launch(&reduce.Norm{Rows: reduce.Rows{Outer: batch, Depth: c.Units, Inner: 1, In: out, Out: normed}, Gamma: 1, Epsilon: normEpsilon, Scale: norm, Shift: bias}, normed)
	return normed
}

// step adds the launches of one step.
func (c *lstmCell) step(x, aux, out recurrent.Rows) {
	batch, act := c.Input.Batch, cellAct(c.p.Act)
	state := &recurrent.State{N: batch * c.Units, Forget: c.gate(opspec.GateForget, x, aux), Gate: c.gate(opspec.GateCell, x, aux), Old: c.c,
		Out: c.Temporary(layout.F32, batch*c.Units), Act: act, Clip: c.p.CellClip}
	if !c.Coupled {
		state.In = c.gate(opspec.GateInput, x, aux)
	}
	c.Launch(state, state.Out)
	c.c = state.Out
	o := c.gate(opspec.GateOutput, x, aux)
	next := c.Temporary(layout.F32, batch*c.Units)
	hidden := &recurrent.Hidden{Batch: batch, Units: c.Units, Gate: o, Cell: c.c, Act: act, Out: [2]recurrent.Rows{denseRows(next, c.Units)}}
	if c.h = next; c.projection == nil {
		hidden.Out[1] = out
		c.Launch(hidden, next, out.T)
		return
	}
	c.Launch(hidden, next)
	c.h = c.Temporary(layout.F32, batch*c.Out)
	addSum(c.Lowering, &recurrent.Sum{Batch: batch, Units: c.Out, Terms: []recurrent.Term{{X: denseRows(next, c.Units), W: c.projection, N: c.Units}}, Bias: c.projBias,
		Act: recurrent.Linear, Clip: c.p.OutClip, Out: [2]recurrent.Rows{denseRows(c.h, c.Out), out}})
}

// lowerSvdf lowers SVDF.
func lowerSvdf(l *lower.Lowering, _ *nn.Operation, s opspec.Svdf) {
	t := tensors(l, s.Input, s.Feature, s.Time, s.Bias, s.State)
	in, feature, time, bias, state := t[0], t[1], t[2], t[3], t[4]
	next, out := try.V2(l.Pair(s.NextState, s.Output))
	newest := l.Temporary(layout.F32, s.Batch*s.Filters) // not rounded, and as the state has it
	sum := [2]recurrent.Rows{denseRows(newest, s.Filters)}
	kept := newest
	if state.Elem != layout.F32 {
		kept = l.Temporary(state.Elem, newest.N)
		sum[1] = denseRows(kept, s.Filters)
	}
	addSum(l, &recurrent.Sum{Batch: s.Batch, Units: s.Filters, Act: recurrent.Linear, Terms: []recurrent.Term{{X: denseRows(in, s.Size), W: feature, N: s.Size}}, Out: sum})
	l.Launch(&recurrent.Svdf{Batch: s.Batch, Filters: s.Filters, Memory: s.Memory, Rank: s.Rank, State: state, Newest: newest, Time: time, Bias: bias,
		Out: out, Act: cellAct(s.Act)}, out)
	// The next state: the memory one step older, and a zero for the next step's feature.
	fillWith(l, 0, next)
	rows := s.Batch * s.Filters
	if n := s.Memory - 2; n > 0 {
		addCopy(l, state, next, block{dims: []int{rows, n}, from: []int{s.Memory, 1}, to: []int{s.Memory, 1}, inAt: 1})
	}
	if s.Memory >= 2 {
		addCopy(l, kept, next, block{dims: []int{rows, 1}, from: []int{1, 1}, to: []int{s.Memory, 1}, outAt: s.Memory - 2})
	}
}
