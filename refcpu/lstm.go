package refcpu

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// lstmKernels are the LSTM cells on reals.
var lstmKernels = []operation{
	{op: nn.OpLstm, prepare: prepareLstm, ownShapes: true},
	{op: nn.OpUnidirectionalSequenceLstm, prepare: prepareLstmSequence, ownShapes: true},
	{op: nn.OpBidirectionalSequenceLstm, prepare: prepareLstmBidirectional, ownShapes: true},
}

// Gates of an LSTM cell.
const (
	gateInput  = opspec.GateInput
	gateForget = opspec.GateForget
	gateCell   = opspec.GateCell
	gateOutput = opspec.GateOutput
	gates      = opspec.Gates
)

var gateNames = opspec.GateNames

// lstmCell is an LSTM cell with the optional parts of NNAPI: coupled input and
// forget gates (no weights of the input gate), peepholes, projection, layer
// normalization, an auxiliary input and clipping.
type lstmCell struct {
	w, aux, r, bias, norm [gates]matrix
	peep                  [gates]matrix
	projection, projBias  matrix
	cellClip, projClip    float32
	act                   func(float32) float32
	units, out            int
	coupled               bool
	h, c                  []float32
}

// lstmCell reads the cell whose operands have a prefix.
func (r *recurrentArgs) lstmCell(prefix, hName, cName string, batch, size int) lstmCell {
	l := lstmCell{act: r.activation("activation"), cellClip: r.float("cell_clip"), projClip: r.float("proj_clip")}
	first := r.get(prefix+"input_to_output_weights", -1, size)
	state := r.get(hName, batch, -1)
	if r.err != nil {
		return l
	}
	l.units, l.out = first.rows(), state.cols()
	for g, n := range gateNames {
		l.w[g] = r.get(prefix+"input_to_"+n+"_weights", l.units, size)
		l.r[g] = r.get(prefix+"recurrent_to_"+n+"_weights", l.units, l.out)
		if n == "cell" {
			l.bias[g] = r.get(prefix+"cell_gate_bias", l.units)
		} else {
			l.bias[g] = r.get(prefix+n+"_gate_bias", l.units)
			l.peep[g] = r.get(prefix+"cell_to_"+n+"_weights", l.units)
		}
		l.norm[g] = r.get(prefix+n+"_layer_norm_weights", l.units)
	}
	l.coupled = !l.w[gateInput].given()
	if l.coupled != !l.r[gateInput].given() {
		r.fail(prefix+"input_to_input_weights", "given without recurrent_to_input_weights or the reverse")
	}
	if !l.coupled && !l.bias[gateInput].given() {
		r.fail(prefix+"input_gate_bias", "is missing")
	}
	for _, g := range []int{gateForget, gateCell, gateOutput} {
		if l.norm[g].given() != l.norm[gateForget].given() {
			r.fail(prefix+"forget_layer_norm_weights", "only some gates are normalized")
		}
	}
	l.projection = r.get(prefix+"projection_weights", l.out, l.units)
	l.projBias = r.get(prefix+"projection_bias", l.out)
	if !l.projection.given() && l.out != l.units {
		r.fail(hName, "%d values without a projection, %d needed", l.out, l.units)
	}
	cell := r.get(cName, batch, l.units)
	if r.err == nil {
		l.h, l.c = append([]float32(nil), state.v...), append([]float32(nil), cell.v...)
	}
	return l
}

// work is the multiply-accumulates of a step of one batch.
func (l *lstmCell) work(size int) int { return gates * l.units * (size + 2*l.out + 1) }

// gate computes the input of a gate's function for a batch.
func (l *lstmCell) gate(g int, x, aux []float32, batch int) []float32 {
	v := make([]float32, batch*l.units)
	normed := l.norm[g].given()
	if !normed {
		for b := range batch {
			copy(v[b*l.units:], l.bias[g].v)
		}
	}
	multiply(v, l.w[g], x, batch)
	if l.aux[g].given() && aux != nil {
		multiply(v, l.aux[g], aux, batch)
	}
	multiply(v, l.r[g], l.h, batch)
	if p := l.peep[g].v; p != nil {
		for i := range v {
			v[i] += float32(p[i%l.units] * l.c[i])
		}
	}
	if normed {
		for b := range batch {
			normalize(v[b*l.units:(b+1)*l.units], l.norm[g].v, l.bias[g].v)
		}
	}
	return v
}

// normalize subtracts the mean, divides by the deviation, scales and shifts.
func normalize(v, scale, shift []float32) {
	mean, square := float32(0), float32(0)
	for _, x := range v {
		mean += x
		square += float32(x * x)
	}
	n := float32(len(v))
	mean /= n
	variance := square/n - float32(mean*mean)
	inv := float32(1 / math.Sqrt(float64(variance)+1e-8))
	if variance == 0 {
		inv = float32(1 / math.Sqrt(1e-8))
	}
	for i, x := range v {
		v[i] = float32((x-mean)*inv*scale[i]) + shift[i]
	}
}

func (l *lstmCell) step(x, aux []float32, batch int) {
	f := l.gate(gateForget, x, aux, batch)
	g := l.gate(gateCell, x, aux, batch)
	var in []float32
	if !l.coupled {
		in = l.gate(gateInput, x, aux, batch)
	}
	for i := range l.c {
		forget := sigmoid(f[i])
		admit := 1 - forget
		if in != nil {
			admit = sigmoid(in[i])
		}
		c := float32(forget*l.c[i]) + float32(admit*l.act(g[i]))
		if l.cellClip > 0 {
			c = clampF(c, -l.cellClip, l.cellClip)
		}
		l.c[i] = c
	}
	o := l.gate(gateOutput, x, aux, batch)
	for i, c := range l.c {
		o[i] = sigmoid(o[i]) * l.act(c)
	}
	if !l.projection.given() {
		l.h = o
		return
	}
	next := make([]float32, batch*l.out)
	if l.projBias.given() {
		for b := range batch {
			copy(next[b*l.out:], l.projBias.v)
		}
	}
	multiply(next, l.projection, o, batch)
	if l.projClip > 0 {
		for i, v := range next {
			next[i] = clampF(v, -l.projClip, l.projClip)
		}
	}
	l.h = next
}

func (l *lstmCell) output() []float32   { return l.h }
func (l *lstmCell) outputs() int        { return l.out }
func (l *lstmCell) states() [][]float32 { return [][]float32{l.h, l.c} }

// prepareLstm is LSTM: one step. The first output is scratch and holds zeros.
func prepareLstm(v opspec.View, op *nn.Operation) (Kernel, error) {
	return bindRecurrent(v, op, func(r *recurrentArgs) error {
		in := r.get("input", -1, -1)
		if r.err != nil {
			return r.err
		}
		batch := in.rows()
		l := r.lstmCell("", "output_state_in", "cell_state_in", batch, in.cols())
		if r.spend(batch, l.work(in.cols())); r.err != nil {
			return r.err
		}
		l.step(in.v, nil, batch)
		n := gates
		if l.coupled {
			n--
		}
		b := uint32(batch)
		if err := r.give([]uint32{b, uint32(n * l.units)}, []uint32{b, uint32(l.out)}, []uint32{b, uint32(l.units)}, []uint32{b, uint32(l.out)}); err != nil {
			return err
		}
		r.put(0, make([]float32, batch*n*l.units))
		r.put(1, l.h)
		r.put(2, l.c)
		r.put(3, l.h)
		return nil
	})
}

// prepareLstmSequence is UNIDIRECTIONAL_SEQUENCE_LSTM.
func prepareLstmSequence(v opspec.View, op *nn.Operation) (Kernel, error) {
	return bindRecurrent(v, op, func(r *recurrentArgs) error {
		in := r.get("input", -1, -1, -1)
		major := r.bool("time_major")
		if r.err != nil {
			return r.err
		}
		s := newSequence(in, major)
		l := r.lstmCell("", "output_state_in", "cell_state_in", s.batch, s.size)
		if r.spend(s.steps, s.batch, l.work(s.size)); r.err != nil {
			return r.err
		}
		b := uint32(s.batch)
		if err := r.give(s.dims(l.out), []uint32{b, uint32(l.out)}, []uint32{b, uint32(l.units)}); err != nil {
			return err
		}
		out, x := make([]float32, s.steps*s.batch*l.out), make([]float32, s.batch*s.size)
		for t := range s.steps {
			s.load(x, in.v, t)
			l.step(x, nil, s.batch)
			s.store(out, l.h, t, l.out, l.out, 0)
		}
		r.put(0, out)
		r.put(1, l.h)
		r.put(2, l.c)
		return nil
	})
}

// prepareLstmBidirectional is BIDIRECTIONAL_SEQUENCE_LSTM. An auxiliary input
// without weights of its own feeds the backward cell instead of the input.
func prepareLstmBidirectional(v opspec.View, op *nn.Operation) (Kernel, error) {
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
			if r.a.In("fw_aux_input_to_output_weights") == opspec.None {
				back, bs = aux, as
			}
		}
		fw := r.lstmCell("fw_", "fw_activation_state_in", "fw_cell_state_in", s.batch, s.size)
		bw := r.lstmCell("bw_", "bw_activation_state_in", "bw_cell_state_in", s.batch, bs.size)
		for g, n := range gateNames {
			fw.aux[g] = r.get("fw_aux_input_to_"+n+"_weights", fw.units, as.size)
			bw.aux[g] = r.get("bw_aux_input_to_"+n+"_weights", bw.units, as.size)
		}
		if r.spend(s.steps, s.batch, fw.work(s.size+as.size)+bw.work(bs.size+as.size)); r.err != nil {
			return r.err
		}
		b := uint32(s.batch)
		return r.bidirectional(s, in, bs, back, as, aux, merge, &fw, &bw, [][]uint32{
			{b, uint32(fw.out)}, {b, uint32(fw.units)}, {b, uint32(bw.out)}, {b, uint32(bw.units)}})
	})
}
