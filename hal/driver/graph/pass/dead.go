package pass

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
)

// removeDeadOperations drops operations whose results nobody reads.
func removeDeadOperations(g *graph.Graph) (changed bool, err error) {
	live := make([]bool, len(g.Operands))
	for _, x := range g.Outputs {
		live[x] = true
	}
	keep := make([]bool, len(g.Operations))
	for i := len(g.Operations) - 1; i >= 0; i-- {
		op := &g.Operations[i]
		keep[i] = slices.ContainsFunc(op.Outputs, func(x uint32) bool { return live[x] })
		if !keep[i] {
			continue
		}
		for _, x := range op.Inputs {
			live[x] = true
		}
	}
	if !slices.Contains(keep, false) {
		return false, nil
	}
	r := rewriter{g: g, operations: make([]nn.Operation, 0, len(keep))}
	for i, k := range keep {
		if k {
			r.add(g.Origin[i], g.Operations[i])
		}
	}
	r.commit()
	return true, nil
}
