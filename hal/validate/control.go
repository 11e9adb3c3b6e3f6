package validate

import (
	"bytes"
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// control checks the subgraphs that IF and WHILE refer to against the operands
// they are given.
func (c *checker) control(op *nn.Operation) error {
	switch op.Type {
	case nn.OpIf:
		if err := c.boolean(&c.g.Operands[op.Inputs[0]], "condition"); err != nil {
			return err
		}
		for i, name := range [2]string{"then", "else"} {
			s := c.subgraphOf(op.Inputs[1+i])
			if s == nil {
				return c.errorf("input %d (%s) refers to no subgraph", 1+i, name)
			}
			if err := c.bindings(s, name, op.Inputs[3:], op.Outputs); err != nil {
				return err
			}
		}
	case nn.OpWhile:
		condition, body := c.subgraphOf(op.Inputs[0]), c.subgraphOf(op.Inputs[1])
		if condition == nil || body == nil {
			return c.errorf("condition or body refers to no subgraph")
		}
		in := op.Inputs[2:]
		if len(condition.Outputs) != 1 {
			return c.errorf("the condition has %d outputs, 1 needed", len(condition.Outputs))
		}
		if x := condition.Outputs[0]; uint64(x) < uint64(len(condition.Operands)) {
			if err := c.boolean(&condition.Operands[x], "output of the condition"); err != nil {
				return err
			}
		}
		if err := c.bindings(condition, "condition", in, nil); err != nil {
			return err
		}
		if n := len(body.Outputs); n > len(in) || n < len(op.Outputs) {
			return c.errorf("the body has %d outputs for %d inputs and %d results", n, len(in), len(op.Outputs))
		}
		return c.bindings(body, "body", in, op.Outputs)
	}
	return nil
}

func (c *checker) boolean(o *nn.Operand, what string) error {
	if o.Type != nn.TensorBool8 || (o.Known() && o.Elements() != 1) {
		return c.errorf("the %s is %s %v, one TENSOR_BOOL8 element needed", what, o.Type, o.Dimensions)
	}
	return nil
}

// subgraphOf is the subgraph an operand refers to; operands were checked before.
func (c *checker) subgraphOf(i uint32) *nn.Subgraph {
	o := &c.g.Operands[i]
	if o.Lifetime != nn.LifetimeSubgraph || len(o.Data) != 4 {
		return nil
	}
	return &c.model.Referenced[binary.LittleEndian.Uint32(o.Data)]
}

// bindings compares the operands given with the inputs of a subgraph and the
// results taken with its first outputs. Without results, outputs are not looked at.
func (c *checker) bindings(s *nn.Subgraph, name string, inputs, results []uint32) error {
	if len(s.Inputs) != len(inputs) {
		return c.errorf("%s has %d inputs, %d are given", name, len(s.Inputs), len(inputs))
	}
	if len(s.Outputs) < len(results) {
		return c.errorf("%s has %d outputs, %d are taken", name, len(s.Outputs), len(results))
	}
	for k, pair := range [2][2][]uint32{{s.Inputs, inputs}, {s.Outputs, results}} {
		for i, outer := range pair[1] {
			inner := pair[0][i]
			if uint64(inner) >= uint64(len(s.Operands)) {
				continue // reported with the subgraph itself
			}
			a, b := &s.Operands[inner], &c.g.Operands[outer]
			if a.Type != b.Type || a.Scale != b.Scale || a.ZeroPoint != b.ZeroPoint || !bytes.Equal(a.Extension, b.Extension) ||
				!compatibleDims(a.Dimensions, b.Dimensions) {
				return c.errorf("%s: %s %d is %s %v, operand %d is %s %v", name, [2]string{"input", "output"}[k], i,
					a.Type, a.Dimensions, outer, b.Type, b.Dimensions)
			}
		}
	}
	return nil
}

// compatibleDims reports whether two shapes may be the same.
func compatibleDims(a, b []uint32) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && a[i] != 0 && b[i] != 0 {
			return false
		}
	}
	return true
}
