package graph

import (
	"fmt"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Check reports the first thing that is wrong with the structure of a graph: an
// operand that does not exist, is read before it is written or written twice, an
// operation without origin, an operation that matches no row of opspec.
func (g *Graph) Check() error {
	if len(g.Origin) != len(g.Operations) {
		return fmt.Errorf("graph: %d origins for %d operations", len(g.Origin), len(g.Operations))
	}
	has := make([]bool, len(g.Operands)) // a value
	for x := range g.Operands {
		o := &g.Operands[x]
		has[x] = o.IsConst() || o.Lifetime == nn.NoValue || o.Lifetime == nn.LifetimeSubgraph
	}
	for i, x := range g.Inputs {
		if int(x) >= len(has) {
			return fmt.Errorf("graph: input %d is operand %d of %d", i, x, len(has))
		}
		has[x] = true
	}
	for i := range g.Operations {
		op := &g.Operations[i]
		if g.Origin[i] < 0 {
			return fmt.Errorf("graph: operation %d (%s) has no origin", i, op.Type)
		}
		for k, list := range [2][]uint32{op.Inputs, op.Outputs} {
			for _, x := range list {
				switch {
				case int(x) >= len(has):
					return fmt.Errorf("graph: operation %d (%s) names operand %d of %d", i, op.Type, x, len(has))
				case k == 0 && !has[x]:
					return fmt.Errorf("graph: operation %d (%s) reads operand %d before it is written", i, op.Type, x)
				case k == 1 && has[x]:
					return fmt.Errorf("graph: operation %d (%s) writes operand %d, which has a value", i, op.Type, x)
				}
				has[x] = has[x] || k == 1
			}
		}
		if opspec.Calls(op.Type) {
			continue
		}
		if _, err := g.View().Bind(op); err != nil {
			return fmt.Errorf("graph: operation %d: %w", i, err)
		}
	}
	for i, x := range g.Outputs {
		if int(x) >= len(has) || !has[x] {
			return fmt.Errorf("graph: output %d (operand %d) is never written", i, x)
		}
	}
	return nil
}
