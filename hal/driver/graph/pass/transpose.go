package pass

import (
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"slices"
)

// cancelTransposes lets readers of a TRANSPOSE of a TRANSPOSE read the first one's
// input where the two undo each other:
//
//	y = TRANSPOSE(x, p); z = TRANSPOSE(y, p^-1); w = OP(z)   ->   w = OP(x)
//
// The transposes themselves go with "remove dead operations" once nobody reads them.
func cancelTransposes(g *graph.Graph) (changed bool, err error) {
	u := g.Uses()
	v := g.View()
	instead := map[uint32]uint32{}
	for i := range g.Operations {
		second := &g.Operations[i]
		between, p := permutation(v, second)
		if p == nil {
			continue
		}
		j := u.Producer(between)
		if j < 0 {
			continue
		}
		if x, q := permutation(v, &g.Operations[j]); len(q) == len(p) && undo(q, p) {
			if y, ok := instead[x]; ok {
				x = y
			}
			instead[second.Outputs[0]] = x
		}
	}
	if len(instead) == 0 {
		return false, nil
	}
	for i := range g.Operations {
		op := &g.Operations[i]
		for k, x := range op.Inputs {
			if y, ok := instead[x]; ok {
				*op = withInput(*op, k, y)
				changed = true
			}
		}
	}
	return changed, nil
}

// undo reports whether the permutation q after p changes nothing.
func undo(p, q []int32) bool {
	return !slices.ContainsFunc(q, func(x int32) bool { return x < 0 || int(x) >= len(p) }) &&
		!slices.ContainsFunc(p, func(x int32) bool { return x < 0 || int(x) >= len(p) }) && isIdentity(q, p)
}

func isIdentity(q, p []int32) bool {
	for i, x := range q {
		if p[x] != int32(i) {
			return false
		}
	}
	return true
}
