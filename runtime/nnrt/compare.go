package nnrt

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
)

// Compare judges the outputs of an execution of m against expected ones,
// usually those of the reference CPU, by compare.Network: integers are bit-exact,
// floats within a tolerance. There is a result for each output.
func Compare(m *nn.Model, expected []compare.Tensor, r *Result) []compare.Result {
	return compare.Outputs(expected, r.Tensors(m), compare.Network(m))
}

// Tensors are the outputs of an execution of m with their types and shapes.
func (r *Result) Tensors(m *nn.Model) []compare.Tensor {
	list := make([]compare.Tensor, len(r.Outputs))
	for i := range list {
		list[i].Data = r.Outputs[i]
		if i < len(m.Main.Outputs) {
			list[i].Type = m.Main.Operands[m.Main.Outputs[i]].Type
		}
		if i < len(r.Dimensions) {
			list[i].Dimensions = r.Dimensions[i]
		}
	}
	return list
}
