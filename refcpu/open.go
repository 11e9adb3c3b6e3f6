package refcpu

import (
	"fmt"
	"maps"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// WithOpen is With for an operation whose output shapes only its execution gives: its row needs no shape rule, and its
// kernel gives each output shape and value by Run.Set.
func (t *Table) WithOpen(row opspec.Row, prepare Prepare) (*Table, error) {
	spec, err := t.spec.With(row)
	if err != nil {
		return nil, fmt.Errorf("refcpu: %w", err)
	}
	if prepare == nil {
		return nil, fmt.Errorf("refcpu: %s has no implementation", row.Op)
	}
	u := &Table{spec, maps.Clone(t.operations)}
	u.operations[row.Op] = operation{op: row.Op, prepare: prepare, ownShapes: true}
	return u, nil
}

// Operand is operand i with its shape and value in this execution. It must not be changed.
func (x *Run) Operand(i uint32) *nn.Operand { return &x.view.Operands[i] }

// Charge takes steps of work from the limits of the execution; they and bytes more of tensors must be left. An account
// pays for the bytes while the operation executes.
func (x *Run) Charge(steps, bytes int64) error {
	if bytes < 0 || bytes > x.budget.bytes {
		return fmt.Errorf("tensors of the execution exceed %d bytes: %w", x.prog.limits.Bytes, errLimit)
	}
	if steps < 0 || steps > x.budget.work {
		return fmt.Errorf("the execution exceeds %d steps of work: %w", x.prog.limits.Work, errLimit)
	}
	if err := x.budget.reserve(bytes); err != nil {
		return err
	}
	x.scratch += bytes
	x.budget.work -= steps
	return nil
}

// Set gives output operand i its shape and value, of which a copy is made.
func (x *Run) Set(i uint32, t Tensor) error {
	if err := x.view.SetDims(i, t.Dimensions); err != nil {
		return err
	}
	o := &x.view.Operands[i]
	if !x.budget.tensor(o) {
		return fmt.Errorf("tensors of the execution exceed %d bytes: %w", x.prog.limits.Bytes, errLimit)
	}
	if n := o.Bytes(); n != int64(len(t.Data)) {
		return fmt.Errorf("%d bytes for %v of shape %v", len(t.Data), o.Type, t.Dimensions)
	}
	if err := x.reserve(i, o.Bytes()); err != nil {
		return err
	}
	copy(x.alloc(i, len(t.Data)), t.Data)
	return nil
}
