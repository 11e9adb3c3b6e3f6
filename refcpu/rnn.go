package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

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
func prepareRnn(v opspec.View, op *nn.Operation) (kern, error) {
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
func prepareRnnSequence(v opspec.View, op *nn.Operation) (kern, error) {
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
func prepareRnnBidirectional(v opspec.View, op *nn.Operation) (kern, error) {
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
