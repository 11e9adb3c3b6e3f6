package dsp

import (
	"github.com/nnsoc/nnsoc/hal/nn"
)

// lowerMirrorPad lowers MIRROR_PAD: in each row of the result the input's row is
// one run and what mirrors it an element each.
func lowerMirrorPad(l *lowering, op *nn.Operation) error {
	p, err := l.view.MirrorPad(op)
	if err != nil {
		return err
	}
	in, err := l.flat(p.Input)
	if err != nil {
		return err
	}
	last, size := len(p.Dims)-1, l.sizeOf(p.Input)
	n, width, before := int(p.In[last]), int(p.Dims[last]), p.Before[last]
	rows := int(nn.Elements(p.Dims)) / width
	return l.move("mirror", l.flatResult(p.Output), in, rows*(width-n+1), func(put func(to, from, n int)) {
		for row := range rows {
			from, rest, stride := 0, row, n
			for d := last - 1; d >= 0; d-- {
				from += p.Source(d, rest%int(p.Dims[d])) * stride
				rest /= int(p.Dims[d])
				stride *= int(p.In[d])
			}
			to := row * width
			for i := range width {
				switch {
				case i == before:
					put((to+i)*size, from*size, n*size)
				case i < before || i >= before+n:
					put((to+i)*size, (from+p.Source(last, i))*size, size)
				}
			}
		}
	})
}
