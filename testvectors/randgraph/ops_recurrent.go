package randgraph

import (
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// cell is the structure of a recurrent cell.
type cell struct {
	units, out                              int
	coupled, peephole, norm, projection, pb bool
}

// recurrent draws a recurrent operation: its operands follow from their names
// in the operation's row, like "fw_recurrent_to_cell_weights:T".
type recurrent struct {
	g                       *gen
	op                      nn.OperationType
	key                     nn.OperandType
	batch, size, steps, aux int // steps is 0 for operations of one step
	timeMajor, merge        bool
	cells                   map[string]*cell // by direction: "", or "fw_" and "bw_"
	quant                   map[string]nn.Operand
}

func (g *gen) recurrent(op nn.OperationType, k nn.OperandType, sequence, gated bool, directions ...string) *recurrent {
	r := &recurrent{g: g, op: op, key: k, batch: 1 + g.choose(3), size: 1 + g.choose(6), cells: map[string]*cell{}}
	if sequence {
		r.steps, r.timeMajor = 1+g.choose(4), g.chance(50)
	}
	if len(directions) > 1 {
		r.merge = g.chance(50)
		if g.chance(30) {
			r.aux = 1 + g.choose(4)
		}
	}
	for _, d := range directions {
		c := &cell{units: 2 + g.choose(6)}
		c.out = c.units
		if gated {
			c.coupled, c.peephole, c.norm = g.chance(30), g.chance(30), g.chance(30)
			if c.projection = g.chance(30); c.projection {
				c.out, c.pb = 1+g.choose(6), g.chance(50)
			}
		}
		r.cells[d] = c
	}
	return r
}

// shape is the shape of the operand with this name; given is false when it is omitted.
func (r *recurrent) shape(name string) (dims []int, given bool) {
	direction := ""
	for d := range r.cells {
		if d != "" && strings.HasPrefix(name, d) {
			direction = d
		}
	}
	name = strings.TrimPrefix(name, direction)
	c := r.cells[direction]
	if c == nil { // a name without direction: only its sizes count
		c = &cell{}
	}
	gate := func(g string) bool { return strings.Contains(name, g) }
	switch {
	case name == "input":
		return r.sequence(r.size), true
	case name == "aux_input":
		return r.sequence(r.aux), r.aux > 0
	case name == "weights":
		return []int{c.units, r.size}, true
	case name == "aux_weights":
		return []int{c.units, r.aux}, r.aux > 0
	case name == "recurrent_weights":
		return []int{c.units, c.units}, true
	case name == "bias":
		return []int{c.units}, true
	case name == "projection_weights":
		return []int{c.out, c.units}, c.projection
	case name == "projection_bias":
		return []int{c.out}, c.projection && c.pb
	case gate("cell_state"):
		return []int{r.batch, c.units}, true
	case gate("_state"), name == "prev_output":
		return []int{r.batch, c.out}, true
	case c.coupled && (gate("_to_input_") || gate("input_gate") || gate("input_layer")):
		return nil, false
	case gate("aux_input_to_"):
		return []int{c.units, r.aux}, r.aux > 0
	case gate("input_to_"):
		return []int{c.units, r.size}, true
	case gate("recurrent_to_"):
		return []int{c.units, c.out}, true
	case gate("cell_to_"):
		return []int{c.units}, c.peephole
	case gate("_layer_norm_"):
		return []int{c.units}, c.norm
	}
	return []int{c.units}, true // a bias
}

// sequence is a shape with n values per step.
func (r *recurrent) sequence(n int) []int {
	switch {
	case r.steps == 0:
		return []int{r.batch, n}
	case r.timeMajor:
		return []int{r.steps, r.batch, n}
	}
	return []int{r.batch, r.steps, n}
}

// inputs adds the operands of the operation's last form.
func (r *recurrent) inputs() []uint32 {
	g := r.g
	var in []uint32
	for _, slot := range opspec.Lookup(r.op).Inputs(r.key) {
		name := slot.Name
		if x, ok := r.scalar(name, slot.Type); ok {
			in = append(in, x)
			continue
		}
		o := nn.Operand{Type: slot.Type}
		dims, given := r.shape(name)
		if !given {
			in = append(in, g.omitted(o.Type))
			continue
		}
		for _, d := range dims {
			o.Dimensions = append(o.Dimensions, uint32(d))
		}
		r.quantize(name, &o)
		f := filler{lo: -0.5, hi: 0.5, signed: o.Type == nn.TensorInt32, limit: 2000}
		if strings.HasSuffix(name, "input") || strings.Contains(name, "state") || name == "prev_output" {
			in = append(in, g.value(o, f))
		} else {
			in = append(in, g.weight(o, f))
		}
	}
	return in
}

// scalar adds a parameter.
func (r *recurrent) scalar(name string, t nn.OperandType) (uint32, bool) {
	g := r.g
	switch name {
	case "activation":
		return g.int32(pick(g.source, 4, 0, 1, 3, 6)), true
	case "time_major":
		if t == nn.Int32 {
			v := 0
			if r.timeMajor {
				v = 1
			}
			return g.int32(v), true
		}
		return g.bool(r.timeMajor), true
	case "merge_outputs":
		return g.bool(r.merge), true
	case "cell_clip", "proj_clip":
		v := 0.
		if g.chance(40) {
			v = g.real(0.25, 2)
		}
		return g.float(r.scalarType(), v), true
	case "hidden_state_zero_point":
		return g.int32(g.choose(21) - 10), true
	case "hidden_state_scale":
		return g.float(r.scalarType(), g.real(0.004, 0.012)), true
	}
	if strings.HasSuffix(name, "_intermediate_scale") {
		return g.float(r.scalarType(), g.real(0.003, 0.01)), true
	}
	return 0, false
}

// scalarType is the type of tensors whose scalars the operation has.
func (r *recurrent) scalarType() nn.OperandType {
	if r.key == nn.TensorFloat16 {
		return r.key
	}
	return nn.TensorFloat32
}

// quantize sets the quantization that the name of an operand requires.
func (r *recurrent) quantize(name string, o *nn.Operand) {
	if isFloat(o.Type) {
		return
	}
	g := r.g
	class := name
	switch {
	case r.op == nn.OpQuantized16bitLstm:
		const state, weights = 1. / 128, 1. / 64
		switch {
		case o.Type == nn.TensorQuant16Symm:
			o.Scale = 1. / 2048
		case o.Type == nn.TensorInt32:
			o.Scale = state * weights
		case strings.HasSuffix(name, "weights"):
			o.Scale, o.ZeroPoint = weights, 110
		default:
			o.Scale, o.ZeroPoint = state, 128
		}
		return
	case name == "output_state_in":
		class = "output"
	}
	if q, ok := r.quant[class]; ok {
		o.Scale, o.ZeroPoint = q.Scale, q.ZeroPoint
		return
	}
	switch o.Type {
	case nn.TensorQuant8AsymmSigned:
		o.Scale, o.ZeroPoint = float32(g.real(0.004, 0.02)), int32(g.choose(41)-20)
	case nn.TensorQuant8Symm:
		o.Scale = float32(g.real(0.002, 0.01))
	case nn.TensorQuant16Symm:
		o.Scale = float32(g.real(1e-5, 1e-4))
		if name == "cell_state_in" {
			o.Scale = float32(math.Ldexp(1, -11-g.choose(5)))
		}
	}
	if r.quant == nil {
		r.quant = map[string]nn.Operand{}
	}
	r.quant[class] = nn.Operand{Scale: o.Scale, ZeroPoint: o.ZeroPoint}
}

// result is an output with the quantization of an input.
func (r *recurrent) result(t nn.OperandType, like uint32) nn.Operand {
	o := nn.Operand{Type: t}
	if !isFloat(t) {
		o.Scale, o.ZeroPoint = r.g.at(like).Scale, r.g.at(like).ZeroPoint
	}
	return o
}

// omitted is an optional operand left out.
func (g *gen) omitted(t nn.OperandType) uint32 {
	o := nn.Operand{Type: t, Dimensions: []uint32{0}, Lifetime: nn.ConstantCopy}
	if t == nn.TensorQuant8Symm || t == nn.TensorQuant16Symm {
		o.Scale = 1
	}
	return g.new(o, []byte{}, true)
}

// results are n outputs of the operation's type.
func (r *recurrent) results(n int) []nn.Operand {
	return slices.Repeat([]nn.Operand{{Type: r.key}}, n)
}

// makeRecurrentStep is RNN and LSTM.
func makeRecurrentStep(g *gen, op nn.OperationType, k nn.OperandType) bool {
	gated, n := op == nn.OpLstm, 2 // state and output
	if gated {
		n = 4 // scratch and cell state
	}
	r := g.recurrent(op, k, false, gated, "")
	return g.finish(op, r.inputs(), r.results(n)...)
}

// makeRecurrentSequence is the sequence RNNs and LSTMs.
func makeRecurrentSequence(g *gen, op nn.OperationType, k nn.OperandType) bool {
	gated := op == nn.OpUnidirectionalSequenceLstm || op == nn.OpBidirectionalSequenceLstm
	directions := []string{""}
	if op == nn.OpBidirectionalSequenceRnn || op == nn.OpBidirectionalSequenceLstm {
		directions = []string{"fw_", "bw_"}
	}
	r := g.recurrent(op, k, true, gated, directions...)
	in, n := r.inputs(), len(directions)
	if r.merge {
		n = 1
	}
	if g.chance(50) { // the states of each direction, too
		n += len(directions)
		if gated {
			n += len(directions)
		}
	}
	return g.finish(op, in, r.results(n)...)
}

// makeQuantizedLstm is QUANTIZED_LSTM and QUANTIZED_16BIT_LSTM.
func makeQuantizedLstm(g *gen, op nn.OperationType, k nn.OperandType) bool {
	full := op == nn.OpQuantizedLstm
	r := g.recurrent(op, k, false, full, "")
	in := r.inputs()
	if !full {
		state, last := in[len(in)-2], in[len(in)-1]
		return g.finish(op, in, r.result(nn.TensorQuant16Symm, state), r.result(k, last))
	}
	const outputState, cellState = 18, 19
	out := r.result(k, in[outputState])
	return g.finish(op, in, out, r.result(nn.TensorQuant16Symm, in[cellState]), out)
}

func makeSvdf(g *gen, op nn.OperationType, k nn.OperandType) bool {
	batch, size, units, rank, memory := 1+g.choose(3), 1+g.choose(6), 1+g.choose(5), 1+g.choose(3), 1+g.choose(5)
	tensor := func(dims ...int) nn.Operand {
		o := nn.Operand{Type: k}
		for _, d := range dims {
			o.Dimensions = append(o.Dimensions, uint32(d))
		}
		return o
	}
	filters, usual := units*rank, filler{lo: -2, hi: 2} // a state of 16 bits holds no more
	in := []uint32{g.value(tensor(batch, size), usual), g.weight(tensor(filters, size), usual), g.weight(tensor(filters, memory), usual)}
	if g.chance(30) {
		in = append(in, g.omitted(k))
	} else {
		in = append(in, g.weight(tensor(units), usual))
	}
	in = append(in, g.value(tensor(batch, memory*filters), usual), g.int32(rank), g.int32(pick(g.source, 0, 1, 3, 4, 6)))
	return g.finish(op, in, tensor(), tensor())
}
