package refcpu

import (
	"encoding/binary"
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// graph builds a main subgraph for tests.
type graph struct{ nn.Subgraph }

func (g *graph) add(o nn.Operand) uint32 {
	g.Operands = append(g.Operands, o)
	return uint32(len(g.Operands) - 1)
}

func (g *graph) input(t nn.OperandType, scale float32, zero int32, dims ...uint32) uint32 {
	i := g.add(nn.Operand{Type: t, Dimensions: dims, Scale: scale, ZeroPoint: zero, Lifetime: nn.SubgraphInput})
	g.Inputs = append(g.Inputs, i)
	return i
}

func (g *graph) output(t nn.OperandType, scale float32, zero int32, dims ...uint32) uint32 {
	i := g.add(nn.Operand{Type: t, Dimensions: dims, Scale: scale, ZeroPoint: zero, Lifetime: nn.SubgraphOutput})
	g.Outputs = append(g.Outputs, i)
	return i
}

func (g *graph) int32(v int32) uint32 {
	return g.add(nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, uint32(v))})
}

func (g *graph) constant(t nn.OperandType, scale float32, zero int32, data []byte, dims ...uint32) uint32 {
	return g.add(nn.Operand{Type: t, Dimensions: dims, Scale: scale, ZeroPoint: zero, Lifetime: nn.ConstantCopy, Data: data})
}

func (g *graph) op(t nn.OperationType, outputs []uint32, inputs ...uint32) {
	g.Operations = append(g.Operations, nn.Operation{Type: t, Inputs: inputs, Outputs: outputs})
}

func (g *graph) model() *nn.Model { return &nn.Model{Main: g.Subgraph} }

func floatBytes(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
