package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareStrided is the operations that opspec.IsStrided names.
func prepareStrided(v opspec.View, op *nn.Operation) (kern, error) {
	s, err := v.Strided(op)
	if err != nil {
		return nil, err
	}
	size := s.Type.ElementBytes()
	fill := byte(0)
	if s.Type.IsQuant8() {
		fill = byte(v.Operands[s.Input].ZeroPoint)
	}
	return func(x *run) error {
		in, out := x.bytes(s.Input), x.bytes(s.Output)
		if s.Padded != nil {
			p := x.shared.bytes(int(nn.Elements(s.Padded)) * size)
			fillSlice(p, fill)
			copyInside(p, in, s.Padded, s.In, s.Before, size)
			in = p
		}
		if len(out) == 0 {
			return nil
		}
		if len(s.Walk) == 0 {
			copy(out, in[s.Offset*size:(s.Offset+1)*size])
			return nil
		}
		last := len(s.Walk) - 1
		n, step := int(s.Walk[last]), s.Strides[last]
		x.parallel(len(out)/(n*size), 1+1024/n, func(_, lo, hi int) {
			for row := lo; row < hi; row++ {
				at, rest := s.Offset, row
				for d := last - 1; d >= 0; d-- {
					at += rest % int(s.Walk[d]) * s.Strides[d]
					rest /= int(s.Walk[d])
				}
				dst := out[row*n*size : (row+1)*n*size]
				if step == 1 {
					copy(dst, in[at*size:])
					continue
				}
				for k := range n {
					copy(dst[k*size:(k+1)*size], in[at*size:])
					at += step
				}
			}
		})
		return nil
	}, nil
}
