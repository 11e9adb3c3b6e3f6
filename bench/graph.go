package bench

import (
	"encoding/binary"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// quant is the quantization of a tensor; the zero value is none.
type quant struct {
	scale float32
	zero  int32
}

// graph collects operands and operations of a subgraph.
type graph struct{ nn.Subgraph }

func (g *graph) add(o nn.Operand) uint32 {
	g.Operands = append(g.Operands, o)
	return uint32(len(g.Operands) - 1)
}

// tensor adds a temporary.
func (g *graph) tensor(name string, t nn.OperandType, q quant, dims ...uint32) uint32 {
	return g.add(nn.Operand{Name: name, Type: t, Dimensions: dims, Scale: q.scale, ZeroPoint: q.zero})
}

// constant adds a tensor with a value.
func (g *graph) constant(name string, t nn.OperandType, q quant, data []byte, dims ...uint32) uint32 {
	return g.add(nn.Operand{
		Name: name, Type: t, Dimensions: dims, Scale: q.scale, ZeroPoint: q.zero,
		Lifetime: nn.ConstantReference, Data: data,
	})
}

func (g *graph) int32(v int32) uint32 {
	return g.add(nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, uint32(v))})
}

func (g *graph) float32(v float32) uint32 {
	return g.add(nn.Operand{Type: nn.Float32, Lifetime: nn.ConstantCopy, Data: floats(v)})
}

func (g *graph) op(t nn.OperationType, out uint32, in ...uint32) {
	g.Operations = append(g.Operations, nn.Operation{Type: t, Inputs: in, Outputs: []uint32{out}})
}

// model closes the graph over one input and one output.
func (g *graph) model(name string, in, out uint32) *nn.Model {
	g.Inputs, g.Outputs = []uint32{in}, []uint32{out}
	g.Operands[in].Lifetime = nn.SubgraphInput
	g.Operands[out].Lifetime = nn.SubgraphOutput
	return &nn.Model{Name: name, Main: g.Subgraph}
}

func floats(v ...float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func int32s(v ...int32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

// noise is xorshift32: small, and the same everywhere.
type noise uint32

func (n *noise) next() uint32 {
	x := *n
	x ^= x << 13
	x ^= x >> 17
	x ^= x << 5
	*n = x
	return uint32(x)
}

// bell is bell-shaped with mean 0 and standard deviation sigma: the sum of
// four bytes, whose own deviation is bellSigma.
func (n *noise) bell(sigma float64) float64 {
	x := n.next()
	s := int(x&0xff) + int(x>>8&0xff) + int(x>>16&0xff) + int(x>>24)
	return (float64(s) - 510) * sigma / bellSigma
}

// bellSigma is sqrt(4 * (256^2-1)/12).
const bellSigma = 147.8
