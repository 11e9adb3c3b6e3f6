package opspec

import (
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// int32Slots are all inputs that are a TENSOR_INT32 in every form: parameters, and
// data.
var int32Slots = map[bool]string{
	true: `BATCH_TO_SPACE_ND.block_shape DENSIFY.block_map DENSIFY.format DENSIFY.sizes DENSIFY.traversal FILL.dims MEAN.axes
		MIRROR_PAD.paddings PAD.paddings PAD_V2.paddings REDUCE_ALL.axes REDUCE_ANY.axes REDUCE_MAX.axes REDUCE_MIN.axes
		REDUCE_PROD.axes REDUCE_SUM.axes RESHAPE.shape REVERSE.axis SLICE.begin SLICE.size SPACE_TO_BATCH_ND.block_shape
		SPACE_TO_BATCH_ND.paddings SQUEEZE.dims STRIDED_SLICE.begin STRIDED_SLICE.end STRIDED_SLICE.strides TILE.multiples
		TRANSPOSE.perm TRANSPOSE_CONV_2D.output_shape`,
	false: `AXIS_ALIGNED_BBOX_TRANSFORM.batches BOX_WITH_NMS_LIMIT.batches DENSIFY.metadata EMBEDDING_LOOKUP.lookups GATHER.indices
		HASHTABLE_LOOKUP.keys HASHTABLE_LOOKUP.lookups QUANTIZED_16BIT_LSTM.cell_gate_bias QUANTIZED_16BIT_LSTM.forget_gate_bias
		QUANTIZED_16BIT_LSTM.input_gate_bias QUANTIZED_16BIT_LSTM.output_gate_bias QUANTIZED_LSTM.cell_gate_bias
		QUANTIZED_LSTM.forget_gate_bias QUANTIZED_LSTM.input_gate_bias QUANTIZED_LSTM.output_gate_bias QUANTIZED_LSTM.projection_bias
		RANDOM_MULTINOMIAL.seeds ROI_ALIGN.batches ROI_POOLING.batches`,
}

// TestParameterOfEverySlot holds the table of steering inputs against a list of
// all inputs that could be in it.
func TestParameterOfEverySlot(t *testing.T) {
	want := map[string]bool{}
	for steers, list := range int32Slots {
		for _, s := range strings.Fields(list) {
			want[s] = steers
		}
	}
	used := map[string]bool{}
	for _, op := range nn.Operations() {
		for _, form := range formsOf(op) {
			for k := range form.in {
				s := &form.in[k]
				if s.class != classFixed || s.fixed != nn.TensorInt32 {
					continue
				}
				name := op.String() + "." + s.name
				steers, known := want[name]
				used[name], used[s.name] = true, true
				if !known {
					t.Errorf("%s is in neither list", name)
				} else if steering[s.name] != steers {
					t.Errorf("%s: parameter %v, want %v", name, steering[s.name], steers)
				}
			}
		}
	}
	for name := range want {
		require.Check(t, used[name], "%s is no input", name)
	}
	for name := range steering {
		require.Check(t, used[name], "no operation has an input %s", name)
	}
}

func TestParameter(t *testing.T) {
	tensor := func(k nn.OperandType, dims ...uint32) nn.Operand {
		return nn.Operand{Type: k, Dimensions: dims, Scale: 1}
	}
	for _, c := range []struct {
		op   nn.OperationType
		in   []nn.Operand
		want []bool
	}{
		{nn.OpTranspose, []nn.Operand{tensor(nn.TensorQuant8Asymm, 2, 3), tensor(nn.TensorInt32, 2)}, []bool{false, true}},
		{nn.OpGather, []nn.Operand{tensor(nn.TensorInt32, 2, 3), {Type: nn.Int32}, tensor(nn.TensorInt32, 2)}, []bool{false, true, false}},
		{nn.OpAdd, []nn.Operand{tensor(nn.TensorInt32, 2), tensor(nn.TensorInt32, 2), {Type: nn.Int32}}, []bool{false, false, true}},
	} {
		g := &nn.Subgraph{Operands: append(slices.Clone(c.in), tensor(c.in[0].Type, 2, 3))}
		op := nn.Operation{Type: c.op, Outputs: []uint32{uint32(len(c.in))}}
		for i := range c.in {
			op.Inputs = append(op.Inputs, uint32(i))
		}
		a := require.V(ModelView(g).Bind(&op))(t)
		for i, want := range c.want {
			require.Check(t, a.Parameter(i) == want, "%v: input %d: parameter %v, want %v", c.op, i, !want, want)
		}
	}
}
