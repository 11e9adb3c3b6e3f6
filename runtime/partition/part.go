package partition

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// Part is some operations of a model as a model of its own.
type Part struct {
	Model   *nn.Model
	Inputs  []uint32 // operands of the whole model, in the part's input order
	Outputs []uint32
	// Unread: nothing outside reads results of the part; its outputs are the values that
	// nothing inside reads either, since a model must have outputs.
	Unread bool
}

// order sorts the inputs or outputs of a part, as operands of the model and of the part, by
// their lifetime in the model; those of one lifetime stay in the order of their first use.
func order(g *nn.Subgraph, of, in []uint32, kinds ...nn.Lifetime) []uint32 {
	at := make([]int, len(of))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		return slices.Index(kinds, g.Operands[of[a]].Lifetime) - slices.Index(kinds, g.Operands[of[b]].Lifetime)
	})
	was, list := slices.Clone(of), make([]uint32, len(in))
	for k, i := range at {
		of[k], list[k] = was[i], in[i]
	}
	return list
}

// Extract makes a model of some operations of m. Operands produced elsewhere
// become inputs; operands used elsewhere, or outputs of m, become outputs.
func Extract(m *nn.Model, operations []int) Part {
	g := &m.Main
	inside := make([]bool, len(g.Operations))
	for _, i := range operations {
		inside[i] = true
	}
	produced := make([]bool, len(g.Operands)) // by this part
	needed := make([]bool, len(g.Operands))   // outside this part
	for i := range g.Operations {
		op := &g.Operations[i]
		for _, x := range op.Outputs {
			produced[x] = produced[x] || inside[i]
		}
		if !inside[i] {
			for _, x := range op.Inputs {
				needed[x] = true
			}
		}
	}
	for _, x := range g.Outputs {
		needed[x] = true
	}

	var s Part
	if s.Unread = !slices.ContainsFunc(operations, func(i int) bool {
		return slices.ContainsFunc(g.Operations[i].Outputs, func(x uint32) bool { return needed[x] })
	}); s.Unread {
		for _, i := range operations {
			for _, x := range g.Operations[i].Outputs {
				needed[x] = true
			}
		}
		for _, i := range operations {
			for _, x := range g.Operations[i].Inputs {
				needed[x] = needed[x] && !produced[x]
			}
		}
	}
	part := nn.Subgraph{Name: g.Name}
	index := make([]uint32, len(g.Operands)) // 1 + index in part
	use := func(x uint32) uint32 {
		if index[x] != 0 {
			return index[x] - 1
		}
		o := g.Operands[x]
		n := uint32(len(part.Operands))
		index[x] = n + 1
		switch {
		case produced[x] && needed[x]:
			o.Lifetime = nn.SubgraphOutput
			s.Outputs = append(s.Outputs, x)
			part.Outputs = append(part.Outputs, n)
		case produced[x]:
			o.Lifetime = nn.TemporaryVariable
		case o.Lifetime == nn.TemporaryVariable, o.Lifetime == nn.SubgraphInput, o.Lifetime == nn.SubgraphOutput:
			o.Lifetime = nn.SubgraphInput
			s.Inputs = append(s.Inputs, x)
			part.Inputs = append(part.Inputs, n)
		}
		part.Operands = append(part.Operands, o)
		return n
	}
	mapped := func(list []uint32) []uint32 {
		out := make([]uint32, len(list))
		for i, x := range list {
			out[i] = use(x)
		}
		return out
	}
	for _, i := range operations {
		op := &g.Operations[i]
		part.Operations = append(part.Operations, nn.Operation{
			Type: op.Type, Inputs: mapped(op.Inputs), Outputs: mapped(op.Outputs),
		})
	}
	part.Inputs = order(g, s.Inputs, part.Inputs, nn.SubgraphInput, nn.TemporaryVariable, nn.SubgraphOutput)
	part.Outputs = order(g, s.Outputs, part.Outputs, nn.SubgraphOutput, nn.TemporaryVariable)
	s.Model = &nn.Model{Name: m.Name, Main: part, Referenced: m.Referenced, Relaxed: m.Relaxed, Extensions: m.Extensions}
	return s
}
