package opspec

import (
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
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

func readLstm(a *Args) (l Lstm, err error) {
	l.Scratch = a.Out("scratch")
	l.Act = try.V(a.cellFunction())
	try.E(a.scalars(scalar{"cell_clip", &l.CellClip}, scalar{"proj_clip", &l.OutClip}))
	l.Merge = try.V(a.merged())
	list := try.V(a.directions("aux_input_to_output_weights"))
	shapes, width := map[uint32][]uint32{}, 0
	for _, d := range list {
		c := try.V(a.lstmCell(&d))
		l.Cells = append(l.Cells, c)
		width += c.Out
		batch := uint32(c.Input.Batch)
		shapes[c.Output], shapes[c.NextState], shapes[c.NextCell] = c.Input.Dims(c.Out), []uint32{batch, uint32(c.Out)}, []uint32{batch, uint32(c.Units)}
	}
	if l.Merge {
		shapes[a.Out("output")] = l.Cells[0].Input.Dims(width)
	}
	if l.Scratch != None {
		shapes[l.Scratch] = try.V(a.scratch(&l.Cells[0], a.View.Operands[l.Scratch].Dimensions))
	}
	l.Dims = a.shapesOf(shapes)
	return l, nil
}

// scratch is the shape of the scratch output: a value for each gate. The weights of the
// input gate decide whether there is one, and a request may leave them out, unless the model
// declares the shape that it has with them.
func (a *Args) scratch(c *LstmCell, declared []uint32) ([]uint32, error) {
	n := Gates
	if c.Coupled {
		n--
	}
	dims := []uint32{uint32(c.Input.Batch), uint32(n * c.Units)}
	if c.Coupled || a.View.Bound || a.View.Final || slices.Equal(declared, dims) || a.View.Operands[c.Weights[GateInput]].Lifetime != nn.SubgraphInput {
		return dims, nil
	}
	return nil, fmt.Errorf("%s: whether it has input_to_input_weights: %w", a.Op.Type, ErrUnknown)
}

// lstmCell reads the operands of one direction.
func (a *Args) lstmCell(d *direction) (c LstmCell, err error) {
	state, cell := d.prefix+"activation_state", d.prefix+"cell_state"
	if d.prefix == "" {
		state = "output_state"
	}
	c = LstmCell{Input: d.input, Aux: d.aux, State: a.In(state + "_in"), Cell: a.In(cell + "_in"), Output: a.outputOf(d),
		NextState: a.Out(state + "_out"), NextCell: a.Out(cell + "_out")}
	w := try.V(a.shaped(d.prefix+"input_to_output_weights", -1, d.input.Size))
	s := try.V(a.shaped(state+"_in", d.input.Batch, -1))
	c.Units, c.Out = int(w[0]), int(s[1])
	_ = try.V(a.shaped(cell+"_in", d.input.Batch, c.Units))
	for g := range Gates {
		try.E(a.lstmGate(d, &c, g))
	}
	c.Coupled = c.Weights[GateInput] == None
	if c.Coupled != (c.Recurrent[GateInput] == None) {
		return c, a.errorf(d.prefix+"input_to_input_weights", "given without recurrent_to_input_weights or the reverse")
	}
	switch given := c.Bias[GateInput] != None; {
	case !c.Coupled && !given:
		return c, a.errorf(d.prefix+"input_gate_bias", "is missing")
	case c.Coupled && given:
		return c, a.errorf(d.prefix+"input_gate_bias", "given without input_to_input_weights")
	}
	peep := c.Peephole[GateOutput] != None
	if (c.Peephole[GateForget] != None) != peep || !c.Coupled && (c.Peephole[GateInput] != None) != peep || c.Peephole[GateInput] != None && !peep {
		return c, a.errorf(d.prefix+"cell_to_output_weights", "only some gates have peepholes")
	}
	for _, g := range []int{GateCell, GateOutput} {
		if (c.Norm[g] == None) != (c.Norm[GateForget] == None) {
			return c, a.errorf(d.prefix+"forget_layer_norm_weights", "only some gates are normalized")
		}
	}
	_, c.Projection = try.V2(a.maybe(d.prefix+"projection_weights", c.Out, c.Units))
	if c.Projection == None && c.Out != c.Units {
		return c, a.errorf(state+"_in", "%d values without a projection, %d needed", c.Out, c.Units)
	}
	if _, c.ProjectionBias, err = a.maybe(d.prefix+"projection_bias", c.Out); err == nil && c.Projection == None && c.ProjectionBias != None {
		err = a.errorf(d.prefix+"projection_bias", "given without projection_weights")
	}
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
		_, *o.to = try.V2(a.maybe(d.prefix+o.name, o.shape...))
	}
	c.AuxWeights[g], err = a.auxiliary(d.prefix+"aux_input_to_"+n+"_weights", &d.aux, c.Units, g == GateInput)
	return err
}

// quantizedLstmRows are the LSTM cells in fixed point.
var quantizedLstmRows = []Row{
	{Op: nn.OpQuantized16bitLstm, Since: V12, Types: "Q8@1.2", Args: lstm16Args, Work: recurrent8, Forms: []Form{
		{V12, "input:T input_to_input_weights:T input_to_forget_weights:T input_to_cell_weights:T input_to_output_weights:T recurrent_to_input_weights:T " +
			"recurrent_to_forget_weights:T recurrent_to_cell_weights:T recurrent_to_output_weights:T input_gate_bias:I32 forget_gate_bias:I32 " +
			"cell_gate_bias:I32 output_gate_bias:I32 prev_cell_state:Q16S prev_output:T", "cell_state_out:Q16S output:T"},
	}},
	{Op: nn.OpQuantizedLstm, Since: V13, Types: "Q8S@1.3", Args: lstm8Args, Work: recurrent8, Forms: []Form{
		{V13, "input:Q8S input_to_input_weights:Q8SYM? input_to_forget_weights:Q8SYM input_to_cell_weights:Q8SYM input_to_output_weights:Q8SYM " +
			"recurrent_to_input_weights:Q8SYM? recurrent_to_forget_weights:Q8SYM recurrent_to_cell_weights:Q8SYM recurrent_to_output_weights:Q8SYM " +
			"cell_to_input_weights:Q16S? cell_to_forget_weights:Q16S? cell_to_output_weights:Q16S? input_gate_bias:I32? forget_gate_bias:I32 " +
			"cell_gate_bias:I32 output_gate_bias:I32 projection_weights:Q8SYM? projection_bias:I32? output_state_in:Q8S cell_state_in:Q16S " +
			"input_layer_norm_weights:Q16S? forget_layer_norm_weights:Q16S? cell_layer_norm_weights:Q16S? output_layer_norm_weights:Q16S? " +
			"cell_clip:float32 proj_clip:float32 input_intermediate_scale:float32 forget_intermediate_scale:float32 cell_intermediate_scale:float32 " +
			"output_intermediate_scale:float32 hidden_state_zero_point:int32 hidden_state_scale:float32", "output_state_out:Q8S cell_state_out:Q16S output:Q8S"},
	}},
}

var (
	lstm16Args = Arguments[Lstm16]{Read: readLstm16, Shapes: func(l *Lstm16) [][]uint32 {
		state := []uint32{uint32(l.Batch), uint32(l.Units)}
		return [][]uint32{state, state}
	}}
	lstm8Args = Arguments[Lstm8]{Read: readLstm8, Shapes: func(l *Lstm8) [][]uint32 {
		out := []uint32{uint32(l.Batch), uint32(l.Out)}
		return [][]uint32{out, {uint32(l.Batch), uint32(l.Units)}, out}
	}}
)

// recurrent8 is a cell whose gates are sums of requantized products.
var recurrent8 = WorkRule{Kernel: KernelDense, Also: recurrentWork(3*stepsRequant, 4*stepsRequant)}

// The gates of an LSTM, in the order of their operands.
const (
	GateInput = iota
	GateForget
	GateCell
	GateOutput
	Gates
)

// GateNames are the gates as operands name them.
var GateNames = [Gates]string{"input", "forget", "cell", "output"}

// Lstm16 is a QUANTIZED_16BIT_LSTM: 8-bit activations of scale 1/128, 16-bit
// gates with 3 integer bits and a 16-bit state with 4.
type Lstm16 struct {
	Input, Last, State uint32 // operand indexes; Last is the previous output
	NextState, Output  uint32
	Batch, Size, Units int
	W, R, Bias         [Gates]uint32         // of input and of previous output
	Zero               [Gates]int32          // of both weights
	Scale              fixedpoint.Multiplier // of the sums to Q3.12
}

func readLstm16(a *Args) (Lstm16, error) {
	l := Lstm16{NextState: a.Op.Outputs[0], Output: a.Op.Outputs[1]}
	d := try.V(a.shaped("input", -1, -1))
	l.Input, l.Batch, l.Size = a.In("input"), int(d[0]), int(d[1])
	d = try.V(a.shaped("prev_output", l.Batch, -1))
	l.Last, l.Units = a.In("prev_output"), int(d[1])
	_ = try.V(a.shaped("prev_cell_state", l.Batch, l.Units))
	l.State = a.In("prev_cell_state")
	for g, n := range GateNames {
		_ = try.V(a.shaped("input_to_"+n+"_weights", l.Units, l.Size))
		_ = try.V(a.shaped("recurrent_to_"+n+"_weights", l.Units, l.Units))
		_ = try.V(a.shaped(n+"_gate_bias", l.Units))
		l.W[g], l.R[g], l.Bias[g] = a.In("input_to_"+n+"_weights"), a.In("recurrent_to_"+n+"_weights"), a.In(n+"_gate_bias")
		w, r := &a.View.Operands[l.W[g]], &a.View.Operands[l.R[g]]
		if w.Scale != r.Scale || w.ZeroPoint != r.ZeroPoint || w.Scale != a.View.Operands[l.W[0]].Scale {
			return l, a.errorf("input_to_"+n+"_weights", "quantization of another kind than the other weights'")
		}
		l.Zero[g] = w.ZeroPoint
	}
	bias := a.View.Operands[l.Bias[0]].Scale
	real := 4096 * float64(bias)
	if !(real > 0 && real < 1) {
		return l, a.errorf("input_gate_bias", "scale %v", bias)
	}
	l.Scale = fixedpoint.QuantizeMultiplier(real)
	return l, nil
}

// Lstm8 is a QUANTIZED_LSTM: 8-bit activations and weights, 16-bit gates with 3
// integer bits, a 16-bit cell state whose scale is a power of two.
type Lstm8 struct {
	Input, Last, Cell           uint32 // operand indexes; Last is the previous output
	NextState, NextCell, Output uint32
	Batch, Size, Units, Out     int
	InZero, LastZero, OutZero   int32
	Gate                        [Gates]Gate8
	Coupled                     bool // the input gate is what the forget gate leaves
	CellShift                   int  // log2 of the cell state's scale
	CellClip, OutClip           int32
	Hidden                      fixedpoint.Multiplier
	HiddenZero                  int32
	Projection, ProjectionBias  uint32 // None without
	ProjectionScale             fixedpoint.Multiplier
}

// Gate8 is a gate of a QUANTIZED_LSTM; operands may be None.
type Gate8 struct {
	W, R, Bias, Peephole, Norm    uint32 // operand indexes
	WScale, RScale, PeepholeScale fixedpoint.Multiplier
	NormScale                     fixedpoint.Multiplier
	// VarianceAtZero replaces a variance below 1 in normalization.
	VarianceAtZero int32
}

func readLstm8(a *Args) (Lstm8, error) {
	l := Lstm8{NextState: a.Op.Outputs[0], NextCell: a.Op.Outputs[1], Output: a.Op.Outputs[2]}
	d := try.V(a.shaped("input", -1, -1))
	l.Input, l.Batch, l.Size = a.In("input"), int(d[0]), int(d[1])
	d = try.V(a.shaped("output_state_in", l.Batch, -1))
	l.Last, l.Out = a.In("output_state_in"), int(d[1])
	d = try.V(a.shaped("cell_state_in", l.Batch, -1))
	l.Cell, l.Units = a.In("cell_state_in"), int(d[1])
	in, last, cell, out := &a.View.Operands[l.Input], &a.View.Operands[l.Last], &a.View.Operands[l.Cell], &a.View.Operands[l.NextState]
	l.InZero, l.LastZero, l.OutZero = in.ZeroPoint, last.ZeroPoint, out.ZeroPoint
	log := math.Log2(float64(cell.Scale))
	l.CellShift = int(math.Round(log))
	if !(math.Abs(log-float64(l.CellShift)) < 1e-3) || l.CellShift < -15 || l.CellShift > -11 {
		return l, a.errorf("cell_state_in", "scale %v is no power of two from 2^-15 to 2^-11", cell.Scale)
	}
	var scalars [7]float32
	for i, n := range []string{"input_intermediate_scale", "forget_intermediate_scale", "cell_intermediate_scale",
		"output_intermediate_scale", "cell_clip", "proj_clip", "hidden_state_scale"} {
		scalars[i] = try.V(a.Float(n))
	}
	l.HiddenZero = try.V(a.Int32("hidden_state_zero_point"))
	for g := range l.Gate {
		l.readGate(a, g, in, last, cell, scalars[g])
	}
	hidden := float64(scalars[6])
	l.CellClip = int32(min(max(float64(scalars[4])/float64(cell.Scale), math.MinInt16), math.MaxInt16))
	if out.Scale > 0 {
		l.OutClip = int32(min(max(float64(scalars[5])/float64(out.Scale), math.MinInt8), math.MaxInt8))
	}
	if !(hidden > 0) {
		return l, a.errorf("hidden_state_scale", "%v is not positive", hidden)
	}
	l.Hidden = fixedpoint.QuantizeMultiplier(math.Ldexp(1, -15) / hidden * math.Ldexp(1, -15))
	p, x := try.V2(a.maybe("projection_weights", l.Out, l.Units))
	l.Projection, l.ProjectionBias = x, None
	if p == nil {
		if l.Out != l.Units {
			return l, a.errorf("output_state_in", "%d values without a projection, %d needed", l.Out, l.Units)
		}
		return l, nil
	}
	l.ProjectionScale = fixedpoint.QuantizeMultiplier(float64(p.Scale) * hidden / float64(out.Scale))
	_, l.ProjectionBias = try.V2(a.maybe("projection_bias", l.Out))
	return l, nil
}

// readGate reads gate g; intermediate is the scale of its sums when they are
// normalized, which are Q3.12 otherwise.
func (l *Lstm8) readGate(a *Args, g int, in, last, cell *nn.Operand, intermediate float32) {
	p, n := &l.Gate[g], GateNames[g]
	*p = Gate8{W: None, R: None, Bias: None, Peephole: None, Norm: None}
	w, x := try.V2(a.maybe("input_to_"+n+"_weights", l.Units, l.Size))
	p.W = x
	r, x := try.V2(a.maybe("recurrent_to_"+n+"_weights", l.Units, l.Out))
	p.R = x
	if (w == nil) != (r == nil) || w == nil && g != GateInput {
		try.E(a.errorf("input_to_"+n+"_weights", "given without recurrent weights or the reverse"))
	}
	if w == nil {
		l.Coupled = true
		return
	}
	_, p.Bias = try.V2(a.maybe(n+"_gate_bias", l.Units))
	if p.Bias == None {
		try.E(a.errorf(n+"_gate_bias", "is missing"))
	}
	norm, x := try.V2(a.maybe(n+"_layer_norm_weights", l.Units))
	scale := math.Ldexp(1, -12)
	if p.Norm = x; norm != nil {
		scale = float64(intermediate)
		p.NormScale = fixedpoint.QuantizeMultiplier(float64(norm.Scale))
		p.NormScale.Shift += 12
		p.VarianceAtZero = max(1, int32(10000*norm.Scale))
	}
	if !(scale > 0) {
		try.E(a.errorf(n+"_intermediate_scale", "%v is not positive", intermediate))
	}
	p.WScale = fixedpoint.QuantizeMultiplier(float64(w.Scale) * float64(in.Scale) / scale)
	p.RScale = fixedpoint.QuantizeMultiplier(float64(r.Scale) * float64(last.Scale) / scale)
	if g == GateCell {
		return
	}
	peep, x := try.V2(a.maybe("cell_to_"+n+"_weights", l.Units))
	if p.Peephole = x; peep != nil {
		p.PeepholeScale = fixedpoint.QuantizeMultiplier(float64(cell.Scale) * float64(peep.Scale) / scale)
	}
}
