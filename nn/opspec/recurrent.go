package opspec

import (
	"strings"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// recurrentRows are the recurrent cells without gates, on reals.
var recurrentRows = []Row{
	{Op: nn.OpRnn, Since: V10, Types: float10, Args: rnnArgs, Work: recurrent, Forms: []Form{
		{V10, "input:T weights:T recurrent_weights:T bias:T hidden_state_in:T activation:int32", "hidden_state_out:T output:T"},
	}},
	{Op: nn.OpUnidirectionalSequenceRnn, Since: V12, Types: float12, Args: rnnArgs, Work: recurrent, Forms: []Form{
		{V12, "input:T weights:T recurrent_weights:T bias:T hidden_state_in:T activation:int32 time_major:int32", "output:T | 1.3 output:T hidden_state_out:T"},
	}},
	{Op: nn.OpBidirectionalSequenceRnn, Since: V12, Types: float12, Args: rnnArgs, Work: recurrent, Forms: []Form{
		{V12, "input:T fw_weights:T fw_recurrent_weights:T fw_bias:T fw_hidden_state:T bw_weights:T bw_recurrent_weights:T bw_bias:T bw_hidden_state:T " +
			"aux_input:T? fw_aux_weights:T? bw_aux_weights:T? activation:int32 time_major:bool merge_outputs:bool", "fw_output:T bw_output:T | output:T | 1.3 fw_output:T bw_output:T fw_hidden_state_out:T bw_hidden_state_out:T | 1.3 output:T " +
			"fw_hidden_state_out:T bw_hidden_state_out:T"},
	}},
	{Op: nn.OpSvdf, Since: V10, Types: float10, Args: svdfArgs, Work: WorkRule{Kernel: KernelDense, Float: 2, Also: recurrentWork(2, 0)}, Forms: []Form{
		{V10, "input:T weights_feature:T weights_time:T bias:T? state_in:T rank:int32 activation:int32", "state_out:T output:T"},
	}},
}

var (
	rnnArgs  = Arguments[Rnn]{Read: readRnn, Shapes: func(r *Rnn) [][]uint32 { return r.Dims }}
	svdfArgs = Arguments[Svdf]{Read: readSvdf, Shapes: func(s *Svdf) [][]uint32 {
		n := uint32(s.Batch)
		return [][]uint32{{n, uint32(s.Filters * s.Memory)}, {n, uint32(s.Units)}}
	}}
)

// Functions of recurrent cells beside the fused activations, which have the same codes.
const (
	CellTanh    = 4
	CellSigmoid = 6
)

// cellFunction reads the function of a recurrent cell.
func (a *Args) cellFunction() (int32, error) {
	v, err := a.Int32("activation")
	switch v {
	case int32(nn.ActNone), int32(nn.ActRelu), int32(nn.ActRelu6), CellTanh, CellSigmoid:
	default:
		if err == nil {
			err = a.errorf("activation", "code %d is not 0, 1, 3, 4 or 6", v)
		}
	}
	return v, err
}

// Sequence is an input of a recurrent operation: Size values for each of Batch in each of
// Steps.
type Sequence struct {
	Operand            uint32 // None when there is none
	Steps, Batch, Size int
	TimeMajor          bool // [Steps, Batch, Size], not [Batch, Steps, Size]
	single             bool // one step: [Batch, Size]
}

// Dims is the shape of a sequence that has n values instead.
func (s *Sequence) Dims(n int) []uint32 {
	steps, batch := uint32(s.Steps), uint32(s.Batch)
	switch {
	case s.single:
		return []uint32{batch, uint32(n)}
	case s.TimeMajor:
		return []uint32{steps, batch, uint32(n)}
	}
	return []uint32{batch, steps, uint32(n)}
}

// At is the place of a step of element b of the batch among all of them.
func (s *Sequence) At(b, step int) int {
	if s.TimeMajor {
		return step*s.Batch + b
	}
	return b*s.Steps + step
}

// sequence reads the shape of a sequence.
func (a *Args) sequence(name string) (s Sequence, err error) {
	s = Sequence{Operand: a.In(name), Steps: 1, single: !a.names("time_major")}
	if s.single {
		d, err := a.shaped(name, -1, -1)
		if err == nil {
			s.Batch, s.Size = int(d[0]), int(d[1])
		}
		return s, err
	}
	if a.Op.Type == nn.OpUnidirectionalSequenceRnn { // alone, it has a number for a flag
		major, err := a.Int32("time_major")
		if s.TimeMajor = major != 0; err != nil {
			return s, err
		}
	} else if s.TimeMajor, err = a.Bool("time_major"); err != nil {
		return s, err
	}
	d := try.V(a.shaped(name, -1, -1, -1))
	if s.Batch, s.Steps, s.Size = int(d[0]), int(d[1]), int(d[2]); s.TimeMajor {
		s.Batch, s.Steps = s.Steps, s.Batch
	}
	return s, nil
}

// direction is one of the directions in which a recurrent operation reads its input.
type direction struct {
	prefix     string   // of the names of its operands
	input, aux Sequence // aux.Operand is None unless there are weights for it
}

// directions lists the directions of an operation. An auxiliary input without weights, that
// is without operand auxWeights of the forward cell, is the backward cell's input.
func (a *Args) directions(auxWeights string) ([]direction, error) {
	in := try.V(a.sequence("input"))
	none := Sequence{Operand: None}
	if !a.names("merge_outputs") {
		return []direction{{"", in, none}}, nil
	}
	back, aux := in, none
	if a.Has("aux_input") {
		aux = try.V(a.sequence("aux_input"))
		if aux.Steps != in.Steps || aux.Batch != in.Batch {
			return nil, a.errorf("aux_input", "%d steps of %d, the input has %d of %d", aux.Steps, aux.Batch, in.Steps, in.Batch)
		}
		if !a.Has("fw_" + auxWeights) {
			back, aux = aux, none
		}
	}
	return []direction{{"fw_", in, aux}, {"bw_", back, aux}}, nil
}

// auxiliary reads the weights of an auxiliary input, which must exist; the weights may be
// omitted if optional.
func (a *Args) auxiliary(name string, aux *Sequence, units int, optional bool) (uint32, error) {
	o, x, err := a.maybe(name, units, aux.Size)
	switch given := o != nil; {
	case err != nil:
		return None, err
	case given && aux.Operand == None:
		return None, a.errorf(name, "given without an auxiliary input or without the other weights of it")
	case !given && aux.Operand != None && !optional:
		return None, a.errorf(name, "is missing, other weights of the auxiliary input are given")
	}
	return x, nil
}

// merged reads whether both directions write one output, and checks that the operation
// has the outputs for it.
func (a *Args) merged() (bool, error) {
	if !a.names("merge_outputs") {
		return false, nil
	}
	m, err := a.Bool("merge_outputs")
	if err == nil && m != (a.Out("output") != None) {
		err = a.errorf("merge_outputs", "%v with %d outputs", m, len(a.Op.Outputs))
	}
	return m, err
}

// shapesOf lists shapes in the order of the operation's outputs.
func (a *Args) shapesOf(byOutput map[uint32][]uint32) [][]uint32 {
	dims := make([][]uint32, len(a.Op.Outputs))
	for i, x := range a.Op.Outputs {
		dims[i] = byOutput[x]
	}
	return dims
}

// Rnn is an RNN, UNIDIRECTIONAL_SEQUENCE_RNN or BIDIRECTIONAL_SEQUENCE_RNN.
type Rnn struct {
	Act   int32     // a fused activation, CellTanh or CellSigmoid
	Cells []RnnCell // forwards, and backwards
	Merge bool      // the cells write one output, one after the other in each step
	Dims  [][]uint32
}

// RnnCell is a basic recurrent cell: in each step its state becomes
// Act(Weights input + AuxWeights aux + Recurrent state + Bias), which is also its output.
type RnnCell struct {
	Input, Aux                                  Sequence // Aux.Operand may be None
	Weights, AuxWeights, Recurrent, Bias, State uint32   // operand indexes; AuxWeights may be None
	Output, NextState                           uint32   // NextState may be None
	Units                                       int
}

func readRnn(a *Args) (r Rnn, err error) {
	r.Act = try.V(a.cellFunction())
	r.Merge = try.V(a.merged())
	list := try.V(a.directions("aux_weights"))
	shapes, width := map[uint32][]uint32{}, 0
	for _, d := range list {
		c := try.V(a.rnnCell(&d))
		r.Cells = append(r.Cells, c)
		width += c.Units
		shapes[c.Output], shapes[c.NextState] = c.Input.Dims(c.Units), []uint32{uint32(c.Input.Batch), uint32(c.Units)}
	}
	if r.Merge {
		shapes[a.Out("output")] = r.Cells[0].Input.Dims(width)
	}
	r.Dims = a.shapesOf(shapes)
	return r, nil
}

// rnnCell reads the operands of one direction.
func (a *Args) rnnCell(d *direction) (c RnnCell, err error) {
	state := d.prefix + "hidden_state"
	c = RnnCell{Input: d.input, Aux: d.aux, Weights: a.In(d.prefix + "weights"), Recurrent: a.In(d.prefix + "recurrent_weights"),
		Bias: a.In(d.prefix + "bias"), Output: a.outputOf(d), NextState: a.Out(state + "_out")}
	w := try.V(a.shaped(d.prefix+"weights", -1, d.input.Size))
	c.Units = int(w[0])
	_ = try.V(a.shaped(d.prefix+"recurrent_weights", c.Units, c.Units))
	_ = try.V(a.shaped(d.prefix+"bias", c.Units))
	if d.prefix == "" {
		state += "_in"
	}
	_ = try.V(a.shaped(state, d.input.Batch, c.Units))
	c.State = a.In(state)
	c.AuxWeights, err = a.auxiliary(d.prefix+"aux_weights", &d.aux, c.Units, false)
	return c, err
}

// outputOf is the output of a direction: its own, or that of both.
func (a *Args) outputOf(d *direction) uint32 {
	if x := a.Out(d.prefix + "output"); x != None {
		return x
	}
	return a.Out("output")
}

// Svdf is an SVDF: a memory of projected inputs per filter, weighted over time and summed
// over the Rank filters of each unit.
type Svdf struct {
	Input, Feature, Time, Bias, State         uint32 // operand indexes; Bias may be None
	NextState, Output                         uint32
	Batch, Size, Filters, Memory, Rank, Units int
	Act                                       int32 // a fused activation, CellTanh or CellSigmoid
}

func readSvdf(a *Args) (s Svdf, err error) {
	s = Svdf{Input: a.In("input"), Feature: a.In("weights_feature"), Time: a.In("weights_time"), State: a.In("state_in"),
		NextState: a.Out("state_out"), Output: a.Out("output")}
	s.Act = try.V(a.cellFunction())
	d := try.V(a.shaped("input", -1, -1))
	s.Batch, s.Size = int(d[0]), int(d[1])
	d = try.V(a.shaped("weights_feature", -1, s.Size))
	s.Filters = int(d[0])
	d = try.V(a.shaped("weights_time", s.Filters, -1))
	if s.Memory = int(d[1]); s.Memory < 1 {
		return s, a.errorf("weights_time", "shape %v has no step", d)
	}
	rank := try.V(a.Int32("rank"))
	if rank < 1 || s.Filters%int(rank) != 0 {
		return s, a.errorf("rank", "%d for %d filters", rank, s.Filters)
	}
	s.Rank, s.Units = int(rank), s.Filters/int(rank)
	_, s.Bias = try.V2(a.maybe("bias", s.Units))
	_, err = a.shaped("state_in", s.Batch, s.Filters*s.Memory)
	return s, err
}

// recurrent is a cell whose gates are sigmoids of reals.
var recurrent = WorkRule{Kernel: KernelDense, Also: recurrentWork(stepsSigmoid, 8)}

// recurrentWork counts a recurrent operation: each element of a weight is
// multiplied once in each step of each row of the batch, each gate or unit (an
// element of a bias) goes through a function, each normalized one through a
// normalization.
func recurrentWork(function, normalization int64) func(*Args, *Work) {
	return func(a *Args, w *Work) {
		d := try.V(a.Dims("input"))
		if len(d) == 0 {
			try.E(a.errorf("input", "a scalar"))
		}
		steps := nn.Elements(d[:len(d)-1]) // batch, and time of a sequence
		aux := a.Has("aux_input")
		for i, x := range a.Op.Inputs {
			name := a.in[i].name
			if a.View.Operands[x].Type.IsScalar() || strings.Contains(name, "aux") && !aux {
				continue
			}
			amount := product(a.Op, try.V(a.View.elements(x)), steps)
			switch {
			case strings.HasSuffix(name, "layer_norm_weights"):
				w.Steps += amount * normalization
			case strings.Contains(name, "weights"):
				w.MACs += amount
			case strings.Contains(name, "bias"):
				w.Steps += amount * function
			}
		}
	}
}
