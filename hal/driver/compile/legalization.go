package compile

import (
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Legalization queries the lowerings of a device's user and then the device's table about the
// operations of one graph. With a method Lowers it is a Checker. L is what lowerings work with.
type Legalization[L any] struct {
	table *legal.Table[L]
	first []OperationLowering[L] // queried before the table
	graph *graph.Graph
	view  opspec.View
}

// Legalize queries first, then a table, about a graph as v reads it.
func Legalize[L any](t *legal.Table[L], first []OperationLowering[L], g *graph.Graph, v opspec.View) Legalization[L] {
	return Legalization[L]{t, first, g, v}
}

// own is the lowering of the user that accepts an operation, nil if none does.
func (z *Legalization[L]) own(op *nn.Operation) OperationLowering[L] {
	return Choose(z.first, z.view, op)
}

// Types implements Checker.
func (z *Legalization[L]) Types(i int) error {
	op := &z.graph.Operations[i]
	if z.own(op) != nil {
		return nil
	}
	return z.table.Types(z.graph, z.view, op)
}

// Defers implements Checker. A lowering of the user accepts parameters of executions.
func (z *Legalization[L]) Defers(i int) error {
	op := &z.graph.Operations[i]
	if z.own(op) != nil {
		return nil
	}
	return z.table.Defers(z.graph, z.view, op)
}

// LowerWith lowers an operation whose shapes and parameters are known; the error is the reason of a refusal. Calls of
// lowerings end at the first error: see package try.
func (z *Legalization[L]) LowerWith(l L, op *nn.Operation) (err error) {
	defer try.Catch(&err)
	if own := z.own(op); own != nil {
		return own.Lower(l, op)
	}
	return z.table.Lower(l, z.graph, z.view, op)
}

// Legalized is a Lowering with a table of the operations that its device accepts.
type Legalized interface {
	Facts() []legal.Fact
	// Leaves reports whether the device leaves an operation to a pass that expands it.
	Leaves(g *graph.Graph, op *nn.Operation, pass string) bool
}
