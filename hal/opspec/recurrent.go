package opspec

import (
	"strings"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// recurrentRows are the recurrent cells and sequences on reals. Their operands are read
// by those who execute them.
var recurrentRows = []Row{
	{Op: nn.OpRnn, Since: V10, Types: float10, Work: recurrent, Forms: []Form{
		{V10, "input:T weights:T recurrent_weights:T bias:T hidden_state_in:T activation:int32", "hidden_state_out:T output:T"},
	}},
	{Op: nn.OpUnidirectionalSequenceRnn, Since: V12, Types: float12, Work: recurrent, Forms: []Form{
		{V12, "input:T weights:T recurrent_weights:T bias:T hidden_state_in:T activation:int32 time_major:int32", "output:T | 1.3 output:T hidden_state_out:T"},
	}},
	{Op: nn.OpBidirectionalSequenceRnn, Since: V12, Types: float12, Work: recurrent, Forms: []Form{
		{V12, "input:T fw_weights:T fw_recurrent_weights:T fw_bias:T fw_hidden_state:T bw_weights:T bw_recurrent_weights:T bw_bias:T bw_hidden_state:T " +
			"aux_input:T? fw_aux_weights:T? bw_aux_weights:T? activation:int32 time_major:bool merge_outputs:bool", "fw_output:T bw_output:T | output:T | 1.3 fw_output:T bw_output:T fw_hidden_state_out:T bw_hidden_state_out:T | 1.3 output:T " +
			"fw_hidden_state_out:T bw_hidden_state_out:T"},
	}},
	{Op: nn.OpLstm, Since: V10, Types: float10, Work: recurrent, Forms: []Form{
		{V10, "input:T input_to_input_weights:T? input_to_forget_weights:T input_to_cell_weights:T input_to_output_weights:T recurrent_to_input_weights:T? " +
			"recurrent_to_forget_weights:T recurrent_to_cell_weights:T recurrent_to_output_weights:T cell_to_input_weights:T? cell_to_forget_weights:T? " +
			"cell_to_output_weights:T? input_gate_bias:T? forget_gate_bias:T cell_gate_bias:T output_gate_bias:T projection_weights:T? projection_bias:T? " +
			"output_state_in:T cell_state_in:T activation:int32 cell_clip:S proj_clip:S [1.2 input_layer_norm_weights:T? forget_layer_norm_weights:T? " +
			"cell_layer_norm_weights:T? output_layer_norm_weights:T?]", "scratch:T output_state_out:T cell_state_out:T output:T"},
	}},
	{Op: nn.OpUnidirectionalSequenceLstm, Since: V12, Types: float12, Work: recurrent, Forms: []Form{
		{V12, "input:T input_to_input_weights:T? input_to_forget_weights:T input_to_cell_weights:T input_to_output_weights:T recurrent_to_input_weights:T? " +
			"recurrent_to_forget_weights:T recurrent_to_cell_weights:T recurrent_to_output_weights:T cell_to_input_weights:T? cell_to_forget_weights:T? " +
			"cell_to_output_weights:T? input_gate_bias:T? forget_gate_bias:T cell_gate_bias:T output_gate_bias:T projection_weights:T? projection_bias:T? " +
			"output_state_in:T cell_state_in:T activation:int32 cell_clip:S proj_clip:S time_major:bool input_layer_norm_weights:T? " +
			"forget_layer_norm_weights:T? cell_layer_norm_weights:T? output_layer_norm_weights:T?", "output:T | 1.3 output:T output_state_out:T cell_state_out:T"},
	}},
	{Op: nn.OpBidirectionalSequenceLstm, Since: V12, Types: float12, Work: recurrent, Forms: []Form{
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
	{Op: nn.OpSvdf, Since: V10, Types: float10, Work: WorkRule{Kernel: KernelDense, Float: 2, Also: recurrentWork(2, 0)}, Forms: []Form{
		{V10, "input:T weights_feature:T weights_time:T bias:T? state_in:T rank:int32 activation:int32", "state_out:T output:T"},
	}},
}

// recurrent is a cell whose gates are sigmoids of reals.
var recurrent = WorkRule{Kernel: KernelDense, Also: recurrentWork(stepsSigmoid, 8)}

// recurrentWork counts a recurrent operation: each element of a weight is
// multiplied once in each step of each row of the batch, each gate or unit (an
// element of a bias) goes through a function, each normalized one through a
// normalization.
func recurrentWork(function, normalization int64) func(*Args, *Work) error {
	return func(a *Args, w *Work) error {
		d, err := a.Dims("input")
		if err != nil {
			return err
		}
		if len(d) == 0 {
			return a.errorf("input", "a scalar")
		}
		steps := nn.Elements(d[:len(d)-1]) // batch, and time of a sequence
		aux := a.Has("aux_input")
		for i, x := range a.Op.Inputs {
			name := a.in[i].name
			if a.View.Operands[x].Type.IsScalar() || strings.Contains(name, "aux") && !aux {
				continue
			}
			n, err := a.View.elements(x)
			if err != nil {
				return err
			}
			amount, err := product(a.Op, n, steps)
			if err != nil {
				return err
			}
			switch {
			case strings.HasSuffix(name, "layer_norm_weights"):
				w.Steps += amount * normalization
			case strings.Contains(name, "weights"):
				w.MACs += amount
			case strings.Contains(name, "bias"):
				w.Steps += amount * function
			}
		}
		return nil
	}
}
