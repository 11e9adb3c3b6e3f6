package refcpu

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// codebookKernels are those of the extension nn.CodebookExtension.
var codebookKernels = []operation{{op: nn.OpDecodeCodebook, prepare: prepareDecode}}

// prepareDecode is DECODE_CODEBOOK: QUANTIZE of the number that the input's codebook has
// for each code.
func prepareDecode(v opspec.View, op *nn.Operation) (Kernel, error) {
	d, err := opspec.Read[opspec.Decode](v, op)
	if err != nil {
		return nil, err
	}
	return unaryTable(opspec.Unary{Input: d.Input, Output: d.Output, Dims: d.Dims}, d.Table(v)), nil
}
