package validate

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// control checks the subgraphs that an IF or WHILE refers to against the operands they
// are given.
func (c *checker) control(v opspec.View, op *nn.Operation) error {
	switch op.Type {
	case nn.OpIf:
		o, err := opspec.Read[opspec.If](v, op)
		if err != nil {
			return c.errorf("%w", err)
		}
		return c.branches(&o)
	case nn.OpWhile:
		o, err := opspec.Read[opspec.While](v, op)
		if err != nil {
			return c.errorf("%w", err)
		}
		return c.loop(&o)
	}
	return nil
}

func (c *checker) branches(o *opspec.If) error {
	if err := c.boolean(&c.g.Operands[o.Condition], "condition"); err != nil {
		return err
	}
	for _, branch := range [2]struct {
		name string
		x    uint32
	}{{"then", o.Then}, {"else", o.Else}} {
		s := c.subgraphOf(branch.x)
		if s == nil {
			return c.errorf("operand %d (%s) refers to no subgraph", branch.x, branch.name)
		}
		if len(s.Outputs) != len(o.Outputs) {
			return c.errorf("%s has %d outputs, the operation has %d", branch.name, len(s.Outputs), len(o.Outputs))
		}
		if err := c.bindings(s, branch.name, o.Inputs, o.Outputs); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) loop(o *opspec.While) error {
	condition, body := c.subgraphOf(o.Condition), c.subgraphOf(o.Body)
	if condition == nil || body == nil {
		return c.errorf("condition or body refers to no subgraph")
	}
	if len(condition.Outputs) != 1 {
		return c.errorf("the condition has %d outputs, 1 needed", len(condition.Outputs))
	}
	if x := condition.Outputs[0]; uint64(x) < uint64(len(condition.Operands)) {
		if err := c.boolean(&condition.Operands[x], "output of the condition"); err != nil {
			return err
		}
	}
	if err := c.bindings(condition, "condition", o.Inputs, nil); err != nil {
		return err
	}
	if n := len(body.Outputs); n > len(o.Inputs) || n < len(o.Outputs) {
		return c.errorf("the body has %d outputs for %d inputs and %d results", n, len(o.Inputs), len(o.Outputs))
	}
	if err := c.bindings(body, "body", o.Inputs, o.Outputs); err != nil {
		return err
	}
	return c.carried(body)
}

// carried compares the outputs of a WHILE's body with the inputs that they become in the
// next round.
func (c *checker) carried(body *nn.Subgraph) error {
	for i, out := range body.Outputs {
		in := body.Inputs[i]
		if max(uint64(in), uint64(out)) >= uint64(len(body.Operands)) {
			continue // reported with the subgraph itself
		}
		if a, b := &body.Operands[out], &body.Operands[in]; !sameKind(a, b) {
			return c.errorf("body: output %d is %s %v, input %d that it becomes is %s %v", i, describe(a), a.Dimensions,
				i, describe(b), b.Dimensions)
		}
	}
	return nil
}

func (c *checker) boolean(o *nn.Operand, what string) error {
	if o.Type != nn.TensorBool8 || (o.Known() && (len(o.Dimensions) != 1 || o.Elements() != 1)) {
		return c.errorf("the %s is %s %v, one TENSOR_BOOL8 [1] needed", what, o.Type, o.Dimensions)
	}
	return nil
}

// subgraphOf is the subgraph an operand refers to; operands were checked before.
func (c *checker) subgraphOf(i uint32) *nn.Subgraph {
	k, ok := c.g.Operands[i].Subgraph()
	if !ok {
		return nil
	}
	return &c.model.Referenced[k]
}

// bindings compares the operands given with the inputs of a subgraph and the
// results used with its first outputs, of which the caller has made sure that there are
// enough. Without results, outputs are not compared.
func (c *checker) bindings(s *nn.Subgraph, name string, inputs, results []uint32) error {
	if len(s.Inputs) != len(inputs) {
		return c.errorf("%s has %d inputs, %d are given", name, len(s.Inputs), len(inputs))
	}
	for k, pair := range [2][2][]uint32{{s.Inputs, inputs}, {s.Outputs, results}} {
		for i, outer := range pair[1] {
			inner := pair[0][i]
			if uint64(inner) >= uint64(len(s.Operands)) {
				continue // reported with the subgraph itself
			}
			a, b := &s.Operands[inner], &c.g.Operands[outer]
			if !sameKind(a, b) {
				return c.errorf("%s: %s %d is %s %v, operand %d is %s %v", name, [2]string{"input", "output"}[k], i,
					describe(a), a.Dimensions, outer, describe(b), b.Dimensions)
			}
		}
	}
	return nil
}

// sameKind reports whether a value of operand b may become a value of operand a: the
// types, quantization, data of an extension are equal and the shapes may be.
func sameKind(a, b *nn.Operand) bool {
	return a.Type == b.Type && a.Scale == b.Scale && a.ZeroPoint == b.ZeroPoint && sameChannels(a.Channel, b.Channel) &&
		bytes.Equal(a.Extension, b.Extension) && compatibleDims(a.Dimensions, b.Dimensions)
}

// sameChannels reports whether two operands have the same scales of channels, or none.
func sameChannels(a, b *nn.ChannelQuant) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Dim == b.Dim && slices.Equal(a.Scales, b.Scales)
}

// describe is an operand's type with the scale and zero point that a quantized one has.
func describe(o *nn.Operand) string {
	if o.Scale == 0 && o.ZeroPoint == 0 {
		return o.Type.String()
	}
	return fmt.Sprintf("%s(%g, %d)", o.Type, o.Scale, o.ZeroPoint)
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
