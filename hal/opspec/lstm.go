package opspec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// lstmRows are the LSTM cells and sequences on reals.
var lstmRows = []Row{
	{Op: nn.OpLstm, Since: V10, Types: float10, Args: lstmArgs, Work: recurrent, Forms: []Form{
		{V10, "input:T input_to_input_weights:T? input_to_forget_weights:T input_to_cell_weights:T input_to_output_weights:T recurrent_to_input_weights:T? " +
			"recurrent_to_forget_weights:T recurrent_to_cell_weights:T recurrent_to_output_weights:T cell_to_input_weights:T? cell_to_forget_weights:T? " +
			"cell_to_output_weights:T? input_gate_bias:T? forget_gate_bias:T cell_gate_bias:T output_gate_bias:T projection_weights:T? projection_bias:T? " +
			"output_state_in:T cell_state_in:T activation:int32 cell_clip:S proj_clip:S [1.2 input_layer_norm_weights:T? forget_layer_norm_weights:T? " +
			"cell_layer_norm_weights:T? output_layer_norm_weights:T?]", "scratch:T output_state_out:T cell_state_out:T output:T"},
	}},
	{Op: nn.OpUnidirectionalSequenceLstm, Since: V12, Types: float12, Args: lstmArgs, Work: recurrent, Forms: []Form{
		{V12, "input:T input_to_input_weights:T? input_to_forget_weights:T input_to_cell_weights:T input_to_output_weights:T recurrent_to_input_weights:T? " +
			"recurrent_to_forget_weights:T recurrent_to_cell_weights:T recurrent_to_output_weights:T cell_to_input_weights:T? cell_to_forget_weights:T? " +
			"cell_to_output_weights:T? input_gate_bias:T? forget_gate_bias:T cell_gate_bias:T output_gate_bias:T projection_weights:T? projection_bias:T? " +
			"output_state_in:T cell_state_in:T activation:int32 cell_clip:S proj_clip:S time_major:bool input_layer_norm_weights:T? " +
			"forget_layer_norm_weights:T? cell_layer_norm_weights:T? output_layer_norm_weights:T?", "output:T | 1.3 output:T output_state_out:T cell_state_out:T"},
	}},
	{Op: nn.OpBidirectionalSequenceLstm, Since: V12, Types: float12, Args: lstmArgs, Work: recurrent, Forms: []Form{
		{V12, "input:T fw_input_to_input_weights:T? fw_input_to_forget_weights:T fw_input_to_cell_weights:T fw_input_to_output_weights:T " +
			"fw_recurrent_to_input_weights:T? fw_recurrent_to_forget_weights:T fw_recurrent_to_cell_weights:T fw_recurrent_to_output_weights:T " +
			"fw_cell_to_input_weights:T? fw_cell_to_forget_weights:T? fw_cell_to_output_weights:T? fw_input_gate_bias:T? fw_forget_gate_bias:T " +
			"fw_cell_gate_bias:T fw_output_gate_bias:T fw_projection_weights:T? fw_projection_bias:T? bw_input_to_input_weights:T? " +
			"bw_input_to_forget_weights:T bw_input_to_cell_weights:T bw_input_to_output_weights:T bw_recurrent_to_input_weights:T? " +
			"bw_recurrent_to_forget_weights:T bw_recurrent_to_cell_weights:T bw_recurrent_to_output_weights:T bw_cell_to_input_weights:T? " +
			"bw_cell_to_forget_weights:T? bw_cell_to_output_weights:T? bw_input_gate_bias:T? bw_forget_gate_bias:T bw_cell_gate_bias:T " +
			"bw_output_gate_bias:T bw_projection_weights:T? bw_projection_bias:T? fw_activation_state_in:T fw_cell_state_in:T bw_activation_state_in:T " +
			"bw_cell_state_in:T aux_input:T? fw_aux_input_to_input_weights:T? fw_aux_input_to_forget_weights:T? fw_aux_input_to_cell_weights:T? " +
			"fw_aux_input_to_output_weights:T? bw_aux_input_to_input_weights:T? bw_aux_input_to_forget_weights:T? bw_aux_input_to_cell_weights:T? " +
			"bw_aux_input_to_output_weights:T? activation:int32 cell_clip:S proj_clip:S merge_outputs:bool time_major:bool fw_input_layer_norm_weights:T? " +
			"fw_forget_layer_norm_weights:T? fw_cell_layer_norm_weights:T? fw_output_layer_norm_weights:T? bw_input_layer_norm_weights:T? " +
			"bw_forget_layer_norm_weights:T? bw_cell_layer_norm_weights:T? bw_output_layer_norm_weights:T?", "fw_output:T bw_output:T | output:T | 1.3 fw_output:T bw_output:T fw_activation_state_out:T fw_cell_state_out:T bw_activation_state_out:T " +
			"bw_cell_state_out:T | 1.3 output:T fw_activation_state_out:T fw_cell_state_out:T bw_activation_state_out:T bw_cell_state_out:T"},
	}},
}

var lstmArgs = Arguments[Lstm]{Read: readLstm, Shapes: func(l *Lstm) [][]uint32 { return l.Dims }}

// Lstm is an LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM or BIDIRECTIONAL_SEQUENCE_LSTM.
type Lstm struct {
	Type              nn.OperandType
	Act               int32      // a fused activation, CellTanh or CellSigmoid
	CellClip, OutClip float32    // bounds of cell state and projection; 0 is none
	Cells             []LstmCell // forwards, and backwards
	Merge             bool       // the cells write one output, one after the other in each step
	Scratch           uint32     // an output without a meaning; None where there is none
	Dims              [][]uint32
}

// LstmCell is an LSTM cell with NNAPI's optional parts. An operand that it does not have is
// None.
type LstmCell struct {
	Input, Aux                           Sequence      // Aux.Operand may be None
	Weights, AuxWeights, Recurrent, Bias [Gates]uint32 // operand indexes
	Peephole, Norm                       [Gates]uint32
	Projection, ProjectionBias           uint32
	State, Cell                          uint32
	Output, NextState, NextCell          uint32
	Units, Out                           int  // values of the cell state and of the output
	Coupled                              bool // the input gate is what the forget gate leaves
}

// Lstm reads an LSTM on reals.
func (v View) Lstm(op *nn.Operation) (Lstm, error) { return Read[Lstm](v, op) }

func readLstm(a *Args) (l Lstm, err error) {
	l.Type, l.Scratch = a.Key, a.Out("scratch")
	if l.Act, err = a.cellFunction(); err != nil {
		return l, err
	}
	if err := a.scalars(scalar{"cell_clip", &l.CellClip}, scalar{"proj_clip", &l.OutClip}); err != nil {
		return l, err
	}
	if l.Merge, err = a.merged(); err != nil {
		return l, err
	}
	list, err := a.directions("aux_input_to_output_weights")
	if err != nil {
		return l, err
	}
	shapes, width := map[uint32][]uint32{}, 0
	for _, d := range list {
		c, err := a.lstmCell(&d)
		if err != nil {
			return l, err
		}
		l.Cells = append(l.Cells, c)
		width += c.Out
		batch := uint32(c.Input.Batch)
		shapes[c.Output], shapes[c.NextState], shapes[c.NextCell] = c.Input.Dims(c.Out), []uint32{batch, uint32(c.Out)}, []uint32{batch, uint32(c.Units)}
	}
	if l.Merge {
		shapes[a.Out("output")] = l.Cells[0].Input.Dims(width)
	}
	if l.Scratch != None {
		if shapes[l.Scratch], err = a.scratch(&l.Cells[0]); err != nil {
			return l, err
		}
	}
	l.Dims = a.shapesOf(shapes)
	return l, nil
}

// scratch is the shape of the scratch output: a value for each gate. The weights of the
// input gate decide whether there is one, and a request may leave them out.
func (a *Args) scratch(c *LstmCell) ([]uint32, error) {
	n := Gates
	if c.Coupled {
		n--
	} else if o := &a.View.Operands[c.Weights[GateInput]]; o.Lifetime == nn.SubgraphInput && !a.View.Bound && !a.View.Final {
		return nil, fmt.Errorf("%s: whether it has input_to_input_weights: %w", a.Op.Type, ErrUnknown)
	}
	return []uint32{uint32(c.Input.Batch), uint32(n * c.Units)}, nil
}

// lstmCell reads the operands of one direction.
func (a *Args) lstmCell(d *direction) (c LstmCell, err error) {
	state, cell := d.prefix+"activation_state", d.prefix+"cell_state"
	if d.prefix == "" {
		state = "output_state"
	}
	c = LstmCell{Input: d.input, Aux: d.aux, State: a.In(state + "_in"), Cell: a.In(cell + "_in"), Output: a.outputOf(d),
		NextState: a.Out(state + "_out"), NextCell: a.Out(cell + "_out")}
	w, err := a.shaped(d.prefix+"input_to_output_weights", -1, d.input.Size)
	if err != nil {
		return c, err
	}
	s, err := a.shaped(state+"_in", d.input.Batch, -1)
	if err != nil {
		return c, err
	}
	c.Units, c.Out = int(w[0]), int(s[1])
	if _, err = a.shaped(cell+"_in", d.input.Batch, c.Units); err != nil {
		return c, err
	}
	for g := range Gates {
		if err := a.lstmGate(d, &c, g); err != nil {
			return c, err
		}
	}
	c.Coupled = c.Weights[GateInput] == None
	if c.Coupled != (c.Recurrent[GateInput] == None) {
		return c, a.errorf(d.prefix+"input_to_input_weights", "given without recurrent_to_input_weights or the reverse")
	}
	if !c.Coupled && c.Bias[GateInput] == None {
		return c, a.errorf(d.prefix+"input_gate_bias", "is missing")
	}
	for _, g := range []int{GateCell, GateOutput} {
		if (c.Norm[g] == None) != (c.Norm[GateForget] == None) {
			return c, a.errorf(d.prefix+"forget_layer_norm_weights", "only some gates are normalized")
		}
	}
	if _, c.Projection, err = a.maybe(d.prefix+"projection_weights", c.Out, c.Units); err != nil {
		return c, err
	}
	if c.Projection == None && c.Out != c.Units {
		return c, a.errorf(state+"_in", "%d values without a projection, %d needed", c.Out, c.Units)
	}
	_, c.ProjectionBias, err = a.maybe(d.prefix+"projection_bias", c.Out)
	return c, err
}

// lstmGate reads the operands of gate g.
func (a *Args) lstmGate(d *direction, c *LstmCell, g int) (err error) {
	n := GateNames[g]
	for _, o := range []struct {
		name  string
		to    *uint32
		shape []int
	}{
		{"input_to_" + n + "_weights", &c.Weights[g], []int{c.Units, d.input.Size}},
		{"recurrent_to_" + n + "_weights", &c.Recurrent[g], []int{c.Units, c.Out}},
		{n + "_gate_bias", &c.Bias[g], []int{c.Units}},
		{"cell_to_" + n + "_weights", &c.Peephole[g], []int{c.Units}}, // the cell gate has none
		{n + "_layer_norm_weights", &c.Norm[g], []int{c.Units}},
	} {
		if _, *o.to, err = a.maybe(d.prefix+o.name, o.shape...); err != nil {
			return err
		}
	}
	c.AuxWeights[g], err = a.auxiliary(d.prefix+"aux_input_to_"+n+"_weights", &d.aux, c.Units, g == GateInput)
	return err
}
