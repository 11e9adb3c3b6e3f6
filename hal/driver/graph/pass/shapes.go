package pass

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
)

// resolveShapes completes the shapes of temporaries and outputs from the inputs. What
// depends on a value or a shape that only an execution brings stays open.
func resolveShapes(g *graph.Graph) (changed bool, err error) {
	s, err := g.Table.Resolve(&g.Subgraph)
	if err != nil {
		return false, err
	}
	changed = !slices.EqualFunc(g.Operands, s.Operands, func(a, b nn.Operand) bool { return slices.Equal(a.Dimensions, b.Dimensions) })
	g.Operands = s.Operands
	return changed, nil
}
