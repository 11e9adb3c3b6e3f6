package opspec

import (
	"slices"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// convRows are the convolutions.
var convRows = []Row{
	{Op: nn.OpConv2D, Since: V10, Types: floatQuant10, Args: convArgs, Until12: productScaleUntil12,
		Quant: fits(readConv, (*Conv).Quant), Sums: sums(readConv, (*Conv).sums),
		Work: WorkRule{Kernel: KernelConv, Float: stepsStore, Quant: stepsRequant, Also: convWork},
		Forms: []Form{
			{V10, "input:T filter:W bias:B padding:int32 stride_w:int32 stride_h:int32 activation:int32 [1.2 nchw:bool=0] [1.2 dilation_w:int32=1 dilation_h:int32=1]", "output:T"},
			{V10, "input:T filter:W bias:B pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 activation:int32 [1.2 " +
				"nchw:bool=0] [1.2 dilation_w:int32=1 dilation_h:int32=1]", "output:T"},
		}},
	{Op: nn.OpDepthwiseConv2D, Since: V10, Types: floatQuant10, Args: convArgs, Until12: productScaleUntil12,
		Quant: fits(readConv, (*Conv).Quant), Sums: sums(readConv, (*Conv).sums),
		Work: WorkRule{Kernel: KernelDepthwise, Float: stepsStore, Quant: stepsRequant, Also: convWork},
		Forms: []Form{
			{V10, "input:T filter:W bias:B padding:int32 stride_w:int32 stride_h:int32 depth_multiplier:int32 activation:int32 [1.2 nchw:bool=0] [1.2 " +
				"dilation_w:int32=1 dilation_h:int32=1]", "output:T"},
			{V10, "input:T filter:W bias:B pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 depth_multiplier:int32 " +
				"activation:int32 [1.2 nchw:bool=0] [1.2 dilation_w:int32=1 dilation_h:int32=1]", "output:T"},
		}},
	{Op: nn.OpGroupedConv2D, Since: V12, Types: floatQuant12, Args: groupedConvArgs,
		Quant: fits(readGroupedConv, (*GroupedConv).Quant), Sums: sums(readGroupedConv, (*GroupedConv).sums),
		Work: WorkRule{Kernel: KernelGrouped, Also: groupedConvWork},
		Forms: []Form{
			{V12, "input:T filter:W bias:B padding:int32 stride_w:int32 stride_h:int32 groups:int32 activation:int32 nchw:bool", "output:T"},
			{V12, "input:T filter:W bias:B pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 groups:int32 " +
				"activation:int32 nchw:bool", "output:T"},
		}},
	{Op: nn.OpTransposeConv2D, Since: V12, Types: floatQuant12, Args: transposeConvArgs,
		Quant: fits(readTransposeConv, (*TransposeConv).Quant), Sums: sums(readTransposeConv, (*TransposeConv).sums),
		Work: WorkRule{Kernel: KernelConv, Float: stepsStore, Quant: stepsRequant, Also: patched(readTransposeConv, (*TransposeConv).MACs, (*TransposeConv).patches)},
		Forms: []Form{
			{V12, "input:T filter:W bias:B output_shape:I32 padding:int32 stride_w:int32 stride_h:int32 activation:int32 nchw:bool", "output:T"},
			{V12, "input:T filter:W bias:B pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 activation:int32 nchw:bool", "output:T"},
		}},
}

var (
	convArgs          = Arguments[Conv]{Read: readConv, Shapes: one((*Conv).OutputDims)}
	groupedConvArgs   = Arguments[GroupedConv]{Read: readGroupedConv, Shapes: one(func(c *GroupedConv) []uint32 { return c.OutputDims() })}
	transposeConvArgs = Arguments[TransposeConv]{Read: readTransposeConv, Shapes: one(func(c *TransposeConv) []uint32 { return c.OutputDims() })}
)

// Conv is a CONV_2D or DEPTHWISE_CONV_2D. The filter is [K, KH, KW, C] for
// CONV_2D and [1, KH, KW, K] with K = C * Multiplier for DEPTHWISE_CONV_2D,
// in either layout of the image.
type Conv struct {
	Input, Filter, Bias, Output uint32 // operand indexes
	Type                        nn.OperandType
	N, C, K                     int // batches, input and output channels
	Window
	Act        nn.FusedActivation
	NCHW       bool
	Depthwise  bool
	Multiplier int // DEPTHWISE_CONV_2D: output channels per input channel
}

func readConv(a *Args) (Conv, error) {
	c := Conv{Input: a.In("input"), Filter: a.In("filter"), Bias: a.In("bias"), Output: a.Op.Outputs[0], Type: a.Key,
		Depthwise: a.Op.Type == nn.OpDepthwiseConv2D}
	var err error
	c.NCHW = try.V(a.Bool("nchw"))
	n, h, w, ch := try.V4(a.image("input", c.NCHW))
	f := try.V(a.filter())
	c.N, c.C = n, ch
	if c.Depthwise {
		m := try.V(a.Int32("depth_multiplier"))
		c.K, c.Multiplier = int(f[3]), int(m)
		if f[0] != 1 {
			return c, a.errorf("filter", "dimension 0 is %d, 1 needed", f[0])
		}
		if m < 1 || int64(m)*int64(ch) != int64(f[3]) {
			return c, a.errorf("depth_multiplier", "%d channels times %d are not the filter's %d", ch, m, f[3])
		}
	} else {
		c.K = int(f[0])
		if int(f[3]) != ch {
			return c, a.errorf("filter", "depth %d, the input's is %d", f[3], ch)
		}
	}
	try.E(a.bias(c.K))
	c.Window = try.V(a.window(h, w, int(f[1]), int(f[2])))
	c.Act, err = a.activation()
	return c, err
}

// OutputDims is the shape of the result.
func (c *Conv) OutputDims() []uint32 { return imageDims(c.N, c.OutH, c.OutW, c.K, c.NCHW) }

// MACs counts the multiply-accumulates as the operation defines them: every
// output element times the filter's taps, padding included.
func (c *Conv) MACs() int64 {
	depth := int64(c.C)
	if c.Depthwise {
		depth = 1
	}
	return int64(c.N) * int64(c.OutH) * int64(c.OutW) * int64(c.K) * int64(c.KH) * int64(c.KW) * depth
}

// patches counts the elements of all windows.
func (c *Conv) patches() int64 {
	if c.KH*c.KW*c.StrideH*c.StrideW == 1 {
		return 0
	}
	return int64(c.N) * int64(c.OutH) * int64(c.OutW) * int64(c.KH) * int64(c.KW) * int64(c.C)
}

// product is the convolution in so many groups as products of matrices.
func (c *Conv) product(groups int) Product {
	return Product{Groups: int64(groups), Rows: int64(c.N) * int64(c.OutH) * int64(c.OutW), Taps: int64(c.KH) * int64(c.KW),
		Inputs: int64(c.C / groups), Outputs: int64(c.K / groups)}
}

// convWork is the work of a CONV_2D or DEPTHWISE_CONV_2D, whose groups are the input's channels.
func convWork(a *Args, w *Work) {
	c := try.V(readConv(a))
	w.products(a, c.MACs())
	groups := 1
	if c.Depthwise {
		groups = c.C
	} else {
		w.Patches = product(a.Op, c.patches(), int64(a.Key.ElementBytes()))
	}
	w.Product = c.product(groups)
	w.Product.Steps = w.Steps
}

// groupedConvWork is the work of a GROUPED_CONV_2D. TensorFlow Lite has no elementwise steps apart from its loops.
func groupedConvWork(a *Args, w *Work) {
	c := try.V(readGroupedConv(a))
	w.products(a, c.MACs())
	w.Product = c.product(c.Groups)
	steps := int64(stepsStore)
	if isQuantized(a.Key) {
		steps = stepsRequant
	}
	w.Product.Steps = product(a.Op, steps, w.Product.Rows, int64(c.K))
}

// Quant returns the requantization of a quantized convolution.
func (c *Conv) Quant(v View) (quantized.GEMM, error) {
	dim := uint32(0)
	if c.Depthwise {
		dim = 3
	}
	return v.gemmQuant(c.Input, c.Filter, c.Bias, c.Output, c.Act, c.K, dim)
}

// sums describes the 32-bit sums of a quantized convolution.
func (c *Conv) sums(v View) (Sums, error) {
	q, err := c.Quant(v)
	per := 1
	if f := v.Operands[c.Filter].Elements(); !c.Depthwise && c.K > 0 {
		per = int(f) / c.K
	}
	return Sums{c.Input, c.Filter, c.Bias, c.K, per, q}, err
}

// GroupedConv is a GROUPED_CONV_2D: Groups convolutions side by side, each of
// C/Groups input and K/Groups output channels. The filter is
// [K, KH, KW, C/Groups].
type GroupedConv struct {
	Conv
	Groups int
}

func readGroupedConv(a *Args) (GroupedConv, error) {
	c := GroupedConv{Conv: Conv{Input: a.In("input"), Filter: a.In("filter"), Bias: a.In("bias"), Output: a.Op.Outputs[0], Type: a.Key}}
	var err error
	c.NCHW = try.V(a.Bool("nchw"))
	n, h, w, ch := try.V4(a.image("input", c.NCHW))
	f := try.V(a.filter())
	g := try.V(a.Int32("groups"))
	if g < 1 || ch%int(g) != 0 || int(f[0])%int(g) != 0 || int64(f[3])*int64(g) != int64(ch) {
		return c, a.errorf("groups", "%d for %d input channels and a filter of %v", g, ch, f)
	}
	c.N, c.C, c.K, c.Groups = n, ch, int(f[0]), int(g)
	try.E(a.bias(c.K))
	c.Window = try.V(a.window(h, w, int(f[1]), int(f[2])))
	c.Act, err = a.activation()
	return c, err
}

// MACs counts the multiply-accumulates.
func (c *GroupedConv) MACs() int64 { return c.Conv.MACs() / int64(c.Groups) }

// filter reads the shape of a filter of rank 4 that is not empty.
func (a *Args) filter() ([]uint32, error) {
	f := try.V(a.Dims("filter"))
	if len(f) != 4 {
		return nil, a.errorf("filter", "rank %d, 4 needed", len(f))
	}
	if nn.Elements(f) == 0 {
		return nil, a.errorf("filter", "shape %v is empty", f)
	}
	return f, nil
}

// bias checks the shape of a bias.
func (a *Args) bias(k int) error {
	b := try.V(a.Dims("bias"))
	if len(b) != 1 || int(b[0]) != k {
		return a.errorf("bias", "shape %v, [%d] needed", b, k)
	}
	return nil
}

// TransposeConv is a TRANSPOSE_CONV_2D: input pixel (y, x) adds its filter to
// the output from (y*StrideH - Top, x*StrideW - Left) on. The filter is
// [K, KH, KW, C]. In Window, H and W are the input, OutH and OutW the output;
// Bottom and Right may be negative.
type TransposeConv struct {
	Conv
}

func readTransposeConv(a *Args) (TransposeConv, error) {
	c := TransposeConv{Conv{Input: a.In("input"), Filter: a.In("filter"), Bias: a.In("bias"), Output: a.Op.Outputs[0], Type: a.Key}}
	c.NCHW = try.V(a.Bool("nchw"))
	n, h, w, ch := try.V4(a.image("input", c.NCHW))
	f := try.V(a.filter())
	if int(f[3]) != ch {
		return c, a.errorf("filter", "depth %d, the input's is %d", f[3], ch)
	}
	c.N, c.C, c.K = n, ch, int(f[0])
	c.H, c.W, c.KH, c.KW, c.DilationH, c.DilationW = h, w, int(f[1]), int(f[2]), 1, 1
	try.E(a.bias(c.K))
	try.E(a.positive(size{"stride_h", &c.StrideH}, size{"stride_w", &c.StrideW}))
	c.Act = try.V(a.activation())
	var oh, ow int
	if a.Has("padding") {
		oh, ow = try.V2(a.statedOutput(c.NCHW))
	}
	if err := a.padding(&c.Window, func() {
		c.Top, c.Bottom = transposePadding(oh, c.KH, c.StrideH)
		c.Left, c.Right = transposePadding(ow, c.KW, c.StrideW)
	}); err != nil {
		return c, err
	}
	c.OutH = c.StrideH*(h-1) + c.KH - c.Top - c.Bottom
	c.OutW = c.StrideW*(w-1) + c.KW - c.Left - c.Right
	if c.OutH < 1 || c.OutW < 1 || c.OutH > nn.MaxElements || c.OutW > nn.MaxElements {
		return c, a.errorf("input", "the result would be %dx%d", c.OutH, c.OutW)
	}
	return c, nil
}

// statedOutput is the height and width of the output that a TRANSPOSE_CONV_2D states.
func (a *Args) statedOutput(nchw bool) (h, w int, err error) {
	shape := try.V(a.Int32s("output_shape"))
	if len(shape) != 4 || min(shape[0], shape[1], shape[2], shape[3]) < 0 {
		return 0, 0, a.errorf("output_shape", "%v, four sizes needed", shape)
	}
	if nchw {
		return int(shape[2]), int(shape[3]), nil
	}
	return int(shape[1]), int(shape[2]), nil
}

// transposePadding is SAME for an output size; the tail fits the last stride
// and may be negative.
func transposePadding(out, k, stride int) (head, tail int) {
	need := ((out+stride-1)/stride-1)*stride + k
	head = max(need-out, 0) / 2
	return head, need - out - head
}

// MACs counts the multiply-accumulates: every input pixel times the filter.
func (c *TransposeConv) MACs() int64 {
	return int64(c.N) * int64(c.H) * int64(c.W) * int64(c.C) * int64(c.K) * int64(c.KH) * int64(c.KW)
}

// patches counts the elements of all windows of the output, which overlap.
func (c *TransposeConv) patches() int64 {
	return int64(c.N) * int64(c.H) * int64(c.W) * int64(c.KH) * int64(c.KW) * int64(c.K)
}

// denseRows are the matrix products.
var denseRows = []Row{
	{Op: nn.OpFullyConnected, Since: V10, Types: floatQuant10, Args: fullyConnectedArgs, Until12: productScaleUntil12,
		Quant: fits(readFullyConnected, (*FullyConnected).Quant), Sums: sums(readFullyConnected, (*FullyConnected).sums),
		Work: WorkRule{Kernel: KernelDense, Float: stepsStore, Quant: stepsRequant, Also: macs(readFullyConnected, (*FullyConnected).MACs)},
		Forms: []Form{
			{V10, "input:T weights:T bias:B activation:int32", "output:T"},
		}},
	{Op: nn.OpBatchMatmul, Since: FL6, Types: "F16@FL6 F32@FL6 I32@FL6 Q8S@FL6", MaxRank: 4, Args: batchMatmulArgs,
		Quant: fits(readBatchMatmul, (*BatchMatmul).Quant),
		Work:  WorkRule{Kernel: KernelDense, Float: stepsStore, Quant: stepsRequant, Also: macs(readBatchMatmul, (*BatchMatmul).MACs)},
		Forms: []Form{
			{FL6, "lhs:T rhs:T adj_x:bool adj_y:bool", "output:T"},
		}},
}

var (
	fullyConnectedArgs = Arguments[FullyConnected]{Read: readFullyConnected, Shapes: one((*FullyConnected).OutputDims)}
	batchMatmulArgs    = Arguments[BatchMatmul]{Read: readBatchMatmul, Shapes: one(func(m *BatchMatmul) []uint32 { return m.Dims })}
)

// FullyConnected is a FULLY_CONNECTED. The input is reshaped to [Batch, Depth],
// the weights are [Units, Depth].
type FullyConnected struct {
	Input, Weights, Bias, Output uint32 // operand indexes
	Type                         nn.OperandType
	Batch, Depth, Units          int
	Act                          nn.FusedActivation
}

func readFullyConnected(a *Args) (FullyConnected, error) {
	f := FullyConnected{Input: a.In("input"), Weights: a.In("weights"), Bias: a.In("bias"), Output: a.Op.Outputs[0], Type: a.Key}
	in := try.V(a.Dims("input"))
	w := try.V(a.Dims("weights"))
	b := try.V(a.Dims("bias"))
	if len(in) < 2 || len(in) > 4 {
		return f, a.errorf("input", "rank %d, 2 to 4 needed", len(in))
	}
	if len(w) != 2 || w[0] == 0 || w[1] == 0 {
		return f, a.errorf("weights", "shape %v, [units, depth] needed", w)
	}
	f.Units, f.Depth = int(w[0]), int(w[1])
	n := nn.Elements(in)
	if n%int64(f.Depth) != 0 {
		return f, a.errorf("input", "shape %v is no multiple of the depth %d", in, f.Depth)
	}
	f.Batch = int(n / int64(f.Depth))
	if len(b) != 1 || int(b[0]) != f.Units {
		return f, a.errorf("bias", "shape %v, [%d] needed", b, f.Units)
	}
	f.Act = try.V(a.activation())
	return f, nil
}

// OutputDims is the shape of the result.
func (f *FullyConnected) OutputDims() []uint32 { return []uint32{uint32(f.Batch), uint32(f.Units)} }

// MACs counts the multiply-accumulates.
func (f *FullyConnected) MACs() int64 { return int64(f.Batch) * int64(f.Units) * int64(f.Depth) }

// Quant returns the requantization of a quantized operation.
func (f *FullyConnected) Quant(v View) (quantized.GEMM, error) {
	return v.gemmQuant(f.Input, f.Weights, f.Bias, f.Output, f.Act, f.Units, 0)
}

// sums describes the 32-bit sums of a quantized operation.
func (f *FullyConnected) sums(v View) (Sums, error) {
	q, err := f.Quant(v)
	return Sums{f.Input, f.Weights, f.Bias, f.Units, f.Depth, q}, err
}

// BatchMatmul is a BATCH_MATMUL: for each of Batch, a matrix of Rows by Depth
// times one of Depth by Cols. A matrix with Adj is stored transposed.
type BatchMatmul struct {
	A, B, Output             uint32 // operand indexes
	Type                     nn.OperandType
	Dims                     []uint32
	Batch, Rows, Depth, Cols int
	AdjA, AdjB               bool
}

func readBatchMatmul(a *Args) (BatchMatmul, error) {
	m := BatchMatmul{A: a.In("lhs"), B: a.In("rhs"), Output: a.Op.Outputs[0], Type: a.Key}
	x := try.V(a.Dims("lhs"))
	y := try.V(a.Dims("rhs"))
	m.AdjA = try.V(a.Bool("adj_x"))
	m.AdjB = try.V(a.Bool("adj_y"))
	if len(x) < 2 || len(x) > 4 {
		return m, a.errorf("lhs", "rank %d, 2 to 4 needed", len(x))
	}
	at := len(x) - 2
	if len(y) != len(x) || !slices.Equal(x[:at], y[:at]) {
		return m, a.errorf("rhs", "shape %v, %v needs the same batches", y, x)
	}
	rows, depth := x[at], x[at+1]
	if m.AdjA {
		rows, depth = depth, rows
	}
	inner, cols := y[at], y[at+1]
	if m.AdjB {
		inner, cols = cols, inner
	}
	if inner != depth || rows == 0 || depth == 0 || cols == 0 {
		return m, a.errorf("rhs", "a matrix of %d by %d cannot follow one of %d by %d", inner, cols, rows, depth)
	}
	m.Batch, m.Rows, m.Depth, m.Cols = int(nn.Elements(x[:at])), int(rows), int(depth), int(cols)
	m.Dims = append(append([]uint32{}, x[:at]...), rows, cols)
	return m, nil
}

// MACs counts the multiply-accumulates.
func (m *BatchMatmul) MACs() int64 {
	return int64(m.Batch) * int64(m.Rows) * int64(m.Cols) * int64(m.Depth)
}

// Quant returns the arithmetic of a quantized BATCH_MATMUL, with the second matrix
// as the filter and no bias.
func (m *BatchMatmul) Quant(v View) (quantized.GEMM, error) {
	_, _, so, err := v.scales(m.A, m.B, m.Output)
	if err != nil {
		return quantized.GEMM{}, err
	}
	a, b, o := &v.Operands[m.A], &v.Operands[m.B], &v.Operands[m.Output]
	q := quantized.GEMM{InZero: a.ZeroPoint, FilterZero: b.ZeroPoint, OutZero: o.ZeroPoint}
	q.Mult = []fixedpoint.Multiplier{fixedpoint.QuantizeMultiplier(float64(a.Scale*b.Scale) / so)}
	q.Lo, q.Hi = quantized.Limits(o.Type)
	return q, nil
}
