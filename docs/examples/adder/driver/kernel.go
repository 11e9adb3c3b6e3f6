package driver

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// kernel is what the engine does for an operation: why it does not, and its instructions. One
// instruction does all of it here. An engine with registers loops over tiles.
type kernel struct {
	check func(g *graph.Graph, op *nn.Operation) error
	emit  func(p *program, op *nn.Operation) error
}

// kernels are all that the engine has.
var kernels = map[nn.OperationType]kernel{
	nn.OpAdd:   {checkElementwise, elementwise(opAdd)},
	nn.OpMul:   {checkElementwise, elementwise(opMul)},
	nn.OpRelu:  {checkUnary, activation(nn.ActRelu)},
	nn.OpRelu1: {checkUnary, activation(nn.ActRelu1)},
	nn.OpRelu6: {checkUnary, activation(nn.ActRelu6)},
}

func checkElementwise(g *graph.Graph, op *nn.Operation) error {
	e, err := opspec.Read[opspec.Elementwise](g.View(), op)
	if err != nil {
		return err
	}
	if !e.Same {
		return fmt.Errorf("%s: shapes %v and %v, this engine does not broadcast", op.Type, g.Operands[e.A].Dimensions, g.Operands[e.B].Dimensions)
	}
	return nil
}

// elementwise emits an operation on two tensors with the activation that is fused to it.
func elementwise(opcode int) func(p *program, op *nn.Operation) error {
	return func(p *program, op *nn.Operation) error {
		e, err := opspec.Read[opspec.Elementwise](p.graph.View(), op)
		if err != nil {
			return err
		}
		n := int(p.graph.Operands[e.Output].Elements())
		p.code = encode(p.code, opcode, p.at[e.Output], p.at[e.A], p.at[e.B], n, int(e.Act))
		return nil
	}
}

func checkUnary(g *graph.Graph, op *nn.Operation) error {
	_, err := opspec.Read[opspec.Unary](g.View(), op)
	return err
}

// activation emits an activation that is an operation.
func activation(act nn.FusedActivation) func(p *program, op *nn.Operation) error {
	return func(p *program, op *nn.Operation) error {
		u, err := opspec.Read[opspec.Unary](p.graph.View(), op)
		if err != nil {
			return err
		}
		n := int(p.graph.Operands[u.Output].Elements())
		p.code = encode(p.code, opMove, p.at[u.Output], p.at[u.Input], p.at[u.Input], n, int(act))
		return nil
	}
}
