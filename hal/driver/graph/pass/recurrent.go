package pass

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// expandCells makes products and functions of recurrent cells. Their sequences are cells one after
// the other, whose states are temporaries:
//
//	RNN   h = act(FULLY_CONNECTED(x, W, b) + FULLY_CONNECTED(h, R, 0))
//	LSTM  c = forget * c + admit * act(cell), h = output * act(c), each gate as an RNN's h
//	SVDF  memory = memory, its last step FULLY_CONNECTED(x, feature); y = sum of memory * time; then all steps
//	      move on
//
// An optional operand that an execution may leave out is none that a cell can be written out with.
func expandCells(g *graph.Graph) (changed bool, err error) {
	return expandAll(g, map[nn.OperationType]expansion{
		nn.OpRnn: expandRnn, nn.OpUnidirectionalSequenceRnn: expandRnn, nn.OpBidirectionalSequenceRnn: expandRnn,
		nn.OpLstm: expandLstm, nn.OpUnidirectionalSequenceLstm: expandLstm, nn.OpBidirectionalSequenceLstm: expandLstm,
		nn.OpSvdf: expandSvdf,
	})
}

// act is the function of a cell.
func (r *rewriter) act(code int32, x uint32) uint32 {
	switch code {
	case opspec.CellTanh:
		return r.unary(nn.OpTanh, x)
	case opspec.CellSigmoid:
		return r.unary(nn.OpLogistic, x)
	}
	return r.activated(x, nn.FusedActivation(code))
}

// zeros is a constant bias.
func (r *rewriter) zeros(n int) uint32 { return r.numbers([]uint32{uint32(n)}, make([]float32, n)...) }

// given is an operand as TENSOR_FLOAT32, None where it is left out.
func (r *rewriter) given(x uint32) uint32 {
	if x == opspec.None {
		return x
	}
	return r.real(x)
}

// term is the product of an input with weights.
type term struct{ x, w uint32 }

// products is the sum of products and a bias, which may be None.
func (r *rewriter) products(bias uint32, list ...term) uint32 {
	sum := opspec.None
	for _, t := range list {
		if t.x == opspec.None || t.w == opspec.None {
			continue
		}
		b := bias
		if b == opspec.None || sum != opspec.None {
			b = r.zeros(int(r.g.Operands[t.w].Dimensions[0]))
		}
		y := r.dense(t.x, t.w, b)
		if sum != opspec.None {
			y = r.binary(nn.OpAdd, sum, y)
		}
		sum = y
	}
	return sum
}

// walk is a cell on its way through a sequence.
type walk struct {
	in, aux *opspec.Sequence
	width   int // of the output
	step    func(x, aux uint32) uint32
}

// sequence is the result of a cell for all steps, forwards or backwards.
func (r *rewriter) sequence(w *walk, backwards bool) uint32 {
	if w.in.Dims(1)[0] == uint32(w.in.Batch) && len(w.in.Dims(1)) == 2 { // one step
		return w.step(r.real(w.in.Operand), r.given(w.aux.Operand))
	}
	time := 1
	if w.in.TimeMajor {
		time = 0
	}
	at := func(s *opspec.Sequence, all uint32, step int) uint32 {
		if s.Operand == opspec.None {
			return opspec.None
		}
		return r.reshape(r.slice(all, time, step, 1), uint32(s.Batch), uint32(s.Size))
	}
	x, aux := r.real(w.in.Operand), r.given(w.aux.Operand)
	one := w.in.Dims(w.width)
	one[time] = 1
	outputs := make([]uint32, w.in.Steps)
	for i := range w.in.Steps {
		step := i
		if backwards {
			step = w.in.Steps - 1 - i
		}
		outputs[step] = r.reshape(w.step(at(w.in, x, step), at(w.aux, aux, step)), one...)
	}
	return r.concatenated(outputs, time, w.in.Dims(w.width))
}

// concatenated joins tensors along a dimension.
func (r *rewriter) concatenated(parts []uint32, dim int, dims []uint32) uint32 {
	if len(parts) == 1 {
		return parts[0]
	}
	return r.apply(nn.OpConcatenation, dims, append(slices.Clone(parts), r.g.AddInt32(int32(dim)))...)
}

// sequences puts the results of one or two cells where the operation has them.
func (r *rewriter) sequences(list []walk, outputs []uint32, merge bool) {
	var results []uint32
	for i := range list {
		results = append(results, r.sequence(&list[i], i > 0))
	}
	if merge {
		dims := list[0].in.Dims(list[0].width + list[1].width)
		r.into(r.concatenated(results, len(dims)-1, dims), outputs[0])
		return
	}
	for i, y := range results {
		r.store(y, outputs[i])
	}
}

// store copies a value, which may be read again, to an output of the operation; None has no place.
func (r *rewriter) store(x, y uint32) {
	switch {
	case y == opspec.None:
	case r.g.Operands[x].Type != r.g.Operands[y].Type:
		r.emit(nn.Operation{Type: nn.OpCast, Inputs: []uint32{x}, Outputs: []uint32{y}})
	default:
		r.copy(x, y)
	}
}

// steps reports whether sequences are short enough to be written out, and their operands are known.
func steps(g *graph.Graph, op *nn.Operation, in *opspec.Sequence) bool {
	for _, x := range op.Inputs {
		if o := &g.Operands[x]; !o.Type.IsScalar() && o.Lifetime != nn.NoValue && !float(g, x) {
			return false
		}
	}
	return given(g, op) && in.Steps > 0 && in.Steps <= maxPieces && float(g, op.Outputs...)
}

// given reports whether it is known of each optional operand whether it is there.
func given(g *graph.Graph, op *nn.Operation) bool {
	a, err := g.View().Bind(op)
	if err != nil {
		return false
	}
	for i, x := range op.Inputs {
		if a.Optional(i) && g.Operands[x].Lifetime == nn.SubgraphInput && !g.Bound() {
			return false
		}
	}
	return true
}

func expandRnn(r *rewriter, op *nn.Operation) bool {
	p, err := opspec.Read[opspec.Rnn](r.g.View(), op)
	if err != nil || !steps(r.g, op, &p.Cells[0].Input) {
		return false
	}
	var list []walk
	var outputs []uint32
	states := make([]uint32, len(p.Cells))
	for i := range p.Cells {
		c := &p.Cells[i]
		w, aux, rec, bias := r.real(c.Weights), r.given(c.AuxWeights), r.real(c.Recurrent), r.real(c.Bias)
		states[i] = r.real(c.State)
		list = append(list, walk{&c.Input, &c.Aux, c.Units, func(x, a uint32) uint32 {
			states[i] = r.act(p.Act, r.products(bias, term{x, w}, term{a, aux}, term{states[i], rec}))
			return states[i]
		}})
		outputs = append(outputs, c.Output)
	}
	r.sequences(list, outputs, p.Merge)
	for i := range p.Cells {
		r.store(states[i], p.Cells[i].NextState)
	}
	return true
}

func expandLstm(r *rewriter, op *nn.Operation) bool {
	p, err := opspec.Read[opspec.Lstm](r.g.View(), op)
	if err != nil || !steps(r.g, op, &p.Cells[0].Input) {
		return false
	}
	var list []walk
	var outputs []uint32
	cells := make([]*lstm, len(p.Cells))
	for i := range p.Cells {
		c := &p.Cells[i]
		cells[i] = r.lstm(&p, c)
		list = append(list, walk{&c.Input, &c.Aux, c.Out, cells[i].step})
		outputs = append(outputs, c.Output)
	}
	r.sequences(list, outputs, p.Merge)
	for i := range p.Cells {
		r.store(cells[i].h, p.Cells[i].NextState)
		r.store(cells[i].c, p.Cells[i].NextCell)
	}
	if p.Scratch != opspec.None { // an output without a meaning
		o := &r.g.Operands[p.Scratch]
		n := int(o.Elements())
		r.store(r.binary(nn.OpMul, r.numbers(o.Dimensions, make([]float32, n)...), r.number(0)), p.Scratch)
	}
	return true
}

// lstm is an LSTM cell with its operands as TENSOR_FLOAT32.
type lstm struct {
	*rewriter
	*opspec.LstmCell
	p                           *opspec.Lstm
	w, aux, r, bias, peep, norm [opspec.Gates]uint32
	projection, projectionBias  uint32
	h, c                        uint32
}

func (r *rewriter) lstm(p *opspec.Lstm, o *opspec.LstmCell) *lstm {
	c := &lstm{rewriter: r, LstmCell: o, p: p, projection: r.given(o.Projection), projectionBias: r.given(o.ProjectionBias), h: r.real(o.State), c: r.real(o.Cell)}
	for g := range opspec.Gates {
		c.w[g], c.aux[g], c.r[g] = r.given(o.Weights[g]), r.given(o.AuxWeights[g]), r.given(o.Recurrent[g])
		c.bias[g], c.peep[g], c.norm[g] = r.given(o.Bias[g]), r.given(o.Peephole[g]), r.given(o.Norm[g])
	}
	return c
}

// gate is the input of a gate's function.
func (c *lstm) gate(g int, x, aux uint32) uint32 {
	bias := c.bias[g]
	if c.norm[g] != opspec.None {
		bias = opspec.None
	}
	v := c.products(bias, term{x, c.w[g]}, term{aux, c.aux[g]}, term{c.h, c.r[g]})
	if c.peep[g] != opspec.None {
		v = c.binary(nn.OpAdd, v, c.binary(nn.OpMul, c.c, c.peep[g]))
	}
	if c.norm[g] == opspec.None {
		return v
	}
	d := c.binary(nn.OpSub, v, c.mean(v, 1))
	deviation := c.unary(nn.OpSqrt, c.binary(nn.OpAdd, c.mean(c.binary(nn.OpMul, d, d), 1), c.number(1e-8)))
	return c.binary(nn.OpAdd, c.binary(nn.OpMul, c.binary(nn.OpDiv, d, deviation), c.norm[g]), c.bias[g])
}

// clipped is x within bounds; 0 is none.
func (c *lstm) clipped(x uint32, bound float32) uint32 {
	if bound <= 0 {
		return x
	}
	return c.binary(nn.OpMaximum, c.binary(nn.OpMinimum, x, c.number(bound)), c.number(-bound))
}

// step is the output for one input.
func (c *lstm) step(x, aux uint32) uint32 {
	forget := c.unary(nn.OpLogistic, c.gate(opspec.GateForget, x, aux))
	cell := c.act(c.p.Act, c.gate(opspec.GateCell, x, aux))
	var admit uint32
	if c.Coupled { // 1 - forget
		admit = c.binary(nn.OpAdd, c.binary(nn.OpMul, forget, c.number(-1)), c.number(1))
	} else {
		admit = c.unary(nn.OpLogistic, c.gate(opspec.GateInput, x, aux))
	}
	c.c = c.clipped(c.binary(nn.OpAdd, c.binary(nn.OpMul, forget, c.c), c.binary(nn.OpMul, admit, cell)), c.p.CellClip)
	c.h = c.binary(nn.OpMul, c.unary(nn.OpLogistic, c.gate(opspec.GateOutput, x, aux)), c.act(c.p.Act, c.c))
	if c.projection != opspec.None {
		c.h = c.clipped(c.products(c.projectionBias, term{c.h, c.projection}), c.p.OutClip)
	}
	return c.h
}

func expandSvdf(r *rewriter, op *nn.Operation) bool {
	p, err := opspec.Read[opspec.Svdf](r.g.View(), op)
	if err != nil || !given(r.g, op) || !float(r.g, p.Input, p.Feature, p.Time, p.Bias, p.State, p.NextState, p.Output) {
		return false
	}
	batch, filters, memory := uint32(p.Batch), uint32(p.Filters), uint32(p.Memory)
	x, feature, time, bias := r.real(p.Input), r.real(p.Feature), r.real(p.Time), r.given(p.Bias)
	newest := r.reshape(r.dense(x, feature, r.zeros(p.Filters)), batch, filters, 1)
	all := newest
	if p.Memory > 1 {
		old := r.slice(r.reshape(r.real(p.State), batch, filters, memory), 2, 0, p.Memory-1)
		all = r.concatenated([]uint32{old, newest}, 2, []uint32{batch, filters, memory})
	}
	weighted := r.binary(nn.OpMul, all, r.reshape(time, 1, filters, memory))
	y := r.reshape(r.sum(weighted, 2), batch, uint32(p.Units), uint32(p.Rank))
	y = r.reshape(r.sum(y, 2), batch, uint32(p.Units))
	if bias != opspec.None {
		y = r.binary(nn.OpAdd, y, bias)
	}
	r.store(r.act(p.Act, y), p.Output)
	next := r.numbers([]uint32{batch, filters, 1}, make([]float32, p.Batch*p.Filters)...) // of the next step
	if p.Memory > 1 {
		next = r.concatenated([]uint32{r.slice(all, 2, 1, p.Memory-1), next}, 2, []uint32{batch, filters, memory})
	}
	r.store(r.reshape(next, batch, filters*memory), p.NextState)
	return true
}
