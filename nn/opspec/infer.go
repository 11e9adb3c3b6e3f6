package opspec

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// arguments is an Arguments of any type.
type arguments interface {
	shapes(*Args) ([][]uint32, error)
	hasShapes() bool
}

// Arguments read the operands of an operation into a struct of its family, and give
// the shapes of its outputs; without Shapes, only the execution gives them. An operation's
// struct is found by its type: see Read.
type Arguments[T any] struct {
	Read   func(*Args) (T, error)
	Shapes func(*T) [][]uint32
}

// reading reads the operands. What read calls ends with the first error: see package try.
func reading[T any](read func(*Args) (T, error), a *Args) (p T, err error) {
	defer try.Catch(&err)
	return read(a)
}

func (r Arguments[T]) shapes(a *Args) ([][]uint32, error) {
	p, err := reading(r.Read, a)
	if err != nil {
		return nil, err
	}
	if r.Shapes == nil {
		return nil, fmt.Errorf("%s: the shapes of its outputs: %w", a.Op.Type, ErrUnknown)
	}
	return r.Shapes(&p), nil
}

func (r Arguments[T]) hasShapes() bool { return r.Shapes != nil }

// one is Shapes of operations with one output.
func one[T any](dims func(*T) []uint32) func(*T) [][]uint32 {
	return func(p *T) [][]uint32 { return [][]uint32{dims(p)} }
}

// Read reads the operands of an operation whose row has arguments of type T.
func Read[T any](v View, op *nn.Operation) (p T, err error) {
	row := v.Table.Lookup(op.Type)
	if row == nil {
		return p, fmt.Errorf("opspec: %s: no such operation", op.Type)
	}
	r, ok := row.Args.(Arguments[T])
	if !ok {
		return p, fmt.Errorf("opspec: %s does not have the arguments %T", op.Type, p)
	}
	a, err := v.Bind(op)
	if err != nil {
		return p, err
	}
	return reading(r.Read, &a)
}

// Reads reports whether Read makes a T of an operation of the Standard table.
func Reads[T any](op nn.OperationType) bool {
	row := Lookup(op)
	return row != nil && reads[T](row)
}

func reads[T any](r *Row) bool {
	_, ok := r.Args.(Arguments[T])
	return ok
}

// fits makes the Quant field of a row from the arithmetic that its scales define.
func fits[T, Q any](read func(*Args) (T, error), arithmetic func(*T, View) (Q, error)) func(*Args) error {
	return func(a *Args) error {
		p, err := reading(read, a)
		if err == nil {
			_, err = arithmetic(&p, a.View)
		}
		return err
	}
}

// CheckQuant checks that the scales of an 8-bit quantized operation fit each other.
func (a *Args) CheckQuant() error {
	if a.Row.Quant == nil || !a.Key.IsQuant8() {
		return nil
	}
	return a.Row.Quant(a)
}

// HasShapeRule reports whether the shapes of the outputs follow from the operands.
func (r *Row) HasShapeRule() bool { return r.Args.hasShapes() }

// HasShapeRule reports whether an operation of the Standard table has a shape rule.
func HasShapeRule(op nn.OperationType) bool {
	r := Lookup(op)
	return r != nil && r.HasShapeRule()
}

// OutputDims infers the shapes of an operation's outputs. The error is
// ErrUnknown when they depend on something not known yet.
func (v View) OutputDims(op *nn.Operation) ([][]uint32, error) {
	if v.Table.Lookup(op.Type) == nil { // of an extension that only others know
		return nil, fmt.Errorf("%s: the shapes of its outputs: %w", op.Type, ErrUnknown)
	}
	a, err := v.Bind(op)
	if err != nil {
		return nil, err
	}
	return a.OutputDims()
}

// OutputDims infers the shapes of the operation's outputs.
func (a *Args) OutputDims() ([][]uint32, error) {
	dims, err := a.Row.Args.shapes(a)
	if err != nil {
		return nil, err
	}
	for i, d := range dims {
		if nn.Elements(d) < 0 {
			return nil, fmt.Errorf("%s: output %d of shape %v is too large", a.Op.Type, i, d)
		}
	}
	return dims, nil
}

// Resolve returns a copy of the subgraph in which the shapes of temporaries
// and outputs are completed from the inputs as far as they can be known.
// Operand data is shared. A declared shape that an operation contradicts is an
// error.
func (t *Table) Resolve(g *nn.Subgraph) (*nn.Subgraph, error) {
	return t.inferAll(g, false, func(*nn.Operation) bool { return true })
}

// Resolve is Standard's.
func Resolve(g *nn.Subgraph) (*nn.Subgraph, error) { return Standard().Resolve(g) }

// Complete is Resolve for a subgraph whose inputs have their final shapes and
// whose parameters are constants: an operation whose output shapes are still not
// known is an error, unless open reports that only its execution determines them.
func (t *Table) Complete(g *nn.Subgraph, open func(nn.OperationType) bool) (*nn.Subgraph, error) {
	return t.inferAll(g, true, func(op *nn.Operation) bool { return open(op.Type) || allKnown(g, op.Outputs) })
}

// Complete is Standard's.
func Complete(g *nn.Subgraph, open func(nn.OperationType) bool) (*nn.Subgraph, error) {
	return Standard().Complete(g, open)
}

func allKnown(g *nn.Subgraph, list []uint32) bool {
	for _, x := range list {
		if !g.Operands[x].Known() {
			return false
		}
	}
	return true
}

// inferAll completes the shapes of a copy of the subgraph, operation by
// operation. mayStay reports whether the outputs of one may stay unknown.
func (t *Table) inferAll(g *nn.Subgraph, final bool, mayStay func(*nn.Operation) bool) (*nn.Subgraph, error) {
	r := *g
	r.Operands = append([]nn.Operand(nil), g.Operands...)
	v := View{Operands: r.Operands, Final: final, Table: t}
	for i := range r.Operations {
		op := &r.Operations[i]
		dims, err := v.OutputDims(op)
		if errors.Is(err, ErrUnknown) && mayStay(op) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		for k, x := range op.Outputs {
			if err := v.SetDims(x, dims[k]); err != nil {
				return nil, fmt.Errorf("operation %d: %s: output %d (operand %d): %w", i, op.Type, k, x, err)
			}
		}
	}
	return &r, nil
}

// SetDims gives an operand its inferred shape, checking the declared one. The
// operand's previous Dimensions slice is not written to.
func (v View) SetDims(i uint32, dims []uint32) error {
	o := &v.Operands[i]
	if err := mergeDims(o.Dimensions, dims); err != nil {
		return err
	}
	o.Dimensions = dims
	return nil
}

// mergeDims completes the declared shape have with the inferred one.
func mergeDims(have, want []uint32) error {
	if len(have) == 0 {
		return nil
	}
	if len(have) != len(want) {
		return fmt.Errorf("declared rank %d, the operation gives shape %v", len(have), want)
	}
	for i := range have {
		if have[i] != 0 && have[i] != want[i] {
			return fmt.Errorf("declared shape %v, the operation gives %v", have, want)
		}
	}
	return nil
}
