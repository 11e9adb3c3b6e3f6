package nnrt

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// Layers is m with every value that its operations produce among the outputs,
// in execution order, and the operation that each output comes from. States are
// left out: one invocation is meant.
func Layers(m *nn.Model) (all *nn.Model, operations []int) {
	c := *m
	c.States = nil
	c.Main.Operands = slices.Clone(m.Main.Operands)
	c.Main.Outputs = nil
	for i := range m.Main.Operations {
		for _, x := range m.Main.Operations[i].Outputs {
			c.Main.Operands[x].Lifetime = nn.SubgraphOutput
			c.Main.Outputs = append(c.Main.Outputs, x)
			operations = append(operations, i)
		}
	}
	return &c, operations
}
