package refcpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
)

// rnnKernels are the recurrent cells without gates.
var rnnKernels = []operation{
	{op: nn.OpRnn, prepare: prepareRnn, ownShapes: true},
	{op: nn.OpUnidirectionalSequenceRnn, prepare: prepareRnnSequence, ownShapes: true},
	{op: nn.OpBidirectionalSequenceRnn, prepare: prepareRnnBidirectional, ownShapes: true},
	{op: nn.OpSvdf, prepare: prepareSvdf, ownShapes: true},
}

// recurrentArgs reads the operands of a recurrent operation by name.
type recurrentArgs struct {
	x   *Run
	a   opspec.Args
	err error
}

// matrix is a float operand with its shape.
type matrix struct {
	dims []uint32
	v    []float32
}

func (m *matrix) given() bool { return m.v != nil }

// rows and cols of a matrix of rank 2.
func (m *matrix) rows() int { return int(m.dims[0]) }
func (m *matrix) cols() int { return int(m.dims[1]) }

// bindRecurrent makes a kernel that reads its operands when it runs.
func bindRecurrent(v opspec.View, op *nn.Operation, f func(r *recurrentArgs) error) (Kernel, error) {
	if _, err := v.Bind(op); err != nil {
		return nil, err
	}
	return func(x *Run) error {
		a, err := x.view.Bind(op)
		if err != nil {
			return err
		}
		r := &recurrentArgs{x: x, a: a}
		if err := f(r); err != nil {
			return err
		}
		return r.err
	}, nil
}

func (r *recurrentArgs) fail(name, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %w", name, fmt.Errorf(format, args...))
	}
}

// get reads a float operand, empty when it is omitted. Shape gives the
// expected dimensions, -1 for any.
func (r *recurrentArgs) get(name string, shape ...int) matrix {
	i := r.a.In(name)
	if i == opspec.None || r.err != nil {
		return matrix{}
	}
	d, err := r.a.Dims(name)
	if err != nil {
		r.fail(name, "%w", err)
		return matrix{}
	}
	ok := len(d) == len(shape)
	for k := 0; ok && k < len(d); k++ {
		ok = shape[k] < 0 || int(d[k]) == shape[k]
	}
	if !ok {
		r.fail(name, "shape %v, %v needed", d, shape)
		return matrix{}
	}
	return matrix{d, r.x.floats(i, &r.x.shared)}
}

func (r *recurrentArgs) int32(name string) int32 {
	v, err := r.a.Int32(name)
	if err != nil {
		r.fail(name, "%w", err)
	}
	return v
}

func (r *recurrentArgs) bool(name string) bool {
	v, err := r.a.BoolOr(name, false)
	if err != nil {
		r.fail(name, "%w", err)
	}
	return v
}

func (r *recurrentArgs) float(name string) float32 {
	v, err := r.a.Float(name)
	if err != nil {
		r.fail(name, "%w", err)
	}
	return v
}

// activation is the function of an activation code of recurrent operations.
func (r *recurrentArgs) activation(name string) func(float32) float32 {
	switch code := r.int32(name); code {
	case 0:
		return func(v float32) float32 { return v }
	case 1:
		return func(v float32) float32 { return clampF(v, 0, inf32) }
	case 2:
		return func(v float32) float32 { return clampF(v, -1, 1) }
	case 3:
		return func(v float32) float32 { return clampF(v, 0, 6) }
	case 4:
		return tanh
	case 6:
		return sigmoid
	default:
		r.fail(name, "code %d", code)
		return tanh
	}
}

func tanh(v float32) float32    { return float32(math.Tanh(float64(v))) }
func sigmoid(v float32) float32 { return float32(1 / (1 + kernel.Exp(-float64(v)))) }

// spend charges steps of work.
func (r *recurrentArgs) spend(factors ...int) {
	n := int64(1)
	for _, f := range factors {
		if n *= int64(max(f, 1)); n > r.x.left.work {
			if r.err == nil {
				r.err = fmt.Errorf("%d steps: %w", n, errLimit)
			}
			return
		}
	}
	r.x.left.work -= n
}

// multiply adds w times x to dst for a batch: dst[b][u] += sum w[u][i] x[b][i].
func multiply(dst []float32, w matrix, x []float32, batch int) {
	units, n := w.rows(), w.cols()
	for b := range batch {
		in := x[b*n : (b+1)*n]
		for u := range units {
			sum := float32(0)
			for i, v := range w.v[u*n : (u+1)*n] {
				sum += float32(v * in[i])
			}
			dst[b*units+u] += sum
		}
	}
}

// sequence is how the steps of an input [T, B, I] or [B, T, I] lie in memory.
type sequence struct {
	steps, batch, size int
	timeMajor          bool
}

func newSequence(m matrix, timeMajor bool) sequence {
	s := sequence{int(m.dims[1]), int(m.dims[0]), int(m.dims[2]), timeMajor}
	if timeMajor {
		s.steps, s.batch = s.batch, s.steps
	}
	return s
}

// load copies step t of a batch into dst [B][size].
func (s sequence) load(dst, src []float32, t int) {
	for b := range s.batch {
		copy(dst[b*s.size:(b+1)*s.size], src[s.at(b, t)*s.size:])
	}
}

// store copies [B][n] into step t of dst with rows of width values, from offset on.
func (s sequence) store(dst, src []float32, t, n, width, offset int) {
	for b := range s.batch {
		copy(dst[s.at(b, t)*width+offset:], src[b*n:(b+1)*n])
	}
}

func (s sequence) at(b, t int) int {
	if s.timeMajor {
		return t*s.batch + b
	}
	return b*s.steps + t
}

// dims is the shape of a sequence of rows of n values.
func (s sequence) dims(n int) []uint32 {
	if s.timeMajor {
		return []uint32{uint32(s.steps), uint32(s.batch), uint32(n)}
	}
	return []uint32{uint32(s.batch), uint32(s.steps), uint32(n)}
}

// give sets shapes of the outputs that the operation has, in order.
func (r *recurrentArgs) give(dims ...[]uint32) error {
	if len(dims) < len(r.a.Op.Outputs) {
		return errors.New("too many outputs")
	}
	return r.x.give(r.a.Op, dims[:len(r.a.Op.Outputs)]...)
}

// put writes output i, if the operation has it.
func (r *recurrentArgs) put(i int, v []float32) {
	if i < len(r.a.Op.Outputs) {
		r.x.setReals(r.a.Op.Outputs[i], v)
	}
}

// rnnCell is a basic recurrent cell: h = act(W x + A aux + R h + b).
type rnnCell struct {
	w, aux, r, bias matrix
	state           []float32
	units           int
	act             func(float32) float32
}

// rnnCell reads the cell whose operands have a prefix.
func (r *recurrentArgs) rnnCell(prefix, state string, batch, size int) rnnCell {
	c := rnnCell{act: r.activation("activation")}
	c.w = r.get(prefix+"weights", -1, size)
	if r.err != nil {
		return c
	}
	c.units = c.w.rows()
	c.r = r.get(prefix+"recurrent_weights", c.units, c.units)
	c.bias = r.get(prefix+"bias", c.units)
	h := r.get(state, batch, c.units)
	if r.err == nil {
		c.state = append([]float32(nil), h.v...)
	}
	return c
}

// step advances the state by one input.
func (c *rnnCell) step(x, aux []float32, batch int) {
	next := make([]float32, batch*c.units)
	for b := range batch {
		copy(next[b*c.units:], c.bias.v)
	}
	multiply(next, c.w, x, batch)
	if c.aux.given() && aux != nil {
		multiply(next, c.aux, aux, batch)
	}
	multiply(next, c.r, c.state, batch)
	for i, v := range next {
		next[i] = c.act(v)
	}
	c.state = next
}

// prepareRnn is RNN: one step.
func prepareRnn(v opspec.View, op *nn.Operation) (Kernel, error) {
	return bindRecurrent(v, op, func(r *recurrentArgs) error {
		in := r.get("input", -1, -1)
		if r.err != nil {
			return r.err
		}
		batch := in.rows()
		c := r.rnnCell("", "hidden_state_in", batch, in.cols())
		if r.spend(batch, c.units, in.cols()+c.units); r.err != nil {
			return r.err
		}
		c.step(in.v, nil, batch)
		d := []uint32{uint32(batch), uint32(c.units)}
		if err := r.give(d, d); err != nil {
			return err
		}
		r.put(0, c.state)
		r.put(1, c.state)
		return nil
	})
}

// prepareRnnSequence is UNIDIRECTIONAL_SEQUENCE_RNN.
func prepareRnnSequence(v opspec.View, op *nn.Operation) (Kernel, error) {
	return bindRecurrent(v, op, func(r *recurrentArgs) error {
		in := r.get("input", -1, -1, -1)
		major := r.int32("time_major") != 0
		if r.err != nil {
			return r.err
		}
		s := newSequence(in, major)
		c := r.rnnCell("", "hidden_state_in", s.batch, s.size)
		if r.spend(s.steps, s.batch, c.units, s.size+c.units); r.err != nil {
			return r.err
		}
		if err := r.give(s.dims(c.units), []uint32{uint32(s.batch), uint32(c.units)}); err != nil {
			return err
		}
		out, x := make([]float32, s.steps*s.batch*c.units), make([]float32, s.batch*s.size)
		for t := range s.steps {
			s.load(x, in.v, t)
			c.step(x, nil, s.batch)
			s.store(out, c.state, t, c.units, c.units, 0)
		}
		r.put(0, out)
		r.put(1, c.state)
		return nil
	})
}

// prepareRnnBidirectional is BIDIRECTIONAL_SEQUENCE_RNN. An auxiliary input
// without weights of its own feeds the backward cell instead of the input.
func prepareRnnBidirectional(v opspec.View, op *nn.Operation) (Kernel, error) {
	return bindRecurrent(v, op, func(r *recurrentArgs) error {
		in := r.get("input", -1, -1, -1)
		major, merge := r.bool("time_major"), r.bool("merge_outputs")
		if r.err != nil {
			return r.err
		}
		s := newSequence(in, major)
		aux := r.get("aux_input", int(in.dims[0]), int(in.dims[1]), -1)
		if r.err != nil {
			return r.err
		}
		as, back, bs := sequence{}, in, s
		if aux.given() {
			as = newSequence(aux, major)
		}
		fwAux, bwAux := r.get("fw_aux_weights", -1, as.size), r.get("bw_aux_weights", -1, as.size)
		if aux.given() && !fwAux.given() {
			back, bs = aux, as
		}
		fw := r.rnnCell("fw_", "fw_hidden_state", s.batch, s.size)
		bw := r.rnnCell("bw_", "bw_hidden_state", s.batch, bs.size)
		if r.err != nil {
			return r.err
		}
		if fwAux.given() != bwAux.given() || fwAux.given() && (fwAux.rows() != fw.units || bwAux.rows() != bw.units || !aux.given()) {
			r.fail("fw_aux_weights", "only one auxiliary weight, or of a wrong shape")
			return r.err
		}
		fw.aux, bw.aux = fwAux, bwAux
		if r.spend(s.steps, s.batch, fw.units+bw.units, s.size+bs.size+as.size+fw.units+bw.units); r.err != nil {
			return r.err
		}
		return r.bidirectional(s, in, bs, back, as, aux, merge, &fw, &bw, [][]uint32{
			{uint32(s.batch), uint32(fw.units)}, {uint32(s.batch), uint32(bw.units)}})
	})
}

// cell is a recurrent cell of either kind.
type cell interface {
	step(x, aux []float32, batch int)
	output() []float32
	outputs() int
	states() [][]float32
}

func (c *rnnCell) output() []float32   { return c.state }
func (c *rnnCell) outputs() int        { return c.units }
func (c *rnnCell) states() [][]float32 { return [][]float32{c.state} }

// bidirectional runs one cell forwards and one backwards over their sequences
// and writes outputs, merged or apart, and final states.
func (r *recurrentArgs) bidirectional(s sequence, in matrix, bs sequence, back matrix, as sequence, aux matrix, merge bool,
	fw, bw cell, stateDims [][]uint32) error {
	nf, nb := fw.outputs(), bw.outputs()
	outF, outB, width, offset := make([]float32, s.steps*s.batch*nf), []float32(nil), nf, 0
	dims := [][]uint32{s.dims(nf), s.dims(nb)}
	widthB := nb
	if merge {
		width, widthB, offset = nf+nb, nf+nb, nf
		outF = make([]float32, s.steps*s.batch*width)
		outB = outF
		dims = [][]uint32{s.dims(width)}
	} else {
		outB = make([]float32, s.steps*s.batch*nb)
	}
	if err := r.give(append(dims, stateDims...)...); err != nil {
		return err
	}
	x, y, a := make([]float32, s.batch*s.size), make([]float32, s.batch*bs.size), []float32(nil)
	if aux.given() {
		a = make([]float32, s.batch*as.size)
	}
	for t := range s.steps {
		s.load(x, in.v, t)
		if a != nil {
			as.load(a, aux.v, t)
		}
		fw.step(x, a, s.batch)
		s.store(outF, fw.output(), t, nf, width, 0)
	}
	for t := s.steps - 1; t >= 0; t-- {
		bs.load(y, back.v, t)
		if a != nil {
			as.load(a, aux.v, t)
		}
		bw.step(y, a, s.batch)
		s.store(outB, bw.output(), t, nb, widthB, offset)
	}
	r.put(0, outF)
	at := 1
	if !merge {
		r.put(1, outB)
		at = 2
	}
	for _, st := range append(fw.states(), bw.states()...) {
		r.put(at, st)
		at++
	}
	return nil
}

// prepareSvdf is SVDF: a memory of projected inputs per filter, weighted over
// time and summed over the ranks of each unit.
func prepareSvdf(v opspec.View, op *nn.Operation) (Kernel, error) {
	return bindRecurrent(v, op, func(r *recurrentArgs) error {
		in := r.get("input", -1, -1)
		if r.err != nil {
			return r.err
		}
		batch := in.rows()
		feature := r.get("weights_feature", -1, in.cols())
		if r.err != nil {
			return r.err
		}
		filters := feature.rows()
		wTime := r.get("weights_time", filters, -1)
		rank, act := int(r.int32("rank")), r.activation("activation")
		if r.err != nil {
			return r.err
		}
		if wTime.cols() < 1 {
			r.fail("weights_time", "shape %v", wTime.dims)
			return r.err
		}
		if rank < 1 || filters%rank != 0 {
			r.fail("rank", "%d for %d filters", rank, filters)
			return r.err
		}
		units, memory := filters/rank, wTime.cols()
		bias := r.get("bias", units)
		state := r.get("state_in", batch, filters*memory)
		if r.spend(batch, filters, memory+in.cols()); r.err != nil {
			return r.err
		}
		next := make([]float32, len(state.v))
		newest, out := make([]float32, batch*filters), make([]float32, batch*units)
		multiply(newest, feature, in.v, batch)
		for b := range batch {
			for f := range filters {
				row := next[(b*filters+f)*memory:][:memory]
				copy(row, state.v[(b*filters+f)*memory:])
				row[memory-1] = newest[b*filters+f]
				sum := float32(0)
				for m, v := range row {
					sum += float32(v * wTime.v[f*memory+m])
				}
				out[b*units+f/rank] += sum
				copy(row, row[1:]) // room for the next step's
				row[memory-1] = 0
			}
			for u := range units {
				v := out[b*units+u]
				if bias.given() {
					v += bias.v[u]
				}
				out[b*units+u] = act(v)
			}
		}
		if err := r.give([]uint32{uint32(batch), uint32(filters * memory)}, []uint32{uint32(batch), uint32(units)}); err != nil {
			return err
		}
		r.put(0, next)
		r.put(1, out)
		return nil
	})
}
