package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch/convolution"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// product lowers a convolution to the conv kernel.
func product(l *lower.Lowering, g *convolution.Convolution) {
	writes := []*layout.Tensor{g.Out}
	var scratch *layout.Tensor
	if g.Filter.Zero != 0 && g.Spatial == nil {
		scratch = l.NewTensor("scratch", layout.Shape{N: 1, H: 1, W: 1, C: l.Threads * (conv.PipelinedSaveBytes + g.WindowSumBytes())}, 1, 0)
		scratch.Dense = true
		writes = append(writes, scratch)
	}
	w := convolution.Conv{Convolution: g, Scratch: scratch}
	if n := g.WindowBytes(l.Object); n > 0 {
		w.Window = l.NewTensor("window", layout.Shape{N: 1, H: 1, W: 1, C: n}, 1, 0)
		w.Window.Dense = true
		writes = append(writes, w.Window)
	}
	reads := []*layout.Tensor{g.In}
	if g.RuntimeWeights != nil {
		reads = append(reads, g.RuntimeWeights)
	}
	if g.Recounts() || g.RuntimeWeights != nil {
		l.Add("conv", reads, writes, w)
		return
	}
	l.AddRows("conv", reads, writes, convolution.WindowDependence(&g.Window, g.Out.Shape.N*g.Out.Shape.H), w)
}

// depthFilter is the filter of a depthwise convolution with one output per input.
func depthFilter(l *lower.Lowering, operand uint32, k, kh, kw int) filter.Filter {
	o := &l.Graph.Operands[operand]
	data := try.V(l.View().Data(operand))
	f := filter.Filter{Data: data, K: k, KH: kh, KW: kw, C: k, Depthwise: true, Zero: o.ZeroPoint}
	if o.Type != nn.TensorQuant8Asymm {
		f.Flip = 0x80
		f.Zero += 128
	}
	return f
}

func lowerConv(l *lower.Lowering, _ *nn.Operation, c opspec.Conv) {
	if !c.Depthwise {
		groupedConv(l, &c, 1)
		return
	}
	if !l.Direct(&c) {
		groupedConv(l, &c, c.C)
		return
	}
	in := l.Value(c.Input)
	f := depthFilter(l, c.Filter, c.K, c.KH, c.KW)
	q := try.V(c.Quant(l.View()))
	bias := try.V(l.View().Data(c.Bias))
	g := convolution.Convolution{Window: c.Window, In: in, Conv: filter.Conv{Filter: f, Bias: bias, InZero: int32(in.Zero),
		Rq: hvx.NewRequant(q.Mult, q.OutZero, q.Lo, q.Hi, lower.UnsignedBias(l.Graph.Operands[c.Output].Type))}}
	g.Rq.UseHalfword(g.MaxSum())
	try.E(in.NeedHalo(&c.Window))
	shape := layout.Shape{N: c.N, H: c.OutH, W: c.OutW, C: c.K}
	g.Out = l.Result(c.Output, l.PitchOf(c.Output, shape))
	depthwise1to1(l, &g)
}

func lowerFullyConnected(l *lower.Lowering, _ *nn.Operation, c opspec.FullyConnected) {
	in := l.Value(c.Input)
	q := try.V(c.Quant(l.View()))
	if in.Shape.Positions() != c.Batch || in.Shape.C != c.Depth {
		in = withShape(l, in, layout.Shape{N: 1, H: 1, W: c.Batch, C: c.Depth}, "flattened")
	}
	w := newWeights(l, c.Weights, c.Bias, c.Units, 1, 1, c.Depth)
	s := in.Shape
	p := convPart{in: in, out: l.Result(c.Output, 0), weights: w,
		Window: opspec.Window{H: s.H, W: s.W, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: s.H, OutW: s.W}}
	// The output has as many positions as the input, only counted in one dimension.
	oneBatch.Refuse(p.out.Shape.Positions() != s.Positions() || p.out.Shape.C != c.Units, "shape %v for a batch of %d", l.Graph.Operands[c.Output].Dimensions, c.Batch)
	convolve(l, &p, q, c.Output)
}

// depthwise1to1 lowers a depthwise convolution with one output channel per input
// channel.
func depthwise1to1(l *lower.Lowering, g *convolution.Convolution) {
	// Vectors hold whole positions on both sides alike.
	if g.In.Pitch != g.Out.Pitch {
		g.In = l.WithPitch(g.In, g.Out.Pitch)
		try.E(g.In.NeedHalo(&g.Window))
	}
	rows := convolution.WindowDependence(&g.Window, g.Out.Shape.N*g.Out.Shape.H)
	l.AddRows("depthwise", []*layout.Tensor{g.In}, []*layout.Tensor{g.Out}, rows, convolution.Depthwise{Convolution: g})
}
