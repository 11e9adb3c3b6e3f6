package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

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
	return inferAll(g, true, func(op *nn.Operation) bool { return open(op.Type) || allKnown(g, op.Outputs) })
}

func allKnown(g *nn.Subgraph, list []uint32) bool {
	for _, x := range list {
		if !g.Operands[x].Known() {
			return false
		}
	}
	return true
}
