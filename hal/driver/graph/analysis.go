package graph

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// An analysis is computed from a graph and holds until the graph changes.

// Uses are the readers of each operand.
type Uses struct {
	readers  [][]int // operations, once per input
	producer []int   // operation, -1 for inputs and constants
	output   []bool  // of the graph
}

// Uses computes the readers and the writer of each operand.
func (g *Graph) Uses() *Uses {
	u := &Uses{make([][]int, len(g.Operands)), make([]int, len(g.Operands)), make([]bool, len(g.Operands))}
	for x := range u.producer {
		u.producer[x] = -1
	}
	for i := range g.Operations {
		for _, x := range g.Operations[i].Inputs {
			u.readers[x] = append(u.readers[x], i)
		}
		for _, x := range g.Operations[i].Outputs {
			u.producer[x] = i
		}
	}
	for _, x := range g.Outputs {
		u.output[x] = true
	}
	return u
}

// Readers lists the operations that read operand x, one entry per reading input.
func (u *Uses) Readers(x uint32) []int { return u.readers[x] }

// Producer is the operation that writes operand x, -1 for inputs and constants.
func (u *Uses) Producer(x uint32) int { return u.producer[x] }

// SetProducer notes that a pass has made operation op write operand x.
func (u *Uses) SetProducer(x uint32, op int) { u.producer[x] = op }

// IsOutput reports whether the caller of the graph reads operand x.
func (u *Uses) IsOutput(x uint32) bool { return u.output[x] }

// SoleReader is the only reader of operand x. ok is false when there are several
// readers or none, or when x is an output of the graph.
func (u *Uses) SoleReader(x uint32) (op int, ok bool) {
	if len(u.readers[x]) != 1 || u.output[x] {
		return 0, false
	}
	return u.readers[x][0], true
}

// Lifetimes are the positions between which the value of each operand is needed:
// from the operation that writes it (-1 for inputs of the graph) to the last that
// reads it (the number of operations for outputs of the graph). Constants and
// operands that no operation touches have the empty life {0, -1}.
func (g *Graph) Lifetimes() (lives [][2]int) {
	lives = make([][2]int, len(g.Operands))
	for x := range lives {
		lives[x] = [2]int{0, -1}
	}
	for _, x := range g.Inputs {
		lives[x] = [2]int{-1, -1}
	}
	for i := range g.Operations {
		for _, x := range g.Operations[i].Outputs {
			lives[x] = [2]int{i, i}
		}
		for _, x := range g.Operations[i].Inputs {
			if o := &g.Operands[x]; !o.IsConst() && o.Lifetime != nn.NoValue && o.Lifetime != nn.LifetimeSubgraph {
				lives[x][1] = i
			}
		}
	}
	for _, x := range g.Outputs {
		lives[x][1] = len(g.Operations)
	}
	return lives
}

// IsReshape reports whether the output of an operation holds the bytes of its first
// input under another shape.
func IsReshape(t nn.OperationType) bool { return opspec.Reads[opspec.Copy](t) }

// Storage maps each operand to the one whose bytes it shares by way of the reshape
// family: itself unless it is the output of a reshape. An output of the graph that
// reshapes an input of the graph or a constant has its own storage, since the caller
// owns both.
func (g *Graph) Storage() []uint32 {
	root := make([]uint32, len(g.Operands))
	for x := range root {
		root[x] = uint32(x)
	}
	owned := make([]bool, len(g.Operands)) // by the caller, or read-only
	for x := range g.Operands {
		owned[x] = g.Operands[x].IsConst()
	}
	for _, x := range g.Inputs {
		owned[x] = true
	}
	for i := range g.Operations {
		op := &g.Operations[i]
		if !IsReshape(op.Type) || len(op.Outputs) != 1 {
			continue
		}
		in, out := g.Input(op), op.Outputs[0]
		if owned[root[in]] && slices.Contains(g.Outputs, out) {
			continue
		}
		root[out] = root[in]
	}
	return root
}
