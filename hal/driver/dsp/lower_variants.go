package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// maxSpread bounds the weights of a grouped convolution that is computed as a
// whole one, where those of other groups are zero.
const maxSpread = 16 << 20

// lowerGroupedConv lowers GROUPED_CONV_2D.
func lowerGroupedConv(l *lowering, op *nn.Operation) error {
	c, err := l.view.GroupedConv(op)
	if err != nil {
		return err
	}
	if !l.packable(c.Filter, c.Bias) || c.K*c.KH*c.KW*roundUp(c.C, 4) > maxSpread {
		return l.dotConv(&c.Conv, c.Groups, false)
	}
	in, err := l.imageValue(c.Input, c.NCHW)
	if err != nil {
		return err
	}
	f, err := l.newFilter(c.Filter, c.K, c.KH, c.KW, c.C, false, 0)
	if err != nil {
		return err
	}
	f.per, f.groups = c.C/c.Groups, c.Groups
	return l.packedConv(&c.Conv, in, f)
}

// lowerTransposeConv lowers TRANSPOSE_CONV_2D: a convolution by the mirrored
// filter of an image whose positions are stride apart, with zero points between.
func lowerTransposeConv(l *lowering, op *nn.Operation) error {
	t, err := l.view.TransposeConv(op)
	if err != nil {
		return err
	}
	c := t.Conv
	if !l.packable(c.Filter, c.Bias) {
		return l.dotConv(&c, 1, true)
	}
	in, err := l.imageValue(c.Input, c.NCHW)
	if err != nil {
		return err
	}
	f, err := l.newFilter(c.Filter, c.K, c.KH, c.KW, c.C, false, 0)
	if err != nil {
		return err
	}
	f.mirrored = true
	dy, dx := c.StrideH, c.StrideW
	c.H, c.W, c.StrideH, c.StrideW = (c.H-1)*dy+1, (c.W-1)*dx+1, 1, 1
	c.Top, c.Left = c.KH-1-c.Top, c.KW-1-c.Left
	c.Bottom, c.Right = 0, 0 // follow from the output's size
	if dy > 1 || dx > 1 {
		if n := int64(c.N) * int64(c.H) * int64(c.W) * int64(in.pitch); n > maxArena {
			return fmt.Errorf("input spread by strides needs %d bytes, at most %d", n, maxArena)
		}
		in = l.spreadImage(in, c.H, c.W, dy, dx)
	}
	return l.packedConv(&c, in, f)
}

// spreadImage copies an image into a larger one whose other positions are zero
// points.
func (l *lowering) spreadImage(in *tensor, h, w, dy, dx int) *tensor {
	s := in.shape
	out := l.newTensor(in.name+" spread", shape{s.n, h, w, s.c}, in.pitch, int32(in.zero))
	l.addStep("fill", nil, []*tensor{out}, func(l *lowering, s *step) error {
		var table []uint32
		for _, r := range l.spread(out.bytes() / vecBytes) {
			table = append(table, out.addr+uint32(r[0]*vecBytes), uint32(r[1]-r[0]))
		}
		return l.launchFill(s, table, out.zero)
	})
	l.addStep("spread", []*tensor{in}, []*tensor{out}, func(l *lowering, st *step) error {
		r := new(runs)
		for n := range s.n {
			for y := range s.h {
				for x := range s.w {
					r.add(out.at(n, y*dy, x*dx), in.at(n, y, x), s.c)
				}
			}
		}
		return r.launch(l, st, false)
	})
	return out
}
