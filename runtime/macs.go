package nnrt

import "github.com/nnsoc/nnsoc/hal/nn"

// MACs counts the multiply-accumulates of a model as its operations define
// them: no padding waste, no elementwise work.
func MACs(m *nn.Model) int64 {
	var total int64
	for i := range m.Main.Operations {
		total += OperationMACs(&m.Main, i)
	}
	return total
}

// OperationMACs counts one operation's; 0 when a shape is unknown.
func OperationMACs(g *nn.Subgraph, i int) int64 {
	op := &g.Operations[i]
	if len(op.Inputs) < 2 || len(op.Outputs) == 0 {
		return 0
	}
	filter := g.Operands[op.Inputs[1]].Dimensions
	out := g.Operands[op.Outputs[0]].Elements()
	perOutput := int64(0)
	switch op.Type {
	case nn.OpConv2D, nn.OpTransposeConv2D, nn.OpGroupedConv2D:
		perOutput = nn.Elements(tail(filter, 4))
	case nn.OpDepthwiseConv2D:
		if len(filter) == 4 {
			perOutput = int64(filter[1]) * int64(filter[2])
		}
	case nn.OpFullyConnected:
		perOutput = nn.Elements(tail(filter, 2))
	}
	if out < 0 || perOutput < 0 {
		return 0
	}
	return out * perOutput
}

// tail is dims without the first, [0] when the rank is not as expected.
func tail(dims []uint32, rank int) []uint32 {
	if len(dims) != rank {
		return []uint32{0}
	}
	return dims[1:]
}
