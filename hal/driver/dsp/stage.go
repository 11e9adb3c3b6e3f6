package dsp

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// A model is lowered in stages. Most models are one stage, lowered when they
// are prepared. An operation whose parameters - axes, paddings, strides, shapes -
// are inputs of the model is lowered when an execution brings their values; one
// whose parameters or shapes an earlier operation computes begins a stage of its
// own.

// stage is a part of a model that is lowered together.
type stage struct {
	graph nn.Subgraph // operands are the model's, operations its own
	first int         // its first operation in the model
	late  []int       // inputs whose values the lowering needs
	open  []int       // inputs whose shapes only an execution gives
	fixed *plan       // nil when there are such inputs

	mu    sync.Mutex
	plans []*latePlan // last used first
}

// latePlan is a plan for certain parameters.
type latePlan struct {
	key string
	*plan
}

// Bounds of what a stage keeps of the plans it made.
const (
	maxLatePlans = 8
	maxLateBytes = 1 << 28
)

// openShapes are operations whose output shapes only their execution gives; each
// ends its stage. Their lowering calls openOutput for every output.
var openShapes = [nn.OperationCount]bool{nn.OpBoxWithNmsLimit: true, nn.OpGenerateProposals: true}

func isOpen(t nn.OperationType) bool { return t.Valid() && openShapes[t] }

// parameters lists the inputs of an operation that its lowering must know.
func parameters(g *nn.Subgraph, op *nn.Operation) ([]uint32, error) {
	a, err := opspec.ModelView(g).Bind(op)
	if err != nil {
		return nil, err
	}
	var list []uint32
	for i, x := range op.Inputs {
		if a.Parameter(i) || op.Type == nn.OpDensify && a.SlotName(i) == "metadata" {
			list = append(list, x)
		}
	}
	return list, nil
}

// isLate reports whether an operation can be lowered only when it executes: a
// parameter has no value yet, or a shape depends on one that has none. A shape
// that is simply not there is the caller's error.
func isLate(g *nn.Subgraph, op *nn.Operation) (bool, error) {
	list, err := parameters(g, op)
	if err != nil {
		return false, err
	}
	for _, x := range list {
		if o := &g.Operands[x]; !o.IsConst() && o.Lifetime != nn.NoValue {
			return true, nil
		}
	}
	for k, list := range [2][]uint32{op.Inputs, op.Outputs} {
		if k == 1 && isOpen(op.Type) {
			break
		}
		for _, x := range list {
			o := &g.Operands[x]
			if o.Type.IsScalar() || o.Known() || o.Lifetime == nn.NoValue || o.IsConst() {
				continue
			}
			if k == 0 && o.Lifetime == nn.SubgraphInput {
				return false, fmt.Errorf("operand %d, an input of the model, has shape %v, which must be known", x, o.Dimensions)
			}
			return true, nil
		}
	}
	return false, nil
}

// cut divides a model into stages. Its shapes are resolved as far as they can be.
func cut(g *nn.Subgraph) ([]*stage, error) {
	producer := make([]int, len(g.Operands)) // 1 + operation
	var bounds []int
	start := 0
	for i := range g.Operations {
		op := &g.Operations[i]
		list, err := parameters(g, op)
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		begins := i > start && isOpen(g.Operations[i-1].Type)
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
	if len(bounds) == 1 {
		s := &stage{graph: *g}
		return []*stage{s}, s.classify()
	}
	var stages []*stage
	from := 0
	for _, to := range bounds {
		s := part(g, from, to)
		if err := s.classify(); err != nil {
			return nil, err
		}
		stages = append(stages, s)
		from = to
	}
	return stages, nil
}

// part makes a stage of operations from to to-1.
func part(g *nn.Subgraph, from, to int) *stage {
	s := &stage{graph: nn.Subgraph{Name: g.Name, Operations: g.Operations[from:to], Operands: slices.Clone(g.Operands)}, first: from}
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
	for i := range s.graph.Operations {
		op := &s.graph.Operations[i]
		for _, x := range op.Inputs {
			o := &s.graph.Operands[x]
			if inside[x] || seen[x] || o.IsConst() || o.Lifetime == nn.NoValue {
				continue
			}
			seen[x] = true
			o.Lifetime = nn.SubgraphInput
			s.graph.Inputs = append(s.graph.Inputs, x)
		}
		for _, x := range op.Outputs {
			inside[x] = true
			s.graph.Operands[x].Lifetime = nn.TemporaryVariable
			if after[x] {
				s.graph.Operands[x].Lifetime = nn.SubgraphOutput
				s.graph.Outputs = append(s.graph.Outputs, x)
			}
		}
	}
	return s
}

// classify finds the inputs that an execution must bring before the lowering.
func (s *stage) classify() error {
	needed := make([]bool, len(s.graph.Operands))
	for i := range s.graph.Operations {
		list, err := parameters(&s.graph, &s.graph.Operations[i])
		if err != nil {
			return fmt.Errorf("operation %d: %w", s.first+i, err)
		}
		for _, x := range list {
			needed[x] = true
		}
	}
	for k, x := range s.graph.Inputs {
		o := &s.graph.Operands[x]
		if needed[x] {
			s.late = append(s.late, k)
		}
		if !o.Known() {
			s.open = append(s.open, k)
		}
	}
	return nil
}

// ready reports whether the stage can be lowered before an execution.
func (s *stage) ready() bool { return len(s.late)+len(s.open) == 0 }

// omits reports whether an execution leaves out input k, as it may an optional
// operand: it brings no bytes of a value that has some.
func (s *stage) omits(k int, values [][]byte, dims [][]uint32) bool {
	if k >= len(values) || len(values[k]) > 0 {
		return false
	}
	return s.graph.Operands[s.graph.Inputs[k]].Type.IsScalar() || nn.Elements(dims[k]) != 0
}

// bind is the stage's graph with the values of its parameters and the shapes of
// its inputs, less those left out.
func (s *stage) bind(values [][]byte, dims [][]uint32) (*nn.Subgraph, error) {
	g := s.graph
	g.Operands = slices.Clone(g.Operands)
	for k, x := range g.Inputs {
		if s.omits(k, values, dims) {
			g.Operands[x].Lifetime = nn.NoValue
		}
	}
	for _, k := range s.open {
		g.Operands[g.Inputs[k]].Dimensions = dims[k]
	}
	for _, k := range s.late {
		if o := &g.Operands[g.Inputs[k]]; o.Lifetime != nn.NoValue {
			o.Lifetime, o.Data = nn.ConstantCopy, slices.Clone(values[k])
		}
	}
	return opspec.Complete(&g, isOpen)
}

// key names what a plan depends on.
func (s *stage) key(values [][]byte, dims [][]uint32) string {
	var b []byte
	for k := range values {
		if s.omits(k, values, dims) {
			b = binary.LittleEndian.AppendUint32(b, uint32(k))
		}
	}
	b = binary.LittleEndian.AppendUint32(b, ^uint32(0))
	for _, k := range s.late {
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

// plan is the stage's plan for these inputs, made now unless it is at hand.
func (s *stage) plan(d *Device, values [][]byte, dims [][]uint32) (*plan, error) {
	omitted := false
	for k := range values {
		omitted = omitted || s.omits(k, values, dims)
	}
	if s.fixed != nil && !omitted {
		return s.fixed, nil
	}
	key := s.key(values, dims)
	if p := s.recall(key); p != nil {
		return p, nil
	}
	g, err := s.bind(values, dims)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(d, g)
	if err != nil {
		return nil, err
	}
	s.keep(&latePlan{key, p})
	return p, nil
}

// recall finds a plan and makes it the last used.
func (s *stage) recall(key string) *plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range s.plans {
		if p.key == key {
			copy(s.plans[1:], s.plans[:i])
			s.plans[0] = p
			return p.plan
		}
	}
	return nil
}

// keep remembers a plan and forgets those that are too many.
func (s *stage) keep(p *latePlan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans = slices.Insert(s.plans, 0, p)
	bytes := 0
	for i, x := range s.plans {
		if bytes += len(x.consts) + len(x.program.Code); i > 0 && (i >= maxLatePlans || bytes > maxLateBytes) {
			clear(s.plans[i:])
			s.plans = s.plans[:i]
			return
		}
	}
}
