package opspec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/nn"
)

// MaxOpenBytes bounds a tensor whose shape follows from values that an execution brings, such as PAD's by paddings
// that are an input of the model: what such a value says costs nothing to say. A tensor may be as large as the operation's
// inputs together, whatever they take.
const MaxOpenBytes = 128 << 20

// CheckOpenShape is an error for a result of a shape that values decide and that is larger than MaxOpenBytes and than so
// many bytes of inputs.
func CheckOpenShape(t nn.OperandType, dims []uint32, inputs int64) error {
	n, most := nn.Elements(dims), max(MaxOpenBytes, inputs)
	if n < 0 {
		return fmt.Errorf("an open shape %v of %v is too large: values of the execution may give at most %d bytes", dims, t, most)
	}
	if n *= int64(t.ElementBytes()); n > most {
		return fmt.Errorf("an open shape %v of %v has %d bytes: values of the execution may give at most %d", dims, t, n, most)
	}
	return nil
}

// CheckOpen holds outputs of an operation to CheckOpenShape, of these shapes in an execution, unless the shapes of its
// inputs give them.
func (v View) CheckOpen(op *nn.Operation, dims [][]uint32) error {
	inputs := int64(0)
	for _, x := range op.Inputs {
		inputs += int64(len(v.Operands[x].Data))
	}
	for i, x := range op.Outputs {
		if err := CheckOpenShape(v.Operands[x].Type, dims[i], inputs); err != nil {
			if _, open := (View{Operands: v.Operands, Final: true, Table: v.Table}).OutputDims(op); open == nil {
				return nil
			}
			return fmt.Errorf("%s: output %d (operand %d): %w", op.Type, i, x, err)
		}
	}
	return nil
}
