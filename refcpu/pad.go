package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// preparePad is PAD and PAD_V2: zeros around the tensor, the zero point when
// quantized, or the value given.
func preparePad(v opspec.View, op *nn.Operation) (kern, error) {
	p, err := v.Pad(op)
	if err != nil {
		return nil, err
	}
	size := p.Type.ElementBytes()
	fill := make([]byte, size)
	switch {
	case op.Type == nn.OpPadV2:
		value, err := v.Data(op.Inputs[2])
		if err != nil {
			return nil, err
		}
		copy(fill, value) // of an INT32 for a quantized tensor, the low byte
	case p.Type.IsQuant8():
		fill[0] = byte(v.Operands[p.Input].ZeroPoint)
	}
	return func(x *run) error {
		out := x.bytes(p.Output)
		for i := 0; i < len(out); i += size {
			copy(out[i:], fill)
		}
		copyInside(out, x.bytes(p.Input), p.Dims, p.In, p.Before, size)
		return nil
	}, nil
}

// copyInside copies a tensor of shape in into one of shape dims at offset at.
func copyInside(dst, src []byte, dims, in []uint32, at []int, size int) {
	if len(src) == 0 || len(in) == 0 {
		copy(dst, src)
		return
	}
	last := len(in) - 1
	n := int(in[last]) * size
	for row := range len(src) / n {
		rest, off, stride := row, at[last]*size, int(dims[last])*size
		for d := last - 1; d >= 0; d-- {
			off += (rest%int(in[d]) + at[d]) * stride
			rest /= int(in[d])
			stride *= int(dims[d])
		}
		copy(dst[off:off+n], src[row*n:])
	}
}
