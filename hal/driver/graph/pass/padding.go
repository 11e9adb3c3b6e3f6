package pass

import (
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"slices"
)

// explicitPadding replaces the padding schemes SAME and VALID by the four numbers
// they stand for. Where a parameter or a shape is not known, the scheme stays.
func explicitPadding(g *graph.Graph) (changed bool, err error) {
	for i := range g.Operations {
		op := &g.Operations[i]
		a, err := g.View().Bind(op)
		scheme := -1
		if err == nil {
			scheme = a.Position("padding")
		}
		if scheme < 0 {
			continue
		}
		w, err := g.View().Window(op)
		if err != nil {
			continue
		}
		inputs := slices.Clone(op.Inputs[:scheme])
		for _, n := range []int{w.Left, w.Right, w.Top, w.Bottom} {
			inputs = append(inputs, g.AddInt32(int32(n)))
		}
		op.Inputs = append(inputs, op.Inputs[scheme+1:]...)
		changed = true
	}
	return changed, nil
}
