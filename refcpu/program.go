package refcpu

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/nnsoc/nnsoc/internal/idle"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Limits bound the resources of a model on the host.
type Limits struct {
	// Bytes bounds the sum of all tensors of an execution.
	Bytes int64
	// Work bounds the multiply-accumulates and element steps of an execution.
	Work int64
}

// Config changes how a program is compiled. The zero value is Compile's.
type Config struct {
	// Limits; a zero field has a default: 1 GiB of tensors, 2^42 steps.
	Limits Limits
	// RoundOnce requantizes signed CONV_2D and FULLY_CONNECTED with a single
	// rounding, as TensorFlow Lite's optimized kernels do, instead of NNAPI's
	// two. Networks recorded with those kernels can then be compared exactly.
	RoundOnce bool
	// Operations that the model may have; nil is Standard.
	Operations *Table
}

// Program is a compiled model. Runs may happen at the same time.
type Program struct {
	model     *nn.Model
	graph     *nn.Subgraph // main, with inferred shapes
	children  []*Program   // of the referenced subgraphs
	limits    Limits
	roundOnce bool
	table     *Table
	// operations[i] executes operation i; kernels[i] is nil when it is prepared while it
	// runs.
	operations []operation
	kernels    []Kernel
	static     bool
	work       int64           // of one execution of a static program
	states     idle.Pool[*Run] // of a static program
}

// Compile prepares a model, which should have passed validation and must not
// change while the program is in use. An operation or a combination that the
// reference lacks is an error that names it.
func Compile(m *nn.Model) (*Program, error) { return CompileConfig(m, Config{}) }

// CompileConfig is Compile with a configuration.
func CompileConfig(m *nn.Model, cfg Config) (*Program, error) {
	limits := cfg.Limits
	if limits.Bytes == 0 {
		limits.Bytes = 1 << 30
	}
	if limits.Work == 0 {
		limits.Work = 1 << 42
	}
	table := cfg.Operations
	if table == nil {
		table = Standard()
	}
	budget := limits.budget(nil)
	children := make([]*Program, len(m.Referenced))
	for i := range children {
		p, err := table.compile(m, &m.Referenced[i], limits, &budget)
		if err != nil {
			return nil, fmt.Errorf("refcpu: subgraph %d: %w", i, err)
		}
		children[i] = p
	}
	main, err := table.compile(m, &m.Main, limits, &budget)
	if err != nil {
		return nil, fmt.Errorf("refcpu: %w", err)
	}
	for _, p := range append(children, main) {
		p.children, p.roundOnce = children, cfg.RoundOnce
	}
	return main, nil
}

// compile prepares one subgraph.
func (t *Table) compile(m *nn.Model, source *nn.Subgraph, limits Limits, budget *budget) (*Program, error) {
	for i := range source.Operations {
		if op := source.Operations[i].Type; !t.Supported(op) {
			return nil, fmt.Errorf("operation %d: %s is not supported", i, op)
		}
	}
	g, err := t.spec.Resolve(source)
	if err != nil {
		return nil, err
	}
	alignConstants(g)
	p := &Program{model: m, graph: g, table: t, limits: limits, operations: make([]operation, len(g.Operations)), kernels: make([]Kernel, len(g.Operations)), static: true}
	for i := range g.Operands {
		o := &g.Operands[i]
		p.static = p.static && (o.Known() || o.Lifetime == nn.NoValue || o.IsConst() && len(o.Data) == 0)
		if o.Known() && !budget.tensor(o) {
			return nil, fmt.Errorf("tensors of the model exceed %d bytes", limits.Bytes)
		}
	}
	v := t.spec.ModelView(g)
	before := budget.work
	for i := range g.Operations {
		op, impl := &g.Operations[i], t.operations[g.Operations[i].Type]
		p.operations[i] = impl
		if impl.ownShapes {
			p.static = false
		}
		if dims, err := v.OutputDims(op); err == nil && !budget.operation(v, op, dims) {
			return nil, fmt.Errorf("operation %d: %s: the model exceeds %d steps of work", i, op.Type, limits.Work)
		}
		k, err := impl.prepare(v, op)
		switch {
		case errors.Is(err, opspec.ErrUnknown):
			p.static = false
		case err != nil:
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		p.kernels[i] = k
	}
	p.work = before - budget.work
	return p, nil
}

// Check returns for each operation of the main subgraph why it cannot be prepared, nil for one that can, or
// whose parameters an execution brings. An operation that calls subgraphs needs all that is in them.
func (t *Table) Check(m *nn.Model) []error {
	if t == nil {
		t = Standard()
	}
	return t.check(m, &m.Main, map[uint32]error{})
}

// check notes in called the first error of each referenced subgraph.
func (t *Table) check(m *nn.Model, source *nn.Subgraph, called map[uint32]error) []error {
	wrong := make([]error, len(source.Operations))
	g, err := t.spec.Resolve(source)
	if err != nil {
		for i := range wrong {
			wrong[i] = err
		}
		return wrong
	}
	v := t.spec.ModelView(g)
	for i := range g.Operations {
		op := &g.Operations[i]
		if !t.Supported(op.Type) {
			wrong[i] = fmt.Errorf("%s is not supported", op.Type)
			continue
		}
		// Kernels of products do not fail for a valid model; packing their weights is slow.
		if r := t.spec.Lookup(op.Type); r == nil || r.Work.Kernel == opspec.KernelNone {
			for _, x := range op.Inputs {
				alignConstant(&g.Operands[x])
			}
			if _, err := t.operations[op.Type].prepare(v, op); !errors.Is(err, opspec.ErrUnknown) {
				wrong[i] = err
			}
		}
		for _, x := range op.Inputs {
			k, ok := g.Operands[x].Subgraph()
			if wrong[i] != nil || !ok {
				continue
			}
			if _, known := called[k]; !known {
				called[k] = cmp.Or(t.check(m, &m.Referenced[k], called)...)
			}
			wrong[i] = called[k]
		}
	}
	return wrong
}

// budget is the remaining limits of a model.
type budget struct {
	bytes, work int64 // left
	all         int64 // work at first
	operations  int64 // executed
	account     Account
	reserved    int64 // of the account
}

func (l Limits) budget(a Account) budget {
	return budget{bytes: l.Bytes, work: l.Work, all: l.Work, account: a}
}

// reserve has the account pay for bytes; without one they cost nothing.
func (b *budget) reserve(n int64) error {
	if b.account == nil {
		return nil
	}
	if err := b.account.Reserve(n); err != nil {
		return err
	}
	b.reserved += n
	return nil
}

// free gives reserved bytes back to the account.
func (b *budget) free(n int64) {
	if b.account != nil && n > 0 {
		b.account.Free(n)
		b.reserved -= n
	}
}

// nominal is the time reported for an execution without a timing model.
func (b *budget) nominal() time.Duration {
	return time.Duration(b.operations)*time.Microsecond + time.Duration(b.all-b.work)*time.Nanosecond
}

func (b *budget) tensor(o *nn.Operand) bool {
	n := o.Bytes()
	if n < 0 || n > b.bytes {
		return false
	}
	b.bytes -= n
	return true
}

// operation charges the multiply-accumulates and every element read or written.
func (b *budget) operation(v opspec.View, op *nn.Operation, out [][]uint32) bool {
	work := v.MACs(op)
	if work < 0 {
		return false
	}
	taps := int64(1)
	if p, err := opspec.Read[opspec.Pool](v, op); err == nil {
		taps = int64(p.KH) * int64(p.KW)
		if taps > b.work {
			return false
		}
	}
	for _, d := range out {
		n := nn.Elements(d)
		if n < 0 || n > b.work/taps {
			return false
		}
		work += n * taps
		if work > b.work {
			return false
		}
	}
	for _, i := range op.Inputs {
		if n := v.Operands[i].Elements(); n > 0 {
			work += n
		}
	}
	b.work -= work
	return b.work >= 0
}

// ConstantBytes is the bytes of the constants that the program keeps copies of.
func (p *Program) ConstantBytes() (n int64) {
	for i := range p.graph.Operands {
		if o := &p.graph.Operands[i]; o.IsConst() {
			n += int64(len(o.Data))
		}
	}
	return n
}

// Model returns the model the program was compiled from.
func (p *Program) Model() *nn.Model { return p.model }

// OutputDims returns the shapes of the outputs, nil for one that only an
// execution knows.
func (p *Program) OutputDims() [][]uint32 {
	out := make([][]uint32, len(p.graph.Outputs))
	for i, x := range p.graph.Outputs {
		if o := &p.graph.Operands[x]; o.Known() {
			out[i] = o.Dimensions
		}
	}
	return out
}
