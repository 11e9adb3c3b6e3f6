package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareMirrorPad is MIRROR_PAD.
func prepareMirrorPad(v opspec.View, op *nn.Operation) (kern, error) {
	p, err := v.MirrorPad(op)
	if err != nil {
		return nil, err
	}
	size := p.Type.ElementBytes()
	last := len(p.Dims) - 1
	n, width, before := int(p.In[last]), int(p.Dims[last]), p.Before[last]
	return func(x *run) error {
		in, out := x.bytes(p.Input), x.bytes(p.Output)
		if len(out) == 0 {
			return nil
		}
		x.parallel(len(out)/(width*size), 1+4096/width, func(_, lo, hi int) {
			for row := lo; row < hi; row++ {
				at, rest, stride := 0, row, n
				for d := last - 1; d >= 0; d-- {
					at += p.Source(d, rest%int(p.Dims[d])) * stride
					rest /= int(p.Dims[d])
					stride *= int(p.In[d])
				}
				src := in[at*size : (at+n)*size]
				dst := out[row*width*size : (row+1)*width*size]
				copy(dst[before*size:], src)
				mirror := func(from, to int) {
					for i := from; i < to; i++ {
						s := p.Source(last, i) * size
						copy(dst[i*size:(i+1)*size], src[s:])
					}
				}
				mirror(0, before)
				mirror(before+n, width)
			}
		})
		return nil
	}, nil
}
