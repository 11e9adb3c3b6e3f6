package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// conv lowers CONV_2D and DEPTHWISE_CONV_2D.
func (l *lowering) conv(op *nn.Operation) error {
	c, err := l.view.Conv(op)
	if err != nil {
		return err
	}
	if c.N*c.OutH*c.OutW == 0 || c.C == 0 {
		return fmt.Errorf("%s: empty tensor", op.Type)
	}
	in, out, err := l.pair(c.Input, c.Output)
	if err != nil {
		return err
	}
	if _, err := l.elementOf(c.Type); err != nil {
		return err
	}
	w, err := l.floats(c.Filter, "filter")
	if err != nil {
		return err
	}
	bias, err := l.floats(c.Bias, "bias")
	if err != nil {
		return err
	}
	rows := c.N * c.OutH * c.OutW
	if taps := c.KH * c.KW; rows > maxTable/taps {
		return fmt.Errorf("%s: %d positions of %d taps are too many", op.Type, rows, taps)
	}
	if c.Depthwise {
		return l.depthwise(&c, in, out, w, bias)
	}
	g := gemm{
		elem: in.elem, rows: rows, units: c.K, taps: c.KH * c.KW, depth: c.C,
		weights: w, bias: bias, in: in, out: out,
	}
	g.lo, g.hi = opspec.FloatActRange(c.Act)
	if err := gatherFits(&g, &c.Window); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	dense := c.KH == 1 && c.KW == 1 && c.StrideH == 1 && c.StrideW == 1 && c.Top+c.Bottom+c.Left+c.Right == 0
	if c.C%perChunk(in.elem) != 0 {
		l.gather(&g, c.Window, c.N)
	} else if !dense {
		g.window, g.table = &c.Window, true
		l.needZero(c.C * in.elem.bytes())
	}
	l.gemm(&g)
	return nil
}

// fullyConnected lowers FULLY_CONNECTED.
func (l *lowering) fullyConnected(op *nn.Operation) error {
	f, err := l.view.FullyConnected(op)
	if err != nil {
		return err
	}
	if f.Batch == 0 {
		return fmt.Errorf("%s: empty tensor", op.Type)
	}
	in, out, err := l.pair(f.Input, f.Output)
	if err != nil {
		return err
	}
	if _, err := l.elementOf(f.Type); err != nil {
		return err
	}
	w, err := l.floats(f.Weights, "weights")
	if err != nil {
		return err
	}
	bias, err := l.floats(f.Bias, "bias")
	if err != nil {
		return err
	}
	g := gemm{
		elem: in.elem, rows: f.Batch, units: f.Units, taps: 1, depth: f.Depth,
		weights: w, bias: bias, in: in, out: out,
	}
	g.lo, g.hi = opspec.FloatActRange(f.Act)
	if err := gatherFits(&g, &opspec.Window{}); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	if f.Depth%perChunk(in.elem) != 0 {
		l.gather(&g, opspec.Window{H: 1, W: 1, KH: 1, KW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, OutH: 1, OutW: 1}, f.Batch)
	}
	l.gemm(&g)
	return nil
}

// maxTable bounds the entries of a table of tap offsets.
const maxTable = 1 << 22

// needZero makes the page of zeros at least n bytes large.
func (l *lowering) needZero(n int) { l.zero = max(l.zero, n+guard) }

// taps calls f for every tap of every output position in order, with the
// element index of its first channel, -1 for padding.
func taps(w *opspec.Window, n, channels int, f func(pos, tap, index int)) {
	pos := 0
	for b := range n {
		for oy := range w.OutH {
			for ox := range w.OutW {
				tap := 0
				for ky := range w.KH {
					y := oy*w.StrideH - w.Top + ky*w.DilationH
					for kx := range w.KW {
						x := ox*w.StrideW - w.Left + kx*w.DilationW
						i := -1
						if y >= 0 && y < w.H && x >= 0 && x < w.W {
							i = ((b*w.H+y)*w.W + x) * channels
						}
						f(pos, tap, i)
						tap++
					}
				}
				pos++
			}
		}
	}
}
