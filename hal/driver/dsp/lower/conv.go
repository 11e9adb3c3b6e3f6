package lower

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/launch/convolution"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// gemm lowers a convolution to the conv kernel.
func (l *Lowering) gemm(g *convolution.Convolution) {
	writes := []*layout.Tensor{g.Out}
	var scratch *layout.Tensor
	if g.Filter.Zero != 0 && g.Spatial == nil {
		scratch = l.NewTensor("scratch", layout.Shape{N: 1, H: 1, W: 1, C: l.Threads * (conv.PipelinedAside + g.WindowSumBytes())}, 1, 0)
		scratch.Dense = true
		writes = append(writes, scratch)
	}
	reads := []*layout.Tensor{g.In}
	if g.RuntimeWeights != nil {
		reads = append(reads, g.RuntimeWeights)
	}
	l.AddRows("conv", reads, writes, convolution.WindowDependence(&g.Window, g.Out.Shape.N*g.Out.Shape.H), convolution.Conv{Convolution: g, Scratch: scratch})
	if g.Recounts() || g.RuntimeWeights != nil {
		l.list.Steps[len(l.list.Steps)-1].Rows = nil
	}
}

// depthFilter is the filter of a depthwise convolution with one output per input.
func (l *Lowering) depthFilter(operand uint32, k, kh, kw int) (filter.Filter, error) {
	o := &l.graph.Operands[operand]
	data := try.V(l.view.Data(operand))
	f := filter.Filter{Data: data, K: k, KH: kh, KW: kw, C: k, Depthwise: true, Zero: o.ZeroPoint}
	if o.Type != nn.TensorQuant8Asymm {
		f.Flip = 0x80
		f.Zero += 128
	}
	return f, nil
}

func lowerConv(l *Lowering, _ *nn.Operation, c opspec.Conv) error {
	if !c.Depthwise {
		return l.groupedConv(&c, 1)
	}
	if !l.direct(&c) {
		return l.groupedConv(&c, c.C)
	}
	in := try.V(l.Value(c.Input))
	f := try.V(l.depthFilter(c.Filter, c.K, c.KH, c.KW))
	q := try.V(c.Quant(l.view))
	bias := try.V(l.view.Data(c.Bias))
	g := convolution.Convolution{Window: c.Window, In: in, Conv: filter.Conv{Filter: f, Bias: bias, InZero: int32(in.Zero),
		Rq: hvx.NewRequant(q.Mult, q.OutZero, q.Lo, q.Hi, unsignedBias(l.graph.Operands[c.Output].Type))}}
	g.Rq.UseHalfword(g.MaxSum())
	try.E(in.NeedHalo(&c.Window))
	shape := layout.Shape{N: c.N, H: c.OutH, W: c.OutW, C: c.K}
	g.Out = l.Result(c.Output, l.pitchOf(c.Output, shape))
	return l.depthwise(&g)
}

func lowerFullyConnected(l *Lowering, _ *nn.Operation, c opspec.FullyConnected) error {
	in := try.V(l.Value(c.Input))
	q := try.V(c.Quant(l.view))
	if in.Shape.Positions() != c.Batch || in.Shape.C != c.Depth {
		in = l.withShape(in, layout.Shape{N: 1, H: 1, W: c.Batch, C: c.Depth}, "flattened")
	}
	w := try.V(l.newWeights(c.Weights, c.Bias, c.Units, 1, 1, c.Depth))
	s := in.Shape
	p := convPart{in: in, out: l.Result(c.Output, 0), weights: w,
		Window: opspec.Window{H: s.H, W: s.W, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: s.H, OutW: s.W}}
	// The output has as many positions as the input, only counted in one dimension.
	if p.out.Shape.Positions() != s.Positions() || p.out.Shape.C != c.Units {
		return oneBatch.Broken("shape %v for a batch of %d", l.graph.Operands[c.Output].Dimensions, c.Batch)
	}
	return l.conv(&p, q, c.Output)
}

// depthwise lowers a depthwise convolution with one output channel per input
// channel.
func (l *Lowering) depthwise(g *convolution.Convolution) error {
	// Vectors hold whole positions on both sides alike.
	if g.In.Pitch != g.Out.Pitch {
		g.In = l.withPitch(g.In, g.Out.Pitch)
		try.E(g.In.NeedHalo(&g.Window))
	}
	rows := convolution.WindowDependence(&g.Window, g.Out.Shape.N*g.Out.Shape.H)
	l.AddRows("depthwise", []*layout.Tensor{g.In}, []*layout.Tensor{g.Out}, rows, convolution.Depthwise{Convolution: g})
	return nil
}

// withPitch copies a value into a tensor of another pitch.
func (l *Lowering) withPitch(t *layout.Tensor, pitch int) *layout.Tensor {
	dst := l.NewTensor(t.Name+" repitched", t.Shape, pitch, int32(t.Zero))
	l.copyTensor(dst, t)
	return dst
}
