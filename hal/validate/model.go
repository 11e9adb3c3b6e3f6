package validate

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Bounds on a model, far above what a HAL service meets.
const (
	MaxOperands   = 1 << 20 // per subgraph
	MaxOperations = 1 << 18 // per subgraph
	MaxSubgraphs  = 1 << 12
	MaxRank       = 32
	MaxConstants  = 1 << 31 // bytes of all constants
)

// Model checks a model. The error is an *Error inside a *hal.Error with status
// INVALID_ARGUMENT.
func Model(m *nn.Model) error { return ModelOf(nil, m) }

// ModelOf is Model for the operations of a table.
func ModelOf(operations *opspec.Table, m *nn.Model) error { return model(operations, m, false) }

// Construction is Model without what follows from values and shapes of an operation's operands, such as an activation that
// is none: only a driver judges those. It is what NNAPI demands of a model that an application has finished.
func Construction(m *nn.Model) error { return model(nil, m, true) }

func model(operations *opspec.Table, m *nn.Model, construction bool) error {
	if m == nil {
		return invalid(errors.New("validate: no model"))
	}
	if n := len(m.Referenced); n > MaxSubgraphs {
		return invalid(fmt.Errorf("validate: %d referenced subgraphs, at most %d", n, MaxSubgraphs))
	}
	if err := extensions(m); err != nil {
		return invalid(err)
	}
	m = operations.Localize(m)
	c := checker{model: m, table: operations, construction: construction} // m has the table's codes from here on
	for i := -1; i < len(m.Referenced); i++ {
		g := &m.Main
		if i >= 0 {
			g = &m.Referenced[i]
		}
		c.g = g
		c.at = Error{Subgraph: i, Operation: -1, Operand: -1}
		if err := c.subgraph(); err != nil {
			return invalid(err)
		}
	}
	if err := acyclic(m); err != nil {
		return invalid(err)
	}
	return nil
}

// checker walks one subgraph; at is the place it has reached.
type checker struct {
	model     *nn.Model
	table     *opspec.Table
	g         *nn.Subgraph
	at        Error
	constants int64
	// construction leaves values and shapes of operations to drivers.
	construction bool
}

func (c *checker) errorf(format string, args ...any) error {
	e := c.at
	e.Rule = fmt.Errorf(format, args...)
	return &e
}

func (c *checker) subgraph() (err error) {
	defer try.Catch(&err)
	g := c.g
	if len(g.Operands) > MaxOperands || len(g.Operations) > MaxOperations {
		return c.errorf("%d operands and %d operations, at most %d and %d", len(g.Operands), len(g.Operations), MaxOperands, MaxOperations)
	}
	if len(g.Operations) == 0 {
		return c.errorf("there are no operations")
	}
	if len(g.Outputs) == 0 {
		return c.errorf("there are no outputs")
	}
	for i := range g.Operands {
		c.at.Operand = i
		try.E(c.operand(&g.Operands[i]))
	}
	c.at.Operand = -1
	written := try.V(c.signature())
	try.E(c.dataflow(written))
	try.E(c.consumers())
	return c.operations()
}

// operand checks type, shape, value and quantization of one operand.
func (c *checker) operand(o *nn.Operand) error {
	if nn.IsExtensionOperandType(o.Type) {
		if err := c.extensionType(o); err != nil {
			return err
		}
	} else if !o.Type.Valid() && !nn.IsOEM(o.Type) {
		return c.errorf("no operand type %d", int32(o.Type))
	}
	if len(o.Dimensions) > MaxRank {
		return c.errorf("rank %d, at most %d", len(o.Dimensions), MaxRank)
	}
	if o.Type.IsScalar() && len(o.Dimensions) > 0 {
		return c.errorf("a scalar %s has no dimensions, %v given", o.Type, o.Dimensions)
	}
	if o.Bytes() < 0 {
		return c.errorf("shape %v is too large", o.Dimensions)
	}
	if err := c.value(o); err != nil {
		return err
	}
	return c.quantization(o)
}

func (c *checker) value(o *nn.Operand) error {
	n := int64(len(o.Data))
	switch o.Lifetime {
	case nn.TemporaryVariable, nn.SubgraphInput, nn.SubgraphOutput, nn.NoValue:
		if n > 0 {
			return c.errorf("lifetime %s with %d bytes of data", o.Lifetime, n)
		}
		if o.Type == nn.SubgraphRef {
			return c.errorf("type SUBGRAPH with lifetime %s", o.Lifetime)
		}
		return nil
	case nn.LifetimeSubgraph:
		if o.Type != nn.SubgraphRef {
			return c.errorf("lifetime SUBGRAPH with type %s", o.Type)
		}
		if n != 4 {
			return c.errorf("a subgraph reference has 4 bytes, not %d", n)
		}
		if i, _ := o.Subgraph(); uint64(i) >= uint64(len(c.model.Referenced)) {
			return c.errorf("refers to subgraph %d of %d", i, len(c.model.Referenced))
		}
		return nil
	case nn.ConstantCopy, nn.ConstantReference:
	default:
		return c.errorf("no lifetime %d", o.Lifetime.HAL())
	}
	if o.Type == nn.SubgraphRef {
		return c.errorf("type SUBGRAPH with lifetime %s", o.Lifetime)
	}
	if n == 0 {
		return nil // an optional operand left out
	}
	want := int64(o.Type.ElementBytes())
	if !o.Type.IsScalar() {
		if !o.Known() {
			return c.errorf("a constant of unknown shape %v", o.Dimensions)
		}
		want = o.Bytes()
	}
	if n != want && !nn.IsForeign(o.Type) {
		return c.errorf("%d bytes of data, %s %v has %d", n, o.Type, o.Dimensions, want)
	}
	if c.constants += n; c.constants > MaxConstants {
		return c.errorf("constants of the model exceed %d bytes", int64(MaxConstants))
	}
	return nil
}

// signature checks the lists of inputs and outputs and returns which operands
// have a value before the first operation.
func (c *checker) signature() ([]bool, error) {
	g := c.g
	known := make([]bool, len(g.Operands))
	for k, list := range [2][]uint32{g.Inputs, g.Outputs} {
		what, life := [2]string{"input", "output"}[k], [2]nn.Lifetime{nn.SubgraphInput, nn.SubgraphOutput}[k]
		listed := make([]bool, len(g.Operands))
		for i, x := range list {
			if uint64(x) >= uint64(len(g.Operands)) {
				return nil, c.errorf("%s %d is operand %d of %d", what, i, x, len(g.Operands))
			}
			if listed[x] {
				return nil, c.errorf("%s %d is operand %d again", what, i, x)
			}
			listed[x] = true
			if l := g.Operands[x].Lifetime; l != life {
				return nil, c.errorf("%s %d is operand %d of lifetime %s", what, i, x, l)
			}
			known[x] = known[x] || k == 0
		}
		for i := range g.Operands {
			if g.Operands[i].Lifetime == life && !listed[i] {
				return nil, c.errorf("operand %d has lifetime %s but is not listed", i, life)
			}
		}
	}
	for i := range g.Operands {
		switch g.Operands[i].Lifetime {
		case nn.ConstantCopy, nn.ConstantReference, nn.NoValue, nn.LifetimeSubgraph:
			known[i] = true
		}
	}
	return known, nil
}

// dataflow checks that operands are written once and before they are read.
func (c *checker) dataflow(known []bool) error {
	g := c.g
	for i := range g.Operations {
		op := &g.Operations[i]
		c.at.Operation, c.at.Type = i, op.Type
		for k, x := range op.Inputs {
			if uint64(x) >= uint64(len(g.Operands)) {
				return c.errorf("input %d is operand %d of %d", k, x, len(g.Operands))
			}
			if !known[x] {
				return c.errorf("input %d reads operand %d before it is written", k, x)
			}
		}
		for k, x := range op.Outputs {
			if uint64(x) >= uint64(len(g.Operands)) {
				return c.errorf("output %d is operand %d of %d", k, x, len(g.Operands))
			}
			if l := g.Operands[x].Lifetime; l != nn.TemporaryVariable && l != nn.SubgraphOutput {
				return c.errorf("output %d is operand %d of lifetime %s", k, x, l)
			}
			if known[x] {
				return c.errorf("output %d writes operand %d a second time", k, x)
			}
			known[x] = true
		}
	}
	c.at.Operation = -1
	for _, x := range g.Outputs {
		if !known[x] {
			return c.errorf("operand %d is an output that no operation writes", x)
		}
	}
	return nil
}

// consumers compares how often operands are read with what the client states.
func (c *checker) consumers() error {
	g := c.g
	if g.Consumers == nil {
		return nil
	}
	if len(g.Consumers) != len(g.Operands) {
		return c.errorf("%d numbers of consumers for %d operands", len(g.Consumers), len(g.Operands))
	}
	count := make([]uint32, len(g.Operands))
	for i := range g.Operations {
		for _, x := range g.Operations[i].Inputs {
			count[x]++
		}
	}
	for i, n := range count {
		if g.Consumers[i] != n {
			return c.errorf("operand %d states %d consumers, %d inputs name it", i, g.Consumers[i], n)
		}
	}
	return nil
}

// operations checks each operation against its row and, as far as shapes are
// known, its parameters. Shapes are inferred on the way.
func (c *checker) operations() error {
	r := *c.g
	r.Operands = append([]nn.Operand(nil), c.g.Operands...)
	v := opspec.View{Operands: r.Operands, Table: c.table}
	for i := range r.Operations {
		op := &r.Operations[i]
		c.at.Operation, c.at.Type = i, op.Type
		if op.Type == nn.OpOEM {
			continue // its driver knows its operands
		}
		if nn.IsExtensionOperationType(op.Type) {
			foreign, err := c.extensionOperation(op)
			if err != nil {
				return err
			}
			if foreign {
				continue
			}
		}
		a, err := c.bound(v, op)
		if err != nil {
			return err
		}
		dims, err := a.OutputDims()
		if errors.Is(err, opspec.ErrUnknown) || err != nil && c.construction {
			continue
		}
		if err != nil {
			return c.errorf("%w", err)
		}
		for k, x := range op.Outputs {
			if err := v.SetDims(x, dims[k]); err != nil && !c.construction {
				return c.errorf("output %d is operand %d: %w", k, x, err)
			}
		}
		if err := a.CheckQuant(); err != nil && !errors.Is(err, opspec.ErrUnknown) {
			return c.errorf("%w", err)
		}
	}
	c.at.Operation = -1
	return nil
}

// bound binds the operands of an operation and checks what holds whatever their values are: numbers
// and types, ranks, scales and zero points, the signatures of subgraphs.
func (c *checker) bound(v opspec.View, op *nn.Operation) (opspec.Args, error) {
	a, err := v.Bind(op)
	if err != nil {
		return a, c.errorf("%w", err)
	}
	if err := a.Check(); err != nil {
		return a, c.errorf("%w", err)
	}
	return a, c.control(v, op)
}

// Operation checks an operation that is about to be added to the main subgraph of a model, as far as
// the values and the shapes of its operands do not matter: they may come later. Its operands exist.
func Operation(m *nn.Model, op *nn.Operation) error {
	c := checker{model: m, g: &m.Main, at: Error{Subgraph: -1, Operation: len(m.Main.Operations), Operand: -1, Type: op.Type}}
	if _, err := c.bound(opspec.ModelView(&m.Main), op); err != nil {
		return invalid(err)
	}
	return nil
}

// acyclic checks that no subgraph refers to itself, through others or directly.
func acyclic(m *nn.Model) error {
	const open, done = 1, 2
	state := make([]byte, len(m.Referenced))
	var visit func(g *nn.Subgraph) error
	visit = func(g *nn.Subgraph) error {
		for i := range g.Operands {
			r, ok := g.Operands[i].Subgraph()
			if !ok {
				continue
			}
			switch state[r] {
			case open:
				return fmt.Errorf("validate: subgraph %d refers to itself", r)
			case done:
				continue
			}
			state[r] = open
			if err := visit(&m.Referenced[r]); err != nil {
				return err
			}
			state[r] = done
		}
		return nil
	}
	return visit(&m.Main)
}
