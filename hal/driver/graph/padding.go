package graph

import (
	"slices"
)

// explicitPadding replaces the padding schemes SAME and VALID by the four numbers
// they stand for. Where a parameter or a shape is not known, the scheme stays.
func explicitPadding(g *Graph) (changed bool, err error) {
	for i := range g.Operations {
		op := &g.Operations[i]
		a, err := g.View().Bind(op)
		if err != nil || !a.Has("padding") {
			continue
		}
		w, err := g.View().Window(op)
		if err != nil {
			continue
		}
		scheme := 0
		for a.SlotName(scheme) != "padding" {
			scheme++
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
