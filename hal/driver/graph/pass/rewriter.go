package pass

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
)

// rewriter builds the new list of operations of a pass that replaces some.
type rewriter struct {
	g          *graph.Graph
	operations []nn.Operation
	origin     []int
	now        int // operation of the model being expanded
}

// add appends an operation that computes, or helps to compute, operation origin of
// the model.
func (r *rewriter) add(origin int, op nn.Operation) {
	r.operations = append(r.operations, op)
	r.origin = append(r.origin, origin)
}

// commit makes the list the graph's.
func (r *rewriter) commit() { r.g.Operations, r.g.Origin = r.operations, r.origin }

// withInput is op with another operand as input i; op itself does not change.
func withInput(op nn.Operation, i int, x uint32) nn.Operation {
	op.Inputs = slices.Clone(op.Inputs)
	op.Inputs[i] = x
	return op
}
