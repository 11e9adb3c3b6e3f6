package lowering

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// Compact is the subgraph without the operations whose results nothing reads and the
// operands that nothing refers to. Order is kept.
func Compact(s nn.Subgraph) nn.Subgraph {
	used := make([]bool, len(s.Operands))
	lists := [][]uint32{s.Inputs, s.Outputs}
	mark := func(list []uint32) {
		for _, x := range list {
			used[x] = true
		}
	}
	mark(s.Inputs)
	mark(s.Outputs)
	live := make([]bool, len(s.Operations))
	for i := len(s.Operations) - 1; i >= 0; i-- {
		o := &s.Operations[i]
		if slices.ContainsFunc(o.Outputs, func(x uint32) bool { return used[x] }) {
			live[i] = true
			mark(o.Inputs)
			mark(o.Outputs)
			lists = append(lists, o.Inputs, o.Outputs)
		}
	}
	operations := s.Operations[:0]
	for i, o := range s.Operations {
		if live[i] {
			operations = append(operations, o)
		}
	}
	s.Operations = operations
	index, kept := make([]uint32, len(s.Operands)), s.Operands[:0]
	for i, o := range s.Operands {
		if used[i] {
			index[i] = uint32(len(kept))
			kept = append(kept, o)
		}
	}
	clear(s.Operands[len(kept):])
	s.Operands = kept
	for _, l := range lists {
		for i, x := range l {
			l[i] = index[x]
		}
	}
	return s
}
