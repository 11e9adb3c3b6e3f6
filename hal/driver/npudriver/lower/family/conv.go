package family

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// gemm is what convolutions and FULLY_CONNECTED have in common.
type gemm struct {
	input, filter, bias, output uint32
	n, c, k                     int
	win                         opspec.Window
	quant                       quantized.GEMM
	depthwise                   bool
	multiplier                  int         // depthwise: outputs per input channel
	patches                     *layout.Ref // instead of the input, once it has been gathered
}

func lowerConv(l *lower.Lowering, _ *nn.Operation, c opspec.Conv) {
	l.Quantized(c.Input)
	q := try.V(c.Quant(l.View()))
	addGEMM(l, &gemm{c.Input, c.Filter, c.Bias, c.Output, c.N, c.C, c.K, c.Window, q, c.Depthwise, c.Multiplier, nil})
}

// lowerFullyConnected is a 1x1 convolution over a row of batches.
func lowerFullyConnected(l *lower.Lowering, _ *nn.Operation, f opspec.FullyConnected) {
	l.Quantized(f.Input)
	q := try.V(f.Quant(l.View()))
	win := opspec.Window{H: 1, W: f.Batch, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 1, OutW: f.Batch}
	addGEMM(l, &gemm{input: f.Input, filter: f.Weights, bias: f.Bias, output: f.Output, n: 1, c: f.Depth, k: f.Units, win: win, quant: q})
}

// maxBatch bounds the repetition of kernels over batches.
const maxBatch = 256

// sparse reports whether the windows, or their taps, are further apart than the kernel
// registers can encode.
func sparse(w *opspec.Window) bool {
	return w.StrideH > 3 || w.StrideW > 3 || w.DilationH > 2 || w.DilationW > 2
}

// checkWindow tests a window against the kernel registers.
func checkWindow(w *opspec.Window) {
	// The reach bounds the taps by maxKernel.
	maxTaps.Refuse((w.KH-1)*w.DilationH >= maxReach || (w.KW-1)*w.DilationW >= maxReach, "%dx%d taps, dilated %dx%d", w.KH, w.KW, w.DilationH, w.DilationW)
	checkPadding(w)
}

// checkPadding tests the padding of a window against the padding registers.
func checkPadding(w *opspec.Window) {
	paddingRegisters.Refuse(w.Top > maxBefore || w.Left > maxBefore || w.Bottom > maxPadAfter || w.Right > maxPadAfter, "padding %d,%d,%d,%d", w.Top, w.Bottom, w.Left, w.Right)
}

// setWindow copies a window into a kernel. The rows behind the last window are
// left out: padding there is what the last window reaches beyond the image.
func setWindow(w *kernel.Kernel, win *opspec.Window) {
	w.KH, w.KW, w.SY, w.SX, w.DY, w.DX = win.KH, win.KW, win.StrideH, win.StrideW, win.DilationH, win.DilationW
	w.Top, w.Left = win.Top, win.Left
	w.Bottom = max((win.OutH-1)*win.StrideH+(win.KH-1)*win.DilationH+1-win.H-win.Top, 0)
	w.Right = max((win.OutW-1)*win.StrideW+(win.KW-1)*win.DilationW+1-win.W-win.Left, 0)
}

// single drops the stride of a dimension with one window: it has no meaning.
func single(win opspec.Window) opspec.Window {
	if win.OutH == 1 {
		win.StrideH = 1
	}
	if win.OutW == 1 {
		win.StrideW = 1
	}
	return win
}

// addGEMM lowers a convolution: per batch, and in slices of output channels whose
// weights fit a ring buffer, so that the next slice's weights are fetched
// while one is computed.
func addGEMM(l *lower.Lowering, g *gemm) {
	filter, bias := l.Operand(g.filter), l.Operand(g.bias)
	if !filter.IsConst() || !bias.IsConst() {
		runtimeGEMM(l, g)
		return
	}
	win := single(g.win)
	if sparse(&win) && g.patches == nil {
		gatheredGEMM(l, g)
		return
	}
	checkWindow(&win)
	maxBatches.Refuse(g.n > maxBatch, "%d batches", g.n)
	try.V(l.View().Data(g.filter))
	biases := try.V(l.View().Data(g.bias))
	weights := filter.Data
	if g.depthwise && g.c == 1 {
		own := *g
		own.depthwise, own.multiplier = false, 0
		g, weights = &own, transposed(weights, win.KH*win.KW)
	}
	if own, data, ok := folded(l, g, win, weights); ok {
		g, win, weights = &own, own.win, data
	}
	// A depthwise kernel maps channel i to channel i; with several outputs per
	// channel it becomes a convolution whose other weights are zero.
	depthwise := g.depthwise && g.multiplier == 1
	perOutput := win.KH * win.KW * g.c
	if depthwise {
		perOutput = win.KH * win.KW
	}
	maxMultiplied.Refuse(g.depthwise && !depthwise && perOutput > maxDense, "multiplier %d over %d channels", g.multiplier, g.c)
	slice := min(g.k, max(roundDown(weightSlice/perOutput, sliceGranule(l)), sliceGranule(l)))
	for n := range g.n {
		for k := 0; k < g.k; k += slice {
			width := min(slice, g.k-k)
			w := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Conv, Round: doubleRound, Lo: int(g.quant.Lo), Hi: int(g.quant.Hi)}}
			if g.patches != nil {
				w.IFM = shaped(*g.patches, win.H, win.W, g.c)
			} else {
				w.IFM = l.In(g.input, win.H, win.W, g.c)
			}
			w.OFM = l.Out(g.output, win.OutH, win.OutW, g.k)
			w.IFM.Addr += n * win.H * win.W * g.c
			w.IFM.Zero, w.OFM.Zero = int(g.quant.InZero), int(g.quant.OutZero)
			w.OFM.Addr += n*win.OutH*win.OutW*g.k + k
			w.OFM.C = width
			setWindow(&w, &win)
			w.Weights = &kernel.Weights{
				Form: kernel.PerOutput, Filter: weights, Signed: lower.Signed(filter.Type), Zero: int(g.quant.FilterZero),
				First: k, Outputs: width, Taps: win.KH * win.KW, Inputs: g.c, Channels: g.k, Multiplier: g.multiplier,
			}
			switch {
			case depthwise:
				w.Kind, w.Weights.Form = kernel.Depthwise, kernel.PerTap
				w.IFM.Addr += k
				w.IFM.C = width
			case g.depthwise:
				w.Weights.Form = kernel.Multiplied
			}
			if !depthwise {
				w.PartKernel = partKernel(g.c, win.KH*win.KW)
			}
			w.Weights.Records = scaleRecords(g, biases, k, width)
			l.Add(w)
		}
	}
}

// transposed is the filter of a depthwise convolution of one channel, [tap][output], as that of the CONV_2D
// that it is, [output][tap], which may be folded. Vela does the same (its convert_depthwise_to_conv).
func transposed(filter []byte, taps int) []byte {
	outputs := len(filter) / taps
	data := make([]byte, len(filter))
	for i, b := range filter {
		data[i%outputs*taps+i/outputs] = b
	}
	return data
}

// gatheredGEMM is a convolution of any stride and dilation: the pixels under each window are
// copied next to each other. CONV_2D is then a product of matrices, DEPTHWISE_CONV_2D has
// windows of one row.
func gatheredGEMM(l *lower.Lowering, g *gemm) {
	own, win, taps := *g, &g.win, g.win.KH*g.win.KW
	try.E(checkGather(win, g.n, g.c))
	patches := patches(l, g, lower.Signed(l.Operand(g.input).Type))
	own.patches, own.n = &patches, 1
	own.win = opspec.Window{H: g.n * win.OutH, W: win.OutW, OutH: g.n * win.OutH, OutW: win.OutW, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1}
	if g.depthwise {
		own.win.H, own.win.OutH = g.n*win.OutH*win.OutW, g.n*win.OutH*win.OutW
		own.win.W, own.win.OutW, own.win.KW = taps, 1, taps
	} else {
		own.c = taps * g.c
	}
	addGEMM(l, &own)
}

// maxGathered bounds the bytes of gathered windows.
const maxGathered = 1 << 26

// checkGather tests whether the windows of images can be copied next to each other.
func checkGather(w *opspec.Window, n, c int) error {
	taps := w.KH * w.KW
	if bytes := int64(n) * int64(w.OutH) * int64(w.OutW) * int64(taps) * int64(c); bytes > maxGathered || n*taps > maxMoves {
		return maxPatches.Broken("stride %dx%d and dilation %dx%d: %d windows of %d taps and %d channels",
			w.StrideH, w.StrideW, w.DilationH, w.DilationW, n*w.OutH*w.OutW, taps, c)
	}
	return nil
}

// weightSlice is the bytes of weights aimed at per kernel.
const weightSlice = 128 << 10

// sliceGranule keeps slices at whole blocks of the array.
func sliceGranule(l *lower.Lowering) int { return max(16, l.Spec().UBlock.D) * l.Spec().Cores }

func roundDown(n, m int) int { return n / m * m }

func roundUp(n, m int) int { return (n + m - 1) / m * m }

// partKernel chooses the traversal that wastes less of the array: taps in
// groups of four over 8 channels, or 32 channels tap by tap.
func partKernel(c, taps int) bool {
	byTaps := float64(c) / float64(roundUp(c, 8)) * float64(taps) / float64(roundUp(taps, 4))
	byDepth := float64(c) / float64(roundUp(c, 32))
	return c <= 8 || byTaps >= byDepth
}

// scaleRecords are the bias and multiplier of output channels first..first+n.
func scaleRecords(g *gemm, biases []byte, first, n int) []ethosu.ScaleRecord {
	records := make([]ethosu.ScaleRecord, n)
	for i := range records {
		scale, shift := hardware(g.quant.Multiplier(first + i))
		b := int32(binary.LittleEndian.Uint32(biases[4*(first+i):]))
		records[i] = scaleRecord(int64(b), scale, shift)
	}
	return records
}

func scaleRecord(bias int64, scale uint32, shift int) ethosu.ScaleRecord {
	return ethosu.ScaleRecord{Bias: bias, Scale: scale, Shift: uint8(shift)}
}

// doubleRound is the rounding of gemmlowp's multiplier.
const doubleRound = ethosu.RoundDouble

// hardware is a multiplier as scale and right shift.
func hardware(m fixedpoint.Multiplier) (scale uint32, shift int) {
	if shift = 31 - m.Shift; shift < 0 || shift > 63 {
		try.E(outputScale.Broken("%d * 2^%d", m.M, m.Shift-31))
	}
	return uint32(m.M), shift
}
