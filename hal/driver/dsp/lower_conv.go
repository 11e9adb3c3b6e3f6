package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/depthwise"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// depthFilter is the filter of a depthwise convolution with one output per input.
func (l *lowering) depthFilter(operand uint32, k, kh, kw int) (filter.Filter, error) {
	o := &l.graph.Operands[operand]
	data, err := l.view.Data(operand)
	if err != nil {
		return filter.Filter{}, err
	}
	f := filter.Filter{Data: data, K: k, KH: kh, KW: kw, C: k, Depthwise: true, Zero: o.ZeroPoint}
	if o.Type != nn.TensorQuant8Asymm {
		f.Flip = 0x80
		f.Zero += 128
	}
	return f, nil
}

// gemm is a convolution ready for the conv kernel.
type gemm struct {
	opspec.Window
	in, out *tensor
	filter.Conv
	runtimeWeights   *tensor // has records that the program packs; nil when the weights are known
	runtimeWeightsAt uint32  // offset in runtimeWeights
	quant            opspec.GEMMQuant
	spatial          *conv.Spatial // the only kernel that writes out's pitch
}

func lowerConv(l *lowering, op *nn.Operation) error {
	c, err := l.view.Conv(op)
	if err != nil {
		return err
	}
	if !c.Depthwise {
		return l.groupedConv(&c, 1)
	}
	if c.Multiplier > 1 || c.KH*c.KW > depthwise.MaxTaps || !l.packable(c.Filter, c.Bias) {
		return l.groupedConv(&c, c.C)
	}
	in, err := l.imageValue(c.Input, c.NCHW)
	if err != nil {
		return err
	}
	f, err := l.depthFilter(c.Filter, c.K, c.KH, c.KW)
	if err != nil {
		return err
	}
	q, err := c.Quant(l.view)
	if err != nil {
		return err
	}
	bias, err := l.view.Data(c.Bias)
	if err != nil {
		return err
	}
	g := gemm{Window: c.Window, in: in, quant: q, Conv: filter.Conv{Filter: f, Bias: bias, InZero: int32(in.zero),
		Rq: hvx.NewRequant(q.Mult, q.OutZero, q.Lo, q.Hi, unsignedBias(l.graph.Operands[c.Output].Type))}}
	g.Rq.UseHalfword(g.MaxSum())
	if err := in.needHalo(&c.Window); err != nil {
		return err
	}
	pitch := 0
	if n := l.narrowPitch(c.Output, c.K); n == in.pitch && !c.NCHW {
		pitch = n
	}
	out, done := l.imageResult(c.Output, shape{c.N, c.OutH, c.OutW, c.K}, pitch, c.NCHW)
	g.out = out
	if err := l.depthwise(&g); err != nil {
		return err
	}
	done()
	return nil
}

// needHalo makes room for the padding that a window reads.
func (t *tensor) needHalo(w *opspec.Window) error {
	if n := max(w.Top, w.Bottom, w.Left, w.Right); n > maxPadding {
		return fmt.Errorf("padding of %d, at most %d", n, maxPadding)
	}
	t.top = max(t.top, w.Top)
	t.left = max(t.left, w.Left)
	t.bottom = max(t.bottom, (w.OutH-1)*w.StrideH+(w.KH-1)*w.DilationH+1-w.Top-w.H)
	t.right = max(t.right, (w.OutW-1)*w.StrideW+(w.KW-1)*w.DilationW+1-w.Left-w.W)
	return nil
}

func lowerFullyConnected(l *lowering, op *nn.Operation) error {
	c, err := l.view.FullyConnected(op)
	if err != nil {
		return err
	}
	in, err := l.value(c.Input)
	if err != nil {
		return err
	}
	q, err := c.Quant(l.view)
	if err != nil {
		return err
	}
	if in.shape.positions() != c.Batch || in.shape.c != c.Depth {
		in = l.withShape(in, shape{1, 1, c.Batch, c.Depth}, "flattened")
	}
	w, err := l.newWeights(c.Weights, c.Bias, c.Units, 1, 1, c.Depth)
	if err != nil {
		return err
	}
	s := in.shape
	p := convPart{in: in, out: l.result(c.Output, 0), weights: w,
		Window: opspec.Window{H: s.h, W: s.w, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: s.h, OutW: s.w}}
	// The output has as many positions as the input, only counted in one dimension.
	if p.out.shape.positions() != s.positions() || p.out.shape.c != c.Units {
		return fmt.Errorf("output shape %v for a batch of %d", l.graph.Operands[c.Output].Dimensions, c.Batch)
	}
	return l.conv(&p, q, c.Output)
}

// runWords is the number of words of a run and of the taps that it covers.
func (g *gemm) runWords() (words, perRun int) {
	f, pitch := &g.Filter, g.in.pitch
	words = ceilDiv(f.C, 4)
	if g.DilationW == 1 && words*4 == pitch || f.KW == 1 {
		return words + (f.KW-1)*pitch/4, f.KW
	}
	return words, 1
}

// inputRuns works out the runs of a window over the input: for every word of
// every run which filter weights its four bytes meet, and the address steps
// from where the kernel leaves one run to the next.
func (g *gemm) inputRuns(c *conv.GEMM, perRun int) (taps [][4]conv.Tap, bumps []uint32) {
	f, pitch, runs := &g.Filter, g.in.pitch, c.Runs
	start := func(r int) int { // of a run, relative to the first
		y, x := r, 0
		if perRun == 1 {
			y, x = r/f.KW, r%f.KW
		}
		return y*g.DilationH*g.in.rowBytes() + x*g.DilationW*pitch
	}
	for r := range runs {
		y, x0 := r, 0
		if perRun == 1 {
			y, x0 = r/f.KW, r%f.KW
		}
		for w := range c.Words {
			var word [4]conv.Tap
			for b := range word {
				at := 4*w + b
				x, ch := x0, at
				if perRun > 1 {
					x, ch = at/pitch, at%pitch
				}
				if word[b] = (conv.Tap{Y: -1, X: 0, C: 0}); x < f.KW && ch < f.C {
					word[b] = conv.Tap{Y: y, X: x, C: ch}
				}
			}
			taps = append(taps, word)
		}
		if r+1 < runs {
			bumps = append(bumps, uint32(start(r+1)-start(r)-c.Consumed()))
		} else {
			bumps = append(bumps, 0)
		}
	}
	return taps, bumps
}
