package opspec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// poolRows are the operations that pool an image.
var poolRows = []Row{
	{Op: nn.OpAveragePool2D, Since: V10, Types: floatQuant10, SameQuant: true, Rank: 4, Args: poolArgs,
		Work: WorkRule{Float: stepsPool, Quant: stepsPool, Per: poolTaps},
		Forms: []Form{
			{V10, "input:T padding:int32 stride_w:int32 stride_h:int32 filter_w:int32 filter_h:int32 activation:int32 [1.2 nchw:bool=0]", "output:T"},
			{V10, "input:T pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 filter_w:int32 filter_h:int32 " +
				"activation:int32 [1.2 nchw:bool=0]", "output:T"},
		}},
	{Op: nn.OpMaxPool2D, Since: V10, Types: floatQuant10, SameQuant: true, Rank: 4, Args: poolArgs,
		Work: WorkRule{Float: stepsPool, Quant: stepsPool, Per: poolTaps},
		Forms: []Form{
			{V10, "input:T padding:int32 stride_w:int32 stride_h:int32 filter_w:int32 filter_h:int32 activation:int32 [1.2 nchw:bool=0]", "output:T"},
			{V10, "input:T pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 filter_w:int32 filter_h:int32 " +
				"activation:int32 [1.2 nchw:bool=0]", "output:T"},
		}},
	{Op: nn.OpL2Pool2D, Since: V10, Types: float10, Rank: 4, Args: poolArgs, Work: WorkRule{Float: stepsPool + 1, Per: poolTaps}, Forms: []Form{
		{V10, "input:T padding:int32 stride_w:int32 stride_h:int32 filter_w:int32 filter_h:int32 activation:int32 [1.2 nchw:bool=0]", "output:T"},
		{V10, "input:T pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 filter_w:int32 filter_h:int32 " +
			"activation:int32 [1.2 nchw:bool=0]", "output:T"},
	}},
}

var poolArgs = Arguments[Pool]{Read: readPool, Shapes: one((*Pool).OutputDims)}

// poolTaps counts the elements of all windows.
var poolTaps = units(readPool, func(p *Pool) []int64 { return n64(p.N, p.OutH, p.OutW, p.C, p.KH, p.KW) })

// Pool is an AVERAGE_POOL_2D, MAX_POOL_2D or L2_POOL_2D. Padding elements are
// left out of the average and never the maximum.
type Pool struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	N, C          int
	Window        // dilation 1; KH and KW are the pooling size
	Act           nn.FusedActivation
	NCHW          bool
}

func readPool(a *Args) (Pool, error) {
	p := Pool{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key}
	var err error
	p.NCHW = try.V(a.Bool("nchw"))
	var h, w int
	p.N, h, w, p.C = try.V4(a.image("input", p.NCHW))
	p.Window = try.V(a.window(h, w, 0, 0))
	if p.Top >= p.KH || p.Bottom >= p.KH || p.Left >= p.KW || p.Right >= p.KW {
		return p, a.errorf("filter_w", "%dx%d is not larger than each padding", p.KH, p.KW)
	}
	p.Act, err = a.activation()
	return p, err
}

// OutputDims is the shape of the result.
func (p *Pool) OutputDims() []uint32 { return imageDims(p.N, p.OutH, p.OutW, p.C, p.NCHW) }

// Window is how a filter moves over the two spatial dimensions of an image.
// Padding is explicit here whichever way the operation states it.
type Window struct {
	H, W                     int // input
	KH, KW                   int // filter
	StrideH, StrideW         int
	DilationH, DilationW     int // 1 is dense
	Top, Bottom, Left, Right int // padding in input elements
	OutH, OutW               int
}

// Padded reports whether the image is padded on any side.
func (w *Window) Padded() bool { return w.Top|w.Bottom|w.Left|w.Right != 0 }

// window reads stride, dilation, filter size (unless given) and padding.
func (a *Args) window(h, w, kh, kw int) (Window, error) {
	g := Window{H: h, W: w, KH: kh, KW: kw, DilationH: 1, DilationW: 1}
	list := []size{{"stride_w", &g.StrideW}, {"stride_h", &g.StrideH}}
	if kw == 0 {
		list = append(list, size{"filter_w", &g.KW})
	}
	if kh == 0 {
		list = append(list, size{"filter_h", &g.KH})
	}
	if a.names("dilation_w") { // and dilation_h with it
		list = append(list, size{"dilation_w", &g.DilationW}, size{"dilation_h", &g.DilationH})
	}
	try.E(a.positive(list...))
	if err := a.padding(&g, func() {
		g.Top, g.Bottom = samePadding(g.H, g.KH, g.StrideH, g.DilationH)
		g.Left, g.Right = samePadding(g.W, g.KW, g.StrideW, g.DilationW)
	}); err != nil {
		return g, err
	}
	var err error
	if g.OutH, err = outSize(g.H, g.KH, g.StrideH, g.DilationH, g.Top, g.Bottom); err != nil {
		return g, fmt.Errorf("%s: height: %w", a.Op.Type, err)
	}
	if g.OutW, err = outSize(g.W, g.KW, g.StrideW, g.DilationW, g.Left, g.Right); err != nil {
		return g, fmt.Errorf("%s: width: %w", a.Op.Type, err)
	}
	return g, nil
}

// size is where the value of a named INT32 scalar goes.
type size struct {
	name string
	to   *int
}

// positive reads sizes, each at least 1.
func (a *Args) positive(list ...size) error {
	for _, s := range list {
		v := try.V(a.Int32(s.name))
		if v < 1 {
			return a.errorf(s.name, "%d is not positive", v)
		}
		*s.to = int(v)
	}
	return nil
}

// padding reads four numbers, or a scheme: same is called for SAME.
func (a *Args) padding(g *Window, same func()) error {
	if !a.Has("padding") {
		for _, s := range []size{{"pad_left", &g.Left}, {"pad_right", &g.Right}, {"pad_top", &g.Top}, {"pad_bottom", &g.Bottom}} {
			v := try.V(a.Int32(s.name))
			if v < 0 {
				return a.errorf(s.name, "%d is negative", v)
			}
			*s.to = int(v)
		}
		return nil
	}
	scheme := try.V(a.Int32("padding"))
	switch scheme {
	case nn.PaddingSame:
		same()
	case nn.PaddingValid:
	default:
		return a.errorf("padding", "scheme %d is neither 1 (SAME) nor 2 (VALID)", scheme)
	}
	return nil
}

// Window reads the window of a convolution or a pooling whose padding is a scheme or
// four numbers. A TRANSPOSE_CONV_2D has none: with a scheme it states its output shape.
func (v View) Window(op *nn.Operation) (Window, error) {
	switch row := v.Table.Lookup(op.Type); {
	case row == nil:
	case reads[Conv](row):
		c, err := Read[Conv](v, op)
		return c.Window, err
	case reads[GroupedConv](row):
		c, err := Read[GroupedConv](v, op)
		return c.Window, err
	case reads[Pool](row):
		p, err := Read[Pool](v, op)
		return p.Window, err
	}
	return Window{}, fmt.Errorf("opspec: %s has no window", op.Type)
}

// samePadding is the padding of the scheme SAME; the odd one goes to the tail.
func samePadding(in, k, stride, dil int) (head, tail int) {
	out := (in + stride - 1) / stride
	total := max((out-1)*stride+(k-1)*dil+1-in, 0)
	return total / 2, total - total/2
}

func outSize(in, k, stride, dil, head, tail int) (int, error) {
	eff := (k-1)*dil + 1
	room := in - eff + head + tail
	if room < 0 {
		return 0, fmt.Errorf("filter %d (dilation %d) is larger than the padded input %d", k, dil, in+head+tail)
	}
	if room >= nn.MaxElements {
		return 0, fmt.Errorf("padding %d and %d is too large", head, tail)
	}
	return room/stride + 1, nil
}
