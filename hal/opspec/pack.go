package opspec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// frontAxis resolves an axis that may not count from the back.
func frontAxis(v int32, rank int) (int, error) {
	if v < 0 {
		return 0, fmt.Errorf("axis %d is negative", v)
	}
	return axis(v, rank)
}

// Pack reads a PACK: inputs of one shape, joined along a new axis. It is a
// Concat whose inputs have size 1 along that axis.
func (v View) Pack(op *nn.Operation) (Concat, error) {
	a, err := v.bindAs(op, nn.OpPack)
	if err != nil {
		return Concat{}, err
	}
	c := Concat{Inputs: a.Variadic(), Output: op.Outputs[0], Type: a.Key}
	x, err := a.Int32("axis")
	if err != nil {
		return c, err
	}
	var first []uint32
	for i, in := range c.Inputs {
		d, err := v.Dims(in)
		if err != nil {
			return c, a.errorf("inputs", "%w", err)
		}
		if i == 0 {
			first = d
			if c.Axis, err = frontAxis(x, len(d)+1); err != nil {
				return c, a.errorf("axis", "%w", err)
			}
		}
		if !sameDims(d, first) {
			return c, a.errorf("inputs", "input %d has shape %v, input 0 has %v", i, d, first)
		}
		c.Sizes = append(c.Sizes, int(nn.Elements(d[c.Axis:])))
	}
	c.Outer = int(nn.Elements(first[:c.Axis]))
	c.Dims = append(append(append([]uint32{}, first[:c.Axis]...), uint32(len(c.Inputs))), first[c.Axis:]...)
	if nn.Elements(c.Dims) < 0 {
		return c, a.errorf("inputs", "result %v is too large", c.Dims)
	}
	return c, nil
}
