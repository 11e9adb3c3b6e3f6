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
	nn.OpAdd:  {checkAdd, emitAdd},
	nn.OpRelu: {checkRelu, emitRelu},
}

func checkAdd(g *graph.Graph, op *nn.Operation) error {
	e, err := opspec.Read[opspec.Elementwise](g.View(), op)
	if err != nil {
		return err
	}
	if !e.Same {
		return fmt.Errorf("ADD: shapes %v and %v, this engine does not broadcast", g.Operands[e.A].Dimensions, g.Operands[e.B].Dimensions)
	}
	if e.Act != nn.ActNone {
		return fmt.Errorf("ADD: activation %d, this engine has none", e.Act)
	}
	return nil
}

// emitAdd computes output[i] = a[i] + b[i].
func emitAdd(p *program, op *nn.Operation) error {
	e, err := opspec.Read[opspec.Elementwise](p.graph.View(), op)
	if err != nil {
		return err
	}
	p.code = encode(p.code, opAdd, p.at[e.Output], p.at[e.A], p.at[e.B], int(p.graph.Operands[e.Output].Elements()))
	return nil
}

func checkRelu(g *graph.Graph, op *nn.Operation) error {
	_, err := opspec.Read[opspec.Unary](g.View(), op)
	return err
}

// emitRelu computes output[i] = max(a[i], 0).
func emitRelu(p *program, op *nn.Operation) error {
	u, err := opspec.Read[opspec.Unary](p.graph.View(), op)
	if err != nil {
		return err
	}
	p.code = encode(p.code, opMax, p.at[u.Output], p.at[u.Input], p.at[u.Input], int(p.graph.Operands[u.Output].Elements()))
	return nil
}
