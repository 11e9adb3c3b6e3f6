package refcpu

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareConcat is CONCATENATION. A quantized input with another quantization
// than the output's is rescaled through a table.
func prepareConcat(v opspec.View, op *nn.Operation) (kern, error) {
	c, err := v.Concat(op)
	if err != nil {
		return nil, err
	}
	tables := make([]*[256]byte, len(c.Inputs))
	if c.Type.IsQuant8() {
		for i, idx := range c.Inputs {
			tables[i] = requantTable(&v.Operands[idx], &v.Operands[c.Output])
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

// requantTable maps bytes of one 8-bit quantization to another, nil when they
// are the same: round(q * (si/so) - zi * (si/so)) + zo in float32, on the
// unsigned form of both types.
func requantTable(in, out *nn.Operand) *[256]byte {
	if in.Scale == out.Scale && in.ZeroPoint == out.ZeroPoint {
		return nil
	}
	shift := int32(0)
	if in.Type != nn.TensorQuant8Asymm {
		shift = 128
	}
	scale := in.Scale * (1 / out.Scale)
	bias := -float32(in.ZeroPoint+shift) * scale
	t := new([256]byte)
	for i := range t {
		q := float32(quantOf(in.Type, byte(i)) + shift)
		v := math.Round(float64(float32(q*scale)+bias)) + float64(out.ZeroPoint+shift)
		t[i] = byte(int32(min(max(v, 0), 255)) - shift)
	}
	return t
}
