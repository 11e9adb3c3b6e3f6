package nnrt

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// MACs counts the multiply-accumulates of a model as its operations define
// them: no padding waste, no elementwise work. Subgraphs that IF and WHILE call
// are not part of it; how often they run is in the result of an execution.
func MACs(m *nn.Model) int64 {
	var total int64
	for i := range m.Main.Operations {
		total += OperationMACs(&m.Main, i)
	}
	return total
}

// OperationMACs counts one operation's; 0 when a shape is unknown.
func OperationMACs(g *nn.Subgraph, i int) int64 {
	return max(opspec.ModelView(g).MACs(&g.Operations[i]), 0)
}
