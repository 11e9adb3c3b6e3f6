package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// rowsRecurrent are the operations of recurrent networks and control flow.
var rowsRecurrent = []Row{
	{Op: nn.OpRnn, Since: V10, Types: float10, Forms: []Form{
		{V10, "input:T weights:T recurrent_weights:T bias:T hidden_state_in:T activation:int32", "hidden_state_out:T output:T"},
	}},
	{Op: nn.OpUnidirectionalSequenceRnn, Since: V12, Types: float12, Forms: []Form{
		{V12, "input:T weights:T recurrent_weights:T bias:T hidden_state_in:T activation:int32 time_major:int32", "output:T | 1.3 output:T hidden_state_out:T"},
	}},
	{Op: nn.OpBidirectionalSequenceRnn, Since: V12, Types: float12, Forms: []Form{
		{V12, "input:T fw_weights:T fw_recurrent_weights:T fw_bias:T fw_hidden_state:T bw_weights:T bw_recurrent_weights:T bw_bias:T bw_hidden_state:T " +
			"aux_input:T? fw_aux_weights:T? bw_aux_weights:T? activation:int32 time_major:bool merge_outputs:bool", "fw_output:T bw_output:T | output:T | 1.3 fw_output:T bw_output:T fw_hidden_state_out:T bw_hidden_state_out:T | 1.3 output:T " +
			"fw_hidden_state_out:T bw_hidden_state_out:T"},
	}},
	{Op: nn.OpLstm, Since: V10, Types: float10, Forms: []Form{
		{V10, "input:T input_to_input_weights:T? input_to_forget_weights:T input_to_cell_weights:T input_to_output_weights:T recurrent_to_input_weights:T? " +
			"recurrent_to_forget_weights:T recurrent_to_cell_weights:T recurrent_to_output_weights:T cell_to_input_weights:T? cell_to_forget_weights:T? " +
			"cell_to_output_weights:T? input_gate_bias:T? forget_gate_bias:T cell_gate_bias:T output_gate_bias:T projection_weights:T? projection_bias:T? " +
			"output_state_in:T cell_state_in:T activation:int32 cell_clip:S proj_clip:S [1.2 input_layer_norm_weights:T? forget_layer_norm_weights:T? " +
			"cell_layer_norm_weights:T? output_layer_norm_weights:T?]", "scratch:T output_state_out:T cell_state_out:T output:T"},
	}},
	{Op: nn.OpUnidirectionalSequenceLstm, Since: V12, Types: float12, Forms: []Form{
		{V12, "input:T input_to_input_weights:T? input_to_forget_weights:T input_to_cell_weights:T input_to_output_weights:T recurrent_to_input_weights:T? " +
			"recurrent_to_forget_weights:T recurrent_to_cell_weights:T recurrent_to_output_weights:T cell_to_input_weights:T? cell_to_forget_weights:T? " +
			"cell_to_output_weights:T? input_gate_bias:T? forget_gate_bias:T cell_gate_bias:T output_gate_bias:T projection_weights:T? projection_bias:T? " +
			"output_state_in:T cell_state_in:T activation:int32 cell_clip:S proj_clip:S time_major:bool input_layer_norm_weights:T? " +
			"forget_layer_norm_weights:T? cell_layer_norm_weights:T? output_layer_norm_weights:T?", "output:T | 1.3 output:T output_state_out:T cell_state_out:T"},
	}},
	{Op: nn.OpBidirectionalSequenceLstm, Since: V12, Types: float12, Forms: []Form{
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
	{Op: nn.OpQuantized16bitLstm, Since: V12, Types: "Q8@1.2", Forms: []Form{
		{V12, "input:T input_to_input_weights:T input_to_forget_weights:T input_to_cell_weights:T input_to_output_weights:T recurrent_to_input_weights:T " +
			"recurrent_to_forget_weights:T recurrent_to_cell_weights:T recurrent_to_output_weights:T input_gate_bias:I32 forget_gate_bias:I32 " +
			"cell_gate_bias:I32 output_gate_bias:I32 prev_cell_state:Q16S prev_output:T", "cell_state_out:Q16S output:T"},
	}},
	{Op: nn.OpQuantizedLstm, Since: V13, Types: "Q8S@1.3", Forms: []Form{
		{V13, "input:Q8S input_to_input_weights:Q8SYM? input_to_forget_weights:Q8SYM input_to_cell_weights:Q8SYM input_to_output_weights:Q8SYM " +
			"recurrent_to_input_weights:Q8SYM? recurrent_to_forget_weights:Q8SYM recurrent_to_cell_weights:Q8SYM recurrent_to_output_weights:Q8SYM " +
			"cell_to_input_weights:Q16S? cell_to_forget_weights:Q16S? cell_to_output_weights:Q16S? input_gate_bias:I32? forget_gate_bias:I32 " +
			"cell_gate_bias:I32 output_gate_bias:I32 projection_weights:Q8SYM? projection_bias:I32? output_state_in:Q8S cell_state_in:Q16S " +
			"input_layer_norm_weights:Q16S? forget_layer_norm_weights:Q16S? cell_layer_norm_weights:Q16S? output_layer_norm_weights:Q16S? " +
			"cell_clip:float32 proj_clip:float32 input_intermediate_scale:float32 forget_intermediate_scale:float32 cell_intermediate_scale:float32 " +
			"output_intermediate_scale:float32 hidden_state_zero_point:int32 hidden_state_scale:float32", "output_state_out:Q8S cell_state_out:Q16S output:Q8S"},
	}},
	{Op: nn.OpSvdf, Since: V10, Types: float10, Forms: []Form{
		{V10, "input:T weights_feature:T weights_time:T bias:T? state_in:T rank:int32 activation:int32", "state_out:T output:T"},
	}},
	{Op: nn.OpIf, Since: V13, Types: "B8@1.3", Forms: []Form{
		{V13, "condition:B8 then:subgraph else:subgraph inputs:ANY...", "outputs:ANY..."},
	}},
	{Op: nn.OpWhile, Since: V13, Types: "subgraph@1.3", Forms: []Form{
		{V13, "condition:subgraph body:subgraph inputs:ANY...", "outputs:ANY..."},
	}},
}
