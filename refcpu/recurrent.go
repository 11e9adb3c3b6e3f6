package refcpu

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
)

// rnnKernels are the recurrent cells without gates.
var rnnKernels = []operation{
	{op: nn.OpRnn, prepare: read(prepareRnn)},
	{op: nn.OpUnidirectionalSequenceRnn, prepare: read(prepareRnn)},
	{op: nn.OpBidirectionalSequenceRnn, prepare: read(prepareRnn)},
	{op: nn.OpSvdf, prepare: read(prepareSvdf)},
}

// cellFunction is the function of a recurrent cell.
func cellFunction(code int32) func(float32) float32 {
	switch code {
	case opspec.CellTanh:
		return tanh
	case opspec.CellSigmoid:
		return sigmoid
	}
	lo, hi := opspec.FloatActRange(nn.FusedActivation(code))
	return func(v float32) float32 { return clampF(v, lo, hi) }
}

func tanh(v float32) float32    { return float32(math.Tanh(float64(v))) }
func sigmoid(v float32) float32 { return float32(1 / (1 + kernel.Exp(-float64(v)))) }

// values are the elements of a float operand, nil when it is omitted.
func (x *Run) values(i uint32) []float32 {
	if i == opspec.None {
		return nil
	}
	return x.floats(i, &x.shared)
}

// put writes a float operand, unless the operation does not have it.
func (x *Run) put(i uint32, v []float32) {
	if i != opspec.None {
		x.setReals(i, v)
	}
}

// multiply adds w times x to dst for a batch: dst[b][u] += sum w[u][i] x[b][i]. A matrix
// that is left out adds nothing.
func multiply(dst, w, x []float32, batch int) {
	if w == nil || batch == 0 {
		return
	}
	units, n := len(dst)/batch, len(x)/batch
	for b := range batch {
		in := x[b*n : (b+1)*n]
		for u := range units {
			sum := float32(0)
			for i, v := range w[u*n : (u+1)*n] {
				sum += float32(v * in[i])
			}
			dst[b*units+u] += sum
		}
	}
}

// repeat copies a row for each element of a batch.
func repeat(dst, row []float32, batch int) {
	for b := range batch {
		copy(dst[b*len(row):], row)
	}
}

// cell is a recurrent cell of either kind.
type cell interface {
	// step reads one input, and one of the auxiliary sequence where there is one, and returns the output, [Batch][n].
	step(x, aux []float32) []float32
}

// direction is a cell with its inputs and outputs.
type direction struct {
	cell
	in, aux *opspec.Sequence
	output  uint32
	n       int // values of an output
}

// recur runs cells over their inputs, the first forwards and the second backwards. Merged outputs are concatenated in
// each step.
func (x *Run) recur(list []direction, merge bool) {
	var out []float32
	for i, d := range list {
		width, column := d.n, 0
		if merge {
			width = list[0].n + list[1].n
			column = i * list[0].n
		}
		if i == 0 || !merge {
			out = make([]float32, d.in.Steps*d.in.Batch*width)
		}
		x.walk(&d, i > 0, func(b, step int, y []float32) {
			copy(out[d.in.At(b, step)*width+column:], y)
		})
		if i == len(list)-1 || !merge {
			x.setReals(d.output, out)
		}
	}
}

// walk runs a cell step by step, and calls put with the output of each step for each element of the batch.
func (x *Run) walk(d *direction, backwards bool, put func(b, step int, y []float32)) {
	in, aux := x.values(d.in.Operand), x.values(d.aux.Operand)
	inStep, auxStep := make([]float32, d.in.Batch*d.in.Size), make([]float32, d.aux.Batch*d.aux.Size)
	for step := range d.in.Steps {
		if backwards {
			step = d.in.Steps - 1 - step
		}
		load(inStep, in, d.in, step)
		load(auxStep, aux, d.aux, step)
		y := d.step(inStep, auxStep)
		for b := range d.in.Batch {
			put(b, step, y[b*d.n:(b+1)*d.n])
		}
	}
}

// load copies a step of a sequence into dst [Batch][Size].
func load(dst, src []float32, s *opspec.Sequence, step int) {
	for b := range s.Batch {
		copy(dst[b*s.Size:(b+1)*s.Size], src[s.At(b, step)*s.Size:])
	}
}

// rnnCell is a basic recurrent cell: h = act(W x + A aux + R h + b).
type rnnCell struct {
	w, aux, r, bias, state []float32
	batch                  int
	act                    func(float32) float32
}

// prepareRnn is RNN and the sequences of it in one direction or two.
func prepareRnn(_ opspec.View, _ *nn.Operation, r opspec.Rnn) (Kernel, error) {
	return func(x *Run) error {
		var list []direction
		for i := range r.Cells {
			p := &r.Cells[i]
			c := &rnnCell{x.values(p.Weights), x.values(p.AuxWeights), x.values(p.Recurrent), x.values(p.Bias), x.values(p.State),
				p.Input.Batch, cellFunction(r.Act)}
			list = append(list, direction{c, &p.Input, &p.Aux, p.Output, p.Units})
		}
		x.recur(list, r.Merge)
		for i := range list {
			x.put(r.Cells[i].NextState, list[i].cell.(*rnnCell).state)
		}
		return nil
	}, nil
}

func (c *rnnCell) step(x, aux []float32) []float32 {
	next := make([]float32, len(c.state))
	repeat(next, c.bias, c.batch)
	multiply(next, c.w, x, c.batch)
	multiply(next, c.aux, aux, c.batch)
	multiply(next, c.r, c.state, c.batch)
	for i, v := range next {
		next[i] = c.act(v)
	}
	c.state = next
	return next
}

// prepareSvdf is SVDF.
func prepareSvdf(v opspec.View, _ *nn.Operation, s opspec.Svdf) (Kernel, error) {
	act := cellFunction(s.Act)
	return func(x *Run) error {
		time, bias, state := x.values(s.Time), x.values(s.Bias), x.values(s.State)
		next := make([]float32, len(state))
		newest, out := make([]float32, s.Batch*s.Filters), make([]float32, s.Batch*s.Units)
		multiply(newest, x.values(s.Feature), x.values(s.Input), s.Batch)
		for b := range s.Batch {
			for f := range s.Filters {
				at := (b*s.Filters + f) * s.Memory
				row := next[at : at+s.Memory]
				copy(row, state[at:])
				row[s.Memory-1] = newest[b*s.Filters+f]
				sum := float32(0)
				for m, v := range row {
					sum += float32(v * time[f*s.Memory+m])
				}
				out[b*s.Units+f/s.Rank] += sum
				copy(row, row[1:]) // space for the next step's
				row[s.Memory-1] = 0
			}
			for u := range s.Units {
				v := out[b*s.Units+u]
				if bias != nil {
					v += bias[u]
				}
				out[b*s.Units+u] = act(v)
			}
		}
		x.setReals(s.NextState, next)
		x.setReals(s.Output, out)
		return nil
	}, nil
}
