package randgraph

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
)

// Operation defines how to draw an operation that the project does not have, and how exact its results must be.
type Operation struct {
	Op    nn.OperationType
	Class Class
	// Draw adds one operation of a type to a model and returns the result of Draw.Finish, or false when its decisions
	// contradict each other.
	Draw func(d *Draw, op nn.OperationType, key nn.OperandType) bool
	// NoFloat: the operation means something else in float32.
	NoFloat bool
}

// NewTable is a table of operations with a reference that draws a list of them.
func NewTable(operations *refcpu.Table, list ...Operation) *Table {
	return (&Table{operations: operations}).With(operations, list...)
}

// With is a table that draws more operations; operations is the reference of all.
func (t *Table) With(operations *refcpu.Table, list ...Operation) *Table {
	x := &Table{operations, slices.Clone(t.signatures)}
	for _, o := range list {
		x.signatures = append(x.signatures, signature{op: o.Op, class: o.Class, noFloat: o.NoFloat,
			make: func(g *gen, op nn.OperationType, k nn.OperandType) bool { return o.Draw(&Draw{g}, op, k) }})
	}
	return x
}

// Draw is a model that is being drawn. All decisions are drawn from it, so that a case can be drawn again and shrunk: 0
// is always the simplest.
type Draw struct{ g *gen }

// Choose decides between 0 and n-1.
func (d *Draw) Choose(n int) int { return d.g.choose(n) }

// Chance is true with a probability in percent.
func (d *Draw) Chance(percent int) bool { return d.g.chance(percent) }

// Real draws one of 64 steps between two numbers.
func (d *Draw) Real(lo, hi float64) float64 { return d.g.real(lo, hi) }

// Tensor is an operand of a type and of a rank between two: the result of an earlier operation,
// an input of the model or a constant.
func (d *Draw) Tensor(t nn.OperandType, lo, hi int) uint32 { return d.g.tensor(t, lo, hi, filler{}) }

// Like is a tensor of exactly the dimensions of another operand.
func (d *Draw) Like(t nn.OperandType, as uint32) uint32 {
	return d.g.like(t, d.g.at(as).Dimensions, filler{})
}

// Weights is a tensor of a shape that is a constant, or an input for all weights of the operation.
func (d *Draw) Weights(t nn.OperandType, dims ...uint32) uint32 {
	return d.g.weight(d.g.typed(t, dims), filler{})
}

// Dims is the shape of an operand that was drawn.
func (d *Draw) Dims(operand uint32) []uint32 { return slices.Clone(d.g.at(operand).Dimensions) }

// Int32, Bool and Float are scalar parameters; a Float is as wide as the elements of a type.
func (d *Draw) Int32(v int) uint32 { return d.g.int32(v) }

// Bool is a parameter.
func (d *Draw) Bool(v bool) uint32 { return d.g.bool(v) }

// Float is a parameter.
func (d *Draw) Float(as nn.OperandType, v float64) uint32 { return d.g.float(as, v) }

// Output is an output of a type, with the quantization that the operation's row fixes or that of an input, else a drawn
// one. Its shape follows from the row.
func (d *Draw) Output(op nn.OperationType, t nn.OperandType, input uint32) nn.Operand {
	return d.g.out(op, t, input)
}

// Finish adds the operation.
func (d *Draw) Finish(op nn.OperationType, inputs []uint32, outputs ...nn.Operand) bool {
	return d.g.finish(op, inputs, outputs...)
}
