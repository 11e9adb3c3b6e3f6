package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareConcat is CONCATENATION, and PACK, whose inputs lie side by side along a new
// axis. A quantized input with another quantization than the output's is rescaled
// through a table.
func prepareConcat(v opspec.View, op *nn.Operation) (kern, error) {
	c, err := v.Concat(op)
	if err != nil {
		return nil, err
	}
	tables := make([]*[256]byte, len(c.Inputs))
	if c.Type.IsQuant8() {
		for i, idx := range c.Inputs {
			tables[i] = opspec.RequantTable(&v.Operands[idx], &v.Operands[c.Output])
		}
	}
	size := c.Type.ElementBytes()
	row := 0
	for _, n := range c.Sizes {
		row += n * size
	}
	return func(x *run) error {
		out := x.bytes(c.Output)
		at := 0
		for i, idx := range c.Inputs {
			in, n := x.bytes(idx), c.Sizes[i]*size
			for o := range c.Outer {
				dst := out[o*row+at : o*row+at+n]
				src := in[o*n : (o+1)*n]
				if t := tables[i]; t != nil {
					for k, b := range src {
						dst[k] = t[b]
					}
				} else {
					copy(dst, src)
				}
			}
			at += n
		}
		return nil
	}, nil
}
