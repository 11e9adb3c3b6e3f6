package graph

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Stage is a part of a graph that is lowered together. Most graphs are one stage,
// lowered when the model is prepared. An operation whose parameters - axes, paddings,
// strides, shapes - are inputs of the model is lowered when an execution supplies their
// values; one whose parameters or shapes an earlier operation computes begins a new
// stage.
type Stage struct {
	// Graph has the operands of the whole graph and the stage's own operations,
	// inputs and outputs. Origin names operations of the model as before.
	Graph *Graph
	// Control is set for a stage of an IF or WHILE alone, which is not lowered.
	Control    bool
	parameters []int  // inputs whose values the lowering needs
	open       []int  // inputs whose shapes only an execution gives
	optional   []bool // of each input, whether every operation that reads it may do without
}

// OpenShape reports whether only its execution gives the output shapes of an operation. Such
// an operation ends its stage.
func (g *Graph) OpenShape(t nn.OperationType) bool {
	r := g.Table.Lookup(t)
	return r != nil && r.Open
}

// parameters lists the inputs of an operation that its lowering must know.
func (g *Graph) parameters(op *nn.Operation) ([]uint32, error) {
	a, err := g.View().Bind(op)
	if err != nil {
		return nil, err
	}
	return parameters(&a), nil
}

func parameters(a *opspec.Args) (list []uint32) {
	op := a.Op
	for i, x := range op.Inputs {
		if a.Parameter(i) || op.Type == nn.OpDensify && a.SlotName(i) == "metadata" {
			list = append(list, x)
		}
	}
	return list
}

// Deferred reports whether an operation can be lowered only when it executes: a
// parameter has no value yet, or a shape depends on one that has none. A shape
// that is simply not there is the caller's error.
func (g *Graph) Deferred(op *nn.Operation) (bool, error) {
	a, err := g.View().Bind(op)
	if err != nil {
		return false, err
	}
	list := parameters(&a)
	for _, x := range list {
		if o := &g.Operands[x]; !o.IsConst() && o.Lifetime != nn.NoValue {
			return true, nil
		}
	}
	for k, list := range [2][]uint32{op.Inputs, op.Outputs} {
		if k == 1 && g.OpenShape(op.Type) {
			break
		}
		for i, x := range list {
			o := &g.Operands[x]
			if o.Type.IsScalar() || o.Known() || o.Lifetime == nn.NoValue || o.IsConst() {
				continue
			}
			if k == 0 && o.Lifetime == nn.SubgraphInput && !g.Called && !a.Optional(i) {
				return false, fmt.Errorf("operand %d, an input of the model, has shape %v, which must be known", x, o.Dimensions)
			}
			return true, nil
		}
	}
	return false, nil
}

// Stages cuts a graph whose shapes are resolved as far as they can be.
func (g *Graph) Stages() ([]*Stage, error) {
	producer := make([]int, len(g.Operands)) // 1 + operation
	var bounds []int
	start := 0
	for i := range g.Operations {
		op := &g.Operations[i]
		list, err := g.parameters(op)
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", g.Origin[i], err)
		}
		begins := i > start && (g.OpenShape(g.Operations[i-1].Type) || g.calls(i-1) || g.calls(i))
		for _, x := range list {
			begins = begins || producer[x] > start
		}
		if begins {
			bounds = append(bounds, i)
			start = i
		}
		for _, x := range op.Outputs {
			producer[x] = i + 1
		}
	}
	bounds = append(bounds, len(g.Operations))
	if len(g.Operations) == 0 {
		return nil, nil
	}
	if len(bounds) == 1 && !g.calls(0) {
		s := &Stage{Graph: g}
		return []*Stage{s}, s.classify()
	}
	var stages []*Stage
	from := 0
	for _, to := range bounds {
		s := g.part(from, to)
		if err := s.classify(); err != nil {
			return nil, err
		}
		stages = append(stages, s)
		from = to
	}
	return stages, nil
}

// part makes a stage of operations from to to-1.
func (g *Graph) part(from, to int) *Stage {
	p := &Graph{Table: g.Table, Relaxed: g.Relaxed, Called: g.Called, Leaves: g.Leaves, Origin: g.Origin[from:to], model: g.model}
	p.Name, p.Operations, p.Operands = g.Name, g.Operations[from:to], slices.Clone(g.Operands)
	inside, after := make([]bool, len(g.Operands)), make([]bool, len(g.Operands))
	seen := make([]bool, len(g.Operands))
	for _, x := range g.Outputs {
		after[x] = true
	}
	for i := to; i < len(g.Operations); i++ {
		for _, x := range g.Operations[i].Inputs {
			after[x] = true
		}
	}
	for i := range p.Operations {
		op := &p.Operations[i]
		for _, x := range op.Inputs {
			o := &p.Operands[x]
			if inside[x] || seen[x] || o.IsConst() || o.Lifetime == nn.NoValue || o.Lifetime == nn.LifetimeSubgraph {
				continue
			}
			seen[x] = true
			o.Lifetime = nn.SubgraphInput
			p.Inputs = append(p.Inputs, x)
		}
		for _, x := range op.Outputs {
			inside[x] = true
			p.Operands[x].Lifetime = nn.TemporaryVariable
			if after[x] {
				p.Operands[x].Lifetime = nn.SubgraphOutput
				p.Outputs = append(p.Outputs, x)
			}
		}
	}
	return &Stage{Graph: p, Control: g.calls(from)}
}

// calls reports whether operation i calls subgraphs.
func (g *Graph) calls(i int) bool { return opspec.Calls(g.Operations[i].Type) }

// classify finds the inputs that an execution must bring before the lowering.
func (s *Stage) classify() error {
	if s.Control {
		return nil
	}
	g := s.Graph
	needed, due := make([]bool, len(g.Operands)), make([]bool, len(g.Operands))
	for i := range g.Operations {
		op := &g.Operations[i]
		a, err := g.View().Bind(op)
		if err != nil {
			return fmt.Errorf("operation %d: %w", g.Origin[i], err)
		}
		for _, x := range parameters(&a) {
			needed[x] = true
		}
		for k, x := range op.Inputs {
			due[x] = due[x] || !a.Optional(k)
		}
	}
	for k, x := range g.Inputs {
		s.optional = append(s.optional, !due[x])
		if needed[x] {
			s.parameters = append(s.parameters, k)
		}
		if !g.Operands[x].Known() {
			s.open = append(s.open, k)
		}
	}
	return nil
}

// Ready reports whether the stage can be lowered before an execution.
func (s *Stage) Ready() bool { return !s.Control && len(s.parameters)+len(s.open) == 0 }

// Omits reports whether an execution omits input k, which must be optional: it has
// no bytes for a value that has some, or that no operation needs.
func (s *Stage) Omits(k int, values [][]byte, dims [][]uint32) bool {
	if k >= len(values) || len(values[k]) > 0 {
		return false
	}
	return s.Graph.Operands[s.Graph.Inputs[k]].Type.IsScalar() || nn.Elements(dims[k]) != 0 || s.optional[k]
}

// Bind returns the stage's graph with the values of its parameters and the shapes of
// its inputs, less those left out. values and dims are in the order of the stage's
// inputs; a stage that is Ready needs none.
func (s *Stage) Bind(values [][]byte, dims [][]uint32) (*Graph, error) {
	g := s.Graph.Clone()
	for k, x := range g.Inputs {
		if s.Omits(k, values, dims) {
			g.Operands[x].Lifetime = nn.NoValue
		}
	}
	for _, k := range s.open {
		g.Operands[g.Inputs[k]].Dimensions = dims[k]
	}
	for _, k := range s.parameters {
		if o := &g.Operands[g.Inputs[k]]; o.Lifetime != nn.NoValue {
			o.Lifetime, o.Data = nn.ConstantCopy, slices.Clone(values[k])
		}
	}
	final, err := g.Table.Complete(&g.Subgraph, g.OpenShape)
	if err != nil {
		return nil, err
	}
	g.Subgraph, g.bound = *final, true
	return g, nil
}

// Key names what a lowering of the stage depends on: parameters, shapes and which
// inputs are left out.
func (s *Stage) Key(values [][]byte, dims [][]uint32) string {
	var b []byte
	for k := range values {
		if s.Omits(k, values, dims) {
			b = binary.LittleEndian.AppendUint32(b, uint32(k))
		}
	}
	b = binary.LittleEndian.AppendUint32(b, ^uint32(0))
	for _, k := range s.parameters {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(values[k])))
		b = append(b, values[k]...)
	}
	for _, k := range s.open {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(dims[k])))
		for _, d := range dims[k] {
			b = binary.LittleEndian.AppendUint32(b, d)
		}
	}
	return string(b)
}
