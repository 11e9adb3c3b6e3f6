package family

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/gemm"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/move"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/reduce"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/texel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/window"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// Bounds of tables and gathers.
const (
	maxTable    = 1 << 22              // entries of a table of tap offsets
	maxGathered = layout.MaxRegion / 8 // elements of the matrix of a gather
	maxExtent   = move.Outside         // of an image whose rows and columns tables name
)

// lowerConv lowers CONV_2D and DEPTHWISE_CONV_2D: with constant filters to tiles, else as they are.
func lowerConv(l *lower.Lowering, _ *nn.Operation, c opspec.Conv) {
	rows, taps := c.N*c.OutH*c.OutW, c.KH*c.KW
	fits := rows > 0 && rows <= maxTable/taps && constants(l, c.Filter, c.Bias) && !(c.Depthwise && c.KW > window.MaxColumns)
	if fits && c.Depthwise && !l.Operand(c.Input).Type.IsQuant8() {
		infinite := func(x float32) bool { return x-x != 0 }
		fits = !slices.ContainsFunc(try.V(l.Floats(c.Filter, "filter")), infinite) // tiles read zeros outside the image, the reference nothing
	}
	switch {
	case c.Depthwise && !fits:
		addDirect(l, &c, window.Depthwise, 1, quant(l, &c))
	case fits && texels(l, &c, 1):
		addTexel(l, &c, 1)
	case c.Depthwise:
		depthwise(l, &c)
	case !fits || !gatherFits(&c.Window, rows, c.C) || c.K <= narrow && c.C%4 == 0 && rows >= manyRows:
		addDirect(l, &c, window.Grouped, 1, quant(l, &c))
	default:
		product2D(l, &c, rows)
	}
}

// product2D adds a CONV_2D with a constant filter as a product of matrices.
func product2D(l *lower.Lowering, c *opspec.Conv, rows int) {
	k := newGEMM(l, c.Input, c.Filter, c.Bias, c.Output, quant(l, c))
	k.Lo, k.Hi = opspec.FloatActRange(c.Act)
	k.Rows, k.Units, k.Taps, k.Depth, k.Window = rows, c.K, c.KH*c.KW, c.C, c.Window
	pointwise := c.KH == 1 && c.KW == 1 && c.StrideH == 1 && c.StrideW == 1 && !c.Padded()
	if k.Rows == 1 && pointwise && k.Elem.IsFloat() {
		k.EndBehind()
	} else if c.C%k.Elem.PerChunk() != 0 {
		gather(l, k, c.N)
	} else if !pointwise {
		k.Gather = true
		l.Pages().Need(k.Padding(), c.C*k.Elem.Bytes())
	}
	addGEMM(l, k)
}

// Where units fill at most half of a wave of 32 lanes and rows two waves at least, lanes are outputs (assumed, D-1021).
const (
	narrow   = 16
	manyRows = 64
)

// lowerGroupedConv lowers GROUPED_CONV_2D.
func lowerGroupedConv(l *lower.Lowering, _ *nn.Operation, c opspec.GroupedConv) {
	if constants(l, c.Filter, c.Bias) && texels(l, &c.Conv, c.Groups) {
		addTexel(l, &c.Conv, c.Groups)
	} else {
		addDirect(l, &c.Conv, window.Grouped, c.Groups, quant(l, &c.Conv))
	}
}

// texelShape is a convolution in the form of package texel.
func texelShape(l *lower.Lowering, c *opspec.Conv, groups int) texel.Shape {
	s := texel.Shape{Window: c.Window, Batches: c.N, InC: c.C, OutC: c.K, Groups: groups, Depthwise: c.Depthwise}
	s.Lo, s.Hi = opspec.FloatActRange(c.Act)
	return s
}

// texels reports whether a convolution with constant filters uses package texel.
func texels(l *lower.Lowering, c *opspec.Conv, groups int) bool {
	s := texelShape(l, c, groups)
	t := l.Operand(c.Input).Type
	if !c.Depthwise && groups == 1 && c.KH*c.KW*c.H*c.W == 1 {
		return false // the library makes it FULLY_CONNECTED
	}
	return l.Machine().Texels && !(c.Depthwise && c.Multiplier > 1) && (t == nn.TensorFloat16 || t == nn.TensorFloat32) && s.Fits() && c.N*c.OutH*c.OutW*c.C*c.K > 0
}

// addTexel adds a convolution of texels.
func addTexel(l *lower.Lowering, c *opspec.Conv, groups int) {
	k := &texel.Kernel{Shape: texelShape(l, c, groups)}
	k.In, k.Out = try.V2(l.Pair(c.Input, c.Output))
	k.Weights, k.Bias = filter(l, c.Filter, c.Bias)
	k.Elem, k.In = k.In.Elem, l.InArena(k.In)
	k.Cut(&l.Machine().Tile)
	l.Pages().Need(0, k.InC*k.Elem.Bytes())
	l.Launch(k, k.Out)
}

// lowerTransposeConv lowers TRANSPOSE_CONV_2D.
func lowerTransposeConv(l *lower.Lowering, _ *nn.Operation, c opspec.TransposeConv) {
	addDirect(l, &c.Conv, window.Transposed, 1, quant(l, &c.Conv))
}

// quantization gives the arithmetic of an operation on bytes.
type quantization func() (quantized.GEMM, error)

// quant is the quantization of a convolution.
func quant(l *lower.Lowering, c *opspec.Conv) quantization {
	return func() (quantized.GEMM, error) { return c.Quant(l.View()) }
}

// constants reports whether operands are known when the model is prepared.
func constants(l *lower.Lowering, operands ...uint32) bool {
	for _, x := range operands {
		if !l.Operand(x).IsConst() {
			return false
		}
	}
	return true
}

// convShape is a convolution that slides a window.
func convShape(l *lower.Lowering, c *opspec.Conv, mode window.Mode) (s window.Shape) {
	s = window.Shape{Mode: mode, Window: c.Window, Batches: c.N, InC: c.C, OutC: c.K, Multiplier: c.Multiplier}
	s.Lo, s.Hi = opspec.FloatActRange(c.Act)
	s.In, s.Out = try.V2(l.Pair(c.Input, c.Output))
	return s
}

// addDirect adds a convolution whose filter is a tensor.
func addDirect(l *lower.Lowering, c *opspec.Conv, mode window.Mode, groups int, quant quantization) {
	refuse(c.N*c.OutH*c.OutW*c.C == 0, lower.SomeElements, "an output of %dx%dx%dx%d", c.N, c.OutH, c.OutW, c.K)
	k := &window.Direct{Shape: convShape(l, c, mode), Groups: groups}
	if mode == window.Transposed {
		k.Window.DilationH, k.Window.DilationW = 1, 1
	}
	k.Filter, k.Bias = try.V2(l.Pair(c.Filter, c.Bias))
	if k.Filter.Region == layout.Consts {
		data := l.Constants().Data[k.Filter.Off:][:k.Filter.Bytes()]
		if data, k.Packed = k.PackFilter(data, k.Filter.Elem.Bytes()); k.Packed {
			k.Filter = &layout.Tensor{Region: layout.Consts, Off: l.Constants().Bytes(data), Elem: k.Filter.Elem, N: k.Filter.N, First: -1}
		}
	}
	if !k.In.Elem.IsFloat() {
		q := try.V(quant())
		k.Fixed, k.Mult = rdna.NewFixed(&q), q.Mult
	}
	if k.Zeros() {
		k.In = l.InArena(k.In)
		l.Pages().Need(0, k.InC/k.Groups*k.In.Elem.Bytes())
	}
	l.Launch(k, k.Out)
}

// depthwise adds a DEPTHWISE_CONV_2D with a constant filter.
func depthwise(l *lower.Lowering, c *opspec.Conv) {
	k := &window.Kernel{Shape: convShape(l, c, window.Depthwise)}
	if k.In.Elem.IsFloat() {
		k.Weights, k.Bias = filter(l, c.Filter, c.Bias)
	} else {
		q := try.V(c.Quant(l.View()))
		weights, bias := quantizedFilter(l, c.Filter, c.Bias)
		k.Fixed = rdna.NewFixed(&q)
		k.Bytes = &window.Quantized{Bias: bias, Mult: q.Mult, Weights: make([]int32, len(weights))}
		signed := try.V(l.Element(l.Operand(c.Filter).Type)).IsSigned()
		for i, b := range weights {
			if k.Bytes.Weights[i] = int32(b) - q.FilterZero; signed {
				k.Bytes.Weights[i] = int32(int8(b)) - q.FilterZero
			}
		}
	}
	addWindow(l, k)
}

// point is the window of a product without one.
var point = opspec.Window{H: 1, W: 1, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 1, OutW: 1}

// lowerFullyConnected lowers FULLY_CONNECTED.
func lowerFullyConnected(l *lower.Lowering, _ *nn.Operation, f opspec.FullyConnected) {
	refuse(f.Batch == 0, lower.SomeElements, "no rows")
	quant := func() (quantized.GEMM, error) { return f.Quant(l.View()) }
	if !constants(l, f.Weights, f.Bias) || !gatherFits(&point, f.Batch, f.Depth) {
		c := opspec.Conv{Input: f.Input, Filter: f.Weights, Bias: f.Bias, Output: f.Output, Act: f.Act, N: f.Batch, C: f.Depth, K: f.Units, Window: point}
		addDirect(l, &c, window.Grouped, 1, quant)
		return
	}
	k := newGEMM(l, f.Input, f.Weights, f.Bias, f.Output, quant)
	k.Rows, k.Units, k.Taps, k.Depth, k.Window = f.Batch, f.Units, 1, f.Depth, point
	k.Lo, k.Hi = opspec.FloatActRange(f.Act)
	if k.Rows == 1 && k.Elem.IsFloat() {
		k.EndBehind()
	} else if f.Depth%k.Elem.PerChunk() != 0 {
		gather(l, k, f.Batch)
	}
	addGEMM(l, k)
}

// newGEMM is the tensors and constants of a convolution or FULLY_CONNECTED.
func newGEMM(l *lower.Lowering, in, weights, bias, out uint32, quant quantization) *gemm.Kernel {
	k := &gemm.Kernel{}
	k.In, k.Out = try.V2(l.Pair(in, out))
	k.Elem = k.In.Elem
	if k.Elem.IsFloat() {
		k.Weights, k.Bias = filter(l, weights, bias)
		return k
	}
	q := try.V(quant())
	w, b := quantizedFilter(l, weights, bias)
	k.Bytes = gemm.NewQuantized(&q, k.Elem, try.V(l.Element(l.Operand(weights).Type)), w, b)
	k.Fixed = k.Bytes.Fixed
	return k
}

// filter is constant weights and biases of floats.
func filter(l *lower.Lowering, weights, bias uint32) (w, b []float32) {
	return try.V(l.Floats(weights, "filter")), try.V(l.Floats(bias, "bias"))
}

// quantizedFilter is constant weights and biases of 8-bit elements.
func quantizedFilter(l *lower.Lowering, weights, bias uint32) (w []byte, b []int32) {
	return try.V(l.View().Data(weights)), integers(l, bias)
}

// libraryStep is how many channels a phone's library multiplies in a product of one row before it waits for the next (D-2204).
const libraryStep = 8

func addGEMM(l *lower.Lowering, k *gemm.Kernel) {
	if l.Machine().Texels && k.Elem.IsFloat() && k.Rows == 1 {
		k.Step = libraryStep
	}
	k.In = l.InArena(k.In)
	k.Cut(&l.Machine().Tile)
	l.Launch(k, k.Out)
}

// gather makes k a dense matrix product behind a gather of n images: rows are padded to
// whole chunks, longer ones to whole cache lines.
func gather(l *lower.Lowering, k *gemm.Kernel, n int) {
	row := k.Taps * k.Depth
	per := k.Elem.PerChunk()
	if row > 4*per {
		per *= 4
	}
	width := (row + per - 1) / per * per
	k.In = l.InArena(k.In)
	h := &move.Gather{Window: k.Window, Batches: n, Channels: k.Depth, Width: width, Padding: k.Padding(), In: k.In}
	h.Out = l.Temporary(k.Elem, k.Rows*width)
	l.Pages().Need(h.Padding, layout.Guard)
	l.Launch(h, h.Out)
	if k.Bytes != nil {
		k.Bytes.Weights = gemm.Padded(k.Bytes.Weights, k.Units, row, width)
	} else {
		k.Weights = gemm.Padded(k.Weights, k.Units, row, width)
	}
	k.In, k.Taps, k.Depth = h.Out, 1, width
}

// gatherFits reports whether the matrix of a gather is not too large, whether or not there will be one.
func gatherFits(w *opspec.Window, rows, depth int) bool {
	return rows <= maxGathered/(w.KH*w.KW)/(depth+64) &&
		w.KH*w.DilationH < maxExtent && w.KW*w.DilationW < maxExtent && w.H < maxExtent && w.W < maxExtent
}

// lowerPool lowers poolings by a table of taps, but for L2_POOL_2D and where the table is too long: these output by output.
func lowerPool(l *lower.Lowering, op *nn.Operation, p opspec.Pool) {
	mode := map[nn.OperationType]window.Mode{nn.OpAveragePool2D: window.Average, nn.OpMaxPool2D: window.Maximum, nn.OpL2Pool2D: window.L2}[op.Type]
	rows := p.N * p.OutH * p.OutW
	refuse(rows == 0 || p.C == 0, lower.SomeElements, "%d positions of %d channels", rows, p.C)
	s := window.Shape{Mode: mode, Window: p.Window, Batches: p.N, InC: p.C, OutC: p.C, Multiplier: 1}
	s.In, s.Out = try.V2(l.Pair(p.Input, p.Output))
	s.Lo, s.Hi = opspec.FloatActRange(p.Act)
	if o := l.Operand(p.Output); o.Type.IsQuant8() {
		s.Fixed.Lo, s.Fixed.Hi = quantized.ActRange(p.Act, o.Type, o.Scale, o.ZeroPoint)
	}
	if f, ok := poolFold(&s); ok && f.Kept.Len < layout.MaxAxes {
		in := foldParts(l, &f, s.In)
		l.Launch(&reduce.Fold{FoldShape: f, Bounds: reduce.Bounds{Lo: s.Lo, Hi: s.Hi, Least: s.Fixed.Lo, Great: s.Fixed.Hi}, In: in, Out: s.Out}, s.Out)
		return
	}
	if mode == window.L2 || rows > maxTable/(p.KH*p.KW) {
		l.Launch(&window.Direct{Shape: s}, s.Out)
	} else {
		addWindow(l, &window.Kernel{Shape: s})
	}
}

// chainOfFolds is the time of an element of a fold, each of which waits for the one before, in taps of a table, whose
// loads are under way together (measured on the simulator, D-2201).
const chainOfFolds = 7

// poolFold is a pooling without padding as a fold of axes, where that takes less time than its table, which is a chain
// of all taps, or has no table.
func poolFold(s *window.Shape) (f reduce.FoldShape, ok bool) {
	w, op := &s.Window, map[window.Mode]reduce.Op{window.Average: "average", window.Maximum: "maximum"}[s.Mode]
	taps := w.KH * w.KW
	if op == "" || w.Padded() || w.DilationH*w.DilationW > 1 || taps > maxMean {
		return f, false
	}
	f = reduce.FoldShape{Op: op, Count: taps}
	row := w.W * s.InC
	var err error
	f.Kept, err = layout.Collapse([]int{s.Batches, w.OutH, w.OutW, s.InC}, []int{w.H * row, w.StrideH * row, w.StrideW * s.InC, 1})
	if err != nil {
		return f, false
	}
	if f.Reduced, err = layout.Collapse([]int{w.KH, w.KW}, []int{row, s.InC}); err != nil {
		return f, false
	}
	if w.KW > window.MaxColumns {
		return f, true
	}
	parts := f.Parts()
	return f, f.Kept.Size() < fewFolds && taps >= manyElements && chainOfFolds*(taps/parts+parts) < taps
}

func addWindow(l *lower.Lowering, k *window.Kernel) {
	k.In = l.InArena(k.In)
	l.Pages().Need(k.Padding(), k.InC*k.In.Elem.Bytes())
	l.Launch(k, k.Out)
}
