package dsp

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// lowerGroupedConv lowers GROUPED_CONV_2D.
func lowerGroupedConv(l *lowering, op *nn.Operation) error {
	c, err := l.view.GroupedConv(op)
	if err != nil {
		return err
	}
	return l.groupedConv(&c.Conv, c.Groups)
}

// convOperands are a convolution's operands, its filter with per inputs for each
// output channel; done ends the result.
func (l *lowering) convOperands(c *opspec.Conv, per int) (p convPart, q opspec.GEMMQuant, done func(), err error) {
	if q, err = c.Quant(l.view); err != nil {
		return p, q, nil, err
	}
	p.Window = c.Window
	if p.in, err = l.imageValue(c.Input, c.NCHW); err != nil {
		return p, q, nil, err
	}
	if p.weights, err = l.newWeights(c.Filter, c.Bias, c.K, c.KH, c.KW, per); err != nil {
		return p, q, nil, err
	}
	p.out, done = l.imageResult(c.Output, shape{c.N, c.OutH, c.OutW, c.K}, 0, c.NCHW)
	return p, q, done, nil
}

// groupedConv lowers a convolution whose channels are divided among groups: slices
// of a few groups are convolved by themselves, with zero weights between the groups
// of a slice.
func (l *lowering) groupedConv(c *opspec.Conv, groups int) error {
	per := c.C
	if groups > 1 && !c.Depthwise {
		per /= groups
	}
	whole, q, done, err := l.convOperands(c, per)
	if err != nil {
		return err
	}
	in, out, w := whole.in, whole.out, whole.weights
	if groups == 1 && !c.Depthwise {
		if !c.NCHW {
			whole.narrow = l.narrowPitch(c.Output, c.K)
		}
		err := l.conv(&whole, q, c.Output)
		done()
		return err
	}
	w.c = c.C
	m := sliceGroups(c, groups)
	if err := l.blocks(&w, groups, m, c.Depthwise); err != nil {
		return err
	}
	n := groups / m
	ins, outs := []*tensor{in}, []*tensor{out}
	if n > 1 {
		ins = l.divided(in, n)
		outs = nil
		for range n {
			outs = append(outs, l.newTensor("slice", shape{c.N, c.OutH, c.OutW, c.K / n}, 0, int32(out.zero)))
		}
	}
	var packed *packedWeights
	for i := range n {
		p := convPart{Window: c.Window, in: ins[i], out: outs[i], weights: w.slice(i*c.K/n, c.K/n)}
		if len(q.Mult) == 1 { // the records of all slices look alike
			p.parts, p.index, p.packed = n, i, packed
		}
		if err := l.conv(&p, q, c.Output); err != nil {
			return err
		}
		packed = p.packed
	}
	if n > 1 {
		j := joinWork{out: out, strideH: 1, strideW: 1}
		for i, t := range outs {
			j.parts = append(j.parts, joinPart{t: t, c: i * c.K / n})
		}
		l.join(j)
	}
	done()
	return nil
}

// launchCost is about what a few launches of jobs cost, in vrmpy.
const launchCost = 2000

// sliceGroups chooses how many groups a slice has: few waste lanes and launches,
// many multiply by the zeros between them.
func sliceGroups(c *opspec.Conv, groups int) int {
	best, least := groups, -1
	positions := c.N * c.OutH * c.OutW * c.KH * c.KW
	for m := 1; m <= groups; m++ {
		if groups%m != 0 {
			continue
		}
		n, k, in := groups/m, m*(c.K/groups), m*(c.C/groups)
		cost := n * (positions*ceilDiv(k, 32)*ceilDiv(in, 4) + launchCost)
		if n > 1 { // channels are divided and joined
			cost += c.N*c.H*c.W*c.C/16 + c.N*c.OutH*c.OutW*c.K/16
		}
		if least < 0 || cost < least {
			best, least = m, cost
		}
	}
	return best
}

// divided are n tensors with the channels of one.
func (l *lowering) divided(in *tensor, n int) []*tensor {
	s := in.shape
	c := s.c / n
	var list []*tensor
	for range n {
		part := shape{s.n, s.h, s.w, c}
		list = append(list, l.newTensor(in.name+" divided", part, part.smallPitch(), int32(in.zero)))
	}
	l.addStep("divide", []*tensor{in}, list, divideWork{list, s, in, c})
	return list
}

// divideWork copies equal shares of a tensor's channels into tensors of their own.
type divideWork struct {
	list []*tensor
	s    shape
	in   *tensor
	c    int
}

func (w divideWork) Launch(l *launcher, _ rowRange) error {
	r := new(copyRuns)
	for i, t := range w.list {
		for n := range w.s.n {
			for y := range w.s.h {
				for x := range w.s.w {
					r.add(t.at(n, y, x), w.in.at(n, y, x)+uint32(i*w.c), w.c)
				}
			}
		}
	}
	return r.launch(l, false)
}

// joinPart is a tensor and where its positions go in a larger one: row, column and channel of
// the first.
type joinPart struct {
	t       *tensor
	y, x, c int
}

// joinWork copies the positions of several tensors into one, stride rows and columns apart.
type joinWork struct {
	out              *tensor
	strideH, strideW int
	parts            []joinPart
}

// join appends a step of joinWork.
func (l *lowering) join(w joinWork) {
	var list []*tensor
	for _, p := range w.parts {
		list = append(list, p.t)
	}
	l.addStep("join", list, []*tensor{w.out}, w)
}

func (w joinWork) Launch(l *launcher, _ rowRange) error {
	r := new(copyRuns)
	for _, p := range w.parts {
		s := p.t.shape
		for n := range s.n {
			for y := range s.h {
				for x := range s.w {
					to := w.out.at(n, p.y+y*w.strideH, p.x+x*w.strideW) + uint32(p.c)
					r.add(to, p.t.at(n, y, x), s.c)
				}
			}
		}
	}
	return r.launch(l, false)
}

// phase is the outputs of a transposed convolution along an axis that stride and
// padding bring to the same taps: from first on, each stride further, count of
// them. Their taps are last, last-stride, .. in the filter; the first of these
// meets the input before start.
type phase1D struct{ first, count, taps, last, pad int }

// phases1D divides an axis.
func phases1D(out, taps, stride, pad int) (list []phase1D) {
	for first := range min(stride, out) {
		p := phase1D{first: first, count: ceilDiv(out-first, stride)}
		q, least := (first+pad)/stride, (first+pad)%stride
		if least < taps {
			p.taps = (taps-1-least)/stride + 1
			p.last = least + (p.taps-1)*stride
		}
		p.pad = p.taps - 1 - q
		list = append(list, p)
	}
	return list
}

// lowerTransposeConv lowers TRANSPOSE_CONV_2D: the outputs of a phase of the strides
// are a convolution of the input by some of the filter's taps, in reverse.
func lowerTransposeConv(l *lowering, op *nn.Operation) error {
	t, err := l.view.TransposeConv(op)
	if err != nil {
		return err
	}
	c := &t.Conv
	whole, q, done, err := l.convOperands(c, c.C)
	if err != nil {
		return err
	}
	out, w := whole.out, whole.weights
	rows, columns := phases1D(c.OutH, c.KH, c.StrideH, c.Top), phases1D(c.OutW, c.KW, c.StrideW, c.Left)
	j := joinWork{out: out, strideH: c.StrideH, strideW: c.StrideW}
	for _, y := range rows {
		for _, x := range columns {
			p := whole
			if len(rows)*len(columns) > 1 {
				p.out = l.newTensor("phase", shape{c.N, y.count, x.count, c.K}, 0, int32(out.zero))
				j.parts = append(j.parts, joinPart{p.out, y.first, x.first, 0})
			}
			p.Window = opspec.Window{H: c.H, W: c.W, KH: y.taps, KW: x.taps, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1,
				Top: y.pad, Left: x.pad, OutH: y.count, OutW: x.count}
			p.weights.from += y.last*w.row + x.last*w.tap
			p.weights.kh, p.weights.row = y.taps, -c.StrideH*w.row
			p.weights.kw, p.weights.tap = x.taps, -c.StrideW*w.tap
			if y.taps*x.taps == 0 {
				p.KH, p.KW, p.Top, p.Left = 1, 1, 0, 0
				p.weights = l.noWeights(&w)
			}
			if err := l.conv(&p, q, c.Output); err != nil {
				return err
			}
		}
	}
	if len(j.parts) > 0 {
		l.join(j)
	}
	done()
	return nil
}
