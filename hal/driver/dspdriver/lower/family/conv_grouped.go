package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// lowerGroupedConv lowers GROUPED_CONV_2D.
func lowerGroupedConv(l *lower.Lowering, _ *nn.Operation, c opspec.GroupedConv) {
	groupedConv(l, &c.Conv, c.Groups)
}

// convOperands are a convolution's operands, its filter with per inputs for each
// output channel.
func convOperands(l *lower.Lowering, c *opspec.Conv, per int) (p convPart, q quantized.GEMM) {
	q = try.V(c.Quant(l.View()))
	p.Window = c.Window
	p.in = l.Value(c.Input)
	p.weights = newWeights(l, c.Filter, c.Bias, c.K, c.KH, c.KW, per)
	p.out = l.Result(c.Output, 0)
	return p, q
}

// groupedConv lowers a convolution whose channels are divided among groups: slices
// of a few groups are convolved by themselves, with zero weights between the groups
// of a slice.
func groupedConv(l *lower.Lowering, c *opspec.Conv, groups int) {
	per := c.C
	if groups > 1 && !c.Depthwise {
		per /= groups
	}
	whole, q := convOperands(l, c, per)
	in, out, w := whole.in, whole.out, whole.weights
	if groups == 1 && !c.Depthwise {
		if l.Form(c.Output) == layout.Small {
			whole.narrow = out.Shape.SmallPitch()
		}
		convolve(l, &whole, q, c.Output)
		return
	}
	w.c = c.C
	m := sliceGroups(c, groups)
	blocks(l, &w, groups, m, c.Depthwise)
	n := groups / m
	ins, outs := []*layout.Tensor{in}, []*layout.Tensor{out}
	if n > 1 {
		ins = divided(l, in, n)
		outs = nil
		for range n {
			outs = append(outs, l.NewTensor("slice", layout.Shape{N: c.N, H: c.OutH, W: c.OutW, C: c.K / n}, 0, int32(out.Zero)))
		}
	}
	var packed *packedWeights
	for i := range n {
		p := convPart{Window: c.Window, in: ins[i], out: outs[i], weights: w.slice(i*c.K/n, c.K/n)}
		if len(q.Mult) == 1 { // the records of all slices look alike
			p.parts, p.index, p.packed = n, i, packed
		}
		convolve(l, &p, q, c.Output)
		packed = p.packed
	}
	if n > 1 {
		j := launch.Join{Out: out, StrideH: 1, StrideW: 1}
		for i, t := range outs {
			j.Parts = append(j.Parts, launch.JoinPart{T: t, C: i * c.K / n})
		}
		join(l, j)
	}
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
		cost := n * (positions*layout.CeilDiv(k, 32)*layout.CeilDiv(in, 4) + launchCost)
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
func divided(l *lower.Lowering, in *layout.Tensor, n int) []*layout.Tensor {
	s := in.Shape
	c := s.C / n
	var list []*layout.Tensor
	for range n {
		part := layout.Shape{N: s.N, H: s.H, W: s.W, C: c}
		list = append(list, l.NewTensor(in.Name+" divided", part, part.SmallPitch(), int32(in.Zero)))
	}
	l.Add("divide", []*layout.Tensor{in}, list, launch.Divide{List: list, Shape: s, In: in, Channels: c})
	return list
}

// join appends a step of Join.
func join(l *lower.Lowering, w launch.Join) {
	var list []*layout.Tensor
	for _, p := range w.Parts {
		list = append(list, p.T)
	}
	l.Add("join", list, []*layout.Tensor{w.Out}, w)
}

// phase is the outputs of a transposed convolution along an axis that stride and
// padding bring to the same taps: from first on, each stride further, count of
// them. Their taps are last, last-stride, .. in the filter; the first of these
// meets the input before start.
type phase1D struct{ first, count, taps, last, pad int }

// phases1D divides an axis.
func phases1D(out, taps, stride, pad int) (list []phase1D) {
	for first := range min(stride, out) {
		p := phase1D{first: first, count: layout.CeilDiv(out-first, stride)}
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
func lowerTransposeConv(l *lower.Lowering, _ *nn.Operation, t opspec.TransposeConv) {
	c := &t.Conv
	whole, q := convOperands(l, c, c.C)
	out, w := whole.out, whole.weights
	rows, columns := phases1D(c.OutH, c.KH, c.StrideH, c.Top), phases1D(c.OutW, c.KW, c.StrideW, c.Left)
	j := launch.Join{Out: out, StrideH: c.StrideH, StrideW: c.StrideW}
	for _, y := range rows {
		for _, x := range columns {
			p := whole
			if len(rows)*len(columns) > 1 {
				p.out = l.NewTensor("phase", layout.Shape{N: c.N, H: y.count, W: x.count, C: c.K}, 0, int32(out.Zero))
				j.Parts = append(j.Parts, launch.JoinPart{T: p.out, Y: y.first, X: x.first, C: 0})
			}
			p.Window = opspec.Window{H: c.H, W: c.W, KH: y.taps, KW: x.taps, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1,
				Top: y.pad, Left: x.pad, OutH: y.count, OutW: x.count}
			p.weights.from += y.last*w.row + x.last*w.tap
			p.weights.kh, p.weights.row = y.taps, -c.StrideH*w.row
			p.weights.kw, p.weights.tap = x.taps, -c.StrideW*w.tap
			if y.taps*x.taps == 0 {
				p.KH, p.KW, p.Top, p.Left = 1, 1, 0, 0
				p.weights = noWeights(l, &w)
			}
			convolve(l, &p, q, c.Output)
		}
	}
	if len(j.Parts) > 0 {
		join(l, j)
	}
}
