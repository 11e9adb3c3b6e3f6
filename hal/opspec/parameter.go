package opspec

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// steering are the TENSOR_INT32 inputs that say what an operation does; the
// others are what it works on.
var steering = map[string]bool{
	"axes": true, "axis": true, "begin": true, "end": true, "size": true, "strides": true, "shape": true, "dims": true,
	"perm": true, "paddings": true, "block_shape": true, "multiples": true, "output_shape": true,
	"traversal": true, "block_map": true, "format": true, "sizes": true,
}

// Parameter reports whether the value of input i decides what the operation
// does - its shapes, its loops, its constants - rather than being what it works
// on: scalars, and tensors of axes, sizes and places.
func (a *Args) Parameter(i int) bool {
	if a.View.Operands[a.Op.Inputs[i]].Type.IsScalar() {
		return true
	}
	s := &a.in[slotOf(i, a.varAt, a.varLen)]
	return s.class == classFixed && s.fixed == nn.TensorInt32 && steering[s.name]
}

// FinalView is the view of a subgraph whose inputs have their final shapes: a
// dimension of 0 is an empty tensor.
func FinalView(g *nn.Subgraph) View { return View{Operands: g.Operands, Final: true} }

// Complete is Resolve for a subgraph whose inputs have their final shapes and
// whose parameters are constants: an operation whose output shapes are still not
// known is an error, unless open says that only its execution gives them.
func Complete(g *nn.Subgraph, open func(nn.OperationType) bool) (*nn.Subgraph, error) {
	r := *g
	r.Operands = append([]nn.Operand(nil), g.Operands...)
	v := FinalView(&r)
	for i := range r.Operations {
		op := &r.Operations[i]
		if open(op.Type) {
			continue
		}
		dims, err := v.OutputDims(op)
		if errors.Is(err, ErrUnknown) && allKnown(&r, op.Outputs) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		for k, x := range op.Outputs {
			if err := v.SetDims(x, dims[k]); err != nil {
				return nil, fmt.Errorf("operation %d: %s: output %d (operand %d): %w", i, op.Type, k, x, err)
			}
		}
	}
	return &r, nil
}

func allKnown(g *nn.Subgraph, list []uint32) bool {
	for _, x := range list {
		if !g.Operands[x].Known() {
			return false
		}
	}
	return true
}
