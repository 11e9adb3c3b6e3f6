// Package mutation breaks models and requests the way Android's vendor test
// suite does (VTS, validateModel and validateRequest): one rule of the HAL per
// mutant. Every mutant of a valid model must end in INVALID_ARGUMENT on every
// device.
package mutation

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// Mutant is a broken model or broken options.
type Mutant struct {
	Model   *nn.Model
	Options hal.PrepareOptions
	What    string // the change
	// OnlyPrepare: a support query has no options, so that only preparing fails.
	OnlyPrepare bool
}

// Kind is one kind of mutation, by its name in VTS.
type Kind struct {
	Name    string
	Mutants func(m *nn.Model) []Mutant
}

// Kinds are the 22 kinds of VTS for HAL 1.3.
var Kinds = []Kind{
	{"mutateExecutionOrder", executionOrder},
	{"mutateOperandType", operandType},
	{"mutateOperandRank", operandRank},
	{"mutateOperandScale", operandScale},
	{"mutateOperandZeroPoint", operandZeroPoint},
	{"mutateOperandLifeTime", operandLifetime},
	{"mutateOperandInputOutput", operandInputOutput},
	{"mutateOperandNumberOfConsumers", operandConsumers},
	{"mutateOperandAddWriter", operandAddWriter},
	{"mutateOperationOperandType", operationOperandType},
	{"mutateOperationType", operationType},
	{"mutateOperationInputOperandIndex", operationIndex(inputs)},
	{"mutateOperationOutputOperandIndex", operationIndex(outputs)},
	{"mutateOperationRemoveWrite", operationRemoveWrite},
	{"removeOperand", removeOperand},
	{"removeOperation", removeOperation},
	{"removeOperationInput", removeFrom(inputs)},
	{"removeOperationOutput", removeFrom(outputs)},
	{"addOperationInput", addTo(inputs)},
	{"addOperationOutput", addTo(outputs)},
	{"mutateExecutionPreference", executionPreference},
	{"mutateExecutionPriority", executionPriority},
}

// Clone copies a model deeply, except for constants, which no mutation changes.
func Clone(m *nn.Model) *nn.Model {
	c := *m
	c.Main = cloneSubgraph(&m.Main)
	c.Referenced = nil
	for i := range m.Referenced {
		c.Referenced = append(c.Referenced, cloneSubgraph(&m.Referenced[i]))
	}
	return &c
}

func cloneSubgraph(g *nn.Subgraph) nn.Subgraph {
	c := *g
	c.Operands = slices.Clone(g.Operands)
	for i := range c.Operands {
		c.Operands[i].Dimensions = slices.Clone(c.Operands[i].Dimensions)
	}
	c.Operations = slices.Clone(g.Operations)
	for i := range c.Operations {
		op := &c.Operations[i]
		op.Inputs, op.Outputs = slices.Clone(op.Inputs), slices.Clone(op.Outputs)
	}
	c.Inputs, c.Outputs, c.Consumers = slices.Clone(g.Inputs), slices.Clone(g.Outputs), slices.Clone(g.Consumers)
	return c
}

// list collects mutants of one model.
type list struct {
	of      *nn.Model
	mutants []Mutant
}

// add applies a change to a copy of the model.
func (l *list) add(change func(g *nn.Subgraph), format string, args ...any) {
	m := Clone(l.of)
	change(&m.Main)
	l.mutants = append(l.mutants, Mutant{Model: m, What: fmt.Sprintf(format, args...)})
}

// operands calls f for every operand of the main subgraph.
func operands(m *nn.Model, f func(l *list, i int, o *nn.Operand)) []Mutant {
	l := &list{of: m}
	for i := range m.Main.Operands {
		f(l, i, &m.Main.Operands[i])
	}
	return l.mutants
}

// operations calls f for every operation of the main subgraph.
func operations(m *nn.Model, f func(l *list, i int, op *nn.Operation)) []Mutant {
	l := &list{of: m}
	for i := range m.Main.Operations {
		f(l, i, &m.Main.Operations[i])
	}
	return l.mutants
}

// inputs and outputs select a list of an operation.
func inputs(op *nn.Operation) *[]uint32  { return &op.Inputs }
func outputs(op *nn.Operation) *[]uint32 { return &op.Outputs }
