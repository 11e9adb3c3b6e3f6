package conformance

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/mutation"
)

// mutationRows are the ids of the kinds of mutation.
var mutationRows = map[string]string{
	"mutateExecutionOrder": "E2-1", "mutateOperandType": "E2-2", "mutateOperandRank": "E2-3", "mutateOperandScale": "E2-4",
	"mutateOperandZeroPoint": "E2-5", "mutateOperandLifeTime": "E2-6", "mutateOperandInputOutput": "E2-7",
	"mutateOperandNumberOfConsumers": "E2-8", "mutateOperandAddWriter": "E2-9", "mutateOperationOperandType": "E2-10",
	"mutateOperationType": "E2-11", "mutateOperationInputOperandIndex": "E2-12", "mutateOperationOutputOperandIndex": "E2-13",
	"mutateOperationRemoveWrite": "E2-14", "removeOperand": "E2-15", "removeOperation": "E2-16", "removeOperationInput": "E2-17",
	"removeOperationOutput": "E2-18", "addOperationInput": "E2-19", "addOperationOutput": "E2-20",
	"mutateExecutionPreference": "E2-21", "mutateExecutionPriority": "E2-22",
}

// mutationChecks are those of validateModel: every mutant is an invalid argument.
func mutationChecks() []Check {
	var list []Check
	for _, k := range mutation.Kinds {
		list = append(list, Check{Name: "validateModel: " + k.Name, Rows: []string{mutationRows[k.Name], "E1-8"}, EachDevice: true,
			Run: func(t *T) { mutants(t, k) }})
	}
	return list
}

// seeds are valid models that are mutated: all kinds of operands and lifetimes.
func seeds() []*nn.Model {
	filter := tensor(nn.TensorQuant8Asymm, nn.ConstantCopy, 2, 1, 1, 4)
	filter.Data = make([]byte, 8)
	bias := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{2}, Scale: 0.25, Lifetime: nn.ConstantCopy, Data: make([]byte, 8)}
	middle, out := tensor(nn.TensorQuant8Asymm, nn.TemporaryVariable, 1, 3, 3, 2), tensor(nn.TensorQuant8Asymm, nn.SubgraphOutput, 1, 3, 3, 2)
	conv := &nn.Model{Name: "conv", Main: nn.Subgraph{
		Operands: []nn.Operand{tensor(nn.TensorQuant8Asymm, nn.SubgraphInput, 1, 3, 3, 4), filter, bias, int32Scalar(1), int32Scalar(1), int32Scalar(0), middle, out},
		Operations: []nn.Operation{
			{Type: nn.OpConv2D, Inputs: []uint32{0, 1, 2, 3, 4, 4, 5}, Outputs: []uint32{6}},
			{Type: nn.OpRelu6, Inputs: []uint32{6}, Outputs: []uint32{7}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{7},
	}}
	return []*nn.Model{addModel(nn.TensorFloat32), chain(nn.TensorQuant8Asymm), conv}
}

func mutants(t *T, k mutation.Kind) {
	n := 0
	for _, m := range seeds() {
		if _, err := t.Device.SupportedOperations(m); err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		for _, x := range k.Mutants(m) {
			n++
			if !x.OnlyPrepare {
				s, err := t.Device.SupportedOperations(x.Model)
				if hal.StatusOf(err) != hal.InvalidArgument || s != nil {
					t.Errorf("%s: %s: getSupportedOperations: %v", m.Name, x.What, err)
				}
			}
			p, err := t.Device.PrepareModel(x.Model, x.Options)
			if hal.StatusOf(err) != hal.InvalidArgument || p != nil {
				t.Errorf("%s: %s: prepareModel: %v", m.Name, x.What, err)
			}
		}
	}
	if n == 0 {
		t.Errorf("there are no mutants")
	}
}
