package partition

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"slices"
)

// Graph is the data flow of a model's main subgraph. Operations are in
// execution order: what an operation reads is produced before it.
type Graph struct {
	Operations []Operation
	Values     []Value
}

// Operation is one operation of the model.
type Operation struct {
	Type    string
	MACs    int64
	Bytes   int64 // of inputs, constants and outputs; 0 where a shape is unknown
	Inputs  []int // indexes of Values, each once
	Outputs []int
}

// Value is a tensor that is no constant.
type Value struct {
	Operand   uint32 // of the model
	Bytes     int64  // 0 when its shape is unknown
	Open      bool   // its shape is unknown until an execution
	Producer  int    // operation; -1 for an input of the model
	Consumers []int  // operations
	Output    bool   // of the model
}

// NewGraph is the data flow of a subgraph.
func NewGraph(g *nn.Subgraph) *Graph {
	s := &Graph{Operations: make([]Operation, len(g.Operations))}
	index := make([]int, len(g.Operands)) // 1 + index of the value
	value := func(x uint32) int {
		if index[x] == 0 {
			o := &g.Operands[x]
			v := Value{Operand: x, Producer: -1, Open: !o.Known()}
			if !v.Open {
				v.Bytes = max(o.Bytes(), 0)
			}
			s.Values = append(s.Values, v)
			index[x] = len(s.Values)
		}
		return index[x] - 1
	}
	view := opspec.ModelView(g)
	for i := range g.Operations {
		op := &g.Operations[i]
		o := Operation{Type: op.Type.String(), MACs: max(view.MACs(op), 0)}
		for _, x := range op.Inputs {
			switch a := &g.Operands[x]; {
			case a.IsConst():
				o.Bytes += int64(len(a.Data))
			case a.Lifetime == nn.NoValue, a.Lifetime == nn.LifetimeSubgraph:
			default:
				v := value(x)
				if n := len(s.Values[v].Consumers); n > 0 && s.Values[v].Consumers[n-1] == i {
					continue // read twice by this operation
				}
				s.Values[v].Consumers = append(s.Values[v].Consumers, i)
				o.Inputs = append(o.Inputs, v)
				o.Bytes += s.Values[v].Bytes
			}
		}
		for _, x := range op.Outputs {
			v := value(x)
			s.Values[v].Producer = i
			o.Outputs = append(o.Outputs, v)
			o.Bytes += s.Values[v].Bytes
		}
		s.Operations[i] = o
	}
	for _, x := range g.Outputs {
		if index[x] != 0 {
			s.Values[index[x]-1].Output = true
		}
	}
	return s
}

// OpenInput reports whether an operation reads a value of unknown shape that
// another operation produces.
func (g *Graph) OpenInput(op int) bool {
	return slices.ContainsFunc(g.Operations[op].Inputs, func(v int) bool { return g.Values[v].Open && g.Values[v].Producer >= 0 })
}
