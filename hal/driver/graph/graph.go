package graph

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Graph is the main subgraph of a model on its way to a device. It stays a valid
// NNAPI subgraph after every pass, so that opspec reads its operations at any time.
// A Graph shares operand data with its model and never writes to it.
type Graph struct {
	nn.Subgraph
	Table   *opspec.Table // of the operations
	Relaxed bool          // float32 may compute with the range and precision of float16
	// Origin is, for each operation, the operation of the model that it computes or
	// helps to compute. Statistics are reported by it.
	Origin []int

	// Leaves reports whether the device leaves an operation to a pass that expands it; nil leaves
	// all.
	Leaves func(g *Graph, op *nn.Operation, pass string) bool
	// Called is set for subgraphs that IF and WHILE call: the shapes of inputs come with a call.
	Called bool
	// Query is set where the graph is for a support query and is not lowered.
	Query bool

	// Choices are the operations that passes have expanded, or left, for what the device accepts.
	Choices []Choice

	// Running is the pass that runs.
	Running Running

	bound bool // shapes, and which inputs are left out, belong to an execution
	model []nn.Operation
}

// Running is a graph's record of the pass that runs on it.
type Running struct {
	Name    string
	Expands []nn.OperationType // the operations that it replaces by others
}

// New returns the graph of a model: one operation for each of the model's.
func New(m *nn.Model) *Graph {
	g := FromSubgraph(&m.Main)
	g.Relaxed = m.Relaxed
	return g
}

// FromSubgraph returns the graph of a subgraph.
func FromSubgraph(s *nn.Subgraph) *Graph {
	g := &Graph{Subgraph: *s, Origin: make([]int, len(s.Operations)), model: s.Operations}
	g.Operands, g.Operations = slices.Clone(s.Operands), slices.Clone(s.Operations)
	g.Inputs, g.Outputs = slices.Clone(s.Inputs), slices.Clone(s.Outputs)
	for i := range g.Origin {
		g.Origin[i] = i
	}
	return g
}

// Clone returns a graph that can be changed without changing g.
func (g *Graph) Clone() *Graph {
	c := FromSubgraph(&g.Subgraph)
	c.Choices = slices.Clone(g.Choices)
	c.Table, c.Relaxed, c.Called, c.Query, c.Leaves, c.Origin, c.model, c.bound = g.Table, g.Relaxed, g.Called, g.Query, g.Leaves, slices.Clone(g.Origin), g.model, g.bound
	return c
}

// Bound reports whether shapes, and which inputs are left out, belong to an execution.
func (g *Graph) Bound() bool { return g.bound }

// View reads the operations of the graph.
func (g *Graph) View() opspec.View {
	v := g.Table.ModelView(&g.Subgraph)
	v.Final = g.bound
	return v
}

// AddOperand appends an operand and returns its index.
func (g *Graph) AddOperand(o nn.Operand) uint32 {
	g.Operands = append(g.Operands, o)
	return uint32(len(g.Operands) - 1)
}

// AddTemporary appends a temporary of the type and quantization of operand like,
// with another shape.
func (g *Graph) AddTemporary(like uint32, dims []uint32) uint32 {
	o := g.Operands[like]
	o.Lifetime, o.Data, o.Dimensions = nn.TemporaryVariable, nil, dims
	return g.AddOperand(o)
}

// AddInt32 appends a constant INT32 scalar.
func (g *Graph) AddInt32(v int32) uint32 {
	return g.AddOperand(nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: Int32Bytes(v)})
}

// AddInt32s appends a constant TENSOR_INT32 vector.
func (g *Graph) AddInt32s(v ...int32) uint32 {
	return g.AddOperand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(len(v))}, Lifetime: nn.ConstantCopy, Data: Int32Bytes(v...)})
}

// AddBool appends a constant BOOL scalar.
func (g *Graph) AddBool(v bool) uint32 {
	data := []byte{0}
	if v {
		data[0] = 1
	}
	return g.AddOperand(nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: data})
}

func Int32Bytes(v ...int32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return b
}

// Input is the operand that an operation names "input", or "values" of a sparse or a looked-up
// tensor, opspec.None when it names none or does not match its row.
func (g *Graph) Input(op *nn.Operation) uint32 {
	a, err := g.View().Bind(op)
	if err != nil {
		return opspec.None
	}
	if x := a.In("input"); x != opspec.None {
		return x
	}
	return a.In("values")
}

// NameOf is the type of an operation of the model, for listings and errors.
func (g *Graph) NameOf(origin int) string {
	if origin < 0 || origin >= len(g.model) {
		return "-"
	}
	return g.model[origin].Type.String()
}
