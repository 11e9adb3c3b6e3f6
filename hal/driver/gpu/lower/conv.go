package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/gemm"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/move"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/window"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// maxTable bounds the entries of a table of tap offsets.
const maxTable = 1 << 22

// conv lowers CONV_2D and DEPTHWISE_CONV_2D.
func (l *Lowering) conv(op *nn.Operation) error {
	c, err := l.view.Conv(op)
	if err != nil {
		return err
	}
	if c.N*c.OutH*c.OutW == 0 || c.C == 0 {
		return fmt.Errorf("%s: empty tensor", op.Type)
	}
	k, err := l.product(c.Type, c.Input, c.Filter, c.Bias, c.Output)
	if err != nil {
		return err
	}
	rows := c.N * c.OutH * c.OutW
	if taps := c.KH * c.KW; rows > maxTable/taps {
		return fmt.Errorf("%s: %d positions of %d taps are too many", op.Type, rows, taps)
	}
	k.Lo, k.Hi = opspec.FloatActRange(c.Act)
	if c.Depthwise {
		l.window(&window.Kernel{
			Shape: window.Shape{Mode: window.Depthwise, Window: c.Window, Rows: rows, Batches: c.N, InC: c.C, OutC: c.K,
				Multiplier: c.Multiplier, Lo: k.Lo, Hi: k.Hi},
			Weights: k.Weights, Bias: k.Bias, In: k.In, Out: k.Out,
		})
		return nil
	}
	k.Rows, k.Units, k.Taps, k.Depth, k.Window = rows, c.K, c.KH*c.KW, c.C, c.Window
	if err := gatherFits(k); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	pointwise := c.KH == 1 && c.KW == 1 && c.StrideH == 1 && c.StrideW == 1 && c.Top+c.Bottom+c.Left+c.Right == 0
	if c.C%k.Elem.PerChunk() != 0 {
		l.gather(k, c.N)
	} else if !pointwise {
		k.Gather = true
		l.Pages().NeedZero(c.C * k.Elem.Bytes())
	}
	l.gemm(k)
	return nil
}

// fullyConnected lowers FULLY_CONNECTED.
func (l *Lowering) fullyConnected(op *nn.Operation) error {
	f, err := l.view.FullyConnected(op)
	if err != nil {
		return err
	}
	if f.Batch == 0 {
		return fmt.Errorf("%s: empty tensor", op.Type)
	}
	k, err := l.product(f.Type, f.Input, f.Weights, f.Bias, f.Output)
	if err != nil {
		return err
	}
	k.Rows, k.Units, k.Taps, k.Depth = f.Batch, f.Units, 1, f.Depth
	k.Lo, k.Hi = opspec.FloatActRange(f.Act)
	k.Window = opspec.Window{H: 1, W: 1, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 1, OutW: 1}
	if err := gatherFits(k); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	if f.Depth%k.Elem.PerChunk() != 0 {
		l.gather(k, f.Batch)
	}
	l.gemm(k)
	return nil
}

// product is the tensors and constants of a convolution or FULLY_CONNECTED.
func (l *Lowering) product(t nn.OperandType, in, weights, bias, out uint32) (*gemm.Kernel, error) {
	k := &gemm.Kernel{}
	var err error
	if k.In, k.Out, err = l.Pair(in, out); err != nil {
		return nil, err
	}
	if _, err = l.Element(t); err != nil {
		return nil, err
	}
	k.Elem = k.In.Elem
	if k.Weights, err = l.Floats(weights, "filter"); err != nil {
		return nil, err
	}
	k.Bias, err = l.Floats(bias, "bias")
	return k, err
}

func (l *Lowering) gemm(k *gemm.Kernel) {
	k.In = l.inArena(k.In)
	k.Cut()
	l.Add(k, []*layout.Tensor{k.In}, []*layout.Tensor{k.Out})
}

// gather makes k a dense matrix product behind a gather of n images: rows are padded to
// whole chunks, longer ones to whole cache lines.
func (l *Lowering) gather(k *gemm.Kernel, n int) {
	row := k.Taps * k.Depth
	per := k.Elem.PerChunk()
	if row > 4*per {
		per *= 4
	}
	width := (row + per - 1) / per * per
	k.In = l.inArena(k.In)
	h := &move.Gather{GatherShape: move.GatherShape{Window: k.Window, Batches: n, Channels: k.Depth, Width: width}, In: k.In}
	h.Out = l.Temporary(k.Elem, k.Rows*width)
	l.Pages().NeedZero(layout.Guard)
	l.Add(h, []*layout.Tensor{h.In}, []*layout.Tensor{h.Out})
	padded := make([]float32, k.Units*width)
	for u := range k.Units {
		copy(padded[u*width:], k.Weights[u*row:(u+1)*row])
	}
	k.Weights, k.In, k.Taps, k.Depth = padded, h.Out, 1, width
}

// gatherFits reports what makes the matrix of a gather too large, whether or not
// there will be one.
func gatherFits(k *gemm.Kernel) error {
	const limit = layout.MaxRegion / 8 // elements
	if k.Rows > limit/k.Taps/(k.Depth+2*k.Elem.PerChunk()*4) {
		return fmt.Errorf("%d positions of %d taps and %d channels are too many", k.Rows, k.Taps, k.Depth)
	}
	w := &k.Window
	if w.KH*w.DilationH >= move.Outside || w.KW*w.DilationW >= move.Outside || w.H >= move.Outside || w.W >= move.Outside {
		return fmt.Errorf("filter of %dx%d on an image of %dx%d is too large", w.KH, w.KW, w.H, w.W)
	}
	return nil
}

// pool lowers AVERAGE_POOL_2D and MAX_POOL_2D.
func (l *Lowering) pool(op *nn.Operation) error {
	p, err := l.view.Pool(op)
	if err != nil {
		return err
	}
	if _, err := l.Element(p.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	rows := p.N * p.OutH * p.OutW
	if rows == 0 || p.C == 0 {
		return fmt.Errorf("%s: empty tensor", op.Type)
	}
	if rows > maxTable/(p.KH*p.KW) {
		return fmt.Errorf("%s: %d positions of %d taps are too many", op.Type, rows, p.KH*p.KW)
	}
	in, out, err := l.Pair(p.Input, p.Output)
	if err != nil {
		return err
	}
	k := &window.Kernel{Shape: window.Shape{Mode: window.Average, Window: p.Window, Rows: rows, Batches: p.N, InC: p.C, OutC: p.C, Multiplier: 1}, In: in, Out: out}
	if op.Type == nn.OpMaxPool2D {
		k.Mode = window.Maximum
	}
	k.Lo, k.Hi = opspec.FloatActRange(p.Act)
	l.window(k)
	return nil
}

func (l *Lowering) window(k *window.Kernel) {
	k.In = l.inArena(k.In)
	l.Pages().NeedZero(k.InC * k.In.Elem.Bytes())
	if k.Mode == window.Maximum {
		l.Pages().NeedLowest(k.In.Elem)
	}
	k.Cut()
	l.Add(k, []*layout.Tensor{k.In}, []*layout.Tensor{k.Out})
}
