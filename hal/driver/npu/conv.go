package npu

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// gemm is what convolutions and FULLY_CONNECTED have in common.
type gemm struct {
	input, filter, bias, output uint32
	n, c, k                     int
	win                         opspec.Window
	quant                       opspec.GEMMQuant
	depthwise                   bool
	multiplier                  int // depthwise: outputs per input channel
}

func (l *lowering) conv(op *nn.Operation) error {
	c, err := l.view.Conv(op)
	if err != nil {
		return err
	}
	if _, err := l.operand(c.Input); err != nil {
		return err
	}
	q, err := c.Quant(l.view)
	if err != nil {
		return err
	}
	return l.gemm(&gemm{c.Input, c.Filter, c.Bias, c.Output, c.N, c.C, c.K, c.Window, q, c.Depthwise, c.Multiplier})
}

// fullyConnected is a 1x1 convolution over a row of batches.
func (l *lowering) fullyConnected(op *nn.Operation) error {
	f, err := l.view.FullyConnected(op)
	if err != nil {
		return err
	}
	if _, err := l.operand(f.Input); err != nil {
		return err
	}
	q, err := f.Quant(l.view)
	if err != nil {
		return err
	}
	win := opspec.Window{H: 1, W: f.Batch, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 1, OutW: f.Batch}
	return l.gemm(&gemm{input: f.Input, filter: f.Weights, bias: f.Bias, output: f.Output, n: 1, c: f.Depth, k: f.Units, win: win, quant: q})
}

// maxBatch bounds the repetition of kernels over batches.
const maxBatch = 256

// checkWindow tests a window against the kernel registers.
func checkWindow(w *opspec.Window) error {
	switch {
	case w.StrideH > 3 || w.StrideW > 3:
		return fmt.Errorf("stride %dx%d; up to 3 is supported", w.StrideH, w.StrideW)
	case w.DilationH > 2 || w.DilationW > 2:
		return fmt.Errorf("dilation %dx%d; up to 2 is supported", w.DilationH, w.DilationW)
	case (w.KH-1)*w.DilationH >= 64 || (w.KW-1)*w.DilationW >= 64 || w.KH*w.KW > 4096:
		return fmt.Errorf("kernel of %dx%d taps", w.KH, w.KW)
	case w.Top > 127 || w.Left > 127 || w.Bottom > 255 || w.Right > 255:
		return fmt.Errorf("padding %d,%d,%d,%d exceeds the padding registers", w.Top, w.Bottom, w.Left, w.Right)
	}
	return nil
}

// setWindow copies a window into work. The rows behind the last window are
// left out: padding there is what the last window reaches beyond the image.
func (w *work) setWindow(win *opspec.Window) {
	w.kh, w.kw, w.sy, w.sx, w.dy, w.dx = win.KH, win.KW, win.StrideH, win.StrideW, win.DilationH, win.DilationW
	w.top, w.left = win.Top, win.Left
	w.bottom = max((win.OutH-1)*win.StrideH+(win.KH-1)*win.DilationH+1-win.H-win.Top, 0)
	w.right = max((win.OutW-1)*win.StrideW+(win.KW-1)*win.DilationW+1-win.W-win.Left, 0)
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

// gemm lowers a convolution: per batch, and in slices of output channels whose
// weights fit a ring buffer, so that the next slice's weights are fetched
// while one is computed.
func (l *lowering) gemm(g *gemm) error {
	win := single(g.win)
	if err := checkWindow(&win); err != nil {
		return err
	}
	if g.n > maxBatch {
		return fmt.Errorf("%d batches; up to %d are supported", g.n, maxBatch)
	}
	filter, bias := &l.graph.Operands[g.filter], &l.graph.Operands[g.bias]
	if !filter.IsConst() || !bias.IsConst() {
		return fmt.Errorf("filter and bias must be constants")
	}
	if _, err := l.view.Data(g.filter); err != nil {
		return err
	}
	biases, err := l.view.Data(g.bias)
	if err != nil {
		return err
	}
	// A depthwise kernel maps channel i to channel i; with several outputs per
	// channel it becomes a convolution whose other weights are zero.
	depthwise := g.depthwise && g.multiplier == 1 && g.c > 1
	perOutput := win.KH * win.KW * g.c
	if depthwise {
		perOutput = win.KH * win.KW
	}
	if g.depthwise && !depthwise && perOutput > 1<<16 {
		return fmt.Errorf("depth multiplier %d over %d channels", g.multiplier, g.c)
	}
	slice := min(g.k, max(roundDown(weightSlice/perOutput, l.sliceGranule()), l.sliceGranule()))
	for n := range g.n {
		for k := 0; k < g.k; k += slice {
			width := min(slice, g.k-k)
			w := work{kind: kindConv, round: doubleRound, lo: int(g.quant.Lo), hi: int(g.quant.Hi)}
			if w.ifm, err = l.in(g.input, win.H, win.W, g.c); err != nil {
				return err
			}
			if w.ofm, err = l.out(g.output, win.OutH, win.OutW, g.k); err != nil {
				return err
			}
			w.ifm.addr += n * win.H * win.W * g.c
			w.ifm.zero, w.ofm.zero = int(g.quant.InZero), int(g.quant.OutZero)
			w.ofm.addr += n*win.OutH*win.OutW*g.k + k
			w.ofm.c = width
			w.setWindow(&win)
			inputs := g.c
			if depthwise {
				w.kind, inputs = kindDepthwise, 1
				w.ifm.addr += k
				w.ifm.c = width
			} else {
				w.partKernel = partKernel(g.c, win.KH*win.KW)
			}
			records, err := scaleRecords(g, biases, k, width)
			if err != nil {
				return err
			}
			w.weights = &weights{o: width, i: inputs, records: records, w: func() []int16 {
				return g.plain(filter, depthwise, k, width)
			}}
			if err := l.emit(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// weightSlice is the bytes of weights aimed at per kernel.
const weightSlice = 128 << 10

// sliceGranule keeps slices at whole blocks of the array.
func (l *lowering) sliceGranule() int { return max(16, l.spec.UBlock.D) * l.spec.Cores }

func roundDown(n, m int) int { return n / m * m }

// partKernel chooses the traversal that wastes less of the array: taps in
// groups of four over 8 channels, or 32 channels tap by tap.
func partKernel(c, taps int) bool {
	byTaps := float64(c) / float64(roundUp(c, 8)) * float64(taps) / float64(roundUp(taps, 4))
	byDepth := float64(c) / float64(roundUp(c, 32))
	return c <= 8 || byTaps >= byDepth
}

// plain is the weights of output channels first..first+n minus their zero
// point, [o][y][x][i].
func (g *gemm) plain(filter *nn.Operand, depthwise bool, first, n int) []int16 {
	zero := int16(g.quant.FilterZero)
	at := func(i int) int16 {
		if isSigned(filter.Type) {
			return int16(int8(filter.Data[i])) - zero
		}
		return int16(filter.Data[i]) - zero
	}
	taps := g.win.KH * g.win.KW
	switch {
	case depthwise:
		w := make([]int16, n*taps)
		for o := range n {
			for t := range taps {
				w[o*taps+t] = at(t*g.k + first + o)
			}
		}
		return w
	case g.depthwise:
		w := make([]int16, n*taps*g.c)
		for o := range n {
			for t := range taps {
				w[(o*taps+t)*g.c+(first+o)/g.multiplier] = at(t*g.k + first + o)
			}
		}
		return w
	}
	per := taps * g.c
	w := make([]int16, n*per)
	for i := range w {
		w[i] = at(first*per + i)
	}
	return w
}

// scaleRecords are the bias and multiplier of output channels first..first+n.
func scaleRecords(g *gemm, biases []byte, first, n int) ([]ethosu.ScaleRecord, error) {
	records := make([]ethosu.ScaleRecord, n)
	for i := range records {
		scale, shift, err := hardware(g.quant.Multiplier(first + i))
		if err != nil {
			return nil, err
		}
		b := int32(binary.LittleEndian.Uint32(biases[4*(first+i):]))
		records[i] = scaleRecord(int64(b), scale, shift)
	}
	return records, nil
}

func scaleRecord(bias int64, scale uint32, shift int) ethosu.ScaleRecord {
	return ethosu.ScaleRecord{Bias: bias, Scale: scale, Shift: uint8(shift)}
}
